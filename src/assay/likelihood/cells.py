"""Evidence of cells: the likelihood of their ratings given each state.

A cell stands for all items with the same context, known truth and rows. A view is its ratings by
one group of raters. Rows have one axis for difficulty class and state together. Probabilities are
relative to each row's largest, so cells need no logs unless a product underflows.
"""

import numpy as np

from assay.likelihood.arrays import all_false, empty, zeros
from assay.likelihood.compiling import at, compiled, linked
from assay.likelihood.hard_truths import entries, hard_prevalence

TINY = 1e-300
"""Replaces a probability of 0 where its log is needed."""
WIDE = 8
"""Least length of rows for vector instructions."""


@linked()
def row_chances(response):  # type: ignore[no-untyped-def]
    """Return probabilities of rows relative to their largest, their logs, and the largest's log.

    Shapes are (row, difficulty * state) twice, and (row,).
    """
    classes, rows, states = response.shape
    chance = empty((rows, classes * states))
    log_chance = empty((rows, classes * states))
    height = empty(rows)
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


@linked()
def rows_of_chances(response):  # type: ignore[no-untyped-def]
    """Return what :func:`row_chances` does, from probabilities; logs are empty until needed."""
    classes, rows, states = response.shape
    chance = empty((rows, classes * states))
    height = empty(rows)
    for row in range(rows):
        top = TINY
        for d in range(classes):
            for s in range(states):
                top = max(top, response[d, row, s])
        height[row] = np.log(top)
        shrink = 1 / top
        for d in range(classes):
            for s in range(states):
                chance[row, d * states + s] = response[d, row, s] * shrink
    return chance, empty((0, classes * states)), height


