"""Raters who agree less than by chance: one of them may have the classes the wrong way round."""

from typing import Any

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


def check_opposites(ratings: Ratings) -> Part:
    """Say which raters agree so seldom that one may have the classes the wrong way round."""
    first = ratings.replicate == 0
    pairs: list[str] = []
    for n, label in enumerate(ratings.task.labels):
        told = first & (ratings.answers[:, n] >= 0)
        item, rater = ratings.item[told], ratings.rater[told]
        if count_pairs(item) > PAIR_LIMIT:
            continue
        at = (rater, item)
        for one, other, items, same, chance in _pairs(at, ratings.answers[told, n], ratings):
            names = ratings.raters.index[[one, other]]
            pairs.append(
                f"{names[0]} and {names[1]} on {label.name} (on {same} of {items} items, "
                f"{chance:.0f} by chance)"
            )
    if not pairs:
        return Part(findings=())
    text = (
        f"{counted(len(pairs), 'pair')} of raters {does(len(pairs), 'agree')} far less often than "
        "answers at random would: one of the two may have the classes the wrong way round, and "
        f"where nobody else tells, a fit takes the one or the other at its word: {some(pairs)}"
    )
    return Part(findings=(_finding("warning", text),))


def _pairs(
    at: tuple[NDArray[np.int64], NDArray[np.int64]], answers: NDArray[np.int16], ratings: Ratings
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
    seldom = (same < HALF * chance) & (chance - same > CLEARLY * error)
    columns = (one, other, items.astype(int), same.astype(int), chance)
    return [tuple(line) for line in zip(*(c[seldom].tolist() for c in columns), strict=True)]
