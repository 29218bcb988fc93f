"""Kinds of items: unused columns with few values, such as the language of a query."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.typing import Ints
from assay.data.ratings import ITEM_COLUMNS, MOST_KINDS, Ratings, system_of_items
from assay.io.larger_units import FIRST_ROWS

LEAST_ITEMS = 20
"""Least number of items of a kind; rarer ones show nothing of the raters."""
MOST_COLUMNS = 6


def with_kinds(ratings: Ratings, columns: Mapping[str, "pd.Series[str]"], item: Ints) -> Ratings:
    """Keep columns that divide the items into kinds, as covariates of the items.

    ``columns`` have a cell for each row of the file, and ``item`` the row's position among the
    items. Columns of answers, and those that divide the items as their systems do, are no kinds.
    """
    words = {name.casefold() for label in ratings.task.labels for name in label.classes}
    seen = [_partition(system_of_items(ratings))]
    found: dict[str, pd.Series[str]] = {}
    for column, cells in columns.items():
        kind = _kind_of_items(cells, item, len(ratings.items))
        if kind is None or column in ITEM_COLUMNS or column in ratings.items:
            continue
        codes = _partition(kind)
        told = {str(name).casefold() for name in np.unique(kind) if name}
        if told <= words or any(np.array_equal(codes, other) for other in seen):
            continue
        seen.append(codes)
        found[column] = pd.Series(kind, index=ratings.items.index, dtype="str")
        if len(found) == MOST_COLUMNS:
            break
    return replace(ratings, items=ratings.items.assign(**found)) if found else ratings


def _kind_of_items(
    cells: "pd.Series[str]", item: Ints, items: int
) -> "np.ndarray[tuple[int], np.dtype[np.object_]] | None":
    """Return the kind of each item, ``""`` without one; None if the column has no kinds."""
    if cells[:FIRST_ROWS].nunique() > MOST_KINDS + 1:  # and perhaps an empty cell
        return None
    codes, names = pd.factorize(cells.mask(cells == ""))
    if not 2 <= len(names) <= MOST_KINDS:
        return None
    kind = np.full(items, -1)
    kind[item] = codes
    count = np.bincount(kind[kind >= 0], minlength=len(names))
    if (kind[item] != codes).any() or (count >= LEAST_ITEMS).sum() < 2:
        return None
    return np.asarray(np.append(names.astype(object), "")[kind], object)


def _partition(values: "np.ndarray[tuple[int], np.dtype[np.generic]]") -> Ints:
    return np.asarray(pd.factorize(values)[0])
