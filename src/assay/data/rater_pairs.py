"""What two raters have in common: the items that both rated, and sums over these items.

Pairs are counted by sparse products of raters and items, without a line for each meeting of two
ratings as :mod:`assay.data.meetings` has it: thousands of raters meet millions of times.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._util.grouping import unique_rows
from assay.data.meetings import count_pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARED_ITEMS = 20
"""Items that two raters have in common, from which on they are compared."""
PAIR_LIMIT = 200_000_000
"""Ordered pairs of ratings of one item, beyond which nobody is compared: it takes too long."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterPairs:
    """Pairs of raters who rated enough items in common.

    Attributes
    ----------
    one, other : ndarray of int (pair,)
        Positions of the raters, the smaller one first.
    items : ndarray of int (pair,)
        How many both rated.
    rater, item : ndarray of int (rating,)
        The ratings that are compared, each rater's at most one of an item.
    n_raters : int
    """

    one: Ints
    other: Ints
    items: Ints
    rater: Ints
    item: Ints
    n_raters: int

    def chosen(self, at: NDArray[np.bool_]) -> "RaterPairs":
        """Return some of the pairs: at (pair,)."""
        return replace(self, one=self.one[at], other=self.other[at], items=self.items[at])

    def agreements(self, answer: NDArray[np.integer]) -> Ints:
        """Count the items on which both gave the same answer: (pair,), of answer (rating,)."""
        _, cell = unique_rows(self.item, answer)
        said = _by_rater(np.ones(len(cell), np.int32), self.rater, cell, self.n_raters)
        return _at((said @ said.T).tocsr(), self.one, self.other)

    def totals(self, numbers: ArrayLike) -> tuple[Floats, Floats]:
        """Sum a number of each rating (rating,), over the items in common: of the one, the other.

        Returns
        -------
        tuple of ndarray (pair,)
        """
        given, rated = self._matrix(numbers), self._matrix(np.ones(len(self.item)))
        sums = (given @ rated.T).tocsr()
        return _at(sums, self.one, self.other), _at(sums, self.other, self.one)

    def products(self, numbers: ArrayLike) -> Floats:
        """Sum the one's number times the other's over the items in common: (pair,)."""
        given = self._matrix(numbers)
        return _at((given @ given.T).tocsr(), self.one, self.other)

    def _matrix(self, numbers: ArrayLike) -> Any:
        return _by_rater(np.asarray(numbers, float), self.rater, self.item, self.n_raters)


def rater_pairs(rater: Ints, item: Ints, n_raters: int) -> RaterPairs | None:
    """Find the pairs of raters who rated 20 items or more in common.

    Parameters
    ----------
    rater, item : ndarray of int (rating,)
        Positions; each rater's ratings of an item are one at most.
    n_raters : int

    Returns
    -------
    RaterPairs or None
        None if items have so many raters that comparing all would take too long.
    """
    if count_pairs(item) > PAIR_LIMIT:
        return None
    rated = _by_rater(np.ones(len(rater), np.int32), rater, item, n_raters)
    common = sparse.triu(rated @ rated.T, k=1).tocoo()
    enough = common.data >= SHARED_ITEMS
    return RaterPairs(
        one=common.row[enough].astype(np.int64),
        other=common.col[enough].astype(np.int64),
        items=common.data[enough].astype(np.int64),
        rater=rater,
        item=item,
        n_raters=n_raters,
    )


def _by_rater(numbers: NDArray[Any], rater: Ints, column: Ints, n_raters: int) -> Any:
    """Return a sparse matrix of numbers, zeros left out: (rater, column)."""
    some = numbers != 0
    shape = (n_raters, int(column.max(initial=0)) + 1)
    return sparse.csr_array((numbers[some], (rater[some], column[some])), shape=shape)


def _at(matrix: Any, row: Ints, column: Ints) -> NDArray[Any]:
    """Return the values of a sparse matrix at some places."""
    if not len(row):
        return np.zeros(0, matrix.dtype)
    return np.asarray(matrix[row, column]).ravel()
