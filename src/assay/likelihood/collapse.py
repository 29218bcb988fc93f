r"""The marginal log-likelihood of ratings, with the states summed out exactly.

For clusters :math:`c`, items :math:`i`, states :math:`s` and the cluster effect :math:`u`

.. math::

    \log L = \sum_c \log \sum_q w_q \prod_{i \in c} \sum_d \rho_d
             \sum_s \pi_{g(i)d}(s \mid u_q)\, m_i(s) \prod_v p_{id}(y_v \mid s),

where :math:`g(i)` is the item's context, :math:`m_i` the known truth, :math:`(u_q, w_q)` a
quadrature rule and :math:`\rho_d` the difficulty classes. A *view* :math:`v` is the ratings of an
item by one group of raters. With a perception layer its perceived state is summed out,

.. math::

    p_{id}(y_v \mid s) = (1 - \epsilon_d) \prod_{a \in v} p_d(y_a \mid s)
        + \epsilon_d \sum_{s'} \tilde\pi(s' \mid s) \prod_{a \in v} p_d(y_a \mid s').

With effects of systems within clusters, panels have nodes of their own
(:mod:`assay.likelihood.bundles`). If raters may misread clusters, the sum is also over readings: a
*case* is a cluster with one of its readings, and stands here as a cluster of its own.

This file collapses identical items into cells and identical clusters into bundles, for
:func:`~assay.likelihood.marginal.value_and_gradient`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from assay._util.grouping import LARGEST, sorted_rows, unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.likelihood.data import Data
from assay.likelihood.partition import panels_of, runs


@dataclass(frozen=True, kw_only=True, eq=False)
class Pattern:
    """The data of the likelihood as flat sorted arrays; nothing has the size items x raters.

    A *row* is a distinct (rater, answer pattern); a *cell* a distinct (context, known truth, rows)
    of an item; a *bundle* a distinct multiset of cells, that of a cluster or of an item without
    cluster effect. If systems have effects within clusters, a *panel* is a distinct multiset of
    cells, and a bundle one of panels.

    data.cell_context, data.cell_mask : context of each cell, and its truth mask among ``masks``
    data.view_start, data.view_layer : views of each cell, and the kind of perception of each, or -1
    data.row_start, data.rows : rows of each view
    data.masks : log weight of each state (mask, state); for known truth 0 if possible, else -inf
    data.panel_start, data.panel_cells, data.panel_counts : cells of each panel and their counts
    data.bundle_start, data.bundle_cells, data.bundle_counts : cells, or panels, of each bundle
    data.bundle_weight : number of clusters with each bundle
    data.reading_start, data.reading_bundle, data.reading_kind : cases of each cluster, and bundle
        and kind of reading of each case; empty if raters misread no clusters
    item_cell : cell of each item
    cluster_bundle : bundle of each cluster, or of each item without cluster effect
    cluster_items : ``(start, items)``, the items of each cluster; those of a panel are adjacent
    panels : if systems have effects within clusters
    cases : if raters may misread clusters; then each case stands for a cluster in ``item_cell``,
        ``cluster_bundle``, ``cluster_items`` and ``panels``, with items of its own
    """

    data: Data
    item_cell: Ints
    cluster_bundle: Ints
    cluster_items: tuple[Ints, Ints]
    panels: "PanelsOfClusters | None" = None
    cases: "Cases | None" = None

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return len(self.cluster_bundle if self.cases is None else self.cases.start[1:])

    @property
    def cluster_of_items(self) -> Ints:
        """Return the cluster of each item."""
        start, items = self.members
        found = np.empty(len(items), np.int64)
        found[items] = np.repeat(np.arange(self.clusters), np.diff(start))
        return found

    @cached_property
    def item_of(self) -> Ints:
        """Return the item that each of ``item_cell`` stands for."""
        return np.arange(len(self.item_cell)) if self.cases is None else self.cases.item

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.members[1])

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """Return ``(start, items)``, the items of each cluster."""
        start, order = self.cluster_items
        if self.cases is None:
            return start, order
        at, first = runs(start, self.cases.start[:-1])
        return first, self.cases.item[order[at]]


class Cases(NamedTuple):
    """Clusters with each of their readings, one cluster after the other.

    start : first case of each cluster (cluster + 1,)
    kind : kind of reading of each case (case,)
    item, case : the item, and the case, of each item in a case (item in a case,)
    """

    start: Ints
    kind: Ints
    item: Ints
    case: Ints


class PanelsOfClusters(NamedTuple):
    """The panels of each cluster, one cluster after the other.

    cluster_start : first panel of each cluster (cluster + 1,)
    kind : number of each panel among the distinct ones
    start : first item of each panel in ``Pattern.cluster_items`` (panel + 1,)
    """

    cluster_start: Ints
    kind: Ints
    start: Ints


def _starts(sorted_ids: Ints, count: int) -> Ints:
    """Return the offsets of the runs of ``0 .. count - 1`` in a sorted array of ids."""
    return np.append(0, np.bincount(sorted_ids, minlength=count).cumsum())


def _sorted_within(owner: Ints, member: Ints, count: int) -> tuple[Ints, Ints]:
    """Sort pairs by owner, then by member; return the members, and where each owner's begin."""
    width = int(member.max(initial=0)) + 1
    pairs = owner * width
    pairs += member
    pairs.sort()
    pairs %= width
    return pairs, _starts(owner, count)