@compiled(inline="always")
def multiply_rows(parts, table, rows, begin, end):  # type: ignore[no-untyped-def]
    """Multiply ``parts`` by rows of a table. Short rows are multiplied two entries at a time in
    registers, so that products do not wait for each other.
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


@linked()
def add_rows(parts, tables, rows, begin, end):  # type: ignore[no-untyped-def]
    """Add the logs of rows to ``parts``."""
    chance, log_chance = tables[0], tables[1]
    known = log_chance.shape[0] > 0
    for r in range(at(begin), at(end)):
        row = at(rows[r])
        for k in range(parts.shape[0]):
            parts[k] += log_chance[row, k] if known else np.log(max(chance[row, k], TINY))


@linked()
def exponentiate(parts, begin, end):  # type: ignore[no-untyped-def]
    """Replace logs by numbers relative to their largest; return the largest log."""
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


@linked()
def value_of_heights(by_rows, height):  # type: ignore[no-untyped-def]
    """Return the log-likelihood that relative probabilities leave out, from ``height`` (row,). The
    gradient ``by_rows`` sums to each row's number of ratings.
    """
    value = 0.0
    for row in range(height.shape[0]):
        total = 0.0
        for k in range(by_rows.shape[1]):
            total += by_rows[row, k]
        value += total * height[row]
    return value


VANISHED = 1e-200
"""Largest evidence of a cell, as a product, below which logs are used."""


@linked(fastmath={"reassoc", "contract"})
def cell_evidence(rows, difficulty, layer, hard_truth, data):  # type: ignore[no-untyped-def]
    """Return cells' evidence (cell, state) relative to its largest, its terms (cell, difficulty *
    state), log scales (cell,) without the rows' heights, and whether it underflowed.

    With ``hard_truth``, the state is that of the item if easy.
    """
    chance = rows[0]
    cells, classes, states = data.cell_context.shape[0], difficulty.shape[1], data.masks.shape[1]
    length = classes * states
    evidence, parts = zeros((cells, states)), empty((cells, length))
    height, vanished = empty(cells), all_false(cells)
    looks, highs, afresh = empty(length), empty(classes), empty(states)
    start = evidence_without_ratings(difficulty, data.masks)
    by_context = difficulty.shape[0] > 1
    class_chance = np.exp(difficulty)
    redrawn = entries(hard_truth)
    for cell in range(cells):
        mask = data.cell_mask[cell]
        g = data.cell_context[cell] if by_context else 0
        for k in range(length):
            parts[cell, k] = start[mask, k]
        if by_context:
            for k in range(length):
                parts[cell, k] *= class_chance[g, k // states]
        for view in range(data.view_start[cell], data.view_start[cell + 1]):
            kind = data.view_layer[view]
            begin, end = data.row_start[view], data.row_start[view + 1]
            if kind < 0:
                multiply_rows(parts[cell], chance, data.rows, begin, end)
                continue
            _look(chance, data.rows, begin, end, looks)
            for d in range(classes):
                _see_afresh(kind, d, classes, layer, looks, afresh)
                for s in range(states):
                    blur = layer[kind, d, s]
                    mixed = (1 - blur) * looks[d * states + s] + blur * afresh[s]
                    parts[cell, d * states + s] *= mixed
        top = _add_classes(parts[cell], evidence[cell], redrawn)
        height[cell] = 0.0
        if top < VANISHED:
            vanished[cell] = True
            height[cell] = _by_logarithms(
                parts[cell], cell, rows, difficulty[g], layer, data, looks, highs, afresh
            )
            top = _add_classes(parts[cell], evidence[cell], redrawn)
            if top == 0.0:  # no state is possible
                top = 1.0
        height[cell] += np.log(top)
        shrink = 1 / top
        for s in range(states):
            evidence[cell, s] *= shrink
        for k in range(length):
            parts[cell, k] *= shrink
    return evidence, parts, height, vanished


@linked()
def evidence_without_ratings(difficulty, masks):  # type: ignore[no-untyped-def]
    """Return the parts of a cell without ratings, (mask, difficulty * state).

    Probabilities of difficulty classes are left out if they differ between contexts.
    """
    known, states = masks.shape
    start = empty((known, difficulty.shape[1] * states))
    alike = difficulty[0] if difficulty.shape[0] == 1 else zeros(difficulty.shape[1])
    for mask in range(known):
        logs_without_ratings(start[mask], alike, masks[mask])
        for k in range(start.shape[1]):
            start[mask, k] = np.exp(start[mask, k])
    return start


@linked()
def logs_without_ratings(parts, difficulty, mask):  # type: ignore[no-untyped-def]
    """Compute the log parts (difficulty * state,) of a cell without ratings."""
    states = mask.shape[0]
    for d in range(difficulty.shape[0]):
        for s in range(states):
            parts[d * states + s] = difficulty[d] + mask[s]


@compiled(inline="always")
def _add_classes(parts, evidence, redrawn):  # type: ignore[no-untyped-def]
    """Compute the evidence (state,) by summing parts over difficulty; return the largest.

    ``redrawn`` lists the states of hard items, from ``entries``.
    """
    start, column, chance = redrawn
    states = evidence.shape[0]
    for s in range(states):
        evidence[s] = parts[s]
    if start.shape[0] > 1:
        for row in range(start.shape[0] - 1):
            first = (row // states + 1) * states
            for e in range(start[row], start[row + 1]):
                evidence[row % states] += chance[e] * parts[first + at(column[e])]
    else:
        for k in range(states, parts.shape[0], states):
            for s in range(states):
                evidence[s] += parts[k + s]
    top = 0.0
    for s in range(states):
        top = max(top, evidence[s])
    return top


@linked()
def _by_logarithms(  # type: ignore[no-untyped-def]
    parts, cell, tables, difficulty, layer, data, looks, highs, afresh
):
    """Compute the parts (difficulty * state,) of a cell with logs; return their log scale."""
    classes, states = difficulty.shape[0], data.masks.shape[1]
    logs_without_ratings(parts, difficulty, data.masks[data.cell_mask[cell]])
    for view in range(data.view_start[cell], data.view_start[cell + 1]):
        kind = data.view_layer[view]
        begin, end = data.row_start[view], data.row_start[view + 1]
        if kind < 0:
            add_rows(parts, tables, data.rows, begin, end)
            continue
        _look_by_logarithms(tables, data.rows, begin, end, looks, highs)
        for d in range(classes):
            _see_afresh(kind, d, classes, layer, looks, afresh)
            for s in range(states):
                blur = layer[kind, d, s]
                mixed = max((1 - blur) * looks[d * states + s] + blur * afresh[s], 1e-300)
                parts[d * states + s] += highs[d] + np.log(mixed)
    return exponentiate(parts, 0, classes * states)


@linked()
def cell_evidence_back(along, rows, layer, data, vanished, by_rows, by_layer):  # type: ignore[no-untyped-def]
    """Propagate ``along``, the gradient by log parts (cell, difficulty * state), to the tables.

    It is added to ``by_rows`` (row, difficulty * state) and ``by_layer``.
    """
    chance = rows[0]
    cells, states = along.shape[0], data.masks.shape[1]
    classes = along.shape[1] // states
    looks, highs, afresh = empty(classes * states), empty(classes), empty(states)
    pull, mixed = empty(classes * states), empty(states)
    kinds_of_look = layer.shape[1] - classes
    for cell in range(cells):
        for view in range(data.view_start[cell], data.view_start[cell + 1]):
            kind = data.view_layer[view]
            begin, end = data.row_start[view], data.row_start[view + 1]
            if kind < 0:
                spread_rows(along[cell], by_rows, data.rows, begin, end)
                continue
            if vanished[cell]:
                _look_by_logarithms(rows, data.rows, begin, end, looks, highs)
            else:
                _look(chance, data.rows, begin, end, looks)
            for d in range(classes):
                _see_afresh(kind, d, classes, layer, looks, afresh)
                for n in range(kinds_of_look):
                    mixed[n] = 0.0
                for s in range(states):
                    k, blur = d * states + s, layer[kind, d, s]
                    total = max((1 - blur) * looks[k] + blur * afresh[s], 1e-300)
                    share = along[cell, k] / total
                    by_layer[kind, d, s] += share * (afresh[s] - looks[k])
                    mixed[min(s, kinds_of_look - 1)] += share * blur
                    pull[k] = share * (1 - blur)
                for n in range(kinds_of_look):
                    for a in range(states):
                        k = d * states + a
                        by_layer[kind, classes + n, a] += mixed[n] * looks[k]
                        pull[k] += mixed[n] * layer[kind, classes + n, a]
            for k in range(classes * states):
                pull[k] *= looks[k]
            spread_rows(pull, by_rows, data.rows, begin, end)


@linked()
def _look(chance, rows, begin, end, looks):  # type: ignore[no-untyped-def]
    """Compute the probability of a view's answers by difficulty and perceived state."""
    for k in range(looks.shape[0]):
        looks[k] = 1.0
    multiply_rows(looks, chance, rows, begin, end)


