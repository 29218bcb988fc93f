"""How many readings a cluster has: the sets of its raters who may misread it, and how."""

from math import comb

import numpy as np
import pandas as pd

from assay.data.ratings import Ratings

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


def rows_with_readings(ratings: Ratings) -> int:
    """Return the number of ratings of all clusters in each of their readings."""
    cluster = pd.factorize(ratings.items["cluster"])[0][ratings.item]
    told = (ratings.answers >= 0).any(axis=1)
    keys = cluster[told] * len(ratings.raters) + ratings.rater[told]
    pairs, size = np.unique(keys) // len(ratings.raters), np.bincount(cluster)
    raters = np.bincount(pairs, minlength=len(size))
    return int(sum(number_of_readings(n) * k for n, k in zip(raters.tolist(), size, strict=True)))
