"""How much the difficulty of an item matters to raters: alike in a group, or to each its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.confusion import Tilt
from assay.families.family import Raters
from assay.parameters import Parameter, offsets
from assay.priors import Prior

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Loading:
    r"""What an item's difficulty takes from the log odds of a rater's right answers.

    .. math::

        \lambda_{jl} = \lambda_{g(j) l}\, e^{\tau_{g(j) l} u_{jl}}, \quad
        u_{jl} \sim \mathrm{Normal}(0, 1)

    with :math:`\tau = 0` if it is alike to all raters of a group. (Qu, Tan & Kutner 1996 have a
    loading of each diagnostic test.)

    Attributes
    ----------
    raters : Raters
    labels : tuple of str
    guessing : bool
        Whether difficulty brings answers nearer to guessing, in the place of adding to log odds.
    by_rater : bool
        Whether each rater has its own.
    unit_rater, unit_group : ndarray of int (unit,)
    priors : mapping of str to Prior
        ``difficulty_loading``, and ``difficulty_loading_sd`` if each rater has its own.
    """

    raters: Raters
    labels: tuple[str, ...]
    guessing: bool
    by_rater: bool
    unit_rater: Ints
    unit_group: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return loadings by group and label; how raters differ in it, and each rater's offset."""
        mean, sd = "difficulty_loading", "difficulty_loading_sd"
        by_group, by_rater = ("group", "label_name"), ("rater", "label_name")
        coords = {
            "group": self.raters.groups,
            "rater": self.raters.names,
            "label_name": self.labels,
        }
        found = [Parameter(name=mean, dims=by_group, prior=self.priors[mean], coords=coords)]
        if not self.by_rater:
            return found
        labels = len(self.labels)
        at = self.raters.group[:, None] * labels + np.arange(labels)
        return [
            *found,
            Parameter(name=sd, dims=by_group, prior=self.priors[sd], coords=coords),
            offsets("difficulty_loading_offset", by_rater, coords, spread=sd, at=at),
        ]

    def of_units(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the loading of each unit: (..., unit, label)."""
        return self._of(values, self.unit_rater, self.unit_group, xp)

    def of_raters(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the loading of each rater: (..., rater, label)."""
        return self._of(values, np.arange(len(self.raters.names)), self.raters.group, xp)

    def _of(self, values: Mapping[str, Any], rater: Ints, group: Ints, xp: Any) -> Any:
        found = values["difficulty_loading"][..., group, :]
        if not self.by_rater:
            return found
        sd = values["difficulty_loading_sd"][..., group, :]
        return found * xp.exp(sd * values["difficulty_loading_offset"][..., rater, :])

    def tilt(self, loading: Any, position: float, added: Any) -> Tilt:
        """Return what an item of some difficulty does beside what other layers add.

        ``loading`` is that of each unit and row, (..., unit, asked row).
        """
        if self.guessing:
            return Tilt(added=added, shrinkage=loading * position)
        easier = loading * -position
        return Tilt(added=easier if added is None else added + easier)
