"""The marginal likelihood where cells are independent: without cluster effects and perception.

One loop gathers a cell's evidence and spreads its gradient while its rows are at hand.
"""

import numpy as np

from assay.likelihood.cells import VANISHED, evidence_without_ratings, logs_without_ratings
from assay.likelihood.compiling import compiled
from assay.likelihood.hard_truths import entries, hard_prevalence
from assay.likelihood.positions import at
from assay.likelihood.rows import (
    add_rows,
    exponentiate,
    multiply_rows,
    spread_rows,
    value_of_heights,
)


@compiled()
def plain_value_and_gradient(prevalence, rows, difficulty, hard_truth, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients, as ``value_and_gradient`` has them for one node.

    Parameters
    ----------
    prevalence : ndarray (context, state, 1)
    rows : tuple
        From :func:`~assay.likelihood.rows.row_chances`.
    difficulty : ndarray (difficulty,)
    hard_truth : ndarray (hard class, state, state), or without classes
    data : Data
        Without layers of perception.

    Returns
    -------
    value : float
    by_prevalence, by_rows : ndarray
        Like the tables.
    by_part : ndarray (difficulty * state,)
        Gradient by the log weight of each class of difficulty and state.
    by_hard_truth : ndarray
    """
    chance, log_chance, row_height = rows
    weight = cell_weights(data)
    by_rows, length = np.zeros(chance.shape), chance.shape[1]
    before = _for_each_difficulty(prevalence, length, hard_truth)
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
    by_prevalence, by_hard_truth = _to_prevalence(by_before, prevalence, hard_truth)
    return value, by_prevalence, by_rows, by_part, by_hard_truth


@compiled()
def _for_each_difficulty(prevalence, length, hard_truth):  # type: ignore[no-untyped-def]
    """Probabilities of the states for each class of difficulty: (context, length)."""
    contexts, states, _ = prevalence.shape
    found = np.empty((contexts, length))
    for g in range(contexts):
        for k in range(length):
            found[g, k] = prevalence[g, k % states, 0]
    if hard_truth.shape[0] > 0:
        hard = hard_prevalence(prevalence, hard_truth)
        for g in range(contexts):
            for k in range(states, length):
                found[g, k] = hard[k // states - 1, g, k % states, 0]
    return found


@compiled()
def _to_prevalence(by_before, prevalence, hard_truth):  # type: ignore[no-untyped-def]
    """Carry the gradient by what `_for_each_difficulty` returns to what it is made of."""
    contexts, states, _ = prevalence.shape
    by_prevalence, by_hard_truth = np.zeros(prevalence.shape), np.zeros(hard_truth.shape)
    alike = states if hard_truth.shape[0] > 0 else by_before.shape[1]
    start, column, chance = entries(hard_truth)
    for g in range(contexts):
        for k in range(alike):
            by_prevalence[g, k % states, 0] += by_before[g, k]
        for row in range(start.shape[0] - 1):
            d, s = row // states, row % states
            for e in range(start[row], start[row + 1]):
                n = at(column[e])
                along = by_before[g, (d + 1) * states + n]
                by_prevalence[g, s, 0] += chance[e] * along
                by_hard_truth[d, s, n] += prevalence[g, s, 0] * along
    return by_prevalence, by_hard_truth


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
