"""Likelihood of a panel: cells that share the effect of a system on a cluster.

Panels have the same nodes as clusters. ``mixing`` (node, node) has the chances of a panel's node,
in columns, given its cluster's, in rows; summed out, a panel is to its bundle what a cell is
elsewhere.
"""

import numpy as np

from assay.kernels.bundles import bundle_shares
from assay.kernels.compiling import compiled
from assay.kernels.positions import at


@compiled(fastmath={"reassoc", "contract"})
def panel_chances(mixing, chance, height, data):  # type: ignore[no-untyped-def]
    """Likelihood of each panel at its own nodes and at those of its cluster.

    Parameters
    ----------
    mixing : ndarray (node, node)
    chance, height : ndarray
        From :func:`~assay.kernels.bundles.cell_chances`.
    data : Data

    Returns
    -------
    inner, outer : ndarray (panel, node)
        Relative to the sum of the first.
    panel_height : ndarray (panel,)
        Logarithm of this sum.
    """
    nodes = mixing.shape[0]
    panel_height, inner = bundle_shares(
        np.zeros(nodes), chance, height, data.panel_start, data.panel_cells, data.panel_counts
    )
    turned = np.empty((nodes, nodes))
    for k in range(nodes):
        for m in range(nodes):
            turned[m, k] = mixing[k, m]
    outer = np.empty(inner.shape)
    for p in range(inner.shape[0]):
        _weigh_rows(inner[p], turned, outer[p])
    return inner, outer, panel_height


@compiled(fastmath={"reassoc", "contract"})
def panel_pulls(mixing, inner, outer, shares, data, by_mixing):  # type: ignore[no-untyped-def]
    """Return the expected number of panels at each node of their own: (panel, node).

    ``by_mixing``, the gradient by ``mixing``, is added to.

    Parameters
    ----------
    shares : ndarray (bundle, node)
        Posterior of the clusters' nodes.
    """
    panels, nodes = inner.shape
    pull = np.zeros((panels, nodes))
    for b in range(shares.shape[0]):
        for n in range(data.bundle_start[b], data.bundle_start[b + 1]):
            panel = at(data.bundle_cells[n])
            scale = data.bundle_counts[n] * data.bundle_weight[b]
            for k in range(nodes):
                pull[panel, k] += scale * shares[b, k]
    found = np.empty((panels, nodes))
    for p in range(panels):
        for k in range(nodes):
            pull[p, k] /= outer[p, k]
        for k in range(nodes):
            along = pull[p, k]
            for m in range(nodes):
                by_mixing[k, m] += along * inner[p, m]
        _weigh_rows(pull[p], mixing, found[p])
        for m in range(nodes):
            found[p, m] *= inner[p, m]
    return found


@compiled(fastmath={"reassoc", "contract"}, inline="always")
def _weigh_rows(weights, rows, total):  # type: ignore[no-untyped-def]
    """Fill ``total`` (column,) with the sum of rows (row, column), each times its weight."""
    for column in range(rows.shape[1]):
        total[column] = 1e-300
    for row in range(rows.shape[0]):
        weight = weights[row]
        for column in range(rows.shape[1]):
            total[column] += weight * rows[row, column]


@compiled()
def panel_nodes(  # type: ignore[no-untyped-def]
    mixing, shares, inner, outer, cluster_bundle, cluster_start, kind, drawn, by_panel
):
    """Posterior of each panel's node, and a draw of it given the drawn node of its cluster.

    Parameters
    ----------
    shares : ndarray (bundle, node)
    inner, outer : ndarray (kind, node)
        From :func:`panel_chances`.
    cluster_bundle : ndarray of int (cluster,)
    cluster_start : ndarray of int (cluster + 1,)
        Where the panels of each cluster begin.
    kind : ndarray of int (panel,)
        Which of the distinct panels each is.
    drawn : ndarray of int (cluster,)
    by_panel : ndarray (panel,)
        Uniform numbers.

    Returns
    -------
    posterior : ndarray (panel, node)
    node : ndarray of int (panel,)
    """
    nodes = mixing.shape[0]
    posterior, node = np.empty((kind.shape[0], nodes)), np.empty(kind.shape[0], np.int64)
    pull, chance = np.empty(nodes), np.empty(nodes)
    for c in range(cluster_bundle.shape[0]):
        b = at(cluster_bundle[c])
        for panel in range(at(cluster_start[c]), at(cluster_start[c + 1])):
            p = at(kind[panel])
            for k in range(nodes):
                pull[k] = shares[b, k] / outer[p, k]
            _weigh_rows(pull, mixing, posterior[panel])
            for m in range(nodes):
                posterior[panel, m] *= inner[p, m]
                chance[m] = mixing[at(drawn[c]), m] * inner[p, m]
            node[panel] = pick(chance, by_panel[panel])
    return posterior, node


@compiled()
def pick(weights, uniform):  # type: ignore[no-untyped-def]
    """Position at which the running sum of weights passes ``uniform`` of the total."""
    goal = 0.0
    for n in range(weights.shape[0]):
        goal += weights[n]
    goal *= uniform
    running = 0.0
    last = 0
    for n in range(weights.shape[0]):
        if weights[n] > 0.0:
            last = n
            running += weights[n]
            if running > goal:
                break
    return last
