"""Rows of the response tables: as chances, multiplied and added to.

A row has one axis for class of difficulty and state, which stand side by side.
"""

import numpy as np

from assay.likelihood.compiling import compiled
from assay.likelihood.positions import at

WIDE = 8
"""Length from which rows are worked on as a whole, with vector instructions."""


@compiled()
def row_chances(response):  # type: ignore[no-untyped-def]
    """Chances of each row, relative to its largest.

    Returns
    -------
    chance, log_chance : ndarray (row, difficulty * state)
    height : ndarray (row,)
        Logarithm of the largest.
    """
    classes, rows, states = response.shape
    chance = np.empty((rows, classes * states))
    log_chance = np.empty((rows, classes * states))
    height = np.empty(rows)
    for row in range(rows):
        top = -1e300
        for d in range(classes):
            for s in range(states):
                top = max(top, response[d, row, s])
        height[row] = top
        for d in range(classes):
            for s in range(states):
                below = response[d, row, s] - top
                log_chance[row, d * states + s] = below
                chance[row, d * states + s] = np.exp(below)
    return chance, log_chance, height


@compiled(inline="always")
def multiply_rows(parts, table, rows, begin, end):  # type: ignore[no-untyped-def]
    """Multiply ``parts`` by rows of a table.

    Where they are short, a few at a time in registers: a product waits for itself, two do not wait
    for each other.
    """
    length = parts.shape[0]
    if length >= WIDE:
        for r in range(at(begin), at(end)):
            row = table[at(rows[r])]
            for k in range(length):
                parts[k] *= row[k]
        return
    pairs = length - length % 2
    for k in range(0, pairs, 2):
        first, second = parts[k], parts[k + 1]
        for r in range(at(begin), at(end)):
            place = at(rows[r])
            first *= table[place, k]
            second *= table[place, k + 1]
        parts[k], parts[k + 1] = first, second
    for k in range(pairs, length):
        one = parts[k]
        for r in range(at(begin), at(end)):
            one *= table[at(rows[r]), k]
        parts[k] = one


@compiled()
def add_rows(parts, table, rows, begin, end):  # type: ignore[no-untyped-def]
    """Add rows of a table to ``parts``: the product of chances by their logarithms."""
    for r in range(at(begin), at(end)):
        for k in range(parts.shape[0]):
            parts[k] += table[at(rows[r]), k]


@compiled()
def exponentiate(parts, begin, end):  # type: ignore[no-untyped-def]
    """Turn logarithms into numbers relative to the largest of them, whose logarithm is returned."""
    top = -1e300
    for k in range(begin, end):
        top = max(top, parts[k])
    for k in range(begin, end):
        parts[k] = np.exp(parts[k] - top)
    return top


@compiled(inline="always")
def spread_rows(along, by_rows, rows, begin, end):  # type: ignore[no-untyped-def]
    """Add ``along`` to rows of a table."""
    length = along.shape[0]
    if length >= WIDE:
        for r in range(at(begin), at(end)):
            row = by_rows[at(rows[r])]
            for k in range(length):
                row[k] += along[k]
        return
    pairs = length - length % 2
    for k in range(0, pairs, 2):
        first, second = along[k], along[k + 1]
        for r in range(at(begin), at(end)):
            place = at(rows[r])
            by_rows[place, k] += first
            by_rows[place, k + 1] += second
    for k in range(pairs, length):
        value = along[k]
        for r in range(at(begin), at(end)):
            by_rows[at(rows[r]), k] += value


@compiled()
def value_of_heights(by_rows, height):  # type: ignore[no-untyped-def]
    """Log-likelihood that chances relative to their largest leave out: ``height`` (row,).

    Each rating adds the height of its row; its gradients by the logarithms of the row's chances sum
    to its weight, since the likelihood is of the first degree in them. So ``by_rows`` knows how
    often each row was given, and nobody has to count.
    """
    value = 0.0
    for row in range(height.shape[0]):
        total = 0.0
        for k in range(by_rows.shape[1]):
            total += by_rows[row, k]
        value += total * height[row]
    return value
