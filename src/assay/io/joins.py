"""Joining a side table (of systems, of queries) to the ratings."""

from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Problem, RatingsError
from assay._util.plurals import counted, does
from assay.io.columns import ColumnFinder
from assay.io.identifiers import clean_ids, codes_of
from assay.io.tables import Table

SEPARATOR = "\x1f"


def join_table(table: Table, side: Table) -> Table:
    """Add the columns of a side table to the rows of a table, by the columns that both have.

    Raises
    ------
    RatingsError
        If they have no column in common, the side table gives two answers for one key, or
        nothing matches.
    """
    finder = ColumnFinder(list(table.frame.columns))
    shared = {c: finder.get(c) for c in side.frame.columns}
    keys = {c: mine for c, mine in shared.items() if mine is not None}
    added = [c for c in side.frame.columns if c not in keys]
    if not keys:
        raise RatingsError(
            [
                Problem(
                    code="panels-key",
                    what="the table of panels has no column in common with the ratings",
                    where=f"its columns: {', '.join(side.frame.columns)}",
                    mend="give it the column that names a rating's panel",
                )
            ],
            side.source,
        )
    side_key = _key(side.frame, list(keys))
    side_rows = pd.DataFrame({c: clean_ids(side.frame[c]) for c in added}).assign(key=side_key)
    side_rows = side_rows.drop_duplicates()
    _check_unique(side_rows, side, list(keys))
    mine, names = codes_of(_key(table.frame, [str(c) for c in keys.values()]))
    position = pd.Index(side_rows["key"]).get_indexer(names)
    if not (position >= 0).any():
        raise RatingsError.of(
            "panels-values",
            f"no value of {', '.join(keys)} is one of the ratings' values",
            side.source,
            mend="the table must name them as the ratings do",
        )
    found = np.where(mine >= 0, position[mine], -1)
    frame = table.frame.copy()
    for column in added:
        words = pd.Series([*side_rows[column], ""], dtype="str")
        frame[column] = words.array.take(found)
    notes = [f"{', '.join(added) or 'nothing'} joined from {side.source} by {', '.join(keys)}"]
    missing = int((position < 0).sum())
    if missing:
        values = f"{missing} of {counted(len(names), 'value')} of {', '.join(keys)}"
        notes.append(f"{values} {does(missing, 'are')} not in that table")
    return replace(table, frame=frame, notes=(*table.notes, *notes))


def _key(frame: pd.DataFrame, columns: list[str]) -> "pd.Series[str]":
    key = clean_ids(frame[columns[0]])
    for column in columns[1:]:
        key = key + SEPARATOR + clean_ids(frame[column])
    return key


def _check_unique(rows: pd.DataFrame, side: Table, keys: list[str]) -> None:
    twice = rows["key"].duplicated(keep=False)
    if twice.any():
        place = side.where(rows.index[twice].to_numpy(), ", ".join(keys))
        raise RatingsError(
            [
                Problem(
                    code="panels-repeat",
                    what=f"{rows['key'][twice].nunique()} keys stand in several different rows",
                    where=place,
                    mend="keep one row for each, or add the item's column",
                    numbers={"keys": rows["key"][twice].nunique()},
                )
            ],
            side.source,
        )
