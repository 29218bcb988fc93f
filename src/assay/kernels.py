"""All compiled code, in one file: Numba's cache on disk notices changes of this file only.

What the functions compute is said where they are used: :mod:`assay.likelihood` (states summed
out), :mod:`assay.tape` (the interpreter of formulas), :mod:`assay.density` (both together) and
:mod:`assay.recovery` (the states drawn). They hold no lock, so that chains run side by side.
"""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import carray  # type: ignore[attr-defined]
from numba.extending import intrinsic

# codes of the tape's operations
SUM, DOT, EXP, LOG, LOG1P, LOG_SOFTMAX, SOFTMAX, LOG_SUM_EXP = range(8)

RESCALE_AFTER = 8
"""Factors of at least 1e-300 relative to their largest; products of so few stay useful numbers."""


# -- the marginal likelihood ---------------------------------------------------------


class Data(NamedTuple):
    """The data as the compiled functions take them; :class:`assay.likelihood.Pattern` says what."""

    cell_context: np.ndarray
    cell_mask: np.ndarray
    view_start: np.ndarray
    view_layer: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray
    masks: np.ndarray
    bundle_start: np.ndarray
    bundle_cells: np.ndarray
    bundle_counts: np.ndarray
    bundle_weight: np.ndarray


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _look(view, d, response, rows, row_start, looks):  # type: ignore[no-untyped-def]
    """Fill ``looks`` with exp(log p(answers of a view | perceived state) - top); return the top."""
    top = -np.inf
    for a in range(looks.shape[0]):
        value = 0.0
        for r in range(row_start[view], row_start[view + 1]):
            value += response[d, rows[r], a]
        looks[a] = value
        top = max(top, value)
    for a in range(looks.shape[0]):
        looks[a] = np.exp(looks[a] - top)
    return top


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _add_rows(parts, cell, d, response, data, view):  # type: ignore[no-untyped-def]
    """Add rows of the response table to ``parts[cell, d]``, four states at a time in registers."""
    states = parts.shape[2]
    even = states - states % 4
    begin, end, rows = data.row_start[view], data.row_start[view + 1], data.rows
    for s in range(0, even, 4):
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for r in range(begin, end):
            row = rows[r]
            first += response[d, row, s]
            second += response[d, row, s + 1]
            third += response[d, row, s + 2]
            fourth += response[d, row, s + 3]
        parts[cell, d, s] += first
        parts[cell, d, s + 1] += second
        parts[cell, d, s + 2] += third
        parts[cell, d, s + 3] += fourth
    for s in range(even, states):
        total = 0.0
        for r in range(begin, end):
            total += response[d, rows[r], s]
        parts[cell, d, s] += total


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _spread_rows(along, cell, d, by_response, data, view):  # type: ignore[no-untyped-def]
    """Add ``along[cell, d]`` to rows of the gradient by the response table."""
    states = along.shape[2]
    even = states - states % 4
    begin, end, rows = data.row_start[view], data.row_start[view + 1], data.rows
    for s in range(0, even, 4):
        first, second = along[cell, d, s], along[cell, d, s + 1]
        third, fourth = along[cell, d, s + 2], along[cell, d, s + 3]
        for r in range(begin, end):
            row = rows[r]
            by_response[d, row, s] += first
            by_response[d, row, s + 1] += second
            by_response[d, row, s + 2] += third
            by_response[d, row, s + 3] += fourth
    for s in range(even, states):
        value = along[cell, d, s]
        for r in range(begin, end):
            by_response[d, rows[r], s] += value


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _evidence(response, difficulty, layer, data):  # type: ignore[no-untyped-def]
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
                if kind < 0:
                    _add_rows(parts, cell, d, response, data, view)
                    continue
                high = _look(view, d, response, data.rows, data.row_start, looks)
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _cell_chances(prevalence, evidence, parts, height, data):  # type: ignore[no-untyped-def]
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _bundle_shares(log_weight, chance, height, data):  # type: ignore[no-untyped-def]
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pull_rows(along, response, layer, data, by_response, by_layer):  # type: ignore[no-untyped-def]
    """Carry d value / d log evidence, ``along`` (cell, difficulty, state), to the tables."""
    cells, classes, states = along.shape
    looks, afresh = np.empty(states), np.empty(states)
    pull, mixed = np.empty(states), np.empty(states)
    for cell in range(cells):
        for d in range(classes):
            for view in range(data.view_start[cell], data.view_start[cell + 1]):
                kind = data.view_layer[view]
                if kind < 0:
                    _spread_rows(along, cell, d, by_response, data, view)
                    continue
                _look(view, d, response, data.rows, data.row_start, looks)
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
                    for r in range(data.row_start[view], data.row_start[view + 1]):
                        by_response[d, data.rows[r], s] += looks[s] * pull[s]


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def value_and_gradient(prevalence, response, difficulty, layer, log_weight, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients in one pass.

    Loops are written out: whole-array expressions take many times as long to compile.

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
    evidence, parts, height = _evidence(response, difficulty, layer, data)
    chance = _cell_chances(prevalence, evidence, parts, height, data)
    value, shares = _bundle_shares(log_weight, chance, height, data)
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
    by_layer = np.zeros(layer.shape)
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
    _pull_rows(parts, response, layer, data, by_response, by_layer)
    return total, by_prevalence, by_response, by_difficulty, by_layer


@numba.njit(cache=True, nogil=True, error_model="numpy")
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
    evidence, parts, height = _evidence(response, difficulty, layer, data)
    chance = _cell_chances(prevalence, evidence, parts, height, data)
    value, shares = _bundle_shares(log_weight, chance, height, data)
    return value, shares, parts


# -- the tape ------------------------------------------------------------------------


class TapeArrays(NamedTuple):
    """A recorded tape as the compiled functions take it (:meth:`assay.tape.Tape.finish`)."""

    constants: np.ndarray
    operations: np.ndarray
    positions: np.ndarray


class Places(NamedTuple):
    """Where the log prior and the tables of the likelihood stand in a tape's buffer."""

    prior: int
    prevalence: np.ndarray
    response: np.ndarray
    difficulty: np.ndarray
    layer: np.ndarray


@numba.njit(cache=True, nogil=True, error_model="numpy")
def play_forwards(buffer, operations, positions):  # type: ignore[no-untyped-def]
    """Fill the buffer with the results of all operations."""
    for o in range(operations.shape[0]):
        code, out, outer, inner, first, second = operations[o]
        if code == SUM:
            for n in range(outer):
                total = 0.0
                for k in range(first + n * inner, first + (n + 1) * inner):
                    total += buffer[positions[k]]
                buffer[out + n] = total
        elif code == DOT:
            for n in range(outer):
                total = 0.0
                for k in range(n * inner, (n + 1) * inner):
                    total += buffer[positions[first + k]] * buffer[positions[second + k]]
                buffer[out + n] = total
        elif code == EXP:
            for n in range(outer):
                buffer[out + n] = np.exp(buffer[positions[first + n]])
        elif code == LOG:
            for n in range(outer):
                buffer[out + n] = np.log(buffer[positions[first + n]])
        elif code == LOG1P:
            for n in range(outer):
                buffer[out + n] = np.log1p(buffer[positions[first + n]])
        else:
            for n in range(outer):
                _normalise(code, buffer, positions, first + n * inner, inner, out, n)


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _normalise(code, buffer, positions, at, inner, out, n):  # type: ignore[no-untyped-def]
    """Log-sum-exp, softmax or log-softmax of one row."""
    top = -np.inf
    for k in range(inner):
        top = max(top, buffer[positions[at + k]])
    total = 0.0
    if code == SOFTMAX:
        here = out + n * inner
        for k in range(inner):
            buffer[here + k] = np.exp(buffer[positions[at + k]] - top)
            total += buffer[here + k]
        for k in range(inner):
            buffer[here + k] /= total
        return
    for k in range(inner):
        total += np.exp(buffer[positions[at + k]] - top)
    total = top + np.log(total)
    if code == LOG_SUM_EXP:
        buffer[out + n] = total
        return
    for k in range(inner):
        buffer[out + n * inner + k] = buffer[positions[at + k]] - total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def play_backwards(buffer, adjoint, operations, positions):  # type: ignore[no-untyped-def]
    """Carry the adjoints of the outputs back to the inputs."""
    for o in range(operations.shape[0] - 1, -1, -1):
        code, out, outer, inner, first, second = operations[o]
        for n in range(outer):
            at = first + n * inner
            if code == SUM:
                given = adjoint[out + n]
                for k in range(inner):
                    adjoint[positions[at + k]] += given
            elif code == DOT:
                given = adjoint[out + n]
                other = second + n * inner
                for k in range(inner):
                    a, b = positions[at + k], positions[other + k]
                    adjoint[a] += given * buffer[b]
                    adjoint[b] += given * buffer[a]
            elif code == EXP:
                adjoint[positions[at]] += adjoint[out + n] * buffer[out + n]
            elif code == LOG:
                adjoint[positions[at]] += adjoint[out + n] / buffer[positions[at]]
            elif code == LOG1P:
                adjoint[positions[at]] += adjoint[out + n] / (1.0 + buffer[positions[at]])
            elif code == LOG_SUM_EXP:
                for k in range(inner):
                    a = positions[at + k]
                    adjoint[a] += adjoint[out + n] * np.exp(buffer[a] - buffer[out + n])
            else:
                _normalise_back(code, buffer, adjoint, positions, at, inner, out + n * inner)


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _normalise_back(code, buffer, adjoint, positions, at, inner, here):  # type: ignore[no-untyped-def]
    """Adjoints of one row of a softmax or log-softmax."""
    total = 0.0
    if code == SOFTMAX:
        for k in range(here, here + inner):
            total += adjoint[k] * buffer[k]
        for k in range(inner):
            adjoint[positions[at + k]] += buffer[here + k] * (adjoint[here + k] - total)
        return
    for k in range(here, here + inner):
        total += adjoint[k]
    for k in range(inner):
        adjoint[positions[at + k]] += adjoint[here + k] - total * np.exp(buffer[here + k])


# -- the log density -----------------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy")
def tables_at(x, tape, places):  # type: ignore[no-untyped-def]
    """Play the tape at unconstrained values ``x``: its buffer, and the tables of the likelihood."""
    buffer = tape.constants.copy()
    for n in range(x.shape[0]):
        buffer[n] = x[n]
    play_forwards(buffer, tape.operations, tape.positions)
    prevalence = np.empty(places.prevalence.shape)
    response = np.empty(places.response.shape)
    difficulty = np.empty(places.difficulty.shape)
    layer = np.empty(places.layer.shape)
    _gather(buffer, places.prevalence, prevalence)
    _gather(buffer, places.response, response)
    _gather(buffer, places.layer, layer)
    for n in range(difficulty.shape[0]):
        difficulty[n] = buffer[places.difficulty[n]]
    return buffer, prevalence, response, difficulty, layer


@numba.njit(cache=True, nogil=True, error_model="numpy")
def carry_back(  # type: ignore[no-untyped-def]
    buffer, by_prevalence, by_response, by_difficulty, by_layer, tape, places, size
):
    """Gradient by the first ``size`` numbers of the buffer, the prior's included."""
    adjoint = np.zeros(buffer.shape)
    adjoint[places.prior] = 1.0
    _scatter(adjoint, places.prevalence, by_prevalence)
    _scatter(adjoint, places.response, by_response)
    _scatter(adjoint, places.layer, by_layer)
    for n in range(by_difficulty.shape[0]):
        adjoint[places.difficulty[n]] += by_difficulty[n]
    play_backwards(buffer, adjoint, tape.operations, tape.positions)
    gradient = np.empty(size)
    for n in range(size):
        gradient[n] = adjoint[n]
    return gradient


@numba.njit(cache=True, nogil=True, error_model="numpy")
def log_density(x, tape, places, log_weight, data):  # type: ignore[no-untyped-def]
    """Log density and gradient at unconstrained values ``x``."""
    buffer, prevalence, response, difficulty, layer = tables_at(x, tape, places)
    value, by_prevalence, by_response, by_difficulty, by_layer = value_and_gradient(
        prevalence, response, difficulty, layer, log_weight, data
    )
    gradient = carry_back(
        buffer, by_prevalence, by_response, by_difficulty, by_layer, tape, places, x.shape[0]
    )
    return value + buffer[places.prior], gradient


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _gather(buffer, at, table):  # type: ignore[no-untyped-def]
    """Fill a table of three axes with the numbers that stand at given places."""
    for a in range(at.shape[0]):
        for b in range(at.shape[1]):
            for c in range(at.shape[2]):
                table[a, b, c] = buffer[at[a, b, c]]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scatter(target, at, table):  # type: ignore[no-untyped-def]
    """Add the numbers of a table of three axes at given places."""
    for a in range(at.shape[0]):
        for b in range(at.shape[1]):
            for c in range(at.shape[2]):
                target[at[a, b, c]] += table[a, b, c]


# -- the log density as a C function ---------------------------------------------------
#
# Chains in threads that call Python wait for its lock longer than a small density takes. nutpie can
# call a C function instead, which gets its arrays as a row of cards: address and shape of each.

CARD = 4
"""Integers of a card: the address of an array, and its shape, up to three axes."""
CARDS = 22


def cards(*arrays: np.ndarray) -> np.ndarray:
    """Return the cards of arrays, which have to outlive them."""
    found = np.ones((len(arrays), CARD), np.int64)
    for n, array in enumerate(arrays):
        found[n, 0] = array.ctypes.data
        found[n, 1 : 1 + array.ndim] = array.shape
    return found.ravel()


def _pointer_to(kind: Any) -> Any:
    """Return a function, for compiled code, that takes an integer for an address."""

    @intrinsic
    def pointer(typing_context, address):  # type: ignore[no-untyped-def]
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return numba.types.CPointer(kind)(address), generate

    return pointer


_float_pointer = _pointer_to(numba.types.float64)
_integer_pointer = _pointer_to(numba.types.int64)


@numba.njit(inline="always")
def _floats(table, n):  # type: ignore[no-untyped-def]
    return carray(_float_pointer(table[CARD * n]), (table[CARD * n + 1],))


@numba.njit(inline="always")
def _integers(table, n):  # type: ignore[no-untyped-def]
    return carray(_integer_pointer(table[CARD * n]), (table[CARD * n + 1],))


@numba.njit(inline="always")
def _places(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2], table[CARD * n + 3])
    return carray(_integer_pointer(table[CARD * n]), shape)


