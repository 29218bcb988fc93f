"""Who rated how many of each system's items: counts that add up over parts of the data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.data.ratings import Ratings

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage:
    """Counts that add up over parts of the data with the same raters.

    Attributes
    ----------
    items : ndarray of int (system,)
        Items of this system alone.
    answered : ndarray of int (unit, system)
        Those of them that each rater group answered, or each rater if all are of one group.
    """

    items: Counts
    answered: Counts

    def __add__(self, other: "Coverage") -> "Coverage":
        """Add the counts of another part."""
        return Coverage(items=self.items + other.items, answered=self.answered + other.answered)


def coverage(ratings: Ratings, systems: Sequence[str]) -> Coverage:
    """Count the items of each system, and those that each unit answered."""
    place = _own_system(ratings, systems)
    mine, item = _answered(ratings, place)
    answered = np.zeros((len(units(ratings)[1]), len(systems)), np.int64)
    pairs = pd.DataFrame({"unit": mine, "item": item}).drop_duplicates()
    np.add.at(answered, (pairs["unit"], place[pairs["item"]]), 1)
    items = np.bincount(place[place >= 0], minlength=len(systems))
    return Coverage(items=items, answered=answered)


def checked_items(ratings: Ratings, systems: Sequence[str], judge: Flags) -> Counts:
    """Count the items of each system that others than the judges answered, or whose truth is known.

    Parameters
    ----------
    judge : ndarray of bool (unit,)
    """
    place = _own_system(ratings, systems)
    mine, item = _answered(ratings, place)
    known = ratings.has_truth
    known[item[~judge[mine]]] = True
    return np.bincount(place[known & (place >= 0)], minlength=len(systems))


def _answered(ratings: Ratings, place: Counts) -> tuple[Counts, Counts]:
    """Return the unit and the item of each rating that says something, of items of one system."""
    used = ratings.answered & (place[ratings.item] >= 0)
    return units(ratings)[0][ratings.rater[used]], ratings.item[used]


def _own_system(ratings: Ratings, systems: Sequence[str]) -> Counts:
    """Return the position of the one system that each item is of; -1 if none or several."""
    places = ratings.panels.loc[ratings.panels["system"] != "", ["system", "item"]]
    places = places.drop_duplicates().drop_duplicates("item", keep=False)
    found = np.full(len(ratings.items), -1, np.int64)
    found[places["item"].to_numpy()] = pd.Index(list(systems)).get_indexer(
        pd.Index(places["system"])
    )
    return found


def units(ratings: Ratings) -> tuple[Counts, NDArray[np.object_], bool]:
    """Return each rater's unit, the units' names, and whether units are groups or raters."""
    groups = ratings.raters["group"]
    if groups.nunique() > 1:
        codes, names = pd.factorize(groups)
        return np.asarray(codes, np.int64), np.asarray(names, object), True
    return np.arange(len(groups)), ratings.raters.index.to_numpy(object), False
