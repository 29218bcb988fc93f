"""Likelihood of a bundle: cells that share a cluster effect, over the nodes of its quadrature."""

import numpy as np

from assay.kernels.compiling import compiled

RESCALE_AFTER = 8
"""Factors of at least 1e-300 relative to their largest; products of so few stay useful numbers."""


@compiled(fastmath={"reassoc", "contract"})
def cell_chances(prevalence, evidence, parts, height, data):  # type: ignore[no-untyped-def]
    """Likelihood of each cell at each node: (cell, node), relative to its mean over the nodes.

    Evidence and its parts are brought to the same scale and the logarithm of that mean added to
    ``height``, so that products over the cells of a bundle need no logarithms. (A mean is summed
    with vector instructions, a largest is not.)
    """
    cells, states, nodes = evidence.shape[0], prevalence.shape[1], prevalence.shape[2]
    chance = np.empty((cells, nodes))
    for cell in range(cells):
        g = data.cell_context[cell]
        total = 1e-300
        if nodes == 1:  # as below, without the cost of loops over one node
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
        shrink = nodes / total
        for q in range(nodes):
            chance[cell, q] *= shrink
        for s in range(states):
            evidence[cell, s] *= shrink
            for d in range(parts.shape[1]):
                parts[cell, d, s] *= shrink
    return chance


@compiled(fastmath={"reassoc", "contract"})
def bundle_shares(log_weight, chance, height, data):  # type: ignore[no-untyped-def]
    """Log-likelihood of each bundle (bundle,), and its nodes' posterior (bundle, node)."""
    bundles, nodes = data.bundle_weight.shape[0], log_weight.shape[0]
    value = np.empty(bundles)
    shares = np.empty((bundles, nodes))
    weight = np.exp(log_weight)
    for b in range(bundles):
        for q in range(nodes):
            shares[b, q] = weight[q]
        scale, since = 0.0, 0
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            cell, n = data.bundle_cells[k], data.bundle_counts[k]
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
