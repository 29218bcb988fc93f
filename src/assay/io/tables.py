"""The input as one table of strings, with the place of each row."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_object_dtype

from assay._util.errors import Note, RatingsError
from assay._util.text import counted, listed
from assay.io.names import ColumnFinder, composed, note_apart

MOST_NAMELESS = 1
"""Columns that may go without a name: that of row numbers does."""


def reader_note(text: str, *, code: str, **numbers: float) -> Note:
    """Make a sentence about a decision of the reader, with its code and numbers."""
    return Note(text, code=code, level="note", numbers=numbers)


def told_apart(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """Return a table whose columns have names of their own (places, if nameless), and notes on
    those that were given. A column that repeats another, cell by cell, is left out.

    >>> frame = pd.DataFrame([[1, "x", "y"], [2, "y", "y"]], columns=["item", "label", "label"])
    >>> list(told_apart(frame)[0].columns)
    ['item', 'label', 'label (2)']
    """
    names = [composed(str(name)).replace("\0", "") for name in frame.columns]
    if len(set(names)) == len(names):
        return frame.set_axis(names, axis=1), ()
    copies = _copies(frame, names)
    kept = [n for n in range(len(names)) if n not in copies]
    several = names.count("") > MOST_NAMELESS
    placed = [name or f"column {n}" * several for n, name in enumerate(names, start=1)]
    made = _distinct(placed)
    new = [made[n] for n in kept if not names[n] and made[n]]
    again = [made[n] for n in kept if placed[n] and made[n] != placed[n]]
    left = [names[n] for n in copies]
    said = (
        (new, f"{counted(len(new), 'column')} without a name: called "),
        (again, "columns with the same name are numbered: "),
        (left, f"{counted(len(left), 'column')} left out as copies of others: "),
    )
    notes = [
        Note(
            f"{text}{listed(columns)}",
            code="nameless-columns" if columns is new else "repeated-columns",
            numbers={"columns": len(columns)},
        )
        for columns, text in said
        if columns
    ]
    return frame.iloc[:, kept].set_axis([made[n] for n in kept], axis=1), tuple(notes)


def _copies(frame: pd.DataFrame, names: Sequence[str]) -> list[int]:
    """Return the columns that have the name and the cells of one before them."""
    first: dict[str, list[int]] = {}
    copies = []
    for n, name in enumerate(names):
        same = first.setdefault(name, [])
        cells = [frame.iloc[:, at].astype(str).to_numpy() for at in (*same, n)] if name else []
        if any((one == cells[-1]).all() for one in cells[:-1]):
            copies.append(n)
        else:
            same.append(n)
    return copies


def _distinct(names: Sequence[str]) -> list[str]:
    """Write a number behind names that were there before."""
    made: list[str] = []
    taken = set(names)
    for name in names:
        new, number = name, 1
        while new in made or (number > 1 and new in taken):
            number += 1
            new = f"{name} ({number})"
        made.append(new)
    return made


SHOWN = 5
SET_ASIDE = {"set_aside": True}
"""Arguments with which reading goes on without the rows that cannot be read."""
AGAIN = "export or download it again"
"""What to do about a file that is empty or damaged."""
CONTAINERS = (list, tuple, set, frozenset, dict, np.ndarray)
"""Types of cells with several values."""
IMPORT = '{"ImportId"'
"""How the cells of the last row begin that Qualtrics writes under the header."""
MOST_ROWS = 3
"""Rows that may stand between the header and the answers."""


class Part(Path):
    """A file of a data set in several; other files may have what it lacks."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of the input as strings (``""`` is an empty cell), with the place of each row.

    lines, unit : places; ``line`` of a file (the header is line 1) or ``row`` (from 1; of a
        DataFrame, its index label)
    ordered : ordered categories, by column
    lists : columns whose cells were lists, arrays or dicts; their text is JSON
    beside : whether messages name this table with each place, since it accompanies the ratings
    part : whether it is one file of a data set in several
    lost : lines that are no rows, with the reason; they were set aside
    """

    frame: pd.DataFrame
    lines: NDArray[Any]
    unit: str
    source: str
    sha256: str
    notes: tuple[Note, ...] = ()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    beside: bool = False
    part: bool = False
    lost: Mapping[Any, str] = field(default_factory=dict)

    def without_nul(self) -> "Table":
        """Return the table without the character NUL, which no netCDF file can hold."""
        nul = {
            str(n): column.str.contains("\0", regex=False).to_numpy(bool)
            for n, column in self.frame.items()
        }
        held = {column: rows for column, rows in nul.items() if rows.any()}
        if not held:
            return self
        clean = {column: self.frame[column].str.replace("\0", "", regex=False) for column in held}
        column, rows = next(iter(held.items()))
        cells = sum(int(rows.sum()) for rows in held.values())
        note = Note(
            f"the character NUL was removed from {counted(cells, 'cell')} "
            f"({self.where(rows, column)})",
            code="nul-character", numbers={"cells": cells},
        )  # fmt: skip
        return self.noted(note, frame=self.frame.assign(**clean))

    @cached_property
    def finder(self) -> ColumnFinder:
        """Finds the columns by name."""
        return ColumnFinder(self.frame.columns)

    def noted(self, *notes: Note, **changed: Any) -> "Table":
        """Return the table with further notes, and with other values of fields."""
        return replace(self, notes=(*self.notes, *notes), **changed)

    def taking(self, rows: NDArray[Any], *notes: Note, **cells: Any) -> "Table":
        """Return the table of some rows (mask or positions, which may repeat).

        ``notes`` are further ones, and ``cells`` new columns.
        """
        frame = self.frame.iloc[rows].reset_index(drop=True).assign(**cells)
        return replace(self, frame=frame, lines=self.lines[rows], notes=(*self.notes, *notes))

    def where(self, rows: NDArray[Any], column: str = "") -> str:
        """Name the first few of some rows (mask or positions), and a column."""
        place = where_lines(self.lines[rows], self.unit, column)
        return f"{Path(self.source).name}, {place}" if self.beside else place


def rows_of(
    frame: pd.DataFrame, lines: NDArray[Any] | None
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a table with their places."""
    columns = list(map(str, frame.columns))
    places = range(1, len(frame) + 1) if lines is None else lines.tolist()
    for place, row in zip(places, frame.itertuples(index=False, name=None), strict=True):
        yield place, dict(zip(columns, row, strict=True))


