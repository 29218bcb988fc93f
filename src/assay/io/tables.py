"""The input as one table of strings: from a path, a folder or a DataFrame."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_object_dtype

from assay._util.errors import Problem, RatingsError, suggest
from assay._util.text import counted
from assay.io.delimited import parse_delimited, refuse_spaces
from assay.io.names import composed, note_apart

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
SHOWN = 5
CONTAINERS = (list, tuple, set, frozenset, dict, np.ndarray)
"""Cells that hold several values."""


class Part(Path):
    """A file of a data set in several: what it lacks, such as any answer, others may have."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of the input: strings (``""`` is an empty cell) and the place of each row.

    ``unit`` says what ``lines`` counts: a ``line`` of a file (the header is line 1) or a ``row``
    (of Parquet, from 1; of a DataFrame, its index label). ``ordered`` has the categories, in
    order, of the columns that are ordered categoricals, and ``lists`` the columns whose cells were
    lists, arrays or dicts: their text is JSON. A table ``beside`` the ratings names
    itself with each place, since problems are told under the name of the ratings. A ``part`` is
    one file of a data set in several.
    """

    frame: pd.DataFrame
    lines: NDArray[Any]
    unit: str
    source: str
    sha256: str
    folder: Path | None = None
    notes: tuple[str, ...] = ()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    beside: bool = False
    part: bool = False

    def __post_init__(self) -> None:
        """Refuse the character NUL, which no netCDF file can hold, before anything is fitted."""
        nul = {str(n): held_nul(column) for n, column in self.frame.items()}
        problems = [
            Problem(
                code="nul-character",
                what=f"{counted(int(rows.sum()), 'cell')} with the character NUL (U+0000)",
                where=self.where(rows, column),
                mend=r"remove it, e.g. with table.replace('\0', '', regex=True) in pandas",
                numbers={"cells": int(rows.sum())},
            )
            for column, rows in nul.items()
            if rows.any()
        ]
        if problems:
            raise RatingsError(problems, self.source)

    def where(self, rows: NDArray[Any], column: str = "") -> str:
        """Name the first few of some rows (a mask or positions), and a column."""
        place = where_lines(self.lines[rows], self.unit, column)
        return f"{Path(self.source).name}, {place}" if self.beside else place


def held_nul(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    """Return which cells hold the character NUL, and all if the column's name does."""
    inside = column.str.contains("\0", regex=False).to_numpy(bool)
    return np.full(len(column), True) if "\0" in str(column.name) else inside


def where_lines(lines: NDArray[Any], unit: str, column: str = "") -> str:
    """Name the first few lines, and a column.

    Examples
    --------
    >>> where_lines(np.array([3, 8]), "line", "rank")
    'column rank, lines 3, 8'
    """
    shown = ", ".join(str(line) for line in lines[:SHOWN])
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    place = f"{unit}{'s' * (len(lines) != 1)} {shown}{more}"
    return f"column {column}, {place}" if column else place


def read_table(source: object, *, name: str = "", what: str = "the ratings") -> Table:
    """Read a path, a folder or a DataFrame.

    Parameters
    ----------
    source : str, path or DataFrame
        A folder stands for its file ``<name>.csv`` (or another suffix that can be read). A table
        of another library (Polars, Arrow) is one if it has a method ``to_pandas``.
    name : str
        The file's stem to take from a folder.
    what : str
        What the table is, for messages.

    Raises
    ------
    RatingsError
        If nothing can be read there; the message says why.
    """
    source = as_pandas(source)
    if isinstance(source, pd.DataFrame):
        return _from_frame(source, what=f"{what} (a DataFrame)")
    if not isinstance(source, str | Path):
        raise RatingsError.of(
            "source-type",
            f"{what} must be a path, a folder or a DataFrame, not {type(source).__name__}",
            what,
        )
    path = Path(source)
    try:
        folder = path if path.is_dir() else None
        if folder is not None:
            path = _file_of(folder, name)
        data = path.read_bytes()
    except RatingsError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "; standard input is /dev/stdin" if str(source) == "-" else ""
        raise RatingsError.of(
            "unread-file", f"the file cannot be read: {reason}{hint}", str(source)
        ) from None
    return replace(_from_bytes(data, path, folder), part=isinstance(source, Part))


def as_pandas(source: Any) -> Any:
    """Return a table of another library as a DataFrame, and anything else as it is."""
    convert = None if isinstance(source, pd.DataFrame) else getattr(source, "to_pandas", None)
    return convert() if callable(convert) else source


def read_beside(source: object, *, name: str, what: str) -> Table:
    """Read a table that comes with the ratings: its places carry its name."""
    return replace(read_table(source, name=name, what=what), beside=True)


def _file_of(folder: Path, name: str) -> Path:
    for suffix in SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    held = sorted(p.name for p in folder.iterdir() if p.name.endswith(SUFFIXES))
    raise RatingsError(
        [
            Problem(
                code="folder-without-task",
                what=f"the folder has no {name}.csv",
                allowed=f"a folder with {name}.csv, or the path of one file",
                mend=suggest(f"{name}.csv", held) if held else "it holds no table",
            )
        ],
        str(folder),
    )


