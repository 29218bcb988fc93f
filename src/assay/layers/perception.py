"""What an item looks like to a group of raters: a layer between the truth and its answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import softmax
from assay.errors import ModelError, suggest
from assay.prevalence import Prevalence
from assay.prevalence.coding import main_columns
from assay.priors import Parameter, Prior
from assay.ratings import Ratings
from assay.states import MISSING

Floats = NDArray[np.float64]
ENOUGH = 30
"""Items with gold, or with two ratings of the reference group, that a reference needs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Perception:
    r"""Raters of one group see the same appearance of an item, which can be wrong.

    .. math::

        p(y_{ig} \mid s) = \sum_a \Gamma_g[s, a] \prod_{j \in g} p(y_{ij} \mid a), \quad
        \Gamma_g = (1 - \epsilon_g) I + \epsilon_g 1 \tilde\pi_g^T, \quad
        \tilde\pi_g(a) \propto \pi(a) \exp(x_a \cdot \tau_g)

    A misperceived item is drawn afresh from the prevalence of its context, tilted as far as gold
    or the reference group tell.

    Attributes
    ----------
    groups : tuple of str
        The rater groups that have a layer.
    prevalence : Prevalence
    priors : mapping of str to Prior
    """

    groups: tuple[str, ...]
    prevalence: Prevalence
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Chance of misperceiving an item, and the tilt of what it looks like then."""
        if not self.groups:
            return []
        names = main_columns(self.prevalence.task, self.prevalence.space)[1]
        coords = {"layer": self.groups, "appearance": names}
        return [
            Parameter(
                name="misperceived",
                dims=("layer",),
                prior=self.priors["misperceived"],
                coords=coords,
            ),
            Parameter(
                name="appearance_tilt",
                dims=("layer", "appearance"),
                prior=self.priors["appearance_tilt"],
                coords=coords,
            ),
        ]

    def table(self, values: Mapping[str, Any], prevalence: Any, xp: Any) -> Any:
        r"""Chance of misperceiving by state, and :math:`\tilde\pi`: (..., kind, 2, state).

        Parameters
        ----------
        prevalence : (..., context, node, state)

        Returns
        -------
        (..., kind, 2, state)
            A kind is a group in a context; the contexts of a group follow one another.
        """
        space = self.prevalence.space
        if not self.groups:
            return np.zeros((0, 2, len(space.states)))
        columns = main_columns(self.prevalence.task, space)[0]
        weight = np.exp(self.prevalence.log_weight)
        by_context = (prevalence * weight[:, None]).sum(axis=-2)
        score = xp.matmul(values["appearance_tilt"], columns.T)
        kinds = []
        for g in range(len(self.groups)):
            looks = softmax(xp.log(by_context) + score[..., g, None, :], xp)
            blur = xp.zeros_like(looks) + values["misperceived"][..., g, None, None]
            kinds.append(xp.stack([blur, looks], axis=-2))
        return kinds[0] if len(kinds) == 1 else xp.concatenate(kinds, axis=-3)

    def of_group(self, name: str, values: Mapping[str, Floats]) -> Floats:
        """Return the table of one group that has a layer: (draw, context, 2, state)."""
        contexts = self.prevalence.design.contexts
        first = self.groups.index(name) * contexts
        table = self.table(values, self.prevalence.table(values, np), np)
        return np.asarray(table[:, first : first + contexts])


def layered_groups(
    reference: str | None, named: set[str], groups: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the rater groups that have a layer.

    Parameters
    ----------
    reference : str or None
        Whose truth is meant.
    named : set of str
        Groups whose recipe names ``perception``.
    groups : tuple of str
        All rater groups.

    Raises
    ------
    ModelError
        If the layer cannot be told from the data: no reference, or an unknown one.
    """
    if reference is None:
        if named:
            raise ModelError(
                "perception needs to know whose truth is meant: without it, what a group "
                "misperceives cannot be told from what is true. Give reference='gold' (known truth "
                "of some items), or the name of a rater group whose consensus counts as the truth"
            )
        return ()
    if reference == "gold":
        return groups
    if reference not in groups:
        raise ModelError(
            f"reference={reference!r} is no rater group; {suggest(reference, ['gold', *groups])}"
        )
    if reference in named:
        raise ModelError(
            f"the reference {reference!r} cannot have a perception layer: its consensus is the "
            "truth by definition"
        )
    return tuple(name for name in groups if name != reference)


def check_reference(ratings: Ratings, reference: str | None) -> None:
    """Refuse a reference that too few items tell of.

    Raises
    ------
    ModelError
        If fewer than 30 items have gold (or two ratings of the reference group besides a rating
        of somebody else).
    """
    if reference is None:
        return
    if reference == "gold":
        known = int((ratings.truth != MISSING).any(axis=1).sum())
        if known < ENOUGH:
            raise ModelError(
                f"reference='gold' needs the known truth of at least {ENOUGH} items; {known} have "
                "it. Give it by truth= when reading, or use reference=None"
            )
        return
    group = ratings.raters["group"].to_numpy(object)[ratings.rater]
    rated = ~ratings.abstained
    items = len(ratings.items)
    mine = np.bincount(ratings.item[(group == reference) & rated], minlength=items)
    others = np.bincount(ratings.item[(group != reference) & rated], minlength=items)
    enough = int(((mine >= 2) & (others >= 1)).sum())
    if enough < ENOUGH:
        raise ModelError(
            f"reference={reference!r} needs at least {ENOUGH} items that this group rated twice or "
            f"more and others rated too; there are {enough}. Use reference=None (one consensus)"
        )
