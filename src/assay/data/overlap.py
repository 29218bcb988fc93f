"""Which raters overlap on which items: pairs of raters, of groups, of repeated ratings.

Pairs are counted by sparse products of raters and items, without a line for each meeting of two
ratings as :mod:`assay.data.overlap` has it: thousands of raters meet millions of times.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from assay._util.grouping import unique_rows
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors

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


Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The first rating of each item by each rater, and the meetings of two raters on an item.

    Attributes
    ----------
    first : ndarray of int (row,)
        Positions in the ratings, sorted by item and rater.
    item : ndarray of int (row,)
    left, right : ndarray of int (meeting,)
        The two rows of a meeting; the left one is of the rater who stands first.
    pair : ndarray of int (meeting,)
        Position in ``raters``.
    raters : ndarray of int (pair, 2)
    cluster : ndarray of int (item,)
        Which of the clusters that have a rating an item is in; -1 for none of them.
    stratum : ndarray of int (cluster,)
    """

    first: Ints
    item: Ints
    left: Ints
    right: Ints
    pair: Ints
    raters: Ints
    cluster: Ints
    stratum: Ints


def build_design(ratings: Ratings) -> Design:
    """Find the first ratings, the meetings of raters, and the clusters of some ratings."""
    order = np.lexsort((ratings.replicate, ratings.rater, ratings.item))
    item, rater = ratings.item[order], ratings.rater[order]
    again = np.r_[False, (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])][: len(order)]
    first, item, rater = order[~again], item[~again], rater[~again]
    left, right = _meetings(item)
    count = len(ratings.raters)
    names, pair = np.unique(rater[left] * count + rater[right], return_inverse=True)
    cluster, stratum = _clusters(ratings, item)
    return Design(
        first=first,
        item=item,
        left=left,
        right=right,
        pair=pair.ravel().astype(np.int64),
        raters=np.column_stack([names // max(count, 1), names % max(count, 1)]),
        cluster=cluster,
        stratum=stratum,
    )


def _meetings(item: Ints) -> tuple[Ints, Ints]:
    """All pairs of rows of the same item, where rows are sorted by item."""
    rows = np.arange(len(item))
    lefts, rights = [rows[:0]], [rows[:0]]
    for step in range(1, int(np.bincount(item).max(initial=1))):
        left = rows[:-step][item[step:] == item[:-step]]
        lefts.append(left)
        rights.append(left + step)
    return np.concatenate(lefts), np.concatenate(rights)


def _clusters(ratings: Ratings, rated: Ints) -> tuple[Ints, Ints]:
    """Clusters that have a rating, numbered, and the stratum of each."""
    names = ratings.items["cluster"].to_numpy().astype(str)
    strata = np.unique(ratings.items["stratum"].to_numpy().astype(str), return_inverse=True)[1]
    known, where = np.unique(names[rated], return_index=True)
    place = np.searchsorted(known, names)
    found = known[np.minimum(place, len(known) - 1)] == names if len(known) else place < 0
    return np.where(found, place, -1), strata[rated[where]].astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupMeetings:
    """Which two ratings of an item meet, and whether their raters are of one group.

    Attributes
    ----------
    groups : tuple of str
        Rater groups of whom two raters met.
    left, right : ndarray of int (meeting,)
        Positions in the ratings.
    kind : ndarray of int (meeting,)
        The group of both, or the number of groups where they are of two.
    """

    groups: tuple[str, ...]
    left: Ints
    right: Ints
    kind: Ints

    def percent(self, answers: Vectors) -> Floats:
        """Share of the meetings of two who were asked and answered alike: (group + 2, label).

        The last lines are those of meetings within any group, and across groups; NaN where nobody
        met.
        """
        met, alike = self.counts(answers)
        share = np.full(met.shape, np.nan)
        return np.asarray(np.divide(alike, met, out=share, where=met > 0))

    def counts(self, answers: Vectors) -> tuple[Ints, Ints]:
        """Count meetings of two who were asked, and those in which they answered alike.

        Two of (group + 2, label), as for the percentages.
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
    """Put the sum of all groups before what is across them."""
    return np.concatenate([counts[:-1], counts[:-1].sum(axis=0, keepdims=True), counts[-1:]])


def build_meetings(ratings: Ratings, design: Design) -> GroupMeetings | None:
    """Find the meetings of raters; None if all raters are of one group."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    left, right = group[design.raters].T
    same = left == right
    within = np.unique(left[same])
    if same.all() or not len(within):
        return None
    kind = np.where(same, np.searchsorted(within, left), len(within))
    return GroupMeetings(
        groups=tuple(names[within].tolist()),
        left=design.first[design.left],
        right=design.first[design.right],
        kind=kind[design.pair].astype(np.int64),
    )


def count_pairs(item: Ints) -> float:
    """Count the ordered pairs of ratings of one item, each with itself too."""
    return float((np.bincount(item).astype(float) ** 2).sum())


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


HALF = 0.5
"""Share of the agreement expected by chance below which raters answer opposite ways."""
CLEARLY = 4.0
"""Standard errors by which the agreement is below chance before it is said."""


class Opposites(NamedTuple):
    """Two raters who agree on a label far less often than answers at random would.

    Attributes
    ----------
    label, one, other : int
        Positions.
    items : int
        That both answered.
    same : int
        On how many of them they agree.
    chance : float
        On how many they would by chance.
    """

    label: int
    one: int
    other: int
    items: int
    same: int
    chance: float


def opposite_pairs(ratings: Ratings, *, share: float = HALF) -> list[Opposites]:
    """Return the pairs of raters who clearly agree less than by chance, label by label.

    Parameters
    ----------
    ratings : Ratings
    share : float
        Of the agreement expected by chance, below which they agree.
    """
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
    """Return the pairs who agree on less than a share of the items that they would by chance.

    By chance two agree on the sum over classes of how often the one and how often the other says
    it, on the items that both answered, by the number of these items.
    """
    same, chance = pairs.agreements(answers), np.zeros(len(pairs.items))
    rest = pairs.items.astype(float), pairs.items.astype(float)
    for k in np.unique(answers)[1:]:
        one, other = pairs.totals(answers == k)
        chance += one * other / pairs.items
        rest = rest[0] - one, rest[1] - other
    chance += rest[0] * rest[1] / pairs.items  # the first class: what the others leave
    error = np.sqrt(chance * (1 - chance / pairs.items))
    seldom = (same < share * chance) & (chance - same > CLEARLY * error)
    columns = (pairs.one, pairs.other, pairs.items, same, chance)
    lines = zip(*(column[seldom].tolist() for column in columns), strict=True)
    return [Opposites(label, *line) for line in lines]


ENOUGH = 30
"""Items with gold, with two ratings of the reference group, or rated by three groups, that a
reference needs."""
WITNESSES = 3
"""Groups that have to look at an item for what they agree on to tell what each misperceives: of
two, either may be the one that is wrong."""
NO_GROUPS = ("gold", "groups")
"""What ``reference=`` takes for something else than a rater group of that name."""


def groups_tell(ratings: Ratings) -> bool:
    """Whether what rater groups agree on tells what each of them misperceives."""
    enough = int((groups_of_items(ratings) >= WITNESSES).sum()) >= ENOUGH
    return enough and bool(first_meetings(ratings))


def groups_of_items(ratings: Ratings) -> Ints:
    """Count the rater groups that rated each item: (item,)."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    rated = ~ratings.abstained
    looked = ratings.item[rated].astype(np.int64) * len(names) + group[ratings.rater[rated]]
    return np.bincount(np.unique(looked) // len(names), minlength=len(ratings.items))


def first_meetings(ratings: Ratings) -> dict[str, int]:
    """Find the first item that two raters of a group rated, by the groups that have one."""
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    rated = ~ratings.abstained
    looks = np.unique(np.column_stack([ratings.item, ratings.rater])[rated], axis=0)
    pairs = np.column_stack([looks[:, 0], group[looks[:, 1]]])
    met, count = np.unique(pairs, axis=0, return_counts=True)
    items, where = met[count > 1].T
    found, first = np.unique(where, return_index=True)
    return dict(zip(names[found].tolist(), items[first].tolist(), strict=True))


def rated_twice_and_by_others(ratings: Ratings, group: str) -> NDArray[np.bool_]:
    """Whether each item has two ratings or more of a group, and one of others: (item,)."""
    mine = (ratings.raters["group"].astype(str) == group).to_numpy()[ratings.rater]
    rated, size = ~ratings.abstained, len(ratings.items)
    inside = np.bincount(ratings.item[mine & rated], minlength=size)
    outside = np.bincount(ratings.item[~mine & rated], minlength=size)
    return np.asarray((inside >= 2) & (outside >= 1))