def _of_runs(start: Ints, chosen: Ints) -> Bools:
    """Return which elements belong to the chosen runs."""
    among = np.zeros(len(start) - 1, bool)
    among[chosen] = True
    return np.repeat(among, np.diff(start))


def _multiset_codes(member: Ints, start: Ints) -> Ints:
    """Return a number for each distinct multiset, (owner,); -1 for empty ones.

    Members are sorted within owners. In each round pairs of neighbours become one number, those of
    single ones too, so that multisets of different sizes differ.
    """
    sizes = np.diff(start)
    width = int(member.max(initial=0)) + 1
    while sizes.max(initial=0) > 1:
        if (width + 1) ** 2 > LARGEST:
            member, distinct = pd.factorize(member)
            width = len(distinct)
        # Every second member of a run leads; runs may begin at odd positions.
        leads = np.repeat((start[:-1] & 1).astype(bool), sizes)
        leads[::2] ^= True
        pair = member[leads]
        pair *= width + 1
        # The others follow; a last leader without a follower has 0 instead.
        pair[~np.append(leads[1:], True)[leads]] += member[~leads] + 1
        member, width = pair, width * (width + 1)
        sizes = (sizes + 1) // 2
        start = np.append(0, sizes.cumsum())
    codes = np.full(len(sizes), -1, np.int64)
    codes[sizes > 0] = member
    return codes


def collapse(
    *,
    item_of_row: Ints,
    row: Ints,
    context: Ints,
    mask: Ints,
    masks: Floats,
    cluster: Ints | None,
    panel: Ints | None = None,
    layer_of_row: Ints | None = None,
    contexts: int = 1,
    cases: Cases | None = None,
) -> Pattern:
    """Collapse items into cells and clusters into bundles.

    item_of_row, row : item and row of each rating with an answer
    context, mask : context of each item, and its known truth among ``masks`` (mask, state)
    cluster : of each item; None without a cluster effect
    panel : of each item, numbered by cluster; None without effects of systems within clusters
    layer_of_row : perception layer of each row's raters; -1, or None for all, without one
    cases : clusters with each of their readings; then ``item_of_row`` counts the items of all cases
    """
    if cases is not None:
        context, mask, cluster = context[cases.item], mask[cases.item], cases.case
        if panel is not None:
            panel = sorted_rows(cases.case, panel[cases.item])[1]
    items = len(context)
    rows, per_item = _sorted_within(item_of_row, row, items)
    del item_of_row, row  # frees the largest arrays, if the caller keeps no reference
    # ``shown`` is the first item of each cell, in ascending order.
    shown, item_cell = unique_rows(context, mask, _multiset_codes(rows, per_item))
    sizes = np.diff(per_item)[shown]
    views = _views(rows[_of_runs(per_item, shown)], sizes, context[shown], layer_of_row, contexts)
    bundle_of = np.arange(items, dtype=np.int64) if cluster is None else cluster.astype(np.int64)
    if panel is None:
        within, panels = _NO_BUNDLES, None
        bundles, cluster_bundle = _bundles(bundle_of, item_cell)
    else:
        within, kind = _bundles(panel, item_cell)
        of_panel = np.zeros(len(kind), np.int64)
        of_panel[panel] = bundle_of
        bundles, cluster_bundle = _bundles(of_panel, kind)
        panels = PanelsOfClusters(
            cluster_start=_starts(of_panel, len(cluster_bundle)),
            kind=kind,
            start=_starts(panel, len(kind)),
        )
    order = bundle_of if panel is None else panel
    by_cluster = np.argsort(order, kind="stable").astype(np.int64)
    data = Data(
        cell_context=context[shown].astype(np.int64),
        cell_mask=mask[shown].astype(np.int64),
        view_start=views.start,
        view_layer=views.layer,
        row_start=views.row_start,
        rows=views.rows,
        masks=np.ascontiguousarray(masks, float),
        panel_start=within.start,
        panel_cells=within.cells,
        panel_counts=within.counts,
        bundle_start=bundles.start,
        bundle_cells=bundles.cells,
        bundle_counts=bundles.counts,
        bundle_weight=np.bincount(cluster_bundle, minlength=len(bundles.start) - 1).astype(float),
        reading_start=_NONE[:1] if cases is None else cases.start,
        reading_bundle=_NONE[1:] if cases is None else cluster_bundle,
        reading_kind=_NONE[1:] if cases is None else cases.kind,
    )
    return Pattern(
        data=data,
        item_cell=item_cell,
        cluster_bundle=cluster_bundle,
        cluster_items=(_starts(bundle_of[by_cluster], len(cluster_bundle)), by_cluster),
        panels=panels,
        cases=cases,
    )


