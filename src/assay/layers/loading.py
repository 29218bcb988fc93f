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
        mean, sd, dims = "difficulty_loading", "difficulty_loading_sd", ("group", "label_name")
        coords = {
            "group": self.raters.groups,
            "rater": self.raters.names,
            "label_name": self.labels,
        }
        names = (mean, sd) if self.by_rater else (mean,)
        found = [
            Parameter(name=n, dims=dims, prior=self.priors[n], coords={d: coords[d] for d in dims})
            for n in names
        ]
        if self.by_rater:
            count = len(self.labels)
            at = self.raters.group[:, None] * count + np.arange(count)
            own = ("rater", "label_name")
            found.append(
                offsets(
                    "difficulty_loading_offset",
                    own,
                    {d: coords[d] for d in own},
                    spread=sd,
                    at=at,
                )
            )
        return found

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

    def tilt(
        self, values: Mapping[str, Any], position: float, row_labels: Ints, added: Any, xp: Any
    ) -> Tilt:
        """Return what an item of some difficulty does beside what other layers add."""
        harder = self.of_units(values, xp)[..., row_labels]
        if self.guessing:
            return Tilt(added=added, shrinkage=harder * position)
        easier = harder * -position
        return Tilt(added=easier if added is None else added + easier)
