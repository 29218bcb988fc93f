"""The marginal likelihood: states, difficulty, perception, readings and cluster effects summed."""

from assay.likelihood.arrays import empty, zeros
from assay.likelihood.bundles import (
    bundle_shares,
    cell_chances,
    panel_chances,
    panel_pulls,
    reading_shares,
)
from assay.likelihood.cells import (
    cell_evidence,
    cell_evidence_back,
    plain_value_and_gradient,
    row_chances,
    value_of_heights,
)
from assay.likelihood.compiling import at, compiled, linked
from assay.likelihood.hard_truths import entries, hard_prevalence


@compiled()
def value_and_gradient(  # type: ignore[no-untyped-def]
    prevalence, response, difficulty, layer, hard_truth, mixing, reading, log_weight, data
):
    """Return the log-likelihood, and its gradients by the first seven tables, in one pass.

    prevalence : (context, state, node)
    response : log p(answers of the row | perceived state, difficulty) (difficulty, row, state)
    difficulty : log probabilities of difficulty classes (context or 1, difficulty)
    layer : probabilities of misperceiving by difficulty and state, then of the perceived states, in
        one row or a row for each state (kind, difficulty + look, state)
    hard_truth : P(a hard item's state | its state if easy), but of the first class (hard class,
        state, state); empty if hard items have the same truth
    mixing : P(a panel's node | its cluster's) (node, node); empty without panels
    reading : log probabilities of readings of a cluster (kind,); empty if raters misread none
    log_weight : of the quadrature nodes (node,)
    """
    rows = row_chances(response)
    return value_of_rows(
        prevalence, rows, difficulty, layer, hard_truth, mixing, reading, log_weight, data
    )


@linked(fastmath={"reassoc", "contract"})
def value_of_rows(  # type: ignore[no-untyped-def]
    prevalence, rows, difficulty, layer, hard_truth, mixing, reading, log_weight, data
):
    """Return the log-likelihood and its gradients, with rows from :func:`row_chances`."""
    if log_weight.shape[0] == 1 and layer.shape[0] == 0 and reading.shape[0] == 0:
        return plain_value_of_rows(
            prevalence, rows, difficulty, layer, hard_truth, mixing, reading, data
        )
    return full_value_of_rows(
        prevalence, rows, difficulty, layer, hard_truth, mixing, reading, log_weight, data
    )


@linked(fastmath={"reassoc", "contract"})
def plain_value_of_rows(  # type: ignore[no-untyped-def]
    prevalence, rows, difficulty, layer, hard_truth, mixing, reading, data
):
    """Return what :func:`value_of_rows` does, for one node, without perception and readings.

    What it calls inherits ``fastmath``.
    """
    value, by_prevalence, by_rows, by_part, by_hard_truth = plain_value_and_gradient(
        prevalence, rows, difficulty, hard_truth, data
    )
    classes = difficulty.shape[1]
    by_response = _by_class(by_rows, (classes, rows[0].shape[0], prevalence.shape[1]))
    return (
        value,
        by_prevalence,
        by_response,
        _sums(by_part, classes),
        zeros(layer.shape),
        by_hard_truth,
        zeros(mixing.shape),
        zeros(reading.shape),
    )


@linked(fastmath={"reassoc", "contract"})
def full_value_of_rows(  # type: ignore[no-untyped-def]
    prevalence, rows, difficulty, layer, hard_truth, mixing, reading, log_weight, data
):
    """Return what :func:`value_of_rows` does, for any model."""
    by_layer, by_hard_truth = zeros(layer.shape), zeros(hard_truth.shape)
    by_mixing, by_reading = zeros(mixing.shape), zeros(reading.shape)
    kinds, classes = difficulty.shape
    shape = classes, rows[0].shape[0], prevalence.shape[1]
    evidence, parts, height, vanished = cell_evidence(rows, difficulty, layer, hard_truth, data)
    told = by_reading.shape[0] > 0
    if told:  # cases of a cluster differ in their rows
        add_row_heights(height, rows, data)
    chance, shrink = cell_chances(prevalence, evidence, height, data)
    cells, nodes, states = chance.shape[0], chance.shape[1], evidence.shape[1]
    pull = zeros((cells, nodes))
    total = 0.0
    value, shares, inner, outer = _bundles_and_panels(mixing, log_weight, chance, height, data)
    weight, counts = data.bundle_weight, data.bundle_counts
    start, members = data.bundle_start, data.bundle_cells
    if told:
        weight, total = _weigh_readings(value, reading, data, by_reading)
    else:
        for b in range(value.shape[0]):
            total += weight[b] * value[b]
    if mixing.shape[0] > 0:  # continue with panels as bundles
        shares = panel_pulls(mixing, inner, outer, shares, weight, data, by_mixing)
        weight = empty(shares.shape[0])
        for p in range(weight.shape[0]):
            weight[p] = 1.0
        counts, start, members = data.panel_counts, data.panel_start, data.panel_cells
    for b in range(weight.shape[0]):
        for k in range(start[b], start[b + 1]):
            cell = at(members[k])
            scale = counts[k] * weight[b]
            for q in range(nodes):
                pull[cell, q] += scale * shares[b, q]
    by_prevalence = zeros(prevalence.shape)
    by_rows, by_part = zeros(rows[0].shape), zeros((kinds, parts.shape[1]))
    along, reach = empty(parts.shape[1]), empty(states)
    start, column, redrawn = entries(hard_truth)
    for cell in range(cells):
        g = at(data.cell_context[cell])
        for q in range(nodes):
            pull[cell, q] /= chance[cell, q]
        for s in range(states):
            e, by_state = evidence[cell, s] * shrink[cell], 0.0
            for q in range(nodes):
                by_prevalence[g, s, q] += pull[cell, q] * e
                by_state += pull[cell, q] * prevalence[g, s, q]
            reach[s] = by_state * shrink[cell]
            for k in range(s, along.shape[0], states):
                along[k] = reach[s]
        if start.shape[0] > 1:
            for k in range(states, along.shape[0]):
                along[k] = 0.0
            for row in range(start.shape[0] - 1):
                d, s = row // states, row % states
                for e in range(start[row], start[row + 1]):
                    n = at(column[e])
                    k = at((d + 1) * states) + n
                    along[k] += reach[s] * redrawn[e]
                    by_hard_truth[d, s, n] += reach[s] * parts[cell, k]
        own = data.cell_context[cell] if kinds > 1 else 0
        for k in range(along.shape[0]):
            parts[cell, k] *= along[k]
            by_part[own, k] += parts[cell, k]
    cell_evidence_back(parts, rows, layer, data, vanished, by_rows, by_layer)
    if not told:
        total += value_of_heights(by_rows, rows[2])
    return (
        total,
        by_prevalence,
        _by_class(by_rows, shape),
        _sums(by_part, classes),
        by_layer,
        by_hard_truth,
        by_mixing,
        by_reading,
    )


