"""nDCG and average precision of rankings with ties: mean, lowest and highest over their orders.

A tool that sorts tied items in an arbitrary order reports one of many possible values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """Items in rankings, the highest score first; a run is a set of tied items.

    order : positions of the items, ranking by ranking, highest score first (item,)
    start : position in ``order`` where each run begins (run,)
    first : the first run of each ranking (ranking,)
    ranking : ranking of each run (run,)
    score : score of the run's items (run,)
    """

    order: Ints
    start: Ints
    first: Ints
    ranking: Ints
    score: Floats

    @cached_property
    def tied(self) -> Ints:
        """Positions of the runs with more than one item."""
        return np.flatnonzero(np.diff(np.r_[self.start, len(self.order)]) > 1)


def tied_runs(score: Floats, ranking: Ints | None = None) -> Runs:
    """Sort scores into runs; ``ranking`` (item,) counts from 0, without gaps.

    Scores are tied only if they are exactly equal.
    """
    place = np.zeros(len(score), np.int64) if ranking is None else ranking
    order = np.lexsort((-score, place)).astype(np.int64)
    new = (np.diff(score[order]) != 0) | (np.diff(place[order]) != 0)
    start = np.r_[0, np.flatnonzero(new) + 1].astype(np.int64)
    where = place[order][start]
    return Runs(
        order=order,
        start=start,
        first=np.r_[0, np.flatnonzero(np.diff(where)) + 1].astype(np.int64),
        ranking=where,
        score=score[order][start],
    )


def run_totals(values: NDArray[np.generic], runs: Runs) -> Floats:
    """Sum (..., item) within runs, (..., run)."""
    sorted_values = np.take(values, runs.order, axis=-1)
    if not len(runs.tied):
        return sorted_values.astype(np.float64)
    return np.asarray(np.add.reduceat(sorted_values, runs.start, axis=-1, dtype=np.float64))


def ranking_totals(values: Floats, runs: Runs) -> Floats:
    """Sum (..., run) within rankings, (..., ranking)."""
    return np.asarray(np.add.reduceat(values, runs.first, axis=-1))


def ahead(values: Floats, runs: Runs) -> Floats:
    """Sum (..., run) over the earlier runs of the same ranking, (..., run)."""
    through = np.cumsum(values, axis=-1)
    before = through - values
    return np.asarray(before - before[..., runs.first][..., runs.ranking])


Step = Callable[[Ints], Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class OverOrders:
    """A measure over the orders of tied items: its mean, lowest and highest value."""

    mean: Floats
    lowest: Floats
    highest: Floats


def ndcg(
    counts: Floats, size: Floats, gains: Floats, runs: Runs, k: int | None = None
) -> OverOrders:
    r"""Return the nDCG of each ranking over the orders of its ties, (..., ranking); 0 without any
    gain, NaN with fewer than two items.

    ``counts`` (level, ..., run) are numbers of items, ``gains`` (level,) their gains.

    .. math:: \mathrm{DCG} = \sum_{p \le k} \frac{g_p}{\log_2(p + 1)},

    over its ideal value (Järvelin & Kekäläinen 2002, ACM TOIS 20(4), 422-446). In the mean over
    orders each item of a run has the run's mean gain (McSherry & Najork 2008, ECIR, 414-421); the
    lowest and highest value sort a run by gains.
    """
    start = ahead(size, runs).astype(np.int64)
    ladder = _ladder(runs, k, lambda p: 1 / np.log2(p + 1))
    best = np.argsort(-gains, kind="stable")
    spread = ladder[start + size.astype(np.int64)] - ladder[start]
    gained = sum(gain * level for gain, level in zip(gains, counts, strict=True) if gain)
    mean = gained * (spread / np.maximum(size, 1))
    top = np.stack([ranking_totals(level, runs) for level in counts])
    ideal = _in_order(top, gains, best, np.zeros(top.shape[1:], np.int64), ladder)
    mixed, begin = counts[..., runs.tied], start[..., runs.tied]
    worst = _in_order(mixed, gains, best[::-1], begin, ladder)
    return _over_orders(
        mean, worst, _in_order(mixed, gains, best, begin, ladder), ideal, size, runs
    )


def average_precisions(yes: Floats, size: Floats, runs: Runs, k: int | None = None) -> OverOrders:
    r"""Return the average precision of each ranking over the orders of its ties, (..., ranking); 0
    without positive items, NaN with fewer than two items.

    ``yes`` and ``size`` (..., run) are the numbers of positive and of all items. :math:`\frac{1}{Y}
    \sum_{p \le k} y_p \frac{1}{p} \sum_{q \le p} y_q` is divided by all positive items, as
    trec_eval does. With :math:`t` items and :math:`b` positive ones ahead of a run of :math:`n`
    items, :math:`r` of them positive, its :math:`j`-th place adds in the mean over orders (McSherry
    & Najork 2008)

    .. math:: \frac{r}{n} \, \frac{b + 1 + (j - 1)(r - 1) / (n - 1)}{t + j}.
    """
    start = ahead(size, runs).astype(np.int64)
    last = len(runs.order) if k is None else k
    ladder = _ladder(runs, k, lambda p: 1 / p)
    found = ahead(yes, runs)
    inverse = ladder[start + size.astype(np.int64)] - ladder[start]
    later = np.clip(last - start, 0, size) - (start + 1) * inverse
    pairs = (yes - 1) * (later / np.maximum(size - 1, 1))
    mean = yes * ((found + 1) * inverse + pairs) / np.maximum(size, 1)
    some, before, begin = yes[..., runs.tied], found[..., runs.tied], start[..., runs.tied]
    after = begin + (size[..., runs.tied] - some).astype(np.int64)
    lowest = _packed(some, before, after, last, ladder)
    highest = _packed(some, before, begin, last, ladder)
    return _over_orders(mean, lowest, highest, ranking_totals(yes, runs), size, runs)


def _ladder(runs: Runs, k: int | None, step: Step) -> Floats:
    """Return the sums of a discount over the first 0, 1, 2, ... ranks, constant beyond rank k."""
    ranks = np.arange(1, len(runs.order) + 1)
    kept = step(ranks) if k is None else np.where(ranks <= k, step(ranks), 0.0)
    return np.asarray(np.r_[0.0, np.cumsum(kept)])


def _in_order(counts: Floats, gains: Floats, order: Ints, start: Ints, ladder: Floats) -> Floats:
    """Return the discounted gain if items follow in the order of their levels from a place on."""
    total, place = np.zeros(counts.shape[1:]), start
    for level in order:
        after = place + counts[level].astype(np.int64)
        total += gains[level] * (ladder[after] - ladder[place])
        place = after
    return total


def _packed(yes: Floats, found: Floats, begin: Ints, last: int, ladder: Floats) -> Floats:
    """Return the sum of precisions if positive items follow each other from a place on."""
    inside = np.clip(last - begin, 0, yes).astype(np.int64)
    return np.asarray(inside + (found - begin) * (ladder[begin + inside] - ladder[begin]))


def _over_orders(
    mean: Floats, lowest: Floats, highest: Floats, best: Floats, size: Floats, runs: Runs
) -> OverOrders:
    """Sum over runs and divide by the best value; ``lowest`` and ``highest`` are of tied runs."""

    def relative(of_runs: Floats) -> Floats:
        ratio = ranking_totals(of_runs, runs) / np.where(best == 0, 1.0, best)
        return np.where(ranking_totals(size, runs) > 1, ratio, np.nan)

    def with_tied(ends: Floats) -> Floats:
        filled = mean.copy()
        filled[..., runs.tied] = ends
        return filled

    middle = relative(mean)
    if not len(runs.tied):
        return OverOrders(mean=middle, lowest=middle, highest=middle)
    return OverOrders(
        mean=middle, lowest=relative(with_tied(lowest)), highest=relative(with_tied(highest))
    )
