r"""The one computation: the marginal log-likelihood of ratings, states summed out exactly.

For clusters :math:`c`, items :math:`i`, states :math:`s` and the cluster effect :math:`u`

.. math::

    \log L = \sum_c \log \sum_q w_q \prod_{i \in c} \sum_s \pi_{g(i)}(s \mid u_q)\, m_i(s)
             \prod_{a \in i} p(y_a \mid s),

where :math:`g(i)` is the item's context (system, rank, stratum), :math:`m_i` the known truth and
:math:`(u_q, w_q)` a quadrature rule; without a cluster effect there is one node. Identical items
are collapsed into weighted cells, identical clusters likewise, so the cost grows with the number of
distinct rating patterns. Value and gradient come from one pass.
"""

from dataclasses import dataclass

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    cell_context, cell_mask : ndarray of int (cell,)
        Position of the cell's context in the prevalence table, of its truth mask in ``masks``.
    row_start, rows : ndarray of int
        Rows of cell ``n``: ``rows[row_start[n]:row_start[n + 1]]``.
    masks : ndarray (mask, state)
        Log of the known truth: 0 where the state is possible, -inf elsewhere.
    bundle_start, bundle_cells, bundle_counts : ndarray of int
        Cells of bundle ``n`` and how many items of the bundle each stands for.
    bundle_weight : ndarray of float (bundle,)
        How many clusters are like this one.
    item_cell : ndarray of int (item,)
        The cell of each item.
    cluster_bundle : ndarray of int (cluster,)
        The bundle of each cluster (of each item without a cluster effect).
    cluster_items : tuple of ndarray
        ``(start, items)``: the items of each cluster.
    """

    cell_context: Ints
    cell_mask: Ints
    row_start: Ints
    rows: Ints
    masks: Floats
    bundle_start: Ints
    bundle_cells: Ints
    bundle_counts: Ints
    bundle_weight: Floats
    item_cell: Ints
    cluster_bundle: Ints
    cluster_items: tuple[Ints, Ints]

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """Return the arrays in the order in which the compiled functions take them."""
        return (
            self.cell_context,
            self.cell_mask,
            self.row_start,
            self.rows,
            self.masks,
            self.bundle_start,
            self.bundle_cells,
            self.bundle_counts,
            self.bundle_weight,
        )


def _starts(sorted_ids: Ints, count: int) -> Ints:
    """Offsets of the runs of ``0 .. count - 1`` in a sorted array of ids."""
    return np.searchsorted(sorted_ids, np.arange(count + 1)).astype(np.int64)


def _group_multisets(owner: Ints, member: Ints, extra: Ints) -> tuple[Ints, Ints]:
    """Number the distinct (extra columns, multiset of members) of owners.

    Returns the group of each owner and, for each group, one owner that shows it.
    """
    order = np.lexsort((member, owner))
    text = pd.Series(member[order].astype(str)).groupby(owner[order]).agg(",".join)
    keys = pd.DataFrame({n: column for n, column in enumerate(extra.T)})
    keys["members"] = text.reindex(range(len(extra)), fill_value="")
    group = keys.groupby(list(keys.columns), sort=False).ngroup().to_numpy(np.int64)
    _, shown = np.unique(group, return_index=True)
    return group, shown.astype(np.int64)


def collapse(
    *,
    item_of_row: Ints,
    row: Ints,
    context: Ints,
    mask: Ints,
    masks: Floats,
    cluster: Ints | None,
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
    return Pattern(
        cell_context=context[shown].astype(np.int64),
        cell_mask=mask[shown].astype(np.int64),
        row_start=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        rows=np.concatenate([*rows, np.zeros(0, np.int64)]).astype(np.int64),
        masks=np.ascontiguousarray(masks, float),
        bundle_start=np.cumsum([0, *map(len, cells)], dtype=np.int64),
        bundle_cells=np.concatenate([*cells, np.zeros(0, np.int64)]).astype(np.int64),
        bundle_counts=np.concatenate([*counts, np.zeros(0, np.int64)]).astype(np.int64),
        bundle_weight=np.bincount(cluster_bundle, minlength=len(cells)).astype(float),
        item_cell=item_cell,
        cluster_bundle=cluster_bundle,
        cluster_items=(first, by_cluster),
    )


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _evidence(cell, response, cell_mask, row_start, rows, masks, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with exp(log evidence of each state - its maximum); return the maximum."""
    top = -np.inf
    for s in range(out.shape[0]):
        value = masks[cell_mask[cell], s]
        for a in range(row_start[cell], row_start[cell + 1]):
            value += response[rows[a], s]
        out[s] = value
        top = max(top, value)
    if top == -np.inf:
        top = -1e300
    for s in range(out.shape[0]):
        out[s] = np.exp(out[s] - top)
    return top


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def value_and_gradient(  # type: ignore[no-untyped-def]
    prevalence,
    response,
    log_weight,
    cell_context,
    cell_mask,
    row_start,
    rows,
    masks,
    bundle_start,
    bundle_cells,
    bundle_counts,
    bundle_weight,
):
    """Log-likelihood and its gradients in one pass.

    Parameters
    ----------
    prevalence : ndarray (context, node, state)
        Probabilities of the states.
    response : ndarray (row, state)
        log p(answers of the row given the state).
    log_weight : ndarray (node,)
        Log weights of the quadrature nodes.

    Returns
    -------
    value : float
    by_prevalence : ndarray (context, node, state)
    by_response : ndarray (row, state)
    """
    nodes, states = prevalence.shape[1], prevalence.shape[2]
    by_node = np.ascontiguousarray(prevalence.transpose(0, 2, 1))
    by_prevalence = np.zeros(by_node.shape)
    by_response = np.zeros_like(response)
    widest = 1
    for b in range(bundle_weight.shape[0]):
        widest = max(widest, bundle_start[b + 1] - bundle_start[b])
    evidence = np.empty((widest, states))
    chance = np.empty((widest, nodes))
    node = np.empty(nodes)
    product = np.empty(nodes)
    total = 0.0
    for b in range(bundle_weight.shape[0]):
        first, last = bundle_start[b], bundle_start[b + 1]
        node[:] = log_weight
        product[:] = 1.0
        for k in range(first, last):
            cell, n = bundle_cells[k], bundle_counts[k]
            e, p = evidence[k - first], chance[k - first]
            top = _evidence(cell, response, cell_mask, row_start, rows, masks, e)
            table = by_node[cell_context[cell]]
            p[:] = 1e-300
            for s in range(states):
                for q in range(nodes):
                    p[q] += table[s, q] * e[s]
            total += bundle_weight[b] * n * top
            if n > 1 or p.min() < 1e-100:
                for q in range(nodes):
                    node[q] += n * np.log(p[q])
            else:
                for q in range(nodes):
                    product[q] *= p[q]
                if product.min() < 1e-100:  # fold before it underflows: one log for many cells
                    for q in range(nodes):
                        node[q] += np.log(product[q])
                        product[q] = 1.0
        for q in range(nodes):
            node[q] += np.log(product[q])
        top = node.max()
        share = 0.0
        for q in range(nodes):
            node[q] = np.exp(node[q] - top)
            share += node[q]
        total += bundle_weight[b] * (top + np.log(share))
        for k in range(first, last):
            cell, n = bundle_cells[k], bundle_counts[k]
            g = cell_context[cell]
            p, e = chance[k - first], evidence[k - first]
            for q in range(nodes):
                p[q] = bundle_weight[b] * n * node[q] / (share * p[q])
            for s in range(states):
                along = 0.0
                for q in range(nodes):
                    by_prevalence[g, s, q] += p[q] * e[s]
                    along += p[q] * by_node[g, s, q]
                along *= e[s]
                for a in range(row_start[cell], row_start[cell + 1]):
                    by_response[rows[a], s] += along
    return total, np.ascontiguousarray(by_prevalence.transpose(0, 2, 1)), by_response