@linked()
def _weigh_readings(value, reading, data, by_reading):  # type: ignore[no-untyped-def]
    """Return the expected number of cases of each bundle, and the log-likelihood.

    The gradient by ``reading`` is added to ``by_reading``.
    """
    of_cluster, share = reading_shares(value, reading, data)
    weight, total = zeros(value.shape[0]), 0.0
    for c in range(of_cluster.shape[0]):
        total += of_cluster[c]
    for k in range(share.shape[0]):
        weight[at(data.reading_bundle[k])] += share[k]
        by_reading[at(data.reading_kind[k])] += share[k]
    return weight, total


@linked()
def add_row_heights(height, rows, data):  # type: ignore[no-untyped-def]
    """Add the logs of the rows' largest probabilities to the scales of their cells."""
    for cell in range(height.shape[0]):
        begin = data.row_start[at(data.view_start[cell])]
        end = data.row_start[at(data.view_start[cell + 1])]
        for r in range(at(begin), at(end)):
            height[cell] += rows[2][at(data.rows[r])]


@linked()
def _bundles_and_panels(mixing, log_weight, chance, height, data):  # type: ignore[no-untyped-def]
    """Return log-likelihoods and node posteriors of bundles, and likelihoods of panels."""
    start, members, counts = data.bundle_start, data.bundle_cells, data.bundle_counts
    if mixing.shape[0] == 0:
        value, shares = bundle_shares(log_weight, chance, height, start, members, counts)
        return value, shares, empty((0, 0)), empty((0, 0))
    inner, outer, top = panel_chances(mixing, chance, height, data)
    value, shares = bundle_shares(log_weight, outer, top, start, members, counts)
    return value, shares, inner, outer


@linked()
def _sums(by_part, classes):  # type: ignore[no-untyped-def]
    """Sum numbers (context, difficulty * state) over the states."""
    contexts, length = by_part.shape
    found, states = zeros((contexts, classes)), length // classes
    for g in range(contexts):
        for k in range(length):
            found[g, k // states] += by_part[g, k]
    return found


@linked()
def _by_class(by_rows, shape):  # type: ignore[no-untyped-def]
    """Reshape a table (row, difficulty * state) to (difficulty, row, state)."""
    classes, rows, states = shape
    by_response = empty(shape)
    for d in range(classes):
        for row in range(rows):
            for s in range(states):
                by_response[d, row, s] = by_rows[row, d * states + s]
    return by_response


@compiled()
def bundle_nodes(  # type: ignore[no-untyped-def]
    prevalence, response, difficulty, layer, hard_truth, mixing, reading, log_weight, data
):
    """Return bundles' log-likelihoods and node posteriors, cells' parts (cell, difficulty, state)
    up to a factor, and tables to draw with.

    These are the prevalence of hard items (hard class, context, state, node), and panels'
    likelihoods (panel, node) at their own and their cluster's nodes; empty without them.
    """
    rows = row_chances(response)
    evidence, parts, height, _ = cell_evidence(rows, difficulty, layer, hard_truth, data)
    add_row_heights(height, rows, data)
    chance, _ = cell_chances(prevalence, evidence, height, data)
    value, shares, inner, outer = _bundles_and_panels(mixing, log_weight, chance, height, data)
    parts = parts.reshape((parts.shape[0], difficulty.shape[1], evidence.shape[1]))
    hard = hard_prevalence(prevalence, hard_truth)
    return value, shares, parts, hard, inner, outer
