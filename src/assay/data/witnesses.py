"""Which items tell what a rater group misperceives, and how many of them are needed."""

import numpy as np
from numpy.typing import NDArray

from assay.data.ratings import Ratings

Ints = NDArray[np.int64]

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
