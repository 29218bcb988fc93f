"""Halo: the impression that an item makes on a rater moves all answers of a rating."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay._util.arrays import log_softmax
from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior


@dataclass(frozen=True, kw_only=True, eq=False)
class Halo:
    r"""Dependence of the answers of a rating through the rater's impression of the item.

    .. math::

        p(y \mid s) = \sum_{m} w_m \prod_l \mathrm{softmax}_{y_l}\bigl(\log \theta_{jl}[s_l,
            \cdot] + h_{g(j)l}\, m\, x_l(\cdot)\bigr), \quad w_0 = 1 - \eta_{g(j)},
            \quad w_{\pm 1} = \eta_{g(j)} / 2

    for the impressions :math:`m`: none, or one of two opposite ones. :math:`x` runs from
    :math:`-\tfrac12` to :math:`\tfrac12` over the classes in order; an unordered label has an
    :math:`x` for each class. Each term is normalised over the answers that the interface allows.
    """

    layout: ConfusionLayout
    raters: Raters
    unit_rater: Ints
    priors: Mapping[str, Prior]

    def __post_init__(self) -> None:
        """Raise ModelError for a task with one label."""
        task = self.layout.task
        if len(task.labels) < 2:
            raise ModelError(
                f"halo needs answers to several labels, but task {task.name} has one. Leave the "
                "layer out",
                code="layer-unfit",
            )

    def parameters(self) -> list[Parameter]:
        """Return the effects of an impression, and the share of ratings with one, by group."""
        names, _ = answer_scales(self.layout)
        coords = {"halo_group": self.raters.groups, "halo_answer": names}
        return [
            Parameter(
                name="halo_loading",
                dims=("halo_group", "halo_answer"),
                prior=self.priors["halo_loading"],
                coords=coords,
            ),
            Parameter(
                name="halo_share",
                dims=("halo_group",),
                prior=self.priors["halo_share"],
                coords=coords,
            ),
        ]

    def mix(
        self, kinds: list[tuple[Any, Any]], values: Mapping[str, Any], xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings by impression, (log weight, log confusion) of each."""
        share = values["halo_share"][..., self.raters.group[self.unit_rater]]
        none, some = xp.log1p(share * -1.0), xp.log(share * 0.5)
        group = self.raters.group[self.unit_rater]
        shift = shifts(self.layout, values["halo_loading"], xp)[..., group, :, :]
        found = []
        for own, table in kinds:
            found.append((none if own is None else none + own, table))
            for sign in (-1.0, 1.0):
                moved = log_softmax(table + shift * sign, xp)
                found.append((some if own is None else some + own, moved))
        return found


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