@numba.njit(inline="always")
def _operations(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2])
    return carray(_integer_pointer(table[CARD * n]), shape)


@numba.njit(inline="always")
def _masks(table, n):  # type: ignore[no-untyped-def]
    shape = (table[CARD * n + 1], table[CARD * n + 2])
    return carray(_float_pointer(table[CARD * n]), shape)


def _log_density_from_cards(dim: Any, z_: Any, gradient_: Any, value_: Any, table_: Any) -> int:
    """Log density and gradient at ``centre + scale * z``; 0, or 3 or 4 where they are not finite.

    The cards are those of the centre, the scale, the tape, its places, the log weights of the nodes
    and the data, in this order.
    """
    size = np.int64(dim)
    table: Any = carray(table_, (CARDS * CARD,))
    z: Any = carray(z_, (size,))
    out: Any = carray(gradient_, (size,))
    centre, scale = _floats(table, 0), _floats(table, 1)
    x = np.empty(size)
    for n in range(size):
        x[n] = centre[n] + scale[n] * z[n]
    operations = _operations(table, 3)
    tape = TapeArrays(_floats(table, 2), operations, _integers(table, 4))
    places = Places(
        _integers(table, 5)[0],
        _places(table, 6),
        _places(table, 7),
        _integers(table, 8),
        _places(table, 9),
    )
    data = Data(
        _integers(table, 11),
        _integers(table, 12),
        _integers(table, 13),
        _integers(table, 14),
        _integers(table, 15),
        _integers(table, 16),
        _masks(table, 17),
        _integers(table, 18),
        _integers(table, 19),
        _integers(table, 20),
        _floats(table, 21),
    )
    value, gradient = log_density(x, tape, places, _floats(table, 10), data)
    finite = True
    for n in range(size):
        out[n] = scale[n] * gradient[n]
        finite &= np.isfinite(out[n])
    carray(value_, (1,))[0] = value
    if not finite:
        return 3
    return 0 if np.isfinite(value) else 4


