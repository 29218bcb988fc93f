"""Misreading: a rater reads a whole cluster wrongly, and errs in one direction on all its items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay._util.typing import Ints
from assay.modelling.layers.impressions import Impressions


@dataclass(frozen=True, kw_only=True, eq=False)
class Misreading(Impressions):
    r"""Dependence of a rater's answers in a cluster through the rater's reading of it.

    .. math::

        p(y \mid s) = \sum_m P(m) \prod_{i \in c} \prod_j \prod_l \mathrm{softmax}_{y_{ijl}}
            \bigl(\log \theta_{jl}[s_{il}, \cdot] + h_{g(j)l}\, m_j\, x_l(\cdot)\bigr), \quad
        P(m) \propto \prod_j (1 - \eta_{g(j)})^{[m_j = 0]} (\eta_{g(j)} / 2)^{[m_j \ne 0]}

    A reading :math:`m` says which raters misread the cluster, at most
    :data:`~assay.data.misread_clusters.MOST`, and in which direction. :math:`x` is as in
    :class:`~assay.modelling.layers.halo.Halo`. So :math:`\eta` is the chance that a rater misreads
    a cluster that all others read rightly. Of all clusters it misreads fewer, the share
    :math:`P(m_j \ne 0)`: see :meth:`assay.modelling.readings.Readings.shares`.
    """

    loading: ClassVar[str] = "misreading_loading"
    chance: ClassVar[str] = "misreading_chance"
    dims: ClassVar[tuple[str, str]] = ("misreading_group", "misread_answer")

    def group_of(self, members: Ints) -> Ints:
        """Return the position of each rater's chance; all have the same if they share a
        confusion.
        """
        return np.broadcast_to(self.raters.group, len(members))
