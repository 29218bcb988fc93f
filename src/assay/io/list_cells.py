"""Cells that hold lists, as labelling tools export them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted
from assay._util.typing import Ints
from assay.io.columns import ColumnArg, ColumnFinder
from assay.io.names import ANSWER_COLUMNS, KNOWN, RECOGNISED, squash
from assay.io.reading_log import Ledger
from assay.io.tables import SET_ASIDE, Table, cell_text

FIRST_CELLS = 100
NAMED = ("rater", "item", "cluster", "system")
"""Roles whose names may be lists of parts."""
PRINTED = re.compile(
    r"""array\(.*\)|\[\s*['"\d\[-].*\]|\(\s*['"\d-].*,.*\)|\{\s*['"].*\}""", re.DOTALL
)
"""What Python prints for lists, arrays, tuples and dicts; JSON is looked for first."""
ELEMENT = re.compile(r"""'([^'\\]*)'|"([^"\\]*)"|(-?\d+(?:\.\d*)?)(?=[\s,]|$)""")
BETWEEN = re.compile(r"[\s,]+")
"""What Python and NumPy print of lists: elements, and what stands between them."""
Lists = dict[str, list[object]]


def single_elements(table: Table) -> Table:
    """Replace lists of one element by it, and empty ones by nothing, with a note.

    Other cells of the column may be plain; columns with longer lists stay as they are.
    """
    frame, notes = table.frame, []
    for column in table.frame.columns:
        lists = _some_lists(table.frame[column])
        if lists and max(map(len, lists.values())) == 1:
            words = {cell: _text(items[0]) if items else "" for cell, items in lists.items()}
            cells = [words.get(cell, cell) for cell in frame[column]]
            frame = frame.assign(**{column: pd.Series(cells, frame.index, dtype="str")})
            text = f"cells of {column} are lists of one element, which stands for them"
            notes.append(Note(text, code="lists-of-one", level="note"))
    return replace(table, frame=frame, notes=(*table.notes, *notes)) if notes else table


def _some_lists(column: "pd.Series[str]") -> Lists:
    """Return the list in each distinct cell that holds one, whatever other cells hold."""
    if not column.str.startswith("[").any():
        return {}
    cells = [str(cell) for cell in pd.unique(column) if cell and _may_be_list(str(cell))]
    return {cell: items for cell in cells if (items := _elements(cell)) is not None}


def named_singly(table: Table) -> Table:
    """Call lists of raters and of their answers by what an element is: annotators, labels."""
    columns = [str(c) for c in table.frame]
    known = KNOWN["rater"] | set(map(squash, ANSWER_COLUMNS))
    names = {c: c.removesuffix("s") for c in columns if c.endswith("s")}
    new = {c: one for c, one in names.items() if squash(one) in known and one not in columns}
    raters = [c for c, one in new.items() if one in ColumnFinder([one]).all_of(RECOGNISED["rater"])]
    several = [c for c in raters if _has_several(table.frame[c])]
    if len(several) != 1 or len(beside := parallel(table.frame, several[0])) < 2:
        return table
    return replace(table, frame=table.frame.rename(columns={c: new[c] for c in beside if c in new}))


def without_uneven_lists(table: Table, rater: object) -> Table:
    """Set rows aside whose list of raters is longer or shorter than their lists of answers."""
    column = _list_of_raters(table, rater)
    if not column:
        return table
    mine = np.array(_sizes(table.frame[column]))
    others = [np.array(_sizes(table.frame[c])) for c in table.frame.columns if c != column]
    beside = [own for own in others if len(own) and 2 * np.sum(own == mine) > len(mine)]
    even = np.all([own == mine for own in beside], axis=0) if beside else np.ones(len(mine), bool)
    frame = table.frame[even].reset_index(drop=True)
    lost = (*table.lost, *table.lines[~even].tolist())
    return replace(table, frame=frame, lines=table.lines[even], lost=lost)


