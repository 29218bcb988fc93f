"""The marginal likelihood: states, difficulty, appearances and cluster effects summed out."""

import numpy as np

from assay.kernels.bundles import bundle_shares, cell_chances
from assay.kernels.cells import cell_evidence, cell_evidence_back
from assay.kernels.compiling import compiled
from assay.kernels.plain_cells import plain_value_and_gradient


@compiled(fastmath={"reassoc", "contract"})
def value_and_gradient(prevalence, response, difficulty, layer, log_weight, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients in one pass.

    Parameters
    ----------
    prevalence : ndarray (context, state, node)
        Probabilities of the states.
    response : ndarray (difficulty, row, state)
        log p(answers of the row given the perceived state and the item's difficulty).
    difficulty : ndarray (difficulty,)
        Log probabilities of the classes of difficulty.
    layer : ndarray (kind, difficulty + look, state)
        Of each kind of perception: the chances that an item is misperceived, by its difficulty and
        state, and the probabilities of what it then looks like, in one row for all states or in a
        row for each.
    log_weight : ndarray (node,)
        Log weights of the quadrature nodes.
    data : Data

    Returns
    -------
    value : float
    by_prevalence, by_response, by_difficulty, by_layer : ndarray
        Like the tables.
    """
    by_layer = np.zeros(layer.shape)
    if log_weight.shape[0] == 1 and response.shape[0] == 1 and layer.shape[0] == 0:
        plain, by_prevalence, by_response, weight = plain_value_and_gradient(
            prevalence, response, data
        )
        return plain, by_prevalence, by_response, np.full(1, weight), by_layer
    evidence, parts, height = cell_evidence(response, difficulty, layer, data)
    chance = cell_chances(prevalence, evidence, parts, height, data)
    value, shares = bundle_shares(log_weight, chance, height, data)
    cells, classes, states = parts.shape
    nodes = log_weight.shape[0]
    pull = np.zeros((cells, nodes))
    total = 0.0
    for b in range(value.shape[0]):
        total += data.bundle_weight[b] * value[b]
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            cell = data.bundle_cells[k]
            scale = data.bundle_counts[k] * data.bundle_weight[b]
            for q in range(nodes):
                pull[cell, q] += scale * shares[b, q]
    by_prevalence = np.zeros(prevalence.shape)
    by_response = np.zeros(response.shape)
    by_difficulty = np.zeros(difficulty.shape)
    for cell in range(cells):
        g = data.cell_context[cell]
        for q in range(nodes):
            pull[cell, q] /= chance[cell, q]
        for s in range(states):
            e, along = evidence[cell, s], 0.0
            for q in range(nodes):
                by_prevalence[g, s, q] += pull[cell, q] * e
                along += pull[cell, q] * prevalence[g, s, q]
            for d in range(classes):
                parts[cell, d, s] *= along
                by_difficulty[d] += parts[cell, d, s]
    cell_evidence_back(parts, response, layer, data, by_response, by_layer)
    return total, by_prevalence, by_response, by_difficulty, by_layer


@compiled()
def bundle_nodes(prevalence, response, difficulty, layer, log_weight, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and posterior of the nodes of each bundle, and each cell's evidence.

    Parameters are those of :func:`value_and_gradient`.

    Returns
    -------
    value : ndarray (bundle,)
        Log-likelihood of the bundle.
    shares : ndarray (bundle, node)
        Posterior probabilities of the nodes.
    parts : ndarray (cell, difficulty, state)
        Likelihood of the cell's ratings given state and difficulty, times the probability of the
        difficulty, up to a factor of the cell.
    """
    evidence, parts, height = cell_evidence(response, difficulty, layer, data)
    chance = cell_chances(prevalence, evidence, parts, height, data)
    value, shares = bundle_shares(log_weight, chance, height, data)
    return value, shares, parts
