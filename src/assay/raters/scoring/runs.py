"""Items of equal score stand together: the runs that every measure of scores counts in."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """Items in rankings, the highest score first; a run is a set of items that are tied.

    Attributes
    ----------
    order : ndarray of int (item,)
        Positions of the items, ranking by ranking, from the highest score to the lowest.
    start : ndarray of int (run,)
        Where in ``order`` each run begins.
    first : ndarray of int (ranking,)
        The first run of each ranking.
    ranking : ndarray of int (run,)
        Which ranking a run is in.
    score : ndarray of float (run,)
        The score of its items.
    """

    order: Positions
    start: Positions
    first: Positions
    ranking: Positions
    score: Values

    @cached_property
    def tied(self) -> Positions:
        """Positions of the runs with more than one item."""
        return np.flatnonzero(np.diff(np.r_[self.start, len(self.order)]) > 1)


def tied_runs(score: Values, ranking: Positions | None = None) -> Runs:
    """Sort scores into runs.

    Parameters
    ----------
    score : ndarray of float (item,)
        Scores are tied if they are equal as numbers: round those that come from arithmetic.
    ranking : ndarray of int (item,), optional
        The ranking that each item is in, 0, 1, ..., none empty; one ranking if not given.

    Returns
    -------
    Runs

    Examples
    --------
    >>> runs = tied_runs(np.array([0.2, 0.9, 0.2]))
    >>> runs.order, runs.start, runs.score
    (array([1, 0, 2]), array([0, 1]), array([0.9, 0.2]))
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


def run_totals(values: NDArray[np.generic], runs: Runs) -> Values:
    """Add up (..., item) within runs: (..., run)."""
    sorted_values = np.take(values, runs.order, axis=-1)
    if not len(runs.tied):
        return sorted_values.astype(np.float64)
    return np.asarray(np.add.reduceat(sorted_values, runs.start, axis=-1, dtype=np.float64))


def ranking_totals(values: Values, runs: Runs) -> Values:
    """Add up (..., run) within rankings: (..., ranking)."""
    return np.asarray(np.add.reduceat(values, runs.first, axis=-1))


def ahead(values: Values, runs: Runs) -> Values:
    """Add up (..., run) over the earlier runs of the same ranking: (..., run)."""
    through = np.cumsum(values, axis=-1)
    before = through - values
    return np.asarray(before - before[..., runs.first][..., runs.ranking])
