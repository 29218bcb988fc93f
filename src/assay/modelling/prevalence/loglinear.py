"""Log-linear prevalence: main effects and shrunken interactions over the allowed states."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from assay._util.arrays import softmax
from assay._util.typing import Floats
from assay.data.rules import NOT_ASKED
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence.base import Prevalence, main_columns
from assay.modelling.priors import Prior

EDGE = 1e-9
"""Distance of the correlation of two systems from 0 and 1, where logs are infinite."""


class Loglinear(Prevalence):
    r"""Main effects, interactions, and effects of system, rank, stratum, covariates and cluster.

    .. math::

        \log \pi(s \mid c, t) = x_s \cdot (\beta + \sum_f \tau_f \delta_{f, c} + B w_c + \lambda t)
            + z_s \cdot \gamma - \kappa \cdot \mathrm{broken}_s + \log b_s + \mathrm{const}

    Classes are corners of a regular simplex (a binary label: -1/2 and 1/2; not applicable: 0). The
    base measure :math:`b_s` gives gated labels equal odds a priori. Interactions that rules make
    collinear are left out. Cluster effects :math:`t` have a loading on each label. Effects of two
    systems on one cluster have the correlation :math:`\rho`:

    .. math:: t_{cs} = \sqrt{\rho}\, u_c + \sqrt{1 - \rho}\, v_{cs}, \qquad
              u_c, v_{cs} \sim \mathrm{Normal}(0, 1)
    """

    name: ClassVar[str] = "loglinear"

    @property
    def has_clusters(self) -> bool:
        """Whether there is a cluster effect."""
        return self.design.cluster is not None

    @cached_property
    def main(self) -> tuple[Floats, tuple[str, ...]]:
        """Columns of the main effects (state, term), and their names."""
        return main_columns(self.task, self.space)

    @cached_property
    def interactions(self) -> tuple[Floats, tuple[str, ...]]:
        """Columns of the identified pairwise interactions (state, pair), and their names."""
        main, names = self.main
        owner = [name.split("[")[0] for name in names]
        kept = np.concatenate(
            [np.ones((len(main), 1)), main, self.space.soft.astype(float)], axis=1
        )
        rank = np.linalg.matrix_rank(kept)
        columns, found = [], []
        for a, b in combinations(range(len(names)), 2):
            if owner[a] == owner[b]:
                continue
            column = main[:, a] * main[:, b]
            grown = np.concatenate([kept, column[:, None]], axis=1)
            if np.linalg.matrix_rank(grown) > rank:
                kept, rank = grown, rank + 1
                columns.append(column)
                found.append(f"{names[a]}:{names[b]}")
        return np.array(columns).reshape(-1, len(main)).T, tuple(found)

    @cached_property
    def base(self) -> Floats:
        """Log base measure (state,): equal odds for each label that applies."""
        sizes = np.log([len(label.classes) for label in self.task.labels])
        return np.asarray(-((self.space.states != NOT_ASKED) * sizes).sum(axis=1))

    def parameters(self) -> list[Parameter]:
        """Return main effects, interactions, and the effects of the design."""
        terms, pairs = self.main[1], self.interactions[1]
        levels = {e.name: e.levels for e in self.design.effects}
        coords = {"term": terms, "pair": pairs, "soft_rule": self.space.soft_names, **levels}
        coords["covariate"] = self.design.covariates
        unit = Prior(name="Normal", values=(0.0, 1.0))

        def block(name: str, prior: Prior, *dims: str, spread: str = "") -> Parameter:
            return Parameter(name=name, prior=prior, dims=dims, coords=coords, spread=spread)

        blocks = [block("main", self.priors["main"], "term")]
        if pairs:
            blocks.append(block("interaction_sd", self.priors["interaction_sd"]))
            blocks.append(block("interaction_offset", unit, "pair", spread="interaction_sd"))
        for number, effect in enumerate(self.design.effects):
            sd = f"{effect.name}_sd"
            blocks.append(block(sd, self.priors.get(sd, self.priors["grouping_sd"])))
            offset = block(f"{effect.name}_offset", unit, effect.name, "term", spread=sd)
            # Data inform the sum of both, so one effect can be centred on the main effect.
            if not number:
                offset = replace(offset, location="main", location_at=np.arange(len(terms)))
            blocks.append(offset)
        if self.design.covariates:
            blocks.append(block("coefficient", self.priors["coefficient"], "covariate", "term"))
        if self.has_clusters:
            blocks.append(block("cluster_loading", self.priors["cluster_loading"], "term"))
        if self.has_panels:
            blocks.append(block("system_correlation", self.priors["system_correlation"]))
        if self.space.soft_names:
            blocks.append(block("penalty", self.priors["penalty"], "soft_rule"))
        return blocks

    def table(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the softmax of the log-linear predictor, (..., context, node, state)."""
        main = self.main[0]
        shift = values["main"][..., None, :]
        for effect in self.design.effects:
            spread = values[f"{effect.name}_sd"][..., None, None] * values[f"{effect.name}_offset"]
            shift = shift + xp.matmul(effect.share, spread)
        if self.design.covariates:
            shift = shift + xp.matmul(self.design.covariate_values, values["coefficient"])
        shift = shift + np.zeros((self.design.contexts, 1))
        common = self.base
        if self.interactions[1]:
            gamma = values["interaction_sd"][..., None] * values["interaction_offset"]
            common = common + xp.matmul(gamma, self.interactions[0].T)
        if self.space.soft_names:
            common = common - xp.matmul(values["penalty"], self.space.soft.T.astype(float))
        score = (xp.matmul(shift, main.T) + common[..., None, :])[..., :, None, :]
        if self.has_clusters:
            direction = xp.matmul(values["cluster_loading"], main.T)
            score = score + (direction[..., None, :] * self.design.nodes[:, None])[..., None, :, :]
        return softmax(score, xp)

    def mixing(self, values: Mapping[str, Any], xp: Any) -> Any:
        r"""Return P(node of :math:`t` | node of :math:`u`), (..., node u, node t): the trapezoidal
        rule for :math:`\mathrm{Normal}(\sqrt{\rho}\, u, 1 - \rho)` on the same nodes.
        """
        if not self.has_panels:
            return super().mixing(values, xp)
        nodes = self.design.nodes
        rho = values["system_correlation"] * (1 - 2 * EDGE) + EDGE
        rest = xp.log1p(rho * -1.0)
        slopes = xp.stack([xp.exp(xp.log(rho) * 0.5 - rest), xp.exp(xp.log(rho) - rest)], axis=-1)
        products = np.stack([np.outer(nodes, nodes), np.tile(-0.5 * nodes**2, (len(nodes), 1))])
        score = xp.matmul(slopes, products.reshape(2, -1))
        lead = [score.shape[n] for n in range(score.ndim - 1)]
        score = score.reshape((*lead, len(nodes), len(nodes)))
        return softmax(score + self.design.log_weight, xp)
