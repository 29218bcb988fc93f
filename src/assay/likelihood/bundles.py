"""Likelihood of a bundle: cells that share a cluster effect, over the nodes of its quadrature."""

import numpy as np

from assay.likelihood.compiling import compiled
from assay.likelihood.positions import at

RESCALE_AFTER = 8
"""Factors of at least 1e-300 relative to their largest; products of so few stay useful numbers."""


@compiled(fastmath={"reassoc", "contract"})
def cell_chances(prevalence, evidence, height, data):  # type: ignore[no-untyped-def]
    """Likelihood of each cell at each node, relative to its mean over the nodes.

    The logarithm of that mean is added to ``height``, so that products over the cells of a bundle
    need no logarithms. (A mean is summed with vector instructions, a largest is not.)

    Returns
    -------
    chance : ndarray (cell, node)
    shrink : ndarray (cell,)
        One divided by the mean.
    """
    cells, states, nodes = evidence.shape[0], prevalence.shape[1], prevalence.shape[2]
    chance, shrink = np.empty((cells, nodes)), np.empty(cells)
    for cell in range(cells):
        g = at(data.cell_context[cell])
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
        shrink[cell] = nodes / total
        for q in range(nodes):
            chance[cell, q] *= shrink[cell]
    return chance, shrink


@compiled(fastmath={"reassoc", "contract"})
def bundle_shares(log_weight, chance, height, start, cells, counts):  # type: ignore[no-untyped-def]
    """Log-likelihood of each bundle (bundle,), and its nodes' posterior (bundle, node).

    A bundle is cells and their counts (the data's bundles or panels), or panels and theirs.
    """
    bundles, nodes = start.shape[0] - 1, log_weight.shape[0]
    value = np.empty(bundles)
    shares = np.empty((bundles, nodes))
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
