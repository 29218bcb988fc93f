"""All compiled code, in one file: Numba's cache on disk notices changes of this file only.

What the functions compute is said where they are used: :mod:`assay.likelihood` (states summed
out), :mod:`assay.tape` (the interpreter of formulas), :mod:`assay.density` (both together) and
:mod:`assay.recovery` (the states drawn). They hold no lock, so that chains run side by side.
"""

from typing import NamedTuple

import numba
import numpy as np

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
def _seen(k, layer, looks):  # type: ignore[no-untyped-def]
    """Chance of the answers of a view whose raters perceive the item afresh."""
    total = 0.0
    for a in range(looks.shape[0]):
        total += layer[k, 1, a] * looks[a]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _evidence(cell, response, difficulty, layer, data, looks, parts, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` (state) with exp(log evidence - its maximum); return the maximum.

    ``parts`` (difficulty, state) gets the part that each class of difficulty has in it.
    """
    top = -np.inf
    for d in range(parts.shape[0]):
        for s in range(out.shape[0]):
            parts[d, s] = difficulty[d] + data.masks[data.cell_mask[cell], s]
        for view in range(data.view_start[cell], data.view_start[cell + 1]):
            kind = data.view_layer[view]
            if kind < 0:
                for r in range(data.row_start[view], data.row_start[view + 1]):
                    row = data.rows[r]
                    for s in range(out.shape[0]):
                        parts[d, s] += response[d, row, s]
                continue
            high = _look(view, d, response, data.rows, data.row_start, looks)
            afresh = _seen(kind, layer, looks)
            for s in range(out.shape[0]):
                blur = layer[kind, 0, s]
                parts[d, s] += high + np.log(max((1 - blur) * looks[s] + blur * afresh, 1e-300))
        for s in range(out.shape[0]):
            top = max(top, parts[d, s])
    if top == -np.inf:
        top = -1e300
    out[:] = 0.0
    for d in range(parts.shape[0]):
        for s in range(out.shape[0]):
            parts[d, s] = np.exp(parts[d, s] - top)
            out[s] += parts[d, s]
    return top


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cell_chances(by_node, response, difficulty, layer, data):  # type: ignore[no-untyped-def]
    """Evidence (cell, state), and the likelihood of each cell at each node.

    Evidence is relative to its largest; ``chance`` (cell, node) is relative to ``height`` (cell,),
    the logarithm of its largest, so that products over the cells of a bundle need no logarithms.
    ``parts`` (cell, difficulty, state) are the terms of the evidence.
    """
    cells, states, nodes = data.cell_context.shape[0], response.shape[2], by_node.shape[2]
    evidence = np.empty((cells, states))
    parts = np.empty((cells, response.shape[0], states))
    looks = np.empty(states)
    chance = np.full((cells, nodes), 1e-300)
    height = np.empty(cells)
    for cell in range(cells):
        top = _evidence(cell, response, difficulty, layer, data, looks, parts[cell], evidence[cell])
        g = data.cell_context[cell]
        for s in range(states):
            e = evidence[cell, s]
            for q in range(nodes):
                chance[cell, q] += by_node[g, s, q] * e
        best = chance[cell].max()
        height[cell] = top + np.log(best)
        chance[cell] /= best
        evidence[cell] /= best
        parts[cell] /= best
    return evidence, parts, chance, height


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _bundle_share(b, weight, chance, data, share):  # type: ignore[no-untyped-def]
    """Fill ``share`` with each node's part of the bundle's likelihood; return the log of the sum.

    Without the heights of the cells, which the caller adds.
    """
    share[:] = weight
    scale, since = 0.0, 0
    for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
        cell = data.bundle_cells[k]
        for _ in range(data.bundle_counts[k]):
            share *= chance[cell]
            since += 1
            if since == RESCALE_AFTER:
                best = share.max()
                share /= best
                scale += np.log(best)
                since = 0
    total = max(share.sum(), 1e-300)
    share /= total
    return scale + np.log(total)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pull_rows(cell, along, response, layer, data, looks, by_response, by_layer):  # type: ignore[no-untyped-def]
    """Carry d value / d log evidence, ``along`` (difficulty, state), to the tables."""
    states = along.shape[1]
    for d in range(along.shape[0]):
        for view in range(data.view_start[cell], data.view_start[cell + 1]):
            kind = data.view_layer[view]
            if kind < 0:
                for r in range(data.row_start[view], data.row_start[view + 1]):
                    row = data.rows[r]
                    for s in range(states):
                        by_response[d, row, s] += along[d, s]
                continue
            _look(view, d, response, data.rows, data.row_start, looks)
            afresh = _seen(kind, layer, looks)
            mixed = 0.0
            for s in range(states):
                blur = layer[kind, 0, s]
                total = max((1 - blur) * looks[s] + blur * afresh, 1e-300)
                by_layer[kind, 0, s] += along[d, s] * (afresh - looks[s]) / total
                mixed += along[d, s] * blur / total
            for s in range(states):
                blur = layer[kind, 0, s]
                total = max((1 - blur) * looks[s] + blur * afresh, 1e-300)
                by_layer[kind, 1, s] += looks[s] * mixed
                clear = along[d, s] * (1 - blur) / total
                pull = looks[s] * (clear + layer[kind, 1, s] * mixed)
                for r in range(data.row_start[view], data.row_start[view + 1]):
                    by_response[d, data.rows[r], s] += pull


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def value_and_gradient(prevalence, response, difficulty, layer, log_weight, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and its gradients in one pass.

    Parameters
    ----------
    prevalence : ndarray (context, node, state)
        Probabilities of the states.
    response : ndarray (difficulty, row, state)
        log p(answers of the row given the perceived state and the item's difficulty).
    difficulty : ndarray (difficulty,)
        Log probabilities of the classes of difficulty.
    layer : ndarray (kind, 2, state)
        Of each kind of perception: the chance that an item is perceived afresh, by its state, and
        the probabilities of what it then looks like.
    log_weight : ndarray (node,)
        Log weights of the quadrature nodes.
    data : Data

    Returns
    -------
    value : float
    by_prevalence, by_response, by_difficulty, by_layer : ndarray
        Like the tables.
    """
    cells, nodes, states = data.cell_context.shape[0], prevalence.shape[1], prevalence.shape[2]
    by_node = np.ascontiguousarray(prevalence.transpose(0, 2, 1))
    evidence, parts, chance, height = _cell_chances(by_node, response, difficulty, layer, data)
    weight = np.exp(log_weight)
    pull = np.zeros((cells, nodes))
    share = np.empty(nodes)
    total = 0.0
    for b in range(data.bundle_weight.shape[0]):
        value = _bundle_share(b, weight, chance, data, share)
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            cell, n = data.bundle_cells[k], data.bundle_counts[k]
            value += n * height[cell]
            scale = n * data.bundle_weight[b]
            for q in range(nodes):
                pull[cell, q] += scale * share[q]
        total += data.bundle_weight[b] * value
    by_prevalence = np.zeros(by_node.shape)
    by_response = np.zeros_like(response)
    by_difficulty = np.zeros_like(difficulty)
    by_layer = np.zeros_like(layer)
    looks = np.empty(states)
    for cell in range(cells):
        g = data.cell_context[cell]
        for q in range(nodes):
            pull[cell, q] /= chance[cell, q]
        for s in range(states):
            e, along = evidence[cell, s], 0.0
            for q in range(nodes):
                by_prevalence[g, s, q] += pull[cell, q] * e
                along += pull[cell, q] * by_node[g, s, q]
            for d in range(difficulty.shape[0]):
                parts[cell, d, s] *= along
                by_difficulty[d] += parts[cell, d, s]
        _pull_rows(cell, parts[cell], response, layer, data, looks, by_response, by_layer)
    by_prevalence = np.ascontiguousarray(by_prevalence.transpose(0, 2, 1))
    return total, by_prevalence, by_response, by_difficulty, by_layer


@numba.njit(cache=True, nogil=True, error_model="numpy")
def bundle_nodes(prevalence, response, difficulty, layer, log_weight, data):  # type: ignore[no-untyped-def]
    """Log-likelihood and posterior of the nodes of each bundle, and each cell's evidence.

    Parameters are those of :func:`value_and_gradient`.

    Returns
    -------
    value : ndarray (bundle,)
        Log-likelihood of the bundle.
    share : ndarray (bundle, node)
        Posterior probabilities of the nodes.
    parts : ndarray (cell, difficulty, state)
        Likelihood of the cell's ratings given state and difficulty, times the probability of the
        difficulty, up to a factor of the cell.
    """
    by_node = np.ascontiguousarray(prevalence.transpose(0, 2, 1))
    _, parts, chance, height = _cell_chances(by_node, response, difficulty, layer, data)
    weight = np.exp(log_weight)
    bundles = data.bundle_weight.shape[0]
    share = np.empty((bundles, prevalence.shape[1]))
    value = np.empty(bundles)
    for b in range(bundles):
        value[b] = _bundle_share(b, weight, chance, data, share[b])
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            value[b] += data.bundle_counts[k] * height[data.bundle_cells[k]]
    return value, share, parts


# -- the tape ------------------------------------------------------------------------


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
def log_density(  # type: ignore[no-untyped-def]
    x,
    constants,
    operations,
    positions,
    prior_at,
    prevalence_at,
    response_at,
    difficulty_at,
    layer_at,
    log_weight,
    data,
):
    """Log density and gradient at unconstrained values ``x``.

    The four ``*_at`` are where the numbers of the tables of the likelihood stand in the buffer.
    """
    buffer = constants.copy()
    buffer[: x.shape[0]] = x
    play_forwards(buffer, operations, positions)
    value, by_prevalence, by_response, by_difficulty, by_layer = value_and_gradient(
        _gather(buffer, prevalence_at),
        _gather(buffer, response_at),
        _gather(buffer, difficulty_at),
        _gather(buffer, layer_at),
        log_weight,
        data,
    )
    adjoint = np.zeros(buffer.shape[0])
    adjoint[prior_at] = 1.0
    _scatter(adjoint, prevalence_at, by_prevalence)
    _scatter(adjoint, response_at, by_response)
    _scatter(adjoint, difficulty_at, by_difficulty)
    _scatter(adjoint, layer_at, by_layer)
    play_backwards(buffer, adjoint, operations, positions)
    return value + buffer[prior_at], adjoint[: x.shape[0]].copy()


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _gather(buffer, at):  # type: ignore[no-untyped-def]
    return buffer[at.reshape(-1)].reshape(at.shape)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scatter(target, at, values):  # type: ignore[no-untyped-def]
    places, numbers = at.reshape(-1), values.reshape(-1)
    for n in range(places.shape[0]):
        target[places[n]] += numbers[n]


# -- the states ----------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(weights, uniform):  # type: ignore[no-untyped-def]
    """Position at which the running sum of weights passes ``uniform`` of the total."""
    goal = uniform * weights.sum()
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

    ``difficulties`` (item, difficulty) adds up the probabilities of the classes of difficulty.
    """
    nodes, count = prevalence.shape[1], prevalence.shape[2]
    share, chance = np.empty(count), np.empty(count)
    for c in range(cluster_bundle.shape[0]):
        node = shares[cluster_bundle[c]]
        drawn = _pick(node, by_cluster[c])
        for k in range(start[c], start[c + 1]):
            item = members[k]
            cell = item_cell[item]
            g = data.cell_context[cell]
            evidence = parts[cell].sum(axis=0)
            share[:] = 0.0
            for q in range(nodes):
                total = 1e-300
                for s in range(count):
                    total += prevalence[g, q, s] * evidence[s]
                pull = node[q] / total
                for s in range(count):
                    share[s] += pull * prevalence[g, q, s]
            for s in range(count):
                probabilities[item, s] += share[s] * evidence[s]
                chance[s] = prevalence[g, drawn, s] * evidence[s]
                for d in range(parts.shape[1]):
                    difficulties[item, d] += share[s] * parts[cell, d, s]
            states[item] = _pick(chance, by_item[item])