@numba.njit(cache=True, nogil=True, error_model="numpy")
def bundle_nodes(  # type: ignore[no-untyped-def]
    prevalence,
    response,
    log_weight,
    cell_context,
    cell_mask,
    row_start,
    rows,
    masks,
    bundle_start,
    bundle_cells,
    bundle_counts,
    bundle_weight,
):
    """Joint log-likelihood of each bundle and quadrature node, and each cell's evidence.

    Returns
    -------
    joint : ndarray (bundle, node)
        log(weight of the node x likelihood of the bundle at the node).
    evidence : ndarray (cell, state)
        Likelihood of the cell's ratings given the state, divided by its largest.
    """
    cells, states, nodes = cell_context.shape[0], response.shape[1], prevalence.shape[1]
    evidence = np.empty((cells, states))
    chance = np.empty((cells, nodes))
    for cell in range(cells):
        top = _evidence(cell, response, cell_mask, row_start, rows, masks, evidence[cell])
        g = cell_context[cell]
        for q in range(nodes):
            p = 0.0
            for s in range(states):
                p += prevalence[g, q, s] * evidence[cell, s]
            chance[cell, q] = np.log(max(p, 1e-300)) + top
    joint = np.empty((bundle_weight.shape[0], nodes))
    for b in range(bundle_weight.shape[0]):
        joint[b] = log_weight
        for k in range(bundle_start[b], bundle_start[b + 1]):
            for q in range(nodes):
                joint[b, q] += bundle_counts[k] * chance[bundle_cells[k], q]
    return joint, evidence
