"""The marginal likelihood where cells are independent: without cluster effects and perception.

One loop gathers a cell's evidence and spreads its gradient while its rows are at hand.
"""

import numpy as np

from assay.kernels.cells import VANISHED, evidence_without_ratings, logs_without_ratings
from assay.kernels.compiling import compiled
from assay.kernels.positions import at
from assay.kernels.rows import (
    add_rows,
    exponentiate,
    multiply_rows,
    spread_rows,
    value_of_heights,
)


@compiled()
def plain_value_and_gradient(prevalence, rows, difficulty, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients, as ``value_and_gradient`` has them for one node.

    Parameters
    ----------
    prevalence : ndarray (context, state, 1)
    rows : tuple
        From :func:`~assay.kernels.rows.row_chances`.
    difficulty : ndarray (difficulty,)
    data : Data
        Without layers of perception.

    Returns
    -------
    value : float
    by_prevalence, by_rows : ndarray
        Like the tables.
    by_part : ndarray (difficulty * state,)
        Gradient by the log weight of each class of difficulty and state.
    """
    chance, log_chance, row_height = rows
    weight = cell_weights(data)
    by_rows, length = np.zeros(chance.shape), chance.shape[1]
    before = _for_each_difficulty(prevalence, length)
    by_before, by_part, parts = np.zeros(before.shape), np.zeros(length), np.empty(length)
    start = evidence_without_ratings(difficulty, data.masks)
    value = 0.0
    for cell in range(weight.shape[0]):
        g, mask = at(data.cell_context[cell]), at(data.cell_mask[cell])
        begin = data.row_start[at(data.view_start[cell])]
        end = data.row_start[at(data.view_start[cell + 1])]
        for k in range(length):
            parts[k] = start[mask, k]
        multiply_rows(parts, chance, data.rows, begin, end)
        height, total = 0.0, _weigh(parts, before, g)
        if total < VANISHED:
            logs_without_ratings(parts, difficulty, data.masks[mask])
            add_rows(parts, log_chance, data.rows, begin, end)
            height = exponentiate(parts, 0, length)
            total = 1e-300 + _weigh(parts, before, g)
        value += weight[cell] * (height + np.log(total))
        pull = weight[cell] / total
        for k in range(length):
            part = pull * parts[k]
            by_before[g, k] += part
            parts[k] = part * before[g, k]
            by_part[k] += parts[k]
        spread_rows(parts, by_rows, data.rows, begin, end)
    value += value_of_heights(by_rows, row_height)
    by_prevalence, states = np.zeros(prevalence.shape), prevalence.shape[1]
    for g in range(by_before.shape[0]):
        for k in range(length):
            by_prevalence[g, k % states, 0] += by_before[g, k]
    return value, by_prevalence, by_rows, by_part


@compiled()
def _for_each_difficulty(prevalence, length):  # type: ignore[no-untyped-def]
    """Repeat the probabilities of the states for each class of difficulty: (context, length)."""
    contexts, states, _ = prevalence.shape
    found = np.empty((contexts, length))
    for g in range(contexts):
        for k in range(length):
            found[g, k] = prevalence[g, k % states, 0]
    return found


@compiled(inline="always")
def _weigh(parts, before, context):  # type: ignore[no-untyped-def]
    """Likelihood of a cell, from its parts (difficulty * state,)."""
    total = 0.0
    for k in range(parts.shape[0]):
        total += before[context, k] * parts[k]
    return total


@compiled()
def cell_weights(data):  # type: ignore[no-untyped-def]
    """How often each cell stands in the data: (cell,)."""
    weight = np.zeros(data.cell_context.shape[0])
    for b in range(data.bundle_weight.shape[0]):
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            weight[at(data.bundle_cells[k])] += data.bundle_counts[k] * data.bundle_weight[b]
    return weight
