"""Overlap of raters on items: pairs of ratings, of raters and of groups, by sparse products where
thousands of raters meet millions of times.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedPairs:
    """Pairs of ratings (positions ``one``, ``other``) of one item by one rater, (pair,)."""

    one: Ints
    other: Ints
    rater: Ints
    raters: int

    @property
    def count(self) -> Ints:
        """Number of pairs of each rater, (rater,)."""
        return self._of_raters(np.ones(len(self.rater), bool))

    def compare(self, said: NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return each rater's pairs that both answer a label, and those that agree on all."""
        first, second = said[self.one], said[self.other]
        both = (first != MISSING) & (second != MISSING)
        told = both.any(axis=1)
        same = told & (~both | (first == second)).all(axis=1)
        return self._of_raters(told), self._of_raters(same)

    def _of_raters(self, chosen: Bools) -> Ints:
        return np.bincount(self.rater[chosen], minlength=self.raters)


def repeated_pairs(ratings: Ratings, said: NDArray[np.integer]) -> RepeatedPairs:
    """Return the pairs among the ratings with an answer in ``said`` (rating, label)."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstRatings:
    """The first rating of each item by each rater, and the meetings of two raters on an item.

    first : positions in the ratings, sorted by item and rater (row,)
    item : (row,)
    left, right : the two rows of a meeting, the rater of the left one comes first (meeting,)
    pair : position in ``raters`` (meeting,)
    raters : (pair, 2)
    cluster : number of the item's cluster among those with a rating, or -1 (item,)
    stratum : (cluster,)
    """

    first: Ints
    item: Ints
    left: Ints
    right: Ints
    pair: Ints
    raters: Ints
    cluster: Ints
    stratum: Ints


def build_design(ratings: Ratings) -> FirstRatings:
    """Return the first ratings, the meetings of raters, and the clusters of ratings."""
    order = np.lexsort((ratings.replicate, ratings.rater, ratings.item))
    item, rater = ratings.item[order], ratings.rater[order]
    again = np.r_[False, (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])][: len(order)]
    first, item, rater = order[~again], item[~again], rater[~again]
    left, right = meetings(item)
    count = len(ratings.raters)
    names, pair = np.unique(rater[left] * count + rater[right], return_inverse=True)
    cluster, stratum = _clusters(ratings, item)
    return FirstRatings(
        first=first,
        item=item,
        left=left,
        right=right,
        pair=pair.ravel().astype(np.int64),
        raters=np.column_stack([names // max(count, 1), names % max(count, 1)]),
        cluster=cluster,
        stratum=stratum,
    )


def meetings(item: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of rows of the same item."""
    order = np.argsort(item, kind="stable")
    lefts, rights = [order[:0]], [order[:0]]
    for step in range(1, int(np.bincount(item).max(initial=1))):
        same = item[order[step:]] == item[order[:-step]]
        lefts.append(order[:-step][same])
        rights.append(order[step:][same])
    return np.concatenate(lefts), np.concatenate(rights)


def _clusters(ratings: Ratings, rated: Ints) -> tuple[Ints, Ints]:
    """Return the number of each item's cluster, and the stratum of each cluster."""
    names = ratings.items["cluster"].to_numpy().astype(str)
    strata = np.unique(ratings.items["stratum"].to_numpy().astype(str), return_inverse=True)[1]
    known, where = np.unique(names[rated], return_index=True)
    place = np.searchsorted(known, names)
    found = known[np.minimum(place, len(known) - 1)] == names if len(known) else place < 0
    return np.where(found, place, -1), strata[rated[where]].astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupPairs:
    """Meetings of two ratings of an item, by rater group.

    left, right : positions in the ratings (meeting,)
    kind : of ``groups``, that of both raters, or the number of groups if theirs differ (meeting,)
    """

    groups: tuple[str, ...]
    left: Ints
    right: Ints
    kind: Ints

    def percent(self, answers: Vectors) -> Floats:
        """Return the share of meetings that agree, (group + 2, label); NaN without meetings."""
        met, alike = self.counts(answers)
        share = np.full(met.shape, np.nan)
        return np.asarray(np.divide(alike, met, out=share, where=met > 0))

    def counts(self, answers: Vectors) -> tuple[Ints, Ints]:
        """Return the numbers of meetings with two answers, and of agreements, (group + 2,
        label).
        """
        kinds, found = len(self.groups) + 1, []
        for label in range(answers.shape[1]):
            one, other = answers[self.left, label], answers[self.right, label]
            both = (one >= 0) & (other >= 0)
            chosen = (both, both & (one == other))
            found.append([np.bincount(self.kind[rows], minlength=kinds) for rows in chosen])
        met, alike = np.array(found).transpose(1, 2, 0)
        return _with_sum(met), _with_sum(alike)