def _list_of_raters(table: Table, rater: object) -> str:
    """Return the column whose cells are lists of raters; "" if there is none."""
    finder = ColumnFinder(table.frame.columns)
    names = [rater] if isinstance(rater, str) and rater else list(RECOGNISED["rater"])
    return next((c for c in finder.all_of(names)[:1] if _has_several(table.frame[c])), "")


def explode_ratings(table: Table, rater: object) -> Table:
    """Give each rating a row where a row has a list of raters, and parallel lists of answers."""
    column = _list_of_raters(table, rater)
    apart = parallel(table.frame, column) if column else []
    if len(apart) < 2:
        return table
    lists = {column: lists_of(table.frame[column]) for column in apart}
    words = {c: {cell: [*map(_text, items)] for cell, items in lists[c].items()} for c in apart}
    frame, rows = exploded(table.frame, words)
    text = f"each rating has a row: the lists in {', '.join(apart)} are taken apart together"
    notes = [Note(text, code="lists-apart", level="note", numbers={"columns": len(apart)})]
    if empty := len(table.frame) - len(np.unique(rows)):
        text = f"{counted(empty, 'row')} without any rating: left out"
        notes.append(Note(text, code="rows-without-rating", level="note", numbers={"rows": empty}))
    return replace(table, frame=frame, lines=table.lines[rows], notes=(*table.notes, *notes))


def exploded(
    frame: pd.DataFrame, words: Mapping[str, Mapping[str, Sequence[str]]]
) -> tuple[pd.DataFrame, Ints]:
    """Give each element of parallel lists a row; return the row that each was in, too.

    ``words`` has the elements in each distinct cell, by column.
    """
    column = next(iter(words))
    rows = np.repeat(np.arange(len(frame)), [len(words[column][cell]) for cell in frame[column]])
    columns = {
        column: pd.Series([word for cell in frame[column] for word in held[cell]], dtype="str")
        for column, held in words.items()
    }
    return frame.iloc[rows].reset_index(drop=True).assign(**columns), rows


def named_by_lists(table: Table, asked: Mapping[str, ColumnArg]) -> Table:
    """Join the parts of a name that are a list, such as a model and its prompt.

    ``asked`` has the columns that the caller names, by role. The table is as it was where other
    columns have lists, too: these may be lists of raters.
    """
    finder = ColumnFinder(table.frame.columns)
    several = [str(c) for c in table.frame if _has_several(table.frame[c])]
    for role in NAMED:
        found = finder.all_of(asked.get(role) or RECOGNISED[role])[:1]
        column = next((c for c in found if c in several), "")
        if not column or (role == "rater" and several != [column]):
            continue
        if len(parallel(table.frame, column)) > 1:
            continue
        lists = lists_of(table.frame[column])
        words = {cell: "/".join(map(_text, items)) for cell, items in lists.items()}
        frame = table.frame.assign(**{column: table.frame[column].map(words).astype("str")})
        text = f"cells of {column} are lists: their parts name the {role} together"
        note = Note(text, code="name-lists", level="note")
        return replace(table, frame=frame, notes=(*table.notes, note))
    return table


def _has_several(cells: "pd.Series[str]") -> bool:
    """Whether a column holds lists of several elements."""
    return max(map(len, lists_of(cells).values()), default=0) > 1


def parallel(frame: pd.DataFrame, column: str) -> list[str]:
    """Return the columns whose lists have the same lengths as those of a column."""
    sizes = {str(c): _sizes(frame[c]) for c in frame.columns}
    mine = sizes[column]
    return [c for c, own in sizes.items() if own and mine and own == mine]


def _sizes(column: "pd.Series[str]") -> list[int]:
    lists = lists_of(column)
    return [len(lists[cell]) for cell in column] if lists else []


