"""Lapses: a share of ratings that raters give without looking at the item."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import NEVER, append_constant, log_softmax
from assay._util.typing import Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Lapses:
    r"""Lapses: ratings by a blind strategy of each rater.

    .. math::

        p(y \mid s) = (1 - \epsilon_j)\, p_{\text{seen}}(y \mid s)
            + \epsilon_j \prod_l \xi_{jl}[y_l], \quad
        \operatorname{logit} \epsilon_j = m_{g(j)} + \tau_{g(j)} e_j, \quad
        \xi_{jl} = \mathrm{softmax}(n_{g(j)l} + \upsilon_{g(j)} w_{jl}),

    with :math:`e_j, w_{jlk} \sim \mathrm{Normal}(0, 1)`. Both terms are normalised over the answers
    that the interface allows; answers to questions that do not apply are alike in both. ``raters``
    is one row if all share a confusion.
    """

    layout: ConfusionLayout
    raters: Raters
    unit_rater: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return means and SDs by group, and offsets by rater, of lapse rate and strategy."""
        answers = [f"{la.name}: {c}" for la in self.layout.task.labels for c in la.classes]
        coords = {
            "lapsing": self.raters.names,
            "lapsing_group": self.raters.groups,
            "blind_answer": answers,
        }
        group = self.raters.group[:, None]
        dims: dict[str, tuple[str, ...]] = {"lapse": (), "strategy": ("blind_answer",)}
        mean_at = {
            "lapse": self.raters.group,
            "strategy": group * len(answers) + np.arange(len(answers)),
        }
        found = []
        for name, more in dims.items():
            by_group = [("mean", ("lapsing_group", *more)), ("sd", ("lapsing_group",))]
            found += [
                Parameter(
                    name=f"{name}_{kind}",
                    dims=own,
                    prior=self.priors[f"{name}_{kind}"],
                    coords=coords,
                )
                for kind, own in by_group
            ]
            found.append(
                Parameter(
                    name=f"{name}_offset",
                    dims=("lapsing", *more),
                    prior=Prior(name="Normal", values=(0.0, 1.0)),
                    coords=coords,
                    spread=f"{name}_sd",
                    location=f"{name}_mean",
                    spread_at=group if more else self.raters.group,
                    location_at=mean_at[name],
                )
            )
        return found

    def log_odds(self, values: Mapping[str, Any]) -> Any:
        r"""Return logit :math:`\epsilon_j`, (..., rater); one for all if they share a confusion."""
        sd = values["lapse_sd"][..., self.raters.group]
        return values["lapse_mean"][..., self.raters.group] + sd * values["lapse_offset"]

    def mix(
        self, seen: list[tuple[Any, Any]], values: Mapping[str, Any], xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings with lapses added, (log weight, log confusion) of each."""
        logit = self.log_odds(values)[..., self.unit_rater]
        weight = log_softmax(xp.stack([logit * 0.0, logit], axis=-1), xp)
        kept = [
            (weight[..., 0] if own is None else own + weight[..., 0], table) for own, table in seen
        ]
        return [*kept, (weight[..., 1], self._blind(values, xp))]

    def _blind(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the log strategy in every asked row, (..., unit, asked row, class)."""
        layout, group = self.layout, self.raters.group
        sd = values["strategy_sd"][..., group, None]
        logits = values["strategy_mean"][..., group, :] + sd * values["strategy_offset"]
        first = np.concatenate([[0], np.cumsum(layout.classes)])
        where = np.full((len(layout.classes), layout.width), first[-1])
        for label, classes in enumerate(layout.classes):
            where[label, :classes] = first[label] + np.arange(classes)
        table = log_softmax(append_constant(logits, [NEVER], xp)[..., where], xp)
        return table[..., self.unit_rater, :, :][..., np.array(layout.labels), :]