def _with_sum(counts: Ints) -> Ints:
    """Insert the sum over groups before the line of meetings across groups."""
    return np.concatenate([counts[:-1], counts[:-1].sum(axis=0, keepdims=True), counts[-1:]])


def build_meetings(ratings: Ratings, design: FirstRatings) -> GroupPairs | None:
    """Return the meetings of raters; None unless there are some within and across groups."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    left, right = group[design.raters].T
    same = left == right
    within = np.unique(left[same])
    if same.all() or not len(within):
        return None
    kind = np.where(same, np.searchsorted(within, left), len(within))
    return GroupPairs(
        groups=tuple(names[within].tolist()),
        left=design.first[design.left],
        right=design.first[design.right],
        kind=kind[design.pair].astype(np.int64),
    )


def count_pairs(item: Ints) -> float:
    """Count the ordered pairs of ratings of one item, including each with itself."""
    return float((np.bincount(item).astype(float) ** 2).sum())


SHARED_ITEMS = 20
"""Number of common items from which two raters are compared."""
PAIR_LIMIT = 200_000_000
"""Ordered pairs of ratings of one item above which comparison takes too long."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterPairs:
    """Pairs of raters with enough common items.

    one, other : positions of the raters, the smaller one first (pair,)
    items : number of common items (pair,)
    rater, item : the compared ratings, at most one of an item by a rater (rating,)
    """

    one: Ints
    other: Ints
    items: Ints
    rater: Ints
    item: Ints
    n_raters: int

    def chosen(self, at: Bools) -> "RaterPairs":
        """Return the pairs selected by a mask (pair,)."""
        return replace(self, one=self.one[at], other=self.other[at], items=self.items[at])

    def agreements(self, answer: NDArray[np.integer]) -> Ints:
        """Return the number of items with equal answers, (pair,), from answers (rating,)."""
        _, cell = unique_rows(self.item, answer)
        said = _by_rater(np.ones(len(cell), np.int32), self.rater, cell, self.n_raters)
        return _at((said @ said.T).tocsr(), self.one, self.other)

    def totals(self, numbers: ArrayLike) -> tuple[Floats, Floats]:
        """Sum the numbers (rating,) of each rater over the common items: two of (pair,)."""
        given, rated = self._matrix(numbers), self._matrix(np.ones(len(self.item)))
        sums = (given @ rated.T).tocsr()
        return _at(sums, self.one, self.other), _at(sums, self.other, self.one)

    def products(self, numbers: ArrayLike) -> Floats:
        """Sum the products of both raters' numbers over the common items, (pair,)."""
        given = self._matrix(numbers)
        return _at((given @ given.T).tocsr(), self.one, self.other)

    def _matrix(self, numbers: ArrayLike) -> Any:
        return _by_rater(np.asarray(numbers, float), self.rater, self.item, self.n_raters)


