"""States of hard items: a sparse table for each class of hard items."""

from assay.likelihood.arrays import empty, empty_integers, zero_integers, zeros
from assay.likelihood.compiling import at, linked


@linked()
def entries(hard_truth):  # type: ignore[no-untyped-def]
    """List the nonzero entries of ``hard_truth`` (hard class, state, state) by row: start, column,
    and P(a hard item's state | its state if easy).
    """
    classes, states, _ = hard_truth.shape
    start = zero_integers(classes * states + 1)
    column = empty_integers(hard_truth.size)
    chance = empty(hard_truth.size)
    count = 0
    for d in range(classes):
        for s in range(states):
            for n in range(states):
                if hard_truth[d, s, n] != 0.0:
                    column[count], chance[count] = n, hard_truth[d, s, n]
                    count += 1
            start[d * states + s + 1] = count
    return start, column, chance


@linked()
def hard_prevalence(prevalence, hard_truth):  # type: ignore[no-untyped-def]
    """Return the state probabilities of hard items, (hard class, context, state, node)."""
    contexts, states, nodes = prevalence.shape
    classes = hard_truth.shape[0]
    found = zeros((classes, contexts, states, nodes))
    start, column, chance = entries(hard_truth)
    for d in range(classes):
        for g in range(contexts):
            for s in range(states):
                for e in range(start[d * states + s], start[d * states + s + 1]):
                    n = at(column[e])
                    for q in range(nodes):
                        found[d, g, n, q] += prevalence[g, s, q] * chance[e]
    return found
