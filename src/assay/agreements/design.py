"""Who rated what, and which two raters met on an item."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.ratings import Ratings

Ints = NDArray[np.int64]


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
