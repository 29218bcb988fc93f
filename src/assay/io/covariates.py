"""Covariates of items: columns that a formula may read, one value for each item."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.errors import suggest
from assay._util.plurals import counted, some
from assay.data.ratings import ITEM_COLUMNS
from assay.io.columns import ColumnFinder
from assay.io.identifiers import joined_ids
from assay.io.items import Words, constant_within
from assay.io.ledger import Ledger
from assay.io.numbers import all_numbers
from assay.io.panels import Places
from assay.io.values import EMPTY


def with_covariates(
    items: pd.DataFrame, names: Sequence[str], sources: Sequence[Places], ledger: Ledger
) -> pd.DataFrame:
    """Return the items with columns of covariates: numbers where all cells are, else strings.

    Parameters
    ----------
    items : DataFrame
        One line per item, indexed by name.
    names : sequence of str
    sources : sequence of Places
        The table of ratings, then that of panels if there is one: where an item has its value.
    ledger : Ledger
        Gets a problem for a column that is not there, changes within items or has gaps.
    """
    found = {}
    for name in dict.fromkeys(names):
        if name in ITEM_COLUMNS:
            ledger.problem(
                "covariate-name",
                f"a covariate cannot be called {name!r}: items have a column of that name",
                mend="rename the column",
            )
            continue
        words = _words(name, items.index, sources, ledger)
        if words is not None:
            cells = pd.Series(words, index=items.index, dtype="str", name=name)
            numbers = all_numbers(cells, ledger)
            found[name] = cells if numbers is None else pd.Series(numbers, index=items.index)
    return items.assign(**found)


def _words(name: str, items: pd.Index, sources: Sequence[Places], ledger: Ledger) -> "Words | None":
    """Return the cell of each item, from the first table that has one."""
    there = [(place, ColumnFinder(list(place.table.frame.columns)).get(name)) for place in sources]
    if not any(column for _, column in there):
        columns = [str(c) for place in sources for c in place.table.frame.columns]
        ledger.problem(
            "unknown-column", f"covariates={name!r} is no column", mend=suggest(name, columns)
        )
        return None
    merged = np.full(len(items), "", object)
    for place, column in there:
        if column is None:
            continue
        cells = joined_ids(place.table.frame, [column])
        cells.name = column
        own = constant_within(
            cells.mask(cells.str.strip().str.casefold().isin(EMPTY), ""), place.item, items,
            what=column, table=place.table, ledger=ledger,
            mend="name another column, or leave it out",
        )  # fmt: skip
        if own is not None:
            merged = np.where(merged == "", own, merged)
    alone = items[merged == ""]
    if len(alone):
        ledger.problem(
            "covariate-gaps",
            f"{counted(len(alone), 'item', 'have')} no {name}: {some(list(alone))}",
            where=f"column {name}",
            mend="fill it in (items that only the table of panels lists have it there), or give "
            "them a class of their own, e.g. 'unknown'",
            numbers={"items": len(alone)},
        )
        return None
    return merged
