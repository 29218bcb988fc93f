"""Misreading: a rater reads a whole cluster wrongly, and errs in one direction on all its items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay._util.arrays import TINY, log_softmax
from assay._util.typing import Ints
from assay.data.misread_clusters import DIRECTIONS
from assay.modelling.confusion import ConfusionLayout
from assay.modelling.families.family import Raters
from assay.modelling.layers.halo import answer_scales, shifts
from assay.modelling.parameters import Parameter
from assay.modelling.priors import Prior

if TYPE_CHECKING:
    from assay.modelling.readings import Readings


@dataclass(frozen=True, kw_only=True, eq=False)
class Misreading:
    r"""Dependence of a rater's answers in a cluster through the rater's reading of it.

    .. math::

        p(y \mid s) = \sum_m P(m) \prod_{i \in c} \prod_j \prod_l \mathrm{softmax}_{y_{ijl}}
            \bigl(\log \theta_{jl}[s_{il}, \cdot] + h_{g(j)l}\, m_j\, x_l(\cdot)\bigr), \quad
        P(m) \propto \prod_j (1 - \eta_{g(j)})^{[m_j = 0]} (\eta_{g(j)} / 2)^{[m_j \ne 0]}

    A reading :math:`m` says which raters misread the cluster, at most
    :data:`~assay.data.misread_clusters.MOST`, and in which direction. :math:`x` is as in
    :class:`~assay.modelling.layers.halo.Halo`. ``raters`` is one row if all share a confusion.

    readings : those of the clusters, once they are known
    first : position of its groups among those of all parts
    """

    layout: ConfusionLayout
    raters: Raters
    unit_rater: Ints
    priors: Mapping[str, Prior]
    readings: "Readings | None" = None
    first: int = 0

    def parameters(self) -> list[Parameter]:
        """Return the effects of a misreading, and the share of clusters that raters misread."""
        names, _ = answer_scales(self.layout)
        coords = {"misreading_group": self.raters.groups, "misread_answer": names}
        size = self.priors["misreading_loading"]
        if len(names) == 1 and size.name == "Normal" and not np.any(size.values[0]):
            # The sign is arbitrary, and a loading that is next to 0 would be a saddle.
            size = replace(size, name="HalfNormal", values=size.values[1:])
        return [
            Parameter(
                name="misreading_loading",
                dims=("misreading_group", "misread_answer"),
                prior=size,
                coords=coords,
            ),
            Parameter(
                name="misreading_share",
                dims=("misreading_group",),
                prior=self.priors["misreading_share"],
                coords=coords,
            ),
        ]

    def log_shares(self, values: Mapping[str, Any], xp: Any) -> tuple[Any, Any]:
        """Return the log share of clusters read rightly, and misread in one direction: (group,)."""
        return self._logs(values["misreading_share"], xp)

    @staticmethod
    def _logs(share: Any, xp: Any) -> tuple[Any, Any]:
        """Return the log shares of clusters read rightly, and misread in one direction."""
        # A share of exactly 0 or 1 keeps finite logarithms, as counts of 0 multiply them.
        return xp.log1p(share * (1e-16 - 1.0)), xp.log(share * 0.5 + TINY)

    def moved(
        self, kinds: list[tuple[Any, Any]], values: Mapping[str, Any], direction: int, xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings of one reading, (log weight, log confusion) of each."""
        if direction == 0:
            return kinds
        group = self.raters.group[self.unit_rater]
        shift = shifts(self.layout, values["misreading_loading"], xp)[..., group, :, :]
        return [(own, log_softmax(table + shift * direction, xp)) for own, table in kinds]

    def mix(
        self, kinds: list[tuple[Any, Any]], values: Mapping[str, Any], xp: Any
    ) -> list[tuple[Any, Any]]:
        """Return the kinds of ratings of all readings together, averaged over the clusters."""
        right, wrong = self._logs(self.shares(values), xp)
        group, found = self.raters.group[self.unit_rater], []
        for direction in DIRECTIONS:
            weight = (wrong if direction else right)[..., group]
            for own, table in self.moved(kinds, values, direction, xp):
                found.append((weight if own is None else own + weight, table))
        return found

    def shares(self, values: Mapping[str, Any]) -> Any:
        """Return the share of clusters that a rater of each group misreads, (..., group).

        Raters of other parts count with the mean of this part's shares.
        """
        if self.readings is None:
            return values["misreading_share"]
        logs, own = [], slice(self.first, self.first + len(self.raters.groups))
        for log in self.log_shares(values, np):
            mean = log.mean(axis=-1, keepdims=True)
            every = np.repeat(mean, self.readings.misread.shape[1], axis=-1)
            every[..., own] = log
            logs.append(every)
        return self.readings.misread_shares(*logs)[..., own]
