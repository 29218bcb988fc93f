"""Perception: what an item looks like to a group of raters, which may be wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import softmax
from assay._util.typing import Floats
from assay.modelling.layers.difficulty import Difficulty
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence import Prevalence
from assay.modelling.prevalence.base import main_columns
from assay.modelling.priors import Prior

FEW_STATES = 8
"""Largest number of states for a table of perceived by true state; gold tells little of more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Perception:
    r"""All raters of a group perceive the same state of an item, which can be wrong.

    .. math::

        p(y_{ig} \mid s, x) &= \sum_a \Gamma_{gx}[s, a] \prod_{j \in g} p(y_{ij} \mid a, x), \\
        \Gamma_{gx} &= (1 - \epsilon_{gx}) I + \epsilon_{gx} \tilde\pi_g, \qquad
        \operatorname{logit} \epsilon_{gx} = \operatorname{logit} \epsilon_g + \kappa_g x, \\
        \tilde\pi_g(a \mid s) &\propto \pi(a) \exp(x_a \cdot \tau_g + B_g[s, a])

    A misperceived item's state is drawn from its context's prevalence, tilted as gold, the
    reference or other groups tell. :math:`x` is the item's difficulty; :math:`B` is for three to
    eight states.

    groups : rater groups with a layer
    troubled : those of them whose recipe has a difficulty
    """

    groups: tuple[str, ...]
    troubled: tuple[str, ...]
    difficulty: Difficulty
    prevalence: Prevalence
    priors: Mapping[str, Prior]

    @property
    def by_state(self) -> bool:
        """Whether the perceived state of a misperceived item depends on its true state."""
        return 2 < len(self.prevalence.space.states) <= FEW_STATES

    def parameters(self) -> list[Parameter]:
        """Return rates of misperceiving, by difficulty, and the odds of perceived states."""
        if not self.groups:
            return []
        space = self.prevalence.space
        names = main_columns(self.prevalence.task, space)[1]
        dims: dict[str, tuple[str, ...]] = {
            "misperceived": ("layer",),
            "appearance_tilt": ("layer", "appearance"),
        }
        if self.troubled:
            dims["misperceived_loading"] = ("troubled_layer",)
        if self.by_state:
            dims["appearance_by_state"] = ("layer", "state", "look")
        levels = {
            "layer": self.groups,
            "troubled_layer": self.troubled,
            "appearance": names,
            "state": space.state_names,
            "look": space.state_names,
        }
        return [
            Parameter(
                name=name,
                dims=own,
                prior=self.priors[name],
                coords={dim: levels[dim] for dim in own},
            )
            for name, own in dims.items()
        ]

    def chances(self, values: Mapping[str, Any], name: str, xp: Any) -> Any:
        """Return the probability that a group misperceives an item, (..., 1 or difficulty)."""
        chance = values["misperceived"][..., self.groups.index(name), None]
        if name not in self.troubled:
            return chance
        loading = values["misperceived_loading"][..., self.troubled.index(name), None]
        # A chance of exactly 0 or 1 keeps finite logarithms.
        wrong = xp.log(chance + 1e-300) + loading * self.difficulty.positions
        right = xp.zeros_like(wrong) + xp.log1p(chance * (1e-16 - 1.0))
        return softmax(xp.stack([right, wrong], axis=-1), xp)[..., 1]

    def tilted(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Return the log of the tilted prevalence, (..., group, context, state).

        ``prevalence`` is (..., context, node, state).
        """
        columns = main_columns(self.prevalence.task, self.prevalence.space)[0]
        weight = np.exp(self.prevalence.log_weight)
        by_context = (prevalence * weight[:, None]).sum(axis=-2)
        score = xp.matmul(values["appearance_tilt"], columns.T)
        return xp.log(by_context)[..., None, :, :] + score[..., :, None, :]

    def looks(self, values: Mapping[str, Any], name: str, tilted: Any, xp: Any) -> Any:
        """Return probabilities of perceived states of misperceived items.

        They are (..., context, 1 or state, look).
        """
        g = self.groups.index(name)
        odds = tilted[..., g, :, None, :]
        if self.by_state:
            odds = odds + values["appearance_by_state"][..., g, None, :, :]
        return softmax(odds, xp)

    def table(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Return P(misperceived), then of perceived states, (..., kind, difficulty + look, state).
        A kind is a group in a context, those of a group adjacent. ``prevalence`` is (..., context,
        node, state).
        """
        classes = self.difficulty.classes
        if not self.groups:
            return np.zeros((0, classes + 1, len(self.prevalence.space.states)))
        tilted = self.tilted(values, prevalence, xp)
        kinds = []
        for name in self.groups:
            looks = self.looks(values, name, tilted, xp)
            chance = self.chances(values, name, xp)[..., None, :, None]
            # Index and new axis, since PyTensor does not infer length 1 from a slice.
            blank = xp.zeros_like(looks[..., 0, :])[..., None, :] + np.zeros((classes, 1))
            kinds.append(xp.concatenate([blank + chance, looks], axis=-2))
        return kinds[0] if len(kinds) == 1 else xp.concatenate(kinds, axis=-3)

    def of_group(self, name: str, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return a group's misperception probabilities, and those of perceived states.

        Their shapes are (draw, difficulty) and (draw, context, state, look).
        """
        chance = np.asarray(self.chances(values, name, np))
        tilted = self.tilted(values, self.prevalence.table(values, np), np)
        looks = self.looks(values, name, tilted, np)
        states = len(self.prevalence.space.states)
        return (
            np.broadcast_to(chance, (len(chance), self.difficulty.classes)),
            np.broadcast_to(looks, (*looks.shape[:2], states, states)),
        )
