"""Which raters overlap on which items: pairs of raters, of groups, of repeated ratings."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.data.rater_pairs import RaterPairs, rater_pairs
from assay.data.ratings import Ratings

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