def _from_bytes(data: bytes, path: Path, folder: Path | None) -> Table:
    digest = hashlib.sha256(data).hexdigest()
    source = str(path)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise RatingsError.of(
                "damaged-file", f"the compressed file is damaged: {error}", source
            ) from None
    if path.suffix == ".parquet" or data.startswith(b"PAR1"):
        frame = _with_index(_parquet(data, source))
        lines: NDArray[Any] = np.arange(1, len(frame) + 1)
        return Table(
            frame=_strings(frame, source), lines=lines, unit="row", source=source, sha256=digest,
            folder=folder, ordered=_ordered_categories(frame), lists=_list_columns(frame),
            notes=_apart(frame),
        )  # fmt: skip
    parsed = parse_delimited(data, source=source)
    _check_names(list(parsed.frame.columns), source)
    refuse_spaces(parsed.frame, source)
    notes = [
        f"{counted(number, what, 'were')} skipped"
        for number, what in (
            (parsed.blank_lines, "blank line"),
            (parsed.blank_columns, "nameless, empty column"),
        )
        if number
    ]
    return Table(
        frame=parsed.frame,
        lines=parsed.lines,
        unit="line",
        source=source,
        sha256=digest,
        folder=folder,
        notes=(*notes, *parsed.notes),
    )


def _parquet(data: bytes, source: str) -> pd.DataFrame:
    import pyarrow as pa

    try:
        return pd.read_parquet(io.BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RatingsError.of(
            "damaged-file", f"the Parquet file cannot be read: {error}", source
        ) from None


def _from_frame(frame: pd.DataFrame, *, what: str) -> Table:
    lines = frame.index.to_numpy()
    frame = _with_index(frame)
    text = _strings(frame, what)
    # The hash is of the cells as text, so that it does not depend on how pandas stores them.
    rows = pd.util.hash_pandas_object(text, index=False).to_numpy()
    digest = hashlib.sha256("\0".join(text.columns).encode() + rows.tobytes()).hexdigest()
    return Table(
        frame=text, lines=lines, unit="row", source=what, sha256=digest,
        ordered=_ordered_categories(frame), lists=_list_columns(frame), notes=_apart(frame),
    )  # fmt: skip


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose named index levels are columns like the others."""
    named = [n for n in frame.index.names if n is not None and n not in frame.columns]
    return frame.reset_index(named) if named else frame


def _ordered_categories(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    return {
        composed(str(name)): tuple(cell_text(c).strip() for c in kind.categories)
        for name, kind in frame.dtypes.items()
        if isinstance(kind, pd.CategoricalDtype) and kind.ordered
    }


def _apart(frame: pd.DataFrame) -> tuple[str, ...]:
    """Note the words of a table whose accents stand apart from their letters."""
    words: list[str] = []
    for n in range(frame.shape[1]):
        column = frame.iloc[:, n]
        if isinstance(column.dtype, pd.StringDtype):
            words += [str(w) for w in pd.unique(column[~column.str.isascii().fillna(True)])]
        elif is_object_dtype(column.dtype):
            words += {w for w in column if isinstance(w, str) and not w.isascii()}
    return note_apart(words)


def _list_columns(frame: pd.DataFrame) -> frozenset[str]:
    """Return the columns of a table in which a cell is a list, an array or a dict."""
    return frozenset(
        composed(str(name))
        for n, name in enumerate(frame.columns)
        if _is_nested(kind := frame.dtypes.iloc[n])
        or (
            is_object_dtype(kind) and any(isinstance(cell, CONTAINERS) for cell in frame.iloc[:, n])
        )
    )


def _is_nested(kind: object) -> bool:
    """Whether a column is one of Arrow's lists or structures."""
    if not isinstance(kind, pd.ArrowDtype):
        return False
    import pyarrow as pa

    return bool(pa.types.is_nested(kind.pyarrow_dtype))


def _strings(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return every cell as text."""
    names = [composed(str(c)) for c in frame.columns]
    _check_names(names, source)
    if frame.empty:
        raise RatingsError.of("empty-file", "the table has no rows", source)
    columns = {name: text_of(frame.iloc[:, n]) for n, name in enumerate(names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))


def _check_names(names: list[str], source: str) -> None:
    nameless = [str(n) for n, name in enumerate(names, start=1) if not name]
    if len(nameless) > 1:
        raise RatingsError(
            [
                Problem(
                    code="nameless-columns",
                    what=f"{len(nameless)} columns that are not empty have no name",
                    where=f"columns {', '.join(nameless[:SHOWN])}",
                    mend="name or remove them; the first line must be the header",
                    numbers={"columns": len(nameless)},
                )
            ],
            source,
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        shown = ", ".join(repr(name) for name in twice)
        raise RatingsError(
            [
                Problem(
                    code="repeated-columns",
                    what=f"column names stand twice: {shown}",
                    mend="rename or remove one of each; the first line must be the header",
                )
            ],
            source,
        )


def text_of(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Return a column as text, by its distinct values; whole floats lose their ``.0``.

    Examples
    --------
    >>> text_of(pd.Series([1.0, None, 2.5])).tolist()
    ['1', '', '2.5']
    """
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
    """Return one cell as text: booleans as true and false, whole floats without ``.0``.

    Lists, arrays and dicts are written as JSON.

    Examples
    --------
    >>> cell_text(2.0), cell_text(np.array(["a", "b"]))
    ('2', '["a", "b"]')
    """
    if isinstance(value, CONTAINERS):
        value = json.dumps(_plain(value), ensure_ascii=False)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    # Lone surrogates cannot be stored as text; they become "?".
    return composed(str(value).encode("utf-8", "replace").decode())


def _plain(value: object) -> object:
    """Return a cell as JSON can write it."""
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
