"""Test for duplicates: two items of a cluster that are one, with the same raters and answers."""

from collections import defaultdict
from itertools import combinations, islice

import numpy as np

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import Groups, LabelRows, NullFit, codes, log_sum
from assay.data.ratings import Ratings

CARRIED = (0.15, 0.4, 0.7)
"""Shares of answers that a rater may carry over from one item to the other."""
HABIT = (0.0, 0.4)
"""Shares of a rater's answers that follow those to other items of the cluster."""
PASSES = 8
MOST_PAIRS = 600
SEED = 35


def same_raters(item: Ints, rater: Ints, cluster: Ints) -> Ints:
    """Return pairs of items in a cluster with the same raters, two at least, (pair, 2).

    They are a random part if there are very many.
    """
    order = np.lexsort((rater, item))
    seen, start = np.unique(item[order], return_index=True)
    alike: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    rng = np.random.default_rng(SEED)
    parts = np.split(rater[order], start[1:])
    for at in rng.permutation(len(seen)):
        if len(parts[at]) > 1:
            alike[int(cluster[seen[at]]), parts[at].tobytes()].append(int(seen[at]))
    pairs = (pair for some in alike.values() for pair in combinations(sorted(some), 2))
    found = np.array(list(islice(pairs, MOST_PAIRS)), np.int64)
    return found.reshape(-1, 2)


def equal_items(ratings: Ratings) -> Ints:
    """Return pairs of items in a cluster with the same raters and all answers equal, (pair, 2)."""
    first = np.flatnonzero((ratings.replicate == 0) & ratings.answered)
    first = first[np.lexsort((ratings.rater[first], ratings.item[first]))]
    item = ratings.item[first]
    pairs = same_raters(item, ratings.rater[first], codes(ratings.items["cluster"]))
    told = {
        int(one): ratings.answers[first[start:end]].tobytes()
        for one, start, end in zip(*_runs(item), strict=True)
    }
    same = [told[one] == told[other] for one, other in pairs.tolist()]
    return np.asarray(pairs[np.array(same, bool)])


def _runs(values: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each value of a sorted array, with the first place and the end of its run."""
    each, start, count = np.unique(values, return_index=True, return_counts=True)
    return each, start, start + count


def duplication(rows: LabelRows, fit: NullFit, pairs: Ints) -> Floats:
    """Return the log likelihood of whole copies over that of answers carried over, per pair,
    (set,).

    Either a share of the pairs is one item, or each rater repeats a share of the answers to one on
    the other. A rater may also have a habit in a cluster. Shares are the likeliest ones.
    """
    left, right, groups = _both(rows, pairs)
    same = rows.answer[left] == rows.answer[right]  # (pair's rating, set)
    chances = [np.exp(fit.own[own]) for own in (left, right)]
    priors = [fit.log_prior[pairs[:, side]] for side in (0, 1)]

    def told(chance: list[Floats]) -> Floats:
        """Return the mean log likelihood of the answers to either item, (pair, set)."""
        own = zip(priors, chance, strict=True)
        return np.asarray(sum(log_sum(prior + groups.sums(np.log(c))) for prior, c in own) / 2)

    count, others = _elsewhere(rows, left, right)
    usual = [(count[..., None] + c) / (others + 1)[:, None, None] for c in chances]

    def likelihood(carried: float) -> Floats:
        """Return the mean log likelihood of an item, (pair, set), by the likelier habit."""
        mixed = [
            [(1 - habit) * c + habit * u for c, u in zip(chances, usual, strict=True)]
            for habit in HABIT
        ]
        found = [
            told([(1 - carried) * own + carried * same[..., None] for own in both])
            for both in mixed
        ]
        return np.asarray(np.max(found, axis=0))

    alone = likelihood(0.0)
    whole = np.where(groups.sums((~same).astype(float)) == 0, np.exp(-alone), 0.0)
    share = np.full(whole.shape[1], 0.1)
    for _ in range(PASSES):
        share = (share * whole / (1 - share + share * whole)).mean(axis=0)
    copies = np.log(1 - share + share * whole).mean(axis=0)
    carried = [(likelihood(part) - alone).mean(axis=0) for part in CARRIED]
    return np.asarray(copies - np.max([np.zeros(len(share)), *carried], axis=0))


def _both(rows: LabelRows, pairs: Ints) -> tuple[Ints, Ints, Groups]:
    """Return the ratings of either item of each pair, rater by rater, by pair."""
    order = np.lexsort((rows.rater, rows.item))
    count = np.bincount(rows.item, minlength=len(rows.truth))
    start = np.concatenate([[0], np.cumsum(count)])
    each = count[pairs[:, 0]]
    pair = np.repeat(np.arange(len(pairs)), each)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(each) - each, each)
    left, right = (order[start[pairs[pair, side]] + place] for side in (0, 1))
    return left, right, Groups(pair, len(pairs))


def _elsewhere(rows: LabelRows, left: Ints, right: Ints) -> tuple[Floats, Floats]:
    """Return how often a rater gives an answer on other items of the cluster, and their number.

    They are (pair's rating, set) and (pair's rating,).
    """
    cell = codes(rows.rater * (rows.cluster.max(initial=0) + 1) + rows.cluster[rows.item])
    by_cell = Groups(cell, int(cell.max()) + 1)
    answers = by_cell.sums(rows.told().astype(float))  # (cell, set, class)
    told = answers[cell[left]]
    for own in (left, right):
        told = told - rows.told()[own]
    count = np.take_along_axis(told, rows.answer[left][..., None], axis=-1)[..., 0]
    return count, by_cell.others[left, 0, 0] - 1
