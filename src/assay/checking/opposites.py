"""Raters who agree less than by chance: one of them may have the classes the wrong way round."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay.checking.raters import PAIR_LIMIT
from assay.checking.result import Part, findings_on
from assay.meetings import count_pairs
from assay.plurals import counted, does, some
from assay.ratings import Ratings

_finding = findings_on("raters")

SHARED_ITEMS = 20
"""Items that two raters have in common, from which on they are compared."""
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


def check_opposites(ratings: Ratings) -> Part:
    """Say which raters agree so seldom that one may have the classes the wrong way round."""
    names, labels = ratings.raters.index, ratings.task.label_names
    pairs = [
        f"{names[pair.one]} and {names[pair.other]} on {labels[pair.label]} (on {pair.same} of "
        f"{pair.items} items, {pair.chance:.0f} by chance)"
        for pair in opposite_pairs(ratings)
    ]
    if not pairs:
        return Part(findings=())
    text = (
        f"{counted(len(pairs), 'pair')} of raters {does(len(pairs), 'agree')} far less often than "
        "answers at random would: one of the two may have the classes the wrong way round, and "
        f"where nobody else tells, a fit takes the one or the other at its word: {some(pairs)}"
    )
    return Part(findings=(_finding("warning", text),))


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
        item, rater = ratings.item[told], ratings.rater[told]
        if count_pairs(item) <= PAIR_LIMIT:
            pairs = _pairs((rater, item), ratings.answers[told, n], ratings, share)
            found += [Opposites(n, *pair) for pair in pairs]
    return found


def _pairs(
    at: tuple[NDArray[np.int64], NDArray[np.int64]],
    answers: NDArray[np.int16],
    ratings: Ratings,
    share: float,
) -> list[tuple[int, int, int, int, float]]:
    """Return the pairs of raters: who, items in common, on how many they agree, and by chance."""
    shape = (len(ratings.raters), len(ratings.items))

    def indicator(rows: NDArray[np.bool_]) -> Any:
        where = (at[0][rows], at[1][rows])
        return sparse.csr_array((np.ones(int(rows.sum())), where), shape=shape)

    answered = indicator(np.ones(len(answers), bool))
    common = sparse.triu(answered @ answered.T, k=1).tocoo()
    enough = common.data >= SHARED_ITEMS
    one, other, items = common.row[enough], common.col[enough], common.data[enough]
    same, chance = np.zeros(len(items)), np.zeros(len(items))
    if not len(items):
        return []
    for k in np.unique(answers):
        says = indicator(answers == k)
        same += np.asarray((says @ says.T).tocsr()[one, other]).ravel()
        given = (says @ answered.T).tocsr()
        mine, theirs = given[one, other], given[other, one]
        chance += np.asarray(mine).ravel() * np.asarray(theirs).ravel() / items
    error = np.sqrt(chance * (1 - chance / items))
    seldom = (same < share * chance) & (chance - same > CLEARLY * error)
    columns = (one, other, items.astype(int), same.astype(int), chance)
    return [tuple(line) for line in zip(*(c[seldom].tolist() for c in columns), strict=True)]