def require_plain(columns: Sequence[str], answers: Sequence[str], ledger: Ledger) -> bool:
    """Add a problem, and return True, if cells hold several values.

    No column may hold lists of several elements; ``answers`` may hold no list, array or dict.
    """
    frame = ledger.table.frame
    for column in dict.fromkeys(columns):
        lists = lists_of(frame[column])
        if max(map(len, lists.values()), default=0) > 1:
            return _report_lists(column, max(lists, key=len), ledger)
    for column in answers:
        odd = [str(cell) for cell in pd.unique(frame[column]) if is_nested(str(cell))]
        if odd:
            rows = np.flatnonzero(frame[column].isin(odd))
            ledger.problem(
                "nested-cells",
                f"{counted(len(rows), 'cell', 'are')} no single answer but a list, an array or a "
                f"dict, such as {odd[0][:60]}",
                where=ledger.table.where(rows, column),
                allowed="one answer a cell",
                mend="write the answer itself into the cell; to keep lists, give the DataFrame, or "
                "save it by frame.to_parquet(path)",
                numbers={"cells": len(rows)},
                go_on={} if len(rows) == len(frame) else SET_ASIDE,
            )
            return True
    return False


def without_nested(frame: pd.DataFrame, answers: Sequence[str], ledger: Ledger) -> pd.DataFrame:
    """Set rows aside whose cell of an answer is a list, an array or a dict; it becomes empty."""
    for column in dict.fromkeys(answers):
        odd = [str(cell) for cell in pd.unique(frame[column]) if is_nested(str(cell))]
        rows = frame[column].isin(odd)
        if rows.any() and not rows.all():
            ledger.set_aside(rows.to_numpy(bool), "several answers in a cell")
            frame = frame.assign(**{column: frame[column].mask(rows, "")})
    return frame


def _report_lists(column: str, example: str, ledger: Ledger) -> bool:
    """Report a column of lists of several elements."""
    beside = [c for c in parallel(ledger.table.frame, column) if c != column]
    more = f"; lists of as many elements: {', '.join(beside)}" if beside else ""
    ledger.problem(
        "list-cells",
        f"cells of {column} are lists of several elements, such as {example[:60]}{more}",
        allowed="a row for each rating: the item, the rater, the answer",
        mend="name the lists that belong together by `rater=` and `labels=`; their elements become "
        "rows"
        if beside
        else "write one value into each cell, or name another column",
    )
    return True


def is_nested(cell: str) -> bool:
    """Whether a cell is a list, array, tuple or dict, as JSON or as Python prints it."""
    cell = cell.strip()
    if not cell.endswith(("]", "}", ")")):
        return False
    return PRINTED.fullmatch(cell) is not None


def lists_of(column: "pd.Series[str]") -> Lists:
    """Return the list in each distinct cell; empty if a filled cell is no list."""
    found: Lists = {}
    # Fast path: the first cells rule out nearly every column.
    if not all(_may_be_list(cell) for cell in column.head(FIRST_CELLS)):
        return {}
    for cell in map(str, pd.unique(column)):
        if not _may_be_list(cell):
            return {}
        items = _elements(cell)
        if items is None:
            return {}
        found[cell] = items
    return found if any(found.values()) else {}


def _elements(cell: str) -> list[object] | None:
    """Return what a list holds that is written as JSON, or as Python or NumPy prints it.

    Examples
    --------
    >>> _elements('["a", 1]'), _elements("['a', 'b']"), _elements("['a' 'b']"), _elements("[a b]")
    (['a', 1], ['a', 'b'], ['a', 'b'], None)
    """
    try:
        items = json.loads(cell) if cell.strip() else []
    except (ValueError, RecursionError):
        inside = cell.strip()[1:-1]
        if BETWEEN.sub("", ELEMENT.sub("", inside)):
            return None
        return [one[1] or one[2] or one[3] for one in ELEMENT.finditer(inside)]
    return items if isinstance(items, list) else None


def _may_be_list(cell: str) -> bool:
    """Whether a cell is empty or in brackets."""
    return not cell.strip() or (cell.startswith("[") and cell.endswith("]"))


def _text(item: object) -> str:
    return "" if item is None else cell_text(item).strip()
