"""Pairs of ratings of one item by one rater, and whether they agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.data.states import MISSING

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedPairs:
    """Pairs of ratings of one item by one rater.

    Attributes
    ----------
    one, other : ndarray of int (pair,)
        Positions of the ratings.
    rater : ndarray of int (pair,)
    raters : int
        How many raters there are.
    """

    one: Ints
    other: Ints
    rater: Ints
    raters: int

    @property
    def count(self) -> Ints:
        """How many pairs each rater has: (rater,)."""
        return self._of_raters(np.ones(len(self.rater), bool))

    def compare(self, said: NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Count each rater's pairs that both answer something, and those that agree in all of it.

        Parameters
        ----------
        said : ndarray of int (rating, label)

        Returns
        -------
        told, same : ndarray of int (rater,)
        """
        first, second = said[self.one], said[self.other]
        both = (first != MISSING) & (second != MISSING)
        told = both.any(axis=1)
        same = told & (~both | (first == second)).all(axis=1)
        return self._of_raters(told), self._of_raters(same)

    def _of_raters(self, chosen: NDArray[np.bool_]) -> Ints:
        return np.bincount(self.rater[chosen], minlength=self.raters)


def repeated_pairs(ratings: Ratings, said: NDArray[np.integer]) -> RepeatedPairs:
    """Find the pairs among the ratings that say something (rating, label)."""
    here = np.flatnonzero((said != MISSING).any(axis=1))
    order = here[np.lexsort((ratings.item[here], ratings.rater[here]))]
    ones, others = [order[:0]], [order[:0]]
    for apart in range(1, len(order)):
        one, other = order[:-apart], order[apart:]
        paired = ratings.item[one] == ratings.item[other]
        paired &= ratings.rater[one] == ratings.rater[other]
        if not paired.any():
            break
        ones.append(one[paired])
        others.append(other[paired])
    one, other = np.concatenate(ones), np.concatenate(others)
    return RepeatedPairs(one=one, other=other, rater=ratings.rater[one], raters=len(ratings.raters))
