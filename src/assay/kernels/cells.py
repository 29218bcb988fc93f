"""Evidence of each cell: how likely its ratings are given each state; and the gradient's way back.

A cell stands for all items with the same context, known truth and rows (:mod:`assay.likelihood`).
A view is what one group of raters says of it: through a layer of perception, or as it is.
"""

import numpy as np

from assay.kernels.compiling import compiled


@compiled()
def cell_evidence(response, difficulty, layer, data):  # type: ignore[no-untyped-def]
    """Evidence of each cell for each state, and its parts by class of difficulty.

    Returns
    -------
    evidence : ndarray (cell, state)
        Likelihood of the cell's ratings given the state, relative to the largest.
    parts : ndarray (cell, difficulty, state)
        Its terms.
    height : ndarray (cell,)
        Logarithm of the largest.
    """
    cells, classes, states = data.cell_context.shape[0], response.shape[0], response.shape[2]
    evidence = np.empty((cells, states))
    parts = np.empty((cells, classes, states))
    height = np.empty(cells)
    looks, afresh = np.empty(states), np.empty(states)
    for cell in range(cells):
        mask = data.cell_mask[cell]
        top = -np.inf
        for d in range(classes):
            for s in range(states):
                parts[cell, d, s] = difficulty[d] + data.masks[mask, s]
            for view in range(data.view_start[cell], data.view_start[cell + 1]):
                kind = data.view_layer[view]
                begin, end = data.row_start[view], data.row_start[view + 1]
                if kind < 0:
                    add_rows(parts[cell, d], response[d], data.rows, begin, end)
                    continue
                high = _look(d, response, data.rows, begin, end, looks)
                _see_afresh(kind, classes, layer, looks, afresh)
                for s in range(states):
                    blur = layer[kind, d, s]
                    mixed = max((1 - blur) * looks[s] + blur * afresh[s], 1e-300)
                    parts[cell, d, s] += high + np.log(mixed)
            for s in range(states):
                top = max(top, parts[cell, d, s])
        if top == -np.inf:
            top = -1e300
        height[cell] = top
        for s in range(states):
            evidence[cell, s] = 0.0
        for d in range(classes):
            for s in range(states):
                part = np.exp(parts[cell, d, s] - top)
                parts[cell, d, s] = part
                evidence[cell, s] += part
    return evidence, parts, height


@compiled()
def cell_evidence_back(along, response, layer, data, by_response, by_layer):  # type: ignore[no-untyped-def]
    """Carry d value / d log evidence, ``along`` (cell, difficulty, state), to the tables."""
    cells, classes, states = along.shape
    looks, afresh = np.empty(states), np.empty(states)
    pull, mixed = np.empty(states), np.empty(states)
    for cell in range(cells):
        for d in range(classes):
            for view in range(data.view_start[cell], data.view_start[cell + 1]):
                kind = data.view_layer[view]
                begin, end = data.row_start[view], data.row_start[view + 1]
                if kind < 0:
                    spread_rows(along[cell, d], by_response[d], data.rows, begin, end)
                    continue
                _look(d, response, data.rows, begin, end, looks)
                _see_afresh(kind, classes, layer, looks, afresh)
                kinds_of_look = layer.shape[1] - classes
                for n in range(kinds_of_look):
                    mixed[n] = 0.0
                for s in range(states):
                    blur = layer[kind, d, s]
                    total = max((1 - blur) * looks[s] + blur * afresh[s], 1e-300)
                    share = along[cell, d, s] / total
                    by_layer[kind, d, s] += share * (afresh[s] - looks[s])
                    mixed[min(s, kinds_of_look - 1)] += share * blur
                    pull[s] = share * (1 - blur)
                for n in range(kinds_of_look):
                    for a in range(states):
                        by_layer[kind, classes + n, a] += mixed[n] * looks[a]
                        pull[a] += mixed[n] * layer[kind, classes + n, a]
                for s in range(states):
                    for r in range(begin, end):
                        by_response[d, data.rows[r], s] += looks[s] * pull[s]


@compiled(inline="always")
def add_rows(sums, response, rows, begin, end):  # type: ignore[no-untyped-def]
    """Add rows of a response table (row, state) to ``sums``, four states at a time in registers.

    Of what remains two at a time: a sum waits for itself, two do not wait for each other.
    """
    states = sums.shape[0]
    even = states - states % 4
    pairs = states - states % 2
    for s in range(0, even, 4):
        first, second, third, fourth = sums[s], sums[s + 1], sums[s + 2], sums[s + 3]
        for r in range(begin, end):
            row = rows[r]
            first += response[row, s]
            second += response[row, s + 1]
            third += response[row, s + 2]
            fourth += response[row, s + 3]
        sums[s], sums[s + 1], sums[s + 2], sums[s + 3] = first, second, third, fourth
    for s in range(even, pairs, 2):
        first, second = sums[s], sums[s + 1]
        for r in range(begin, end):
            row = rows[r]
            first += response[row, s]
            second += response[row, s + 1]
        sums[s], sums[s + 1] = first, second
    for s in range(pairs, states):
        total = sums[s]
        for r in range(begin, end):
            total += response[rows[r], s]
        sums[s] = total


@compiled(inline="always")
def spread_rows(along, by_response, rows, begin, end):  # type: ignore[no-untyped-def]
    """Add ``along`` (state,) to rows of the gradient by a response table (row, state)."""
    states = along.shape[0]
    even = states - states % 4
    pairs = states - states % 2
    for s in range(0, even, 4):
        first, second, third, fourth = along[s], along[s + 1], along[s + 2], along[s + 3]
        for r in range(begin, end):
            row = rows[r]
            by_response[row, s] += first
            by_response[row, s + 1] += second
            by_response[row, s + 2] += third
            by_response[row, s + 3] += fourth
    for s in range(even, pairs, 2):
        first, second = along[s], along[s + 1]
        for r in range(begin, end):
            row = rows[r]
            by_response[row, s] += first
            by_response[row, s + 1] += second
    for s in range(pairs, states):
        value = along[s]
        for r in range(begin, end):
            by_response[rows[r], s] += value


@compiled()
def _look(d, response, rows, begin, end, looks):  # type: ignore[no-untyped-def]
    """Fill ``looks`` with exp(log p(answers of a view | perceived state) - top); return the top."""
    top = -np.inf
    for a in range(looks.shape[0]):
        value = 0.0
        for r in range(begin, end):
            value += response[d, rows[r], a]
        looks[a] = value
        top = max(top, value)
    for a in range(looks.shape[0]):
        looks[a] = np.exp(looks[a] - top)
    return top


@compiled()
def _see_afresh(kind, first, layer, looks, afresh):  # type: ignore[no-untyped-def]
    """Fill ``afresh``: the chance of a view's answers, by state, if its raters misperceive it.

    What the item then looks like stands in the layer's table from row ``first`` on: one row for
    all states, or a row each.
    """
    states = looks.shape[0]
    each = layer.shape[1] - first > 1
    for s in range(states):
        if s > 0 and not each:
            afresh[s] = afresh[0]
            continue
        total = 0.0
        for a in range(states):
            total += layer[kind, first + s, a] * looks[a]
        afresh[s] = total
