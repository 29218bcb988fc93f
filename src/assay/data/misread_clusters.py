"""How many readings a cluster has: the sets of its raters who may misread it, and how."""

from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd

from assay._util.typing import Bools, Ints
from assay.data.ratings import Ratings
from assay.data.states import MISSING

DIRECTIONS = (0, -1, 1)
"""How a rater may read a cluster: rightly, or with answers moved down or up."""
MOST = 2
"""Most raters who misread one cluster; three are hardly told from a cluster of other truth."""
MANY_RATERS = 3
"""Raters of a cluster above whom at most one misreads it: others outvote two, and pairs cost."""


def most_misread(raters: int) -> int:
    """Return how many of a cluster's raters may misread it at once."""
    return MOST if raters <= MANY_RATERS else 1


def number_of_readings(raters: int) -> int:
    """Return the number of readings of a cluster by some raters.

    >>> number_of_readings(3), number_of_readings(20)
    (19, 41)
    """
    directions = len(DIRECTIONS) - 1
    return sum(comb(raters, k) * directions**k for k in range(most_misread(raters) + 1))


class Seats(NamedTuple):
    """Raters at their clusters: a seat for each cluster that a rater may misread.

    rater : of each seat, by cluster, then by group (seat,)
    start : first seat of each cluster (cluster + 1,)
    of_rating : seat of each rating, -1 without one (rating,)
    cluster : of each item (item,)
    """

    rater: Ints
    start: Ints
    of_rating: Ints
    cluster: Ints


def find_seats(ratings: Ratings, group: Ints, answered: Bools | None = None) -> Seats:
    """Return the seats: a rater has one in each cluster with an answer of the rater.

    group : of each rater, -1 for raters who misread no clusters (rater,)
    answered : by default as in the data (rating, label)
    """
    answered = ratings.answers != MISSING if answered is None else answered
    cluster = pd.factorize(ratings.items["cluster"])[0].astype(np.int64)
    order = np.argsort(group, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    seated = answered.any(axis=1) & (group >= 0)[ratings.rater]
    keys = cluster[ratings.item] * len(order) + place[ratings.rater]
    taken, which = np.unique(keys[seated], return_inverse=True)
    of_rating = np.full(len(keys), -1, np.int64)
    of_rating[seated] = which
    counts = np.bincount(taken // len(order), minlength=cluster.max(initial=-1) + 1)
    start = np.append(0, counts.cumsum())
    return Seats(order[taken % len(order)], start, of_rating, cluster)


def rows_with_readings(ratings: Ratings, misreaders: Bools) -> int:
    """Return the number of ratings with answers of all clusters in each of their readings.

    ``misreaders`` says which raters may misread clusters (rater,).
    """
    seats = find_seats(ratings, np.where(misreaders, 0, -1))
    answered = (ratings.answers != MISSING).any(axis=1)
    size = np.bincount(seats.cluster[ratings.item[answered]], minlength=len(seats.start) - 1)
    raters = np.diff(seats.start).tolist()
    return int(sum(number_of_readings(n) * k for n, k in zip(raters, size.tolist(), strict=True)))
