r"""The one computation: the marginal log-likelihood of ratings, states summed out exactly.

For clusters :math:`c`, items :math:`i`, states :math:`s` and the cluster effect :math:`u`

.. math::

    \log L = \sum_c \log \sum_q w_q \prod_{i \in c} \sum_s \pi_{g(i)}(s \mid u_q)\, m_i(s)
             \sum_d \rho_d \prod_v p_{id}(y_v \mid s),

where :math:`g(i)` is the item's context (system, rank, stratum), :math:`m_i` what is known of the
truth, :math:`(u_q, w_q)` a quadrature rule (one node without a cluster effect) and :math:`\rho_d`
the classes of difficulty (one without that layer). A *view* :math:`v` is what one group of raters
sees of the item. Without a perception layer
:math:`p_{id}(y_v \mid s) = \prod_{a \in v} p_d(y_a \mid s)`; with one, what the item looks like is
summed out,

.. math::

    p_{id}(y_v \mid s) = (1 - \epsilon_s) \prod_{a \in v} p_d(y_a \mid s)
        + \epsilon_s \sum_{s'} \tilde\pi(s') \prod_{a \in v} p_d(y_a \mid s').

Identical items
are collapsed into weighted cells, identical clusters likewise, so the cost grows with the number of
distinct rating patterns. Value and gradient come from one pass,
:func:`assay.kernels.value_and_gradient`; this file prepares the data for it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.kernels import Data

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pattern:
    """The data as the likelihood sees them: flat sorted arrays, nothing dense in items x raters.

    A *row* is a distinct (rater, answer pattern); a *cell* is a distinct (context, known truth,
    rows) of an item; a *bundle* is a distinct multiset of cells: a cluster, or an item where
    there is no cluster effect.

    Attributes
    ----------
    data : Data
        ``cell_context``, ``cell_mask`` (cell,): position of the cell's context in the prevalence
        table, of its truth mask in ``masks``. ``view_start`` (cell + 1,), ``view_layer`` (view,):
        the views of each cell, and the kind of perception of each (-1 if there is none).
        ``row_start`` (view + 1,), ``rows``: the rows of each view. ``masks`` (mask, state): 0
        where the state is possible, -inf elsewhere. ``bundle_start``, ``bundle_cells``,
        ``bundle_counts``: the cells of each bundle and how many items each stands for.
        ``bundle_weight`` (bundle,): how many clusters are like this one.
    item_cell : ndarray of int (item,)
        The cell of each item.
    cluster_bundle : ndarray of int (cluster,)
        The bundle of each cluster (of each item without a cluster effect).
    cluster_items : tuple of ndarray
        ``(start, items)``: the items of each cluster.
    """

    data: Data
    item_cell: Ints
    cluster_bundle: Ints
    cluster_items: tuple[Ints, Ints]


def _starts(sorted_ids: Ints, count: int) -> Ints:
    """Offsets of the runs of ``0 .. count - 1`` in a sorted array of ids."""
    return np.searchsorted(sorted_ids, np.arange(count + 1)).astype(np.int64)


def _group_multisets(owner: Ints, member: Ints, extra: Ints) -> tuple[Ints, Ints]:
    """Give a number to each distinct (extra columns, multiset of members) of owners.

    Returns the group of each owner and, for each group, one owner that shows it.
    """
    order = np.lexsort((member, owner))
    text = pd.Series(member[order].astype(str)).groupby(owner[order]).agg(",".join)
    keys = pd.DataFrame(extra)
    keys["members"] = text.reindex(range(len(extra)), fill_value="")
    group = keys.groupby(list(keys.columns), sort=False).ngroup().to_numpy(np.int64)
    _, shown = np.unique(group, return_index=True)
    return np.asarray(group, np.int64), np.asarray(shown, np.int64)


def collapse(
    *,
    item_of_row: Ints,
    row: Ints,
    context: Ints,
    mask: Ints,
    masks: Floats,
    cluster: Ints | None,
    layer_of_row: Ints | None = None,
    contexts: int = 1,
) -> Pattern:
    """Collapse items into cells and clusters into bundles.

    Parameters
    ----------
    item_of_row, row : ndarray of int (rating,)
        The item and the row of each rating that has an answer.
    context, mask : ndarray of int (item,)
        Context of each item, and which of ``masks`` (mask, state) says its known truth.
    cluster : ndarray of int (item,), optional
        Cluster of each item if there is a cluster effect; without it items are independent.
    layer_of_row : ndarray of int (row,), optional
        Perception layer of the raters of each row; -1, or all if not given, for none.
    contexts : int
        Number of contexts: each perception layer has a kind for each of them.

    Returns
    -------
    Pattern
    """
    items = len(context)
    item_cell, shown = _group_multisets(item_of_row, row, np.stack([context, mask], axis=1))
    order = np.lexsort((row, item_of_row))
    per_item = _starts(item_of_row[order], items)
    rows = [row[order][per_item[i] : per_item[i + 1]] for i in shown]
    bundle_of = np.arange(items, dtype=np.int64) if cluster is None else cluster.astype(np.int64)
    clusters = int(bundle_of.max()) + 1 if items else 0
    nothing = np.zeros((clusters, 1), np.int64)
    cluster_bundle, bundle_shown = _group_multisets(bundle_of, item_cell, nothing)
    by_cluster = np.argsort(bundle_of, kind="stable").astype(np.int64)
    first = _starts(bundle_of[by_cluster], clusters)
    cells, counts = [], []
    for c in bundle_shown:
        unique, n = np.unique(item_cell[by_cluster[first[c] : first[c + 1]]], return_counts=True)
        cells.append(unique)
        counts.append(n)
    views = _views(rows, context[shown], layer_of_row, contexts)
    data = Data(
        cell_context=context[shown].astype(np.int64),
        cell_mask=mask[shown].astype(np.int64),
        view_start=np.cumsum([0, *(len(found) for found in views)], dtype=np.int64),
        view_layer=np.array([kind for found in views for kind, _ in found], np.int64),
        row_start=np.cumsum([0, *(len(r) for found in views for _, r in found)], dtype=np.int64),
        rows=_joined([r for found in views for _, r in found]),
        masks=np.ascontiguousarray(masks, float),
        bundle_start=np.cumsum([0, *map(len, cells)], dtype=np.int64),
        bundle_cells=_joined(cells),
        bundle_counts=_joined(counts),
        bundle_weight=np.bincount(cluster_bundle, minlength=len(cells)).astype(float),
    )
    return Pattern(
        data=data,
        item_cell=item_cell,
        cluster_bundle=cluster_bundle,
        cluster_items=(first, by_cluster),
    )


def _joined(pieces: list[Ints]) -> Ints:
    return np.concatenate([*pieces, np.zeros(0, np.int64)]).astype(np.int64)


def _views(
    rows: list[Ints], context: Ints, layer_of_row: Ints | None, contexts: int
) -> list[list[tuple[int, Ints]]]:
    """Split the rows of each cell by the perception of their raters: (kind, rows)."""
    if layer_of_row is None or (layer_of_row < 0).all():
        return [[(-1, r)] for r in rows]
    found = []
    for here, r in zip(context, rows, strict=True):
        layers = layer_of_row[r]
        found.append(
            [
                (int(layer * contexts + here) if layer >= 0 else -1, r[layers == layer])
                for layer in np.unique(layers)
            ]
        )
    return found