def where_lines(lines: NDArray[Any], unit: str, column: str = "") -> str:
    """Name the first few lines, and a column."""
    shown = ", ".join(str(line) for line in lines[:SHOWN])
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    place = f"{unit}{'s' * (len(lines) != 1)} {shown}{more}"
    return f"column {column}, {place}" if column else place


def table_of(
    frame: pd.DataFrame,
    *,
    source: str,
    sha256: str = "",
    lines: NDArray[Any] | None = None,
    unit: str = "row",
    notes: Sequence[Note] = (),
) -> Table:
    """Make a table from cells of any type; named index levels become columns. ``lines`` (in
    ``unit``) default to index labels, the hash to that of the cells.
    """
    lines = frame.index.to_numpy() if lines is None else lines
    levels = [n for n in frame.index.names if n is not None and n not in frame.columns]
    frame, named = told_apart(frame.reset_index(levels) if levels else frame)
    if frame.empty:
        raise RatingsError.of("empty-file", "the table has no rows", source, mend=AGAIN)
    columns = {str(name): text_of(frame.iloc[:, n]) for n, name in enumerate(frame.columns)}
    text = pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))
    ordered = {
        str(name): tuple(cell_text(c).strip() for c in kind.categories)
        for name, kind in frame.dtypes.items()
        if isinstance(kind, pd.CategoricalDtype) and kind.ordered
    }
    lists = [
        str(name)
        for n, (name, kind) in enumerate(frame.dtypes.items())
        if _is_nested(kind)
        or (is_object_dtype(kind) and any(isinstance(c, CONTAINERS) for c in frame.iloc[:, n]))
    ]
    if not sha256:  # of the text of all cells, independent of pandas' storage
        rows = pd.util.hash_pandas_object(text, index=False).to_numpy()
        sha256 = hashlib.sha256("\0".join(text.columns).encode() + rows.tobytes()).hexdigest()
    made = Table(
        frame=text, lines=lines, unit=unit, source=source, sha256=sha256, ordered=ordered,
        lists=frozenset(lists), notes=(*notes, *named, *_apart(frame)),
    )  # fmt: skip
    return made.without_nul()


def _apart(frame: pd.DataFrame) -> tuple[Note, ...]:
    """Note words with decomposed accents."""
    words: list[str] = []
    for n in range(frame.shape[1]):
        column = frame.iloc[:, n]
        if isinstance(column.dtype, pd.StringDtype):
            words += [str(w) for w in pd.unique(column[~column.str.isascii().fillna(True)])]
        elif is_object_dtype(column.dtype):
            words += {w for w in column if isinstance(w, str) and not w.isascii()}
    return note_apart(words)


def _is_nested(kind: object) -> bool:
    """Whether a column is an Arrow list or structure."""
    if not isinstance(kind, pd.ArrowDtype):
        return False
    import pyarrow as pa

    return bool(pa.types.is_nested(kind.pyarrow_dtype))


def text_of(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Return a column as text, converting distinct values; whole floats lose their ``.0``."""
    if isinstance(column.dtype, pd.StringDtype) and column.str.isascii().all():
        return column.fillna("").reset_index(drop=True)
    if _is_nested(column.dtype):
        column = column.astype(object)
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:  # lists and dicts cannot be told apart by hash
        codes, distinct = pd.factorize(column.map(cell_text, na_action="ignore"))
    words = pd.array([cell_text(value) for value in distinct] + [""], dtype="str")
    return pd.Series(words.take(codes), name=column.name)


def cell_text(value: object) -> str:
    """Return a cell as text: true and false, whole floats without ``.0``, containers as JSON."""
    if isinstance(value, CONTAINERS):
        value = json.dumps(_plain(value), ensure_ascii=False)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Lone surrogates cannot be stored as text; they become "?".
    return composed(str(value).encode("utf-8", "replace").decode())


def _plain(value: object) -> object:
    """Return a cell that JSON can write."""
    match value:
        case dict():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case np.ndarray():
            return _plain(value.tolist())
        case set() | frozenset():
            return sorted(map(cell_text, value))
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case float() if not np.isfinite(value):
            return None if np.isnan(value) else str(value)
        case None | bool() | int() | float():
            return value
    return cell_text(value)


def without_import_rows(table: Table) -> Table:
    """Leave out the rows of questions and of identifiers under the header of a Qualtrics export."""
    head = table.frame.head(MOST_ROWS)
    starts = head.apply(lambda cells: cells.str.startswith(IMPORT)).sum(axis=1).to_numpy()
    found = (2 * starts > head.shape[1]).nonzero()[0]
    if not len(found):
        return table
    rows = int(found[-1]) + 1
    note = reader_note(
        f"{counted(rows, 'row', 'are')} left out under the header, with the questions and "
        "identifiers of Qualtrics",
        code="title-rows",
        rows=rows,
    )
    return table.taking(np.arange(rows, len(table.frame)), note)
