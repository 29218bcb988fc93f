"""What an item looks like to a group of raters: a layer between the truth and its answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import softmax
from assay.modelling.layers.difficulty import Difficulty
from assay.modelling.parameters import Parameter
from assay.modelling.prevalence import Prevalence
from assay.modelling.prevalence.base import main_columns
from assay.modelling.priors import Prior

Floats = NDArray[np.float64]
FEW_STATES = 8
"""Up to so many states, from three on, what a misperceived item looks like hangs on what it is: of
more, gold tells too little for a table of both."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Perception:
    r"""Raters of one group see the same appearance of an item, which can be wrong.

    .. math::

        p(y_{ig} \mid s, x) &= \sum_a \Gamma_{gx}[s, a] \prod_{j \in g} p(y_{ij} \mid a, x), \\
        \Gamma_{gx} &= (1 - \epsilon_{gx}) I + \epsilon_{gx} \tilde\pi_g, \qquad
        \operatorname{logit} \epsilon_{gx} = \operatorname{logit} \epsilon_g + \kappa_g x, \\
        \tilde\pi_g(a \mid s) &\propto \pi(a) \exp(x_a \cdot \tau_g + B_g[s, a])

    A misperceived item is drawn afresh from the prevalence of its context, tilted as far as gold,
    the reference group or the other groups tell. Where items have a difficulty :math:`x`, it says
    how often they are misperceived: raters who disagree about an item are the sign of a hard one,
    so a split vote is doubted more than a clear one. :math:`B` is there for three to eight states.

    Attributes
    ----------
    groups : tuple of str
        The rater groups that have a layer.
    troubled : tuple of str
        Those of them whose recipe has a difficulty of the items.
    difficulty : Difficulty
    prevalence : Prevalence
    priors : mapping of str to Prior
    """

    groups: tuple[str, ...]
    troubled: tuple[str, ...]
    difficulty: Difficulty
    prevalence: Prevalence
    priors: Mapping[str, Prior]

    @property
    def by_state(self) -> bool:
        """Whether what a misperceived item looks like hangs on its state."""
        return 2 < len(self.prevalence.space.states) <= FEW_STATES

    def parameters(self) -> list[Parameter]:
        """Chance of misperceiving an item, by difficulty, and what it looks like then."""
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
        """Chance that a group misperceives an item, by difficulty: (..., 1 or difficulty)."""
        chance = values["misperceived"][..., self.groups.index(name), None]
        if name not in self.troubled:
            return chance
        loading = values["misperceived_loading"][..., self.troubled.index(name), None]
        # A chance of exactly 0 or 1 keeps finite logarithms.
        wrong = xp.log(chance + 1e-300) + loading * self.difficulty.positions
        right = xp.zeros_like(wrong) + xp.log1p(chance * (1e-16 - 1.0))
        return softmax(xp.stack([right, wrong], axis=-1), xp)[..., 1]

    def tilted(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Return the logarithm of the tilted prevalence: (..., group, context, state).

        Parameters
        ----------
        prevalence : (..., context, node, state)
        """
        columns = main_columns(self.prevalence.task, self.prevalence.space)[0]
        weight = np.exp(self.prevalence.log_weight)
        by_context = (prevalence * weight[:, None]).sum(axis=-2)
        score = xp.matmul(values["appearance_tilt"], columns.T)
        return xp.log(by_context)[..., None, :, :] + score[..., :, None, :]

    def looks(self, values: Mapping[str, Any], name: str, tilted: Any, xp: Any) -> Any:
        """Return what a misperceived item looks like: (..., context, 1 or state, look)."""
        g = self.groups.index(name)
        odds = tilted[..., g, :, None, :]
        if self.by_state:
            odds = odds + values["appearance_by_state"][..., g, None, :, :]
        return softmax(odds, xp)

    def table(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        """Chances of misperceiving, then what an item looks like: (..., kind, row, state).

        Parameters
        ----------
        prevalence : (..., context, node, state)

        Returns
        -------
        (..., kind, difficulty + look, state)
            A kind is a group in a context; the contexts of a group follow one another.
        """
        classes = self.difficulty.classes
        if not self.groups:
            return np.zeros((0, classes + 1, len(self.prevalence.space.states)))
        tilted = self.tilted(values, prevalence, xp)
        kinds = []
        for name in self.groups:
            looks = self.looks(values, name, tilted, xp)
            chance = self.chances(values, name, xp)[..., None, :, None]
            # An index and a new axis, where a slice would not tell PyTensor that its size is one.
            blank = xp.zeros_like(looks[..., 0, :])[..., None, :] + np.zeros((classes, 1))
            kinds.append(xp.concatenate([blank + chance, looks], axis=-2))
        return kinds[0] if len(kinds) == 1 else xp.concatenate(kinds, axis=-3)

    def of_group(self, name: str, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return what one group that has a layer misperceives.

        Returns
        -------
        chance : ndarray (draw, difficulty)
        looks : ndarray (draw, context, state, look)
        """
        chance = np.asarray(self.chances(values, name, np))
        tilted = self.tilted(values, self.prevalence.table(values, np), np)
        looks = self.looks(values, name, tilted, np)
        states = len(self.prevalence.space.states)
        return (
            np.broadcast_to(chance, (len(chance), self.difficulty.classes)),
            np.broadcast_to(looks, (*looks.shape[:2], states, states)),
        )
