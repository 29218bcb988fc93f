"""Likelihood of bundles and panels: cells that share the effect of a cluster, or of a system on it.

``mixing`` (node, node) is P(a panel's node in columns | its cluster's). A panel, its node summed
out, is a factor of its bundle like a cell.
"""

import numpy as np

from assay.likelihood.arrays import empty, empty_integers, zeros
from assay.likelihood.compiling import at, compiled, linked

RESCALE_AFTER = 8
"""Factors of at least 1e-300 multiplied before rescaling; more could underflow."""


@linked(fastmath={"reassoc", "contract"})
def cell_chances(prevalence, evidence, height, data):  # type: ignore[no-untyped-def]
    """Return the likelihood of each cell at each node over its mean, and the inverse mean. Its log
    is added to ``height``, so products need no logs; a mean is vectorised.
    """
    cells, states, nodes = evidence.shape[0], prevalence.shape[1], prevalence.shape[2]
    chance, shrink = empty((cells, nodes)), empty(cells)
    for cell in range(cells):
        g = at(data.cell_context[cell])
        total = 1e-300
        if nodes == 1:  # the same without loops over nodes
            for s in range(states):
                total += prevalence[g, s, 0] * evidence[cell, s]
            chance[cell, 0] = total
        else:
            for q in range(nodes):
                chance[cell, q] = 1e-300
            for s in range(states):
                e = evidence[cell, s]
                for q in range(nodes):
                    chance[cell, q] += prevalence[g, s, q] * e
            for q in range(nodes):
                total += chance[cell, q]
        height[cell] += np.log(total / nodes)
        shrink[cell] = nodes / total
        for q in range(nodes):
            chance[cell, q] *= shrink[cell]
    return chance, shrink


@linked(fastmath={"reassoc", "contract"})
def bundle_shares(log_weight, chance, height, start, cells, counts):  # type: ignore[no-untyped-def]
    """Return bundles' log-likelihoods (bundle,) and the posterior of their nodes (bundle, node).

    Members and their counts are cells (of bundles or panels), or panels.
    """
    bundles, nodes = start.shape[0] - 1, log_weight.shape[0]
    value = empty(bundles)
    shares = empty((bundles, nodes))
    weight = np.exp(log_weight)
    for b in range(bundles):
        for q in range(nodes):
            shares[b, q] = weight[q]
        scale, since = 0.0, 0
        for k in range(start[b], start[b + 1]):
            cell, n = at(cells[k]), counts[k]
            scale += n * height[cell]
            for _ in range(n):
                for q in range(nodes):
                    shares[b, q] *= chance[cell, q]
                since += 1
                if since == RESCALE_AFTER:
                    total = 0.0
                    for q in range(nodes):
                        total += shares[b, q]
                    scale += np.log(total)
                    for q in range(nodes):
                        shares[b, q] /= total
                    since = 0
        total = 0.0
        for q in range(nodes):
            total += shares[b, q]
        total = max(total, 1e-300)
        value[b] = scale + np.log(total)
        for q in range(nodes):
            shares[b, q] /= total
    return value, shares


@linked(fastmath={"reassoc", "contract"})
def panel_chances(mixing, chance, height, data):  # type: ignore[no-untyped-def]
    """Return panels' likelihoods (panel, node) at their own nodes and their cluster's, relative to
    the sum of the first, whose log is the scale (panel,).
    """
    nodes = mixing.shape[0]
    panel_height, inner = bundle_shares(
        zeros(nodes), chance, height, data.panel_start, data.panel_cells, data.panel_counts
    )
    turned = empty((nodes, nodes))
    for k in range(nodes):
        for m in range(nodes):
            turned[m, k] = mixing[k, m]
    outer = empty(inner.shape)
    _multiply(inner, turned, outer)
    return inner, outer, panel_height


@linked(fastmath={"reassoc", "contract"})
def panel_pulls(mixing, inner, outer, shares, weight, data, by_mixing):  # type: ignore[no-untyped-def]
    """Return the expected number of panels at each own node, (panel, node); add the gradient to
    ``by_mixing``. ``shares`` (bundle, node) is the posterior of clusters' nodes, and ``weight``
    their number.
    """
    panels, nodes = inner.shape
    pull = zeros((panels, nodes))
    for b in range(shares.shape[0]):
        for n in range(data.bundle_start[b], data.bundle_start[b + 1]):
            panel = at(data.bundle_cells[n])
            scale = data.bundle_counts[n] * weight[b]
            for k in range(nodes):
                pull[panel, k] += scale * shares[b, k]
    for p in range(panels):
        for k in range(nodes):
            pull[p, k] /= outer[p, k]
    _add_products(pull, inner, by_mixing)
    found = empty((panels, nodes))
    _multiply(pull, mixing, found)
    for p in range(panels):
        for m in range(nodes):
            found[p, m] *= inner[p, m]
    return found


