"""The marginal likelihood where nothing but the states is summed out.

Without difficulty, perception and cluster effects cells are independent, so that one loop gathers
a cell's evidence and spreads its gradient while its rows are at hand.
"""

import numpy as np

from assay.kernels.cells import add_rows, spread_rows
from assay.kernels.compiling import compiled


@compiled()
def plain_value_and_gradient(prevalence, response, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients, as ``value_and_gradient`` has them for one node.

    Parameters
    ----------
    prevalence : ndarray (context, state, 1)
    response : ndarray (1, row, state)
    data : Data
        Without layers of perception.

    Returns
    -------
    value : float
    by_prevalence, by_response : ndarray
        Like the tables.
    weight : float
        Of all cells: the gradient by the log probability of the one class of difficulty.
    """
    weight = cell_weights(data)
    by_prevalence, by_response = np.zeros(prevalence.shape), np.zeros(response.shape)
    states = response.shape[2]
    parts = np.empty(states)
    table, by_table = response[0], by_response[0]
    value, all_cells = 0.0, 0.0
    for cell in range(weight.shape[0]):
        g, mask = data.cell_context[cell], data.cell_mask[cell]
        for s in range(states):
            parts[s] = data.masks[mask, s]
        begin = data.row_start[data.view_start[cell]]
        end = data.row_start[data.view_start[cell + 1]]
        add_rows(parts, table, data.rows, begin, end)
        top = -1e300
        for s in range(states):
            top = max(top, parts[s])
        total = 1e-300
        for s in range(states):
            below = parts[s] - top
            part = 1.0 if below == 0.0 else np.exp(below)
            parts[s] = part
            total += prevalence[g, s, 0] * part
        value += weight[cell] * (top + np.log(total))
        all_cells += weight[cell]
        pull = weight[cell] / total
        for s in range(states):
            part = pull * parts[s]
            by_prevalence[g, s, 0] += part
            parts[s] = part * prevalence[g, s, 0]
        spread_rows(parts, by_table, data.rows, begin, end)
    return value, by_prevalence, by_response, all_cells


@compiled()
def cell_weights(data):  # type: ignore[no-untyped-def]
    """How often each cell stands in the data: (cell,)."""
    weight = np.zeros(data.cell_context.shape[0])
    for b in range(data.bundle_weight.shape[0]):
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            weight[data.bundle_cells[k]] += data.bundle_counts[k] * data.bundle_weight[b]
    return weight
