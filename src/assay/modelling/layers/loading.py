"""Effect of an item's difficulty on raters: by group, by rater, or by class too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.typing import Floats, Ints
from assay.modelling.confusion import ConfusionLayout, Tilt
from assay.modelling.families.family import Raters
from assay.modelling.layers.difficulty import Difficulty
from assay.modelling.parameters import Parameter, offsets
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Loading:
    r"""The rate at which answers become guesses as items get harder.

    .. math::

        w_{jlk}(h) = e^{-\lambda_{jlk} h} \text{ or } 1 - h\,(1 - e^{-\lambda_{jlk}}), \quad
        \lambda_{jlk} = \lambda_{g(j) lk}\, e^{\tau_{g(j) l} u_{jl}}, \quad
        u_{jl} \sim \mathrm{Normal}(0, 1)

    is the share of answers that are no guesses: first for easy and hard items, second for
    continuous difficulty. Without ``by_rater`` :math:`\tau = 0`; without ``by_class`` all true
    classes have one :math:`\lambda_{gl}`. (Qu, Tan & Kutner 1996 have loadings of each test and
    class.)
    """

    layout: ConfusionLayout
    raters: Raters
    difficulty: Difficulty
    by_rater: bool
    by_class: bool
    unit_rater: Ints
    unit_group: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return the rates of each group; with ``by_rater`` also SDs and each rater's offset."""
        mean, sd, offset = (f"difficulty_rate{end}" for end in ("", "_sd", "_offset"))
        labels = tuple(label.name for label in self.layout.task.labels)
        coords = {
            "group": self.raters.groups,
            "rater": self.raters.names,
            "label_name": labels,
            "row": tuple(self.layout.row_names),
        }
        by_group = ("group", "label_name")
        of_group = ("group", "row") if self.by_class else by_group
        found = [Parameter(name=mean, dims=of_group, prior=self.priors[mean], coords=coords)]
        if not self.by_rater:
            return found
        at = self.raters.group[:, None] * len(labels) + np.arange(len(labels))
        return [
            *found,
            Parameter(name=sd, dims=by_group, prior=self.priors[sd], coords=coords),
            offsets(offset, ("rater", "label_name"), coords, spread=sd, at=at),
        ]

    def of_units(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the rate of each unit, (..., unit, asked row)."""
        return self._of(values, self.unit_rater, self.unit_group, xp)

    def of_raters(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the rate of each rater, (..., rater, asked row)."""
        return self._of(values, np.arange(len(self.raters.names)), self.raters.group, xp)

    def _of(self, values: Mapping[str, Any], rater: Ints, group: Ints, xp: Any) -> Any:
        label = np.array(self.layout.labels)
        mean = values["difficulty_rate"][..., group, :]
        of_rows = mean if self.by_class else mean[..., label]
        if not self.by_rater:
            return of_rows
        sd = values["difficulty_rate_sd"][..., group, :]
        own = xp.exp(sd * values["difficulty_rate_offset"][..., rater, :])
        return of_rows * own[..., label]

    def by_label(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the rates of groups, averaged over a label's classes, (..., group, label)."""
        rate = values["difficulty_rate"]
        if not self.by_class:
            return rate
        label = np.array(self.layout.labels)
        share = label[:, None] == np.arange(len(self.layout.classes))
        return xp.matmul(rate, share / share.sum(axis=0))

    def hardness(self, position: Any) -> Floats:
        """Return the difficulty in each asked row, from one number or one for each label."""
        hardness = np.asarray(position, float)
        label = np.array(self.layout.labels)
        return np.broadcast_to(hardness, label.shape) if hardness.ndim == 0 else hardness[label]

    def tilt(self, loading: Any, position: Any, added: Any, xp: Any) -> Tilt:
        """Return the effect of an item's difficulty, together with what other layers add.

        ``loading`` is the rate of each unit, (..., unit, asked row).
        """
        hardness = self.hardness(position)
        if not hardness.any():
            return Tilt(added=added)
        if self.difficulty.has_classes or np.isin(hardness, (0, 1)).all():
            return Tilt(added=added, guessing=loading * hardness)
        lost = (xp.exp(loading * -1.0) + -1.0) * hardness
        return Tilt(added=added, guessing=xp.log1p(lost) * -1.0)
