"""The marginal likelihood where nothing but the states is summed out.

Without difficulty, perception and cluster effects cells are independent, so that one loop gathers
a cell's evidence and spreads its gradient while its rows are at hand.
"""

import numpy as np

from assay.kernels.cells import VANISHED
from assay.kernels.compiling import compiled
from assay.kernels.rows import add_rows, exponentiate, multiply_rows, spread_rows


@compiled()
def plain_value_and_gradient(prevalence, rows, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients, as ``value_and_gradient`` has them for one node.

    Parameters
    ----------
    prevalence : ndarray (context, state, 1)
    rows : tuple
        From :func:`~assay.kernels.rows.row_chances`, of one class of difficulty.
    data : Data
        Without layers of perception.

    Returns
    -------
    value : float
    by_prevalence, by_rows : ndarray
        Like the tables.
    weight : float
        Of all cells: the gradient by the log probability of the one class of difficulty.
    """
    chance, log_chance, row_height = rows
    weight = cell_weights(data)
    by_prevalence, by_rows = np.zeros(prevalence.shape), np.zeros(chance.shape)
    states = chance.shape[1]
    parts, known = np.empty(states), np.exp(data.masks)
    value, all_cells = 0.0, 0.0
    for cell in range(weight.shape[0]):
        g, mask = data.cell_context[cell], data.cell_mask[cell]
        begin = data.row_start[data.view_start[cell]]
        end = data.row_start[data.view_start[cell + 1]]
        for s in range(states):
            parts[s] = known[mask, s]
        multiply_rows(parts, chance, data.rows, begin, end)
        top, height = 0.0, 0.0
        for s in range(states):
            top = max(top, parts[s])
        if top < VANISHED:
            for s in range(states):
                parts[s] = data.masks[mask, s]
            add_rows(parts, log_chance, data.rows, begin, end)
            height = exponentiate(parts, 0, states)
        for r in range(begin, end):
            height += row_height[data.rows[r]]
        total = 1e-300
        for s in range(states):
            total += prevalence[g, s, 0] * parts[s]
        value += weight[cell] * (height + np.log(total))
        all_cells += weight[cell]
        pull = weight[cell] / total
        for s in range(states):
            part = pull * parts[s]
            by_prevalence[g, s, 0] += part
            parts[s] = part * prevalence[g, s, 0]
        spread_rows(parts, by_rows, data.rows, begin, end)
    return value, by_prevalence, by_rows, all_cells


@compiled()
def cell_weights(data):  # type: ignore[no-untyped-def]
    """How often each cell stands in the data: (cell,)."""
    weight = np.zeros(data.cell_context.shape[0])
    for b in range(data.bundle_weight.shape[0]):
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            weight[data.bundle_cells[k]] += data.bundle_counts[k] * data.bundle_weight[b]
    return weight