def _copy_point(dim: Any, expanded: Any, z_: Any, out_: Any, table_: Any) -> int:
    """Hand a draw over as it is."""
    z: Any = carray(z_, (np.int64(dim),))
    out: Any = carray(out_, (np.int64(dim),))
    for n in range(np.int64(dim)):
        out[n] = z[n]
    return 0


@cache
def c_functions() -> tuple[Any, Any]:
    """Compile the log density and the copy of a draw as C functions, as nutpie calls them."""
    types = numba.types
    numbers, table = types.CPointer(types.float64), types.CPointer(types.int64)
    density = types.int64(types.uint64, numbers, numbers, numbers, table)
    copy = types.int64(types.uint64, types.uint64, numbers, numbers, table)
    return (
        numba.cfunc(density, cache=True, error_model="numpy")(_log_density_from_cards),
        numba.cfunc(copy, cache=True)(_copy_point),
    )


# -- the states ----------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(weights, uniform):  # type: ignore[no-untyped-def]
    """Position at which the running sum of weights passes ``uniform`` of the total."""
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def recover_draw(  # type: ignore[no-untyped-def]
    prevalence,
    shares,
    parts,
    data,
    item_cell,
    cluster_bundle,
    start,
    members,
    by_cluster,
    by_item,
    states,
    probabilities,
    difficulties,
):
    """Fill the states and add up the probabilities of one draw.

    ``prevalence`` is (context, state, node); ``difficulties`` (item, difficulty) adds up the
    probabilities of the classes of difficulty.
    """
    count, nodes = prevalence.shape[1], prevalence.shape[2]
    chance, evidence = np.empty(count), np.empty(count)
    node, pull = np.empty(nodes), np.empty(nodes)
    for c in range(cluster_bundle.shape[0]):
        for q in range(nodes):
            node[q] = shares[cluster_bundle[c], q]
        drawn = _pick(node, by_cluster[c])
        for k in range(start[c], start[c + 1]):
            item = members[k]
            cell = item_cell[item]
            g = data.cell_context[cell]
            for q in range(nodes):
                pull[q] = 1e-300
            for s in range(count):
                e = 0.0
                for d in range(parts.shape[1]):
                    e += parts[cell, d, s]
                evidence[s] = e
                chance[s] = prevalence[g, s, drawn] * e
                for q in range(nodes):
                    pull[q] += prevalence[g, s, q] * e
            for q in range(nodes):
                pull[q] = node[q] / pull[q]
            for s in range(count):
                weight = 0.0
                for q in range(nodes):
                    weight += pull[q] * prevalence[g, s, q]
                probabilities[item, s] += weight * evidence[s]
                for d in range(parts.shape[1]):
                    difficulties[item, d] += weight * parts[cell, d, s]
            states[item] = _pick(chance, by_item[item])
