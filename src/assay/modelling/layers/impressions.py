"""Impressions: what moves all answers of a rater together, in one direction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from assay._util.arrays import TINY, log_softmax
from assay._util.typing import Floats, Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Impressions:
    """A layer of impressions, with their loadings and their chance by rater group.

    loading, chance : names of the parameters
    dims : of the loadings, group and answer
    raters : one row if all share a confusion
    """

    loading: ClassVar[str]
    chance: ClassVar[str]
    dims: ClassVar[tuple[str, str]]
    layout: ConfusionLayout
    raters: Raters
    unit_rater: Ints
    priors: Mapping[str, Prior]

    def parameters(self) -> list[Parameter]:
        """Return the effects of an impression, and its chance, by group."""
        names, _ = answer_scales(self.layout)
        group, answer = self.dims
        coords = {group: self.raters.groups, answer: names}
        size, chance = self.priors[self.loading], self.priors[self.chance]
        if len(names) == 1 and size.name == "Normal" and not np.any(size.values[0]):
            # The sign is arbitrary, and a loading that is next to 0 would be a saddle.
            size = replace(size, name="HalfNormal", values=size.values[1:])
        return [
            Parameter(name=self.loading, dims=self.dims, prior=size, coords=coords),
            Parameter(name=self.chance, dims=(group,), prior=chance, coords=coords),
        ]

    def moved(
        self, kinds: list[tuple[Any, Any]], values: Mapping[str, Any], direction: int, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings with one impression, (log weight, log confusion) of each."""
        if direction == 0:
            return kinds
        group = self.raters.group[self.unit_rater]
        shift = shifts(self.layout, values[self.loading], xp)[..., group, :, :]
        return [(own, log_softmax(table + shift * direction, xp)) for own, table in kinds]


def log_chances(chance: Any, xp: Any) -> tuple[Any, Any]:
    """Return the log chances of no impression, and of an impression in one of two directions."""
    # A chance of exactly 0 or 1 keeps finite logarithms, as counts of 0 multiply them.
    return xp.log1p(chance * (1e-16 - 1.0)), xp.log(chance * 0.5 + TINY)


def shifts(layout: ConfusionLayout, loading: Any, xp: Any) -> Any:
    """Return what loadings (..., group, loading) add to log odds of answers.

    The result is (..., group, asked row, class).
    """
    _, scales = answer_scales(layout)
    moved = xp.matmul(loading, scales.reshape(len(scales), -1))
    lead = [moved.shape[n] for n in range(moved.ndim - 1)]
    return moved.reshape((*lead, *scales.shape[1:]))


def answer_scales(layout: ConfusionLayout) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the loadings, and :math:`x` of each, (loading, asked row, class)."""
    names, columns = [], []
    labels = np.array(layout.labels)
    for n, label in enumerate(layout.task.labels):
        count = len(label.classes)
        coded = np.zeros((count, layout.width))
        coded[:, :count] = np.eye(count) - 1 / count
        names += [f"{label.name}={name}" for name in label.classes]
        if count == 2 or label.ordered:
            names[-count:] = [label.name]
            coded = np.zeros((1, layout.width))
            coded[0, :count] = np.arange(count) / (count - 1) - 0.5
        columns += [np.where((labels == n)[:, None], one, 0.0) for one in coded]
    return tuple(names), np.stack(columns)
