"""Cells that are lists, as exports of labelling tools write them."""

import ast
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from assay.reading.ledger import Ledger
from assay.reading.table import Table

FIRST_CELLS = 100


def single_elements(table: Table) -> Table:
    """Take the elements for lists of one element: ``['toxic']`` is ``toxic``.

    Parameters
    ----------
    table : Table
        Of its columns, those change whose cells all are such lists, or empty.

    Returns
    -------
    Table
        With a note for each column that has changed.
    """
    frame, notes = table.frame, []
    for column in table.frame.columns:
        lists = lists_of(table.frame[column])
        if lists and max(map(len, lists.values())) == 1:
            words = {cell: str(items[0]) if items else "" for cell, items in lists.items()}
            frame = frame.assign(**{column: frame[column].map(words).astype("str")})
            notes.append(f"cells of {column} are lists of one element, which stands for them")
    return replace(table, frame=frame, notes=(*table.notes, *notes)) if notes else table


def require_single(columns: Sequence[str], ledger: Ledger) -> None:
    """Add a problem if cells of some columns are lists of several elements."""
    frame = ledger.table.frame
    several = [c for c in columns if len(max(lists_of(frame[c]).values(), key=len, default=[])) > 1]
    if several:
        ledger.problem(
            f"cells of {' and '.join(several)} are lists of several elements, such as "
            f"{max(frame[several[0]], key=len)}",
            allowed="a row for each rating: the item, the rater, the answer",
            mend="give each element a row, in Python: frame[names] = frame[names].map("
            f"ast.literal_eval); frame = frame.explode(names), with names = {several!r}",
        )


def lists_of(column: "pd.Series[str]") -> dict[str, list[object]]:
    """Return the list that each distinct cell is; nothing if some cell is none, and not empty.

    Examples
    --------
    >>> lists_of(pd.Series(["['a', 'b']", ""]))
    {"['a', 'b']": ['a', 'b'], '': []}
    >>> lists_of(pd.Series(["['a', 'b']", "c"]))
    {}
    """
    found: dict[str, list[object]] = {}
    # The first cells tell of nearly every column; finding the distinct ones of millions takes long.
    if not all(_may_be_list(cell) for cell in column.head(FIRST_CELLS)):
        return {}
    for cell in map(str, pd.unique(column)):
        if not _may_be_list(cell):
            return {}
        try:
            items = ast.literal_eval(cell) if cell.strip() else []
        except (SyntaxError, ValueError):
            return {}
        if not isinstance(items, list):
            return {}
        found[cell] = items
    return found if any(found.values()) else {}


def _may_be_list(cell: str) -> bool:
    """Whether a cell is empty, or stands in brackets."""
    return not cell.strip() or (cell.startswith("[") and cell.endswith("]"))