@compiled()
def reading_shares(value, reading, data):  # type: ignore[no-untyped-def]
    """Return clusters' log-likelihoods (cluster,), and the posterior of their readings (case,),
    from those of cases, ``value`` (bundle,), and log probabilities ``reading`` (kind,).
    """
    start, of_case, kind = data.reading_start, data.reading_bundle, data.reading_kind
    found, share = empty(start.shape[0] - 1), empty(of_case.shape[0])
    for c in range(found.shape[0]):
        top = -1e300
        for k in range(start[c], start[c + 1]):
            share[k] = value[at(of_case[k])] + reading[at(kind[k])]
            top = max(top, share[k])
        total = 0.0
        for k in range(start[c], start[c + 1]):
            share[k] = np.exp(share[k] - top)
            total += share[k]
        for k in range(start[c], start[c + 1]):
            share[k] /= total
        found[c] = top + np.log(total)
    return found, share


@linked(fastmath={"reassoc", "contract"})
def _multiply(left, right, product):  # type: ignore[no-untyped-def]
    """Compute a matrix product plus 1e-300, so that divisions by it are safe. A library's threads
    would compete with those of the chains.
    """
    rows, terms, columns = left.shape[0], left.shape[1], right.shape[1]
    whole = terms - terms % 4
    for n in range(rows):
        for m in range(columns):
            product[n, m] = 1e-300
    for b in range(1, rows, 2):
        a = b - 1
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = left[a, k], left[a, k + 1], left[a, k + 2], left[a, k + 3]
            b0, b1, b2, b3 = left[b, k], left[b, k + 1], left[b, k + 2], left[b, k + 3]
            for m in range(columns):
                r0, r1 = right[k, m], right[k + 1, m]
                r2, r3 = right[k + 2, m], right[k + 3, m]
                product[a, m] += a0 * r0 + a1 * r1 + a2 * r2 + a3 * r3
                product[b, m] += b0 * r0 + b1 * r1 + b2 * r2 + b3 * r3
        for k in range(whole, terms):
            for m in range(columns):
                product[a, m] += left[a, k] * right[k, m]
                product[b, m] += left[b, k] * right[k, m]
    if rows % 2:
        for k in range(terms):
            for m in range(columns):
                product[rows - 1, m] += left[rows - 1, k] * right[k, m]


@linked(fastmath={"reassoc", "contract"})
def _add_products(left, right, total):  # type: ignore[no-untyped-def]
    """Add to ``total`` (row, column) the product of ``left`` (term, row) and ``right``."""
    terms = left.shape[0]
    whole = terms - terms % 4
    for p in range(0, whole, 4):
        for k in range(total.shape[0]):
            a, b, c, d = left[p, k], left[p + 1, k], left[p + 2, k], left[p + 3, k]
            for m in range(total.shape[1]):
                total[k, m] += (
                    a * right[p, m]
                    + b * right[p + 1, m]
                    + c * right[p + 2, m]
                    + d * right[p + 3, m]
                )
    for p in range(whole, terms):
        for k in range(total.shape[0]):
            for m in range(total.shape[1]):
                total[k, m] += left[p, k] * right[p, m]


@compiled()
def panel_nodes(  # type: ignore[no-untyped-def]
    mixing, shares, inner, outer, cluster_bundle, cluster_start, kind, drawn, by_panel
):
    """Return the posterior of each panel's node (panel, node), and a draw of it (panel,).

    shares : posterior of the clusters' nodes (bundle, node)
    inner, outer : from :func:`panel_chances` (kind, node)
    cluster_start : first panel of each cluster (cluster + 1,)
    kind : number of each panel among the distinct ones
    drawn : node drawn for each cluster
    by_panel : uniform random numbers (panel,)
    """
    nodes = mixing.shape[0]
    posterior, node = empty((kind.shape[0], nodes)), empty_integers(kind.shape[0])
    pull, chance = empty((kind.shape[0], nodes)), empty(nodes)
    for c in range(cluster_bundle.shape[0]):
        b = at(cluster_bundle[c])
        for panel in range(at(cluster_start[c]), at(cluster_start[c + 1])):
            p = at(kind[panel])
            for k in range(nodes):
                pull[panel, k] = shares[b, k] / outer[p, k]
            for m in range(nodes):
                chance[m] = mixing[at(drawn[c]), m] * inner[p, m]
            node[panel] = pick(chance, by_panel[panel])
    _multiply(pull, mixing, posterior)
    for panel in range(kind.shape[0]):
        for m in range(nodes):
            posterior[panel, m] *= inner[at(kind[panel]), m]
    return posterior, node


@linked()
def pick(weights, uniform):  # type: ignore[no-untyped-def]
    """Return the position where the cumulative weights exceed the share ``uniform`` of the sum."""
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