def rater_pairs(rater: Ints, item: Ints, n_raters: int) -> RaterPairs | None:
    """Return the pairs of raters with ``SHARED_ITEMS`` common items; None above ``PAIR_LIMIT``.

    Each rater has at most one rating of an item.
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
    """Return a sparse matrix of numbers (rater, column), without zeros."""
    some = numbers != 0
    shape = (n_raters, int(column.max(initial=0)) + 1)
    return sparse.csr_array((numbers[some], (rater[some], column[some])), shape=shape)


def _at(matrix: Any, row: Ints, column: Ints) -> NDArray[Any]:
    """Return the values of a sparse matrix at the given places."""
    if not len(row):
        return np.zeros(0, matrix.dtype)
    return np.asarray(matrix[row, column]).ravel()


HALF = 0.5
"""Ratio of agreement to chance agreement below which raters answer oppositely."""
MIN_STANDARD_ERRORS = 4.0
"""Standard errors below chance from which low agreement is reported."""


class Opposites(NamedTuple):
    """Two raters who agree on a label far less often than by chance: common items, those with the
    ``same`` answer, and those expected by chance.
    """

    label: int
    one: int
    other: int
    items: int
    same: int
    chance: float


def opposite_pairs(ratings: Ratings, *, share: float = HALF) -> list[Opposites]:
    """Return the pairs of raters whose agreement is clearly below ``share`` of that by chance."""
    first = ratings.replicate == 0
    found: list[Opposites] = []
    for n in range(len(ratings.task.labels)):
        told = first & (ratings.answers[:, n] >= 0)
        pairs = rater_pairs(ratings.rater[told], ratings.item[told], len(ratings.raters))
        if pairs is not None and len(pairs.items):
            found += _opposites(n, pairs, ratings.answers[told, n], share)
    return found


def _opposites(
    label: int, pairs: RaterPairs, answers: NDArray[np.int16], share: float
) -> list[Opposites]:
    """Return the pairs of one label whose agreement is below a ``share`` of that by chance. This
    sums over classes the product of both counts, over the number of common items.
    """
    same, chance = pairs.agreements(answers), np.zeros(len(pairs.items))
    rest = pairs.items.astype(float), pairs.items.astype(float)
    for k in np.unique(answers)[1:]:
        one, other = pairs.totals(answers == k)
        chance += one * other / pairs.items
        rest = rest[0] - one, rest[1] - other
    chance += rest[0] * rest[1] / pairs.items  # the first class
    error = np.sqrt(chance * (1 - chance / pairs.items))
    seldom = (same < share * chance) & (chance - same > MIN_STANDARD_ERRORS * error)
    columns = (pairs.one, pairs.other, pairs.items, same, chance)
    lines = zip(*(column[seldom].tolist() for column in columns), strict=True)
    return [Opposites(label, *line) for line in lines]


LAYER_ITEMS = 30
"""Items with gold, with two ratings of the reference group, or rated by three groups, that a
reference needs.
"""
MIN_GROUPS = 3
"""Groups that must rate an item so that their agreement identifies what each misperceives: with two
groups, either may be wrong.
"""
NO_GROUPS = ("gold", "groups")
"""Values of ``reference=`` that are not names of rater groups."""


def groups_identify_truth(ratings: Ratings) -> bool:
    """Return whether agreement of rater groups identifies what each of them misperceives."""
    enough = int((groups_of_items(ratings) >= MIN_GROUPS).sum()) >= LAYER_ITEMS
    return enough and bool(first_meetings(ratings))


def groups_of_items(ratings: Ratings) -> Ints:
    """Return the number of rater groups that rated each item, (item,)."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    rated = ~ratings.abstained
    looked = ratings.item[rated].astype(np.int64) * len(names) + group[ratings.rater[rated]]
    return np.bincount(np.unique(looked) // len(names), minlength=len(ratings.items))


def first_meetings(ratings: Ratings) -> dict[str, int]:
    """Return the first item that two raters of a group rated, by group."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    rated = ~ratings.abstained
    looks = np.unique(np.column_stack([ratings.item, ratings.rater])[rated], axis=0)
    pairs = np.column_stack([looks[:, 0], group[looks[:, 1]]])
    met, count = np.unique(pairs, axis=0, return_counts=True)
    items, where = met[count > 1].T
    found, first = np.unique(where, return_index=True)
    return dict(zip(names[found].tolist(), items[first].tolist(), strict=True))


def rated_twice_and_by_others(ratings: Ratings, group: str) -> Bools:
    """Return whether each item has two ratings of a group and one of another group, (item,)."""
    mine = (ratings.raters["group"].astype(str) == group).to_numpy()[ratings.rater]
    rated, size = ~ratings.abstained, len(ratings.items)
    inside = np.bincount(ratings.item[mine & rated], minlength=size)
    outside = np.bincount(ratings.item[~mine & rated], minlength=size)
    return np.asarray((inside >= 2) & (outside >= 1))
