"""All compiled code, in one file: Numba's cache on disk notices changes of this file only.

What the functions compute is said where they are used: :mod:`assay.likelihood` (states summed
out), :mod:`assay.tape` (the interpreter of formulas), :mod:`assay.density` (both together) and
:mod:`assay.recovery` (the states drawn). They hold no lock, so that chains run side by side.
"""

import numba
import numpy as np

# codes of the tape's operations
SUM, DOT, EXP, LOG, LOG1P, LOG_SOFTMAX, SOFTMAX, LOG_SUM_EXP = range(8)

RESCALE_AFTER = 8
"""Factors of at least 1e-300 relative to their largest; products of so few stay useful numbers."""


# -- the marginal likelihood ---------------------------------------------------------


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _evidence(cell, response, cell_mask, row_start, rows, masks, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with exp(log evidence of each state - its maximum); return the maximum."""
    top = -np.inf
    for s in range(out.shape[0]):
        value = masks[cell_mask[cell], s]
        for a in range(row_start[cell], row_start[cell + 1]):
            value += response[rows[a], s]
        out[s] = value
        top = max(top, value)
    if top == -np.inf:
        top = -1e300
    for s in range(out.shape[0]):
        out[s] = np.exp(out[s] - top)
    return top


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cell_chances(by_node, response, cell_context, cell_mask, row_start, rows, masks):  # type: ignore[no-untyped-def]
    """Evidence (cell, state), and the likelihood of each cell at each node.

    Evidence is relative to its largest; ``chance`` (cell, node) is relative to ``height`` (cell,),
    the logarithm of its largest, so that products over the cells of a bundle need no logarithms.
    """
    cells, states, nodes = cell_context.shape[0], response.shape[1], by_node.shape[2]
    evidence = np.empty((cells, states))
    chance = np.full((cells, nodes), 1e-300)
    height = np.empty(cells)
    for cell in range(cells):
        top = _evidence(cell, response, cell_mask, row_start, rows, masks, evidence[cell])
        g = cell_context[cell]
        for s in range(states):
            e = evidence[cell, s]
            for q in range(nodes):
                chance[cell, q] += by_node[g, s, q] * e
        best = chance[cell].max()
        height[cell] = top + np.log(best)
        chance[cell] /= best
        evidence[cell] /= best
    return evidence, chance, height


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _bundle_share(b, weight, chance, bundle_start, bundle_cells, bundle_counts, share):  # type: ignore[no-untyped-def]
    """Fill ``share`` with each node's part of the bundle's likelihood; return the log of the sum.

    Without the heights of the cells, which the caller adds.
    """
    share[:] = weight
    scale, since = 0.0, 0
    for k in range(bundle_start[b], bundle_start[b + 1]):
        cell = bundle_cells[k]
        for _ in range(bundle_counts[k]):
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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def value_and_gradient(  # type: ignore[no-untyped-def]
    prevalence,
    response,
    log_weight,
    cell_context,
    cell_mask,
    row_start,
    rows,
    masks,
    bundle_start,
    bundle_cells,
    bundle_counts,
    bundle_weight,
):
    """Log-likelihood and its gradients in one pass.

    Parameters
    ----------
    prevalence : ndarray (context, node, state)
        Probabilities of the states.
    response : ndarray (row, state)
        log p(answers of the row given the state).
    log_weight : ndarray (node,)
        Log weights of the quadrature nodes.

    Returns
    -------
    value : float
    by_prevalence : ndarray (context, node, state)
    by_response : ndarray (row, state)
    """
    cells, nodes, states = cell_context.shape[0], prevalence.shape[1], prevalence.shape[2]
    by_node = np.ascontiguousarray(prevalence.transpose(0, 2, 1))
    evidence, chance, height = _cell_chances(
        by_node, response, cell_context, cell_mask, row_start, rows, masks
    )
    weight = np.exp(log_weight)
    pull = np.zeros((cells, nodes))
    share = np.empty(nodes)
    total = 0.0
    for b in range(bundle_weight.shape[0]):
        value = _bundle_share(b, weight, chance, bundle_start, bundle_cells, bundle_counts, share)
        for k in range(bundle_start[b], bundle_start[b + 1]):
            cell, n = bundle_cells[k], bundle_counts[k]
            value += n * height[cell]
            scale = n * bundle_weight[b]
            for q in range(nodes):
                pull[cell, q] += scale * share[q]
        total += bundle_weight[b] * value
    by_prevalence = np.zeros(by_node.shape)
    by_response = np.zeros_like(response)
    for cell in range(cells):
        g = cell_context[cell]
        for q in range(nodes):
            pull[cell, q] /= chance[cell, q]
        for s in range(states):
            e, along = evidence[cell, s], 0.0
            for q in range(nodes):
                by_prevalence[g, s, q] += pull[cell, q] * e
                along += pull[cell, q] * by_node[g, s, q]
            for a in range(row_start[cell], row_start[cell + 1]):
                by_response[rows[a], s] += along * e
    return total, np.ascontiguousarray(by_prevalence.transpose(0, 2, 1)), by_response


@numba.njit(cache=True, nogil=True, error_model="numpy")
def bundle_nodes(  # type: ignore[no-untyped-def]
    prevalence,
    response,
    log_weight,
    cell_context,
    cell_mask,
    row_start,
    rows,
    masks,
    bundle_start,
    bundle_cells,
    bundle_counts,
    bundle_weight,
):
    """Log-likelihood and posterior of the nodes of each bundle, and each cell's evidence.

    Returns
    -------
    value : ndarray (bundle,)
        Log-likelihood of the bundle.
    share : ndarray (bundle, node)
        Posterior probabilities of the nodes.
    evidence : ndarray (cell, state)
        Likelihood of the cell's ratings given the state, up to a factor.
    """
    by_node = np.ascontiguousarray(prevalence.transpose(0, 2, 1))
    evidence, chance, height = _cell_chances(
        by_node, response, cell_context, cell_mask, row_start, rows, masks
    )
    weight = np.exp(log_weight)
    bundles = bundle_weight.shape[0]
    share = np.empty((bundles, prevalence.shape[1]))
    value = np.empty(bundles)
    for b in range(bundles):
        value[b] = _bundle_share(
            b, weight, chance, bundle_start, bundle_cells, bundle_counts, share[b]
        )
        for k in range(bundle_start[b], bundle_start[b + 1]):
            value[b] += bundle_counts[k] * height[bundle_cells[k]]
    return value, share, evidence


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
    prevalence_shape,
    prevalence_at,
    response_shape,
    response_at,
    log_weight,
    *pattern,
):
    """Log density and gradient at unconstrained values ``x``."""
    buffer = constants.copy()
    buffer[: x.shape[0]] = x
    play_forwards(buffer, operations, positions)
    value, by_prevalence, by_response = value_and_gradient(
        buffer[prevalence_at].reshape(prevalence_shape),
        buffer[response_at].reshape(response_shape),
        log_weight,
        *pattern,
    )
    adjoint = np.zeros(buffer.shape[0])
    adjoint[prior_at] = 1.0
    _scatter(adjoint, prevalence_at, by_prevalence.reshape(-1))
    _scatter(adjoint, response_at, by_response.reshape(-1))
    play_backwards(buffer, adjoint, operations, positions)
    return value + buffer[prior_at], adjoint[: x.shape[0]].copy()


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scatter(target, at, values):  # type: ignore[no-untyped-def]
    for n in range(at.shape[0]):
        target[at[n]] += values[n]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scaled_log_density(z, centre, scale, arguments):  # type: ignore[no-untyped-def]
    """Log density and gradient at ``x = centre + scale * z``."""
    value, gradient = log_density(centre + scale * z, *arguments)
    return value, scale * gradient


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
    evidence,
    cell_context,
    item_cell,
    cluster_bundle,
    start,
    members,
    by_cluster,
    by_item,
    states,
    probabilities,
):
    """Fill the states and add up the probabilities of one draw."""
    nodes, count = prevalence.shape[1], prevalence.shape[2]
    share, chance = np.empty(count), np.empty(count)
    for c in range(cluster_bundle.shape[0]):
        node = shares[cluster_bundle[c]]
        drawn = _pick(node, by_cluster[c])
        for k in range(start[c], start[c + 1]):
            item = members[k]
            cell = item_cell[item]
            g = cell_context[cell]
            share[:] = 0.0
            for q in range(nodes):
                total = 1e-300
                for s in range(count):
                    total += prevalence[g, q, s] * evidence[cell, s]
                pull = node[q] / total
                for s in range(count):
                    share[s] += pull * prevalence[g, q, s]
            for s in range(count):
                probabilities[item, s] += share[s] * evidence[cell, s]
                chance[s] = prevalence[g, drawn, s] * evidence[cell, s]
            states[item] = _pick(chance, by_item[item])
