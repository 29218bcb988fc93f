"""Halo: the impression that an item makes on a rater moves all answers of a rating."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay._util.errors import ModelError
from assay.data.misread_clusters import DIRECTIONS
from assay.modelling.layers.impressions import Impressions, log_chances


@dataclass(frozen=True, kw_only=True, eq=False)
class Halo(Impressions):
    r"""Dependence of the answers of a rating through the rater's impression of the item.

    .. math::

        p(y \mid s) = \sum_{m} w_m \prod_l \mathrm{softmax}_{y_l}\bigl(\log \theta_{jl}[s_l,
            \cdot] + h_{g(j)l}\, m\, x_l(\cdot)\bigr), \quad w_0 = 1 - \eta_{g(j)},
            \quad w_{\pm 1} = \eta_{g(j)} / 2

    for the impressions :math:`m`: none, or one of two opposite ones. :math:`x` runs from
    :math:`-\tfrac12` to :math:`\tfrac12` over the classes in order; an unordered label has an
    :math:`x` for each class. Each term is normalised over the answers that the interface allows.
    """

    loading: ClassVar[str] = "halo_loading"
    chance: ClassVar[str] = "halo_share"
    dims: ClassVar[tuple[str, str]] = ("halo_group", "halo_answer")

    def __post_init__(self) -> None:
        """Raise ModelError for a task with one label."""
        task = self.layout.task
        if len(task.labels) < 2:
            raise ModelError(
                f"halo needs answers to several labels, but task {task.name} has one. Leave the "
                "layer out",
                code="layer-unfit",
            )

    def mix(
        self, kinds: list[tuple[Any, Any]], values: Mapping[str, Any], xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings by impression, (log weight, log confusion) of each."""
        share = values[self.chance][..., self.raters.group[self.unit_rater]]
        none, some = log_chances(share, xp)
        found = []
        for direction in DIRECTIONS:
            weight = some if direction else none
            for own, table in self.moved(kinds, values, direction, xp):
                found.append((weight if own is None else own + weight, table))
        return found