@linked()
def _look_by_logarithms(tables, rows, begin, end, looks, highs):  # type: ignore[no-untyped-def]
    """Compute ``looks`` relative to each difficulty's largest, and the logs of these."""
    states = looks.shape[0] // highs.shape[0]
    for k in range(looks.shape[0]):
        looks[k] = 0.0
    add_rows(looks, tables, rows, begin, end)
    for d in range(highs.shape[0]):
        highs[d] = exponentiate(looks, d * states, (d + 1) * states)


@linked()
def _see_afresh(kind, d, classes, layer, looks, afresh):  # type: ignore[no-untyped-def]
    """Compute the probability of a view's answers by true state, given misperception. Perceived
    states follow the difficulty classes in ``layer``, in one row or one for each state.
    """
    states = afresh.shape[0]
    each = layer.shape[1] - classes > 1
    for s in range(states):
        if s > 0 and not each:
            afresh[s] = afresh[0]
            continue
        total = 0.0
        for a in range(states):
            total += layer[kind, classes + s, a] * looks[d * states + a]
        afresh[s] = total


@linked()
def plain_value_and_gradient(prevalence, rows, difficulty, hard_truth, data):  # type: ignore[no-untyped-def]
    """Return the log-likelihood and its gradients with one node and without perception layers: by
    prevalence, rows, log weight of each part (context, difficulty * state), and ``hard_truth``.
    """
    chance, _, row_height = rows
    weight = cell_weights(data)
    by_rows, length = zeros(chance.shape), chance.shape[1]
    before = _for_each_difficulty(prevalence, length, hard_truth)
    states, by_context = prevalence.shape[1], difficulty.shape[0] > 1
    if by_context:
        for g in range(before.shape[0]):
            for k in range(length):
                before[g, k] *= np.exp(difficulty[g, k // states])
    alike = zeros(difficulty.shape[1]) if by_context else difficulty[0]
    by_before, by_part = zeros(before.shape), zeros((difficulty.shape[0], length))
    parts = empty(length)
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
            logs_without_ratings(parts, alike, data.masks[mask])
            add_rows(parts, rows, data.rows, begin, end)
            height = exponentiate(parts, 0, length)
            total = 1e-300 + _weigh(parts, before, g)
        value += weight[cell] * (height + np.log(total))
        pull = weight[cell] / total
        for k in range(length):
            part = pull * parts[k]
            by_before[g, k] += part
            parts[k] = part * before[g, k]
            by_part[0, k] += parts[k]
        spread_rows(parts, by_rows, data.rows, begin, end)
    value += value_of_heights(by_rows, row_height)
    if by_context:
        for g in range(before.shape[0]):
            for k in range(length):
                by_part[g, k] = by_before[g, k] * before[g, k]
                by_before[g, k] *= np.exp(difficulty[g, k // states])
    by_prevalence, by_hard_truth = _to_prevalence(by_before, prevalence, hard_truth)
    return value, by_prevalence, by_rows, by_part, by_hard_truth


@linked()
def _for_each_difficulty(prevalence, length, hard_truth):  # type: ignore[no-untyped-def]
    """Return the prevalence of states by difficulty class, (context, difficulty * state)."""
    contexts, states, _ = prevalence.shape
    found = empty((contexts, length))
    for g in range(contexts):
        for k in range(length):
            found[g, k] = prevalence[g, k % states, 0]
    if hard_truth.shape[0] > 0:
        hard = hard_prevalence(prevalence, hard_truth)
        for g in range(contexts):
            for k in range(states, length):
                found[g, k] = hard[k // states - 1, g, k % states, 0]
    return found


@linked()
def _to_prevalence(by_before, prevalence, hard_truth):  # type: ignore[no-untyped-def]
    """Propagate the gradient by ``_for_each_difficulty`` to prevalence and ``hard_truth``."""
    contexts, states, _ = prevalence.shape
    by_prevalence, by_hard_truth = zeros(prevalence.shape), zeros(hard_truth.shape)
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
    """Return the likelihood of a cell from its parts (difficulty * state,)."""
    total = 0.0
    for k in range(parts.shape[0]):
        total += before[context, k] * parts[k]
    return total


@linked()
def cell_weights(data):  # type: ignore[no-untyped-def]
    """Return the number of items of each cell, (cell,)."""
    weight = zeros(data.cell_context.shape[0])
    for b in range(data.bundle_weight.shape[0]):
        for k in range(data.bundle_start[b], data.bundle_start[b + 1]):
            weight[at(data.bundle_cells[k])] += data.bundle_counts[k] * data.bundle_weight[b]
    return weight