_NONE = np.zeros(1, np.int64)


def take_panels(pattern: Pattern, clusters: Ints) -> PanelsOfClusters | None:
    """Return the panels of some clusters, or cases, numbered as by ``take_bundles``."""
    if pattern.panels is None:
        return None
    cluster_start, kind, start = pattern.panels
    at, taken_start = runs(cluster_start, clusters)
    kinds = panels_of(pattern.data, np.unique(pattern.cluster_bundle[clusters]))
    return PanelsOfClusters(
        cluster_start=taken_start,
        kind=np.searchsorted(kinds, kind[at]),
        start=np.append(0, np.cumsum(np.diff(start)[at])),
    )


class _Bundles(NamedTuple):
    """The distinct cells of each bundle and their counts."""

    start: Ints
    cells: Ints
    counts: Ints


_NO_BUNDLES = _Bundles(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


def _bundles(bundle_of: Ints, item_cell: Ints) -> tuple[_Bundles, Ints]:
    """Return the distinct multisets of cells, and the number of each cluster's."""
    clusters = int(bundle_of.max(initial=-1)) + 1
    cell, start = _sorted_within(bundle_of, item_cell, clusters)
    shown, cluster_bundle = unique_rows(_multiset_codes(cell, start))
    # Bundles are numbered by their first cluster.
    cells = cell[_of_runs(start, shown)]
    bundle = np.repeat(np.arange(len(shown)), np.diff(start)[shown])
    first = np.flatnonzero((np.diff(bundle, prepend=-1) != 0) | (np.diff(cells, prepend=-1) != 0))
    found = _Bundles(
        start=_starts(bundle[first], len(shown)),
        cells=cells[first],
        counts=np.diff(np.append(first, len(cells))),
    )
    return found, cluster_bundle


class _Views(NamedTuple):
    """The views of each cell, their perception layers, and the rows of each view."""

    start: Ints
    layer: Ints
    row_start: Ints
    rows: Ints


def _views(
    rows: Ints, sizes: Ints, context: Ints, layer_of_row: Ints | None, contexts: int
) -> _Views:
    """Split the rows of each cell by their raters' perception layers."""
    cells = len(sizes)
    ends = np.append(0, sizes.cumsum())
    if layer_of_row is None or (layer_of_row < 0).all():
        none = np.full(cells, -1, np.int64)
        return _Views(start=np.arange(cells + 1), layer=none, row_start=ends, rows=rows)
    cell, layer = np.repeat(np.arange(cells), sizes), layer_of_row[rows]
    order = np.lexsort((rows, layer, cell))
    cell, layer, rows = cell[order], layer[order], rows[order]
    first = np.flatnonzero((np.diff(cell, prepend=-1) != 0) | (np.diff(layer, prepend=-2) != 0))
    kind = layer[first] * contexts + context[cell[first]]
    return _Views(
        start=_starts(cell[first], cells),
        layer=np.where(layer[first] >= 0, kind, -1),
        row_start=np.append(first, len(rows)),
        rows=rows,
    )
