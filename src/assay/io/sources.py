"""An opened input: a file, a folder, standard input or a table."""

import hashlib
import sys
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Problem, RatingsError
from assay._util.text import counted, listed
from assay.io.arrow_files import arrow_kind, read_arrow, with_class_names
from assay.io.column_names import told_apart
from assay.io.delimited import Delimited, parse_delimited, read_header
from assay.io.encodings import decode_text
from assay.io.file_names import SUFFIXES, is_table_name, short_names
from assay.io.file_paths import is_folder, read_bytes
from assay.io.foreign_files import refuse_foreign
from assay.io.headless import lacks_header, note_numbers, note_spaces, numbered, with_tabs
from assay.io.json_records import (
    flat_frame,
    flattened,
    looks_like_json,
    parse_json,
    records_of,
    without_lone_surrogates,
)
from assay.io.json_stream import sound_records, stream_records
from assay.io.packed_files import is_archive, packed_file, packed_names, unpacked
from assay.io.saved_datasets import saved_dataset
from assay.io.spreadsheets import is_spreadsheet, read_sheet
from assay.io.tables import AGAIN, Part, Table, rows_of, table_of

STANDARD_INPUT = "-"
FIRST_RECORDS = 50
"""Number of records that a format may inspect to recognise itself."""
FIRST_CHARACTERS = 1 << 16

Kind = Literal["table", "json", "folder"]


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """An opened input, as a format sees it.

    name : path, for messages
    sha256 : hash of the bytes; empty for folders and tables in memory
    part : whether it is one file of a data set in several
    lenient : whether lines that are no rows are set aside
    """

    name: str
    sha256: str = ""
    part: bool = False
    lenient: bool = False

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """The kind of input."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table, or keys of the first records of JSON."""
        return tuple(dict.fromkeys(key for record in self.first for key in record))

    @property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The first records or rows."""
        return ()

    @property
    def beginning(self) -> str:
        """The first characters of a text; else empty."""
        return ""

    def each(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield all records or rows, with their places."""
        yield from enumerate(self.first, start=1)

    @abstractmethod
    def plain_table(self, name: str = "") -> Table:
        """Return the plain table, if no format claims it; ``name`` is a file of a folder."""

    @property
    def lost(self) -> tuple[int, ...]:
        """Lines that are no rows, where such lines are set aside."""
        return ()

    def tabled(
        self,
        frame: pd.DataFrame,
        *,
        lines: NDArray[Any] | None = None,
        unit: str = "row",
        notes: Sequence[str] = (),
    ) -> Table:
        """Make a table of rows that a format took from this source.

        Cells may have any type; lists and dicts become JSON. ``lines`` are places counted in
        ``unit``.
        """
        lines = np.arange(1, len(frame) + 1) if lines is None else lines
        held = (*getattr(self, "notes", ()), *notes)
        made = table_of(
            frame, source=self.name, sha256=self.sha256, lines=lines, unit=unit, notes=held
        )
        return replace(made, part=self.part, lost=self.lost)


@final
@dataclass(frozen=True, kw_only=True)
class TextSource(Source):
    """Delimited text, parsed on demand."""

    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """A table."""
        return "table"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The fields of the first line."""
        return tuple(read_header(self.text, self.name))

    @cached_property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The first rows."""
        rows, _ = told_apart(self._parsed.frame.head(FIRST_RECORDS))
        return [dict(zip(rows.columns, cells, strict=True)) for cells in rows.to_numpy()]

    @property
    def beginning(self) -> str:
        """The first characters."""
        return self.text[:FIRST_CHARACTERS]

    @property
    def frame(self) -> pd.DataFrame:
        """All rows, as text."""
        return self._table.frame

    def each(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the rows with their lines."""
        return rows_of(self.frame, self._table.lines)

    def plain_table(self, name: str = "") -> Table:
        """Return the rows of the file, which may lack a header or separators."""
        text, parsed, notes = self.text, self._parsed, list(self.notes)
        spaced = with_tabs(text) if len(parsed.frame.columns) == 1 else None
        if spaced is not None:
            text, parsed = spaced, self._parse(spaced)
            notes.append(note_spaces())
        if lacks_header(parsed.frame):
            head = parsed.separator.join(numbered(len(parsed.frame.columns)))
            parsed = self._parse(f"{head}\n{text}")
            lost = tuple(line - 1 for line in parsed.lost)
            parsed = replace(parsed, lines=parsed.lines - 1, lost=lost)
            notes.append(note_numbers())
        return self._as_table(parsed, notes)

    def _parse(self, text: str) -> Delimited:
        return parse_delimited(text, source=self.name, lenient=self.lenient)

    @cached_property
    def _parsed(self) -> Delimited:
        return self._parse(self.text)

    @property
    def lost(self) -> tuple[int, ...]:
        """Lines with a wrong number of fields."""
        return self._parsed.lost if self.lenient else ()

    @cached_property
    def _table(self) -> Table:
        return self._as_table(self._parsed, self.notes)

    def _as_table(self, parsed: Delimited, notes: Sequence[str]) -> Table:
        frame, named = told_apart(parsed.frame)
        skipped = [
            f"{counted(number, what, 'were')} skipped"
            for number, what in (
                (parsed.blank_lines, "blank line"),
                (parsed.blank_columns, "nameless, empty column"),
            )
            if number
        ]
        return Table(
            frame=frame, lines=parsed.lines, unit="line", source=self.name, part=self.part,
            lost=parsed.lost,
            sha256=self.sha256, notes=(*notes, *named, *skipped, *parsed.notes),
        )  # fmt: skip


@final
@dataclass(frozen=True, kw_only=True)
class FrameSource(Source):
    """A table of typed cells: Parquet, Feather, an Excel sheet, a DataFrame."""

    frame: pd.DataFrame = field(repr=False)
    lines: NDArray[Any] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """A table."""
        return "table"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(map(str, self.frame.columns))

    @cached_property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The first rows."""
        rows = self.frame.head(FIRST_RECORDS).itertuples(index=False, name=None)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def each(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the rows with their numbers."""
        return rows_of(self.frame, self.lines)

    def plain_table(self, name: str = "") -> Table:
        """Return the cells as text; those that are objects become columns, as those of JSON do."""
        frame, lines = self.frame, self.lines
        flat, of = flat_frame(frame)
        if flat is not frame:
            frame, lines = flat, (frame.index.to_numpy() if lines is None else lines)[of]
        made = table_of(frame, source=self.name, sha256=self.sha256, lines=lines, notes=self.notes)
        return replace(made, part=self.part, lost=self.lost)


@final
@dataclass(frozen=True, kw_only=True)
class JsonSource(Source):
    """JSON (one value, or a record a line), parsed on demand."""

    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """JSON."""
        return "json"

    @property
    def value(self) -> Any:
        """The value; the list of values if there is one a line."""
        return self._parsed[0]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The objects of a list, or of all lines; a single object is one record."""
        return records_of(self.value)

    @cached_property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The first records, without parsing the others."""
        return [record for _, record in islice(self.each(), FIRST_RECORDS)]

    def each(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Return the objects of a list with their numbers, or of all lines with their lines."""
        if self.lost:
            return zip(self._sound[1], self._sound[0], strict=True)
        return stream_records(self.text, self.name)

    @property
    def lost(self) -> tuple[int, ...]:
        """The records that are no JSON, where such records are set aside."""
        return tuple(self._sound[2]) if self.lenient else ()

    @cached_property
    def _sound(self) -> tuple[list[dict[str, Any]], list[int], list[int]]:
        """The records that can be read; nothing is lost of JSON that is whole."""
        try:
            parse_json(self.text, self.name)
        except RatingsError:
            return sound_records(self.text)
        return [], [], []

    @property
    def beginning(self) -> str:
        """The first characters."""
        return self.text[:FIRST_CHARACTERS]

    def plain_table(self, name: str = "") -> Table:
        """Return a row for each record, or for each element of its list of ratings."""
        records = self.records
        if not records:
            raise RatingsError.of(
                "json-shape",
                "the JSON has no records",
                self.name,
                mend="write an object for each rating, with the item, the rater and the answer",
            )
        rows, of = flattened(records)
        _, places = self._parsed
        by_line = places is not None and len(places) == len(records)
        lines = np.array(places, np.int64)[of] if by_line else np.array(of, np.int64) + 1
        unit = "line" if by_line else "record"
        return self.tabled(pd.DataFrame(rows), lines=lines, unit=unit)

    @cached_property
    def _parsed(self) -> tuple[Any, list[int] | None]:
        if self.lost:
            return self._sound[0], self._sound[1]
        return parse_json(self.text, self.name)


@final
@dataclass(frozen=True, kw_only=True)
class FolderSource(Source):
    """A folder, whose files are opened by name."""

    path: Path
    encoding: str | None = None
    sheet: str | None = None

    @property
    def kind(self) -> Kind:
        """A folder."""
        return "folder"

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The names of its files, sorted."""
        return tuple(sorted(p.name for p in self.path.iterdir() if p.is_file()))

    @cached_property
    def deeper(self) -> tuple[str, ...]:
        """The files of its folders that hold records or rows, sorted; hidden ones left out."""
        paths = [p.relative_to(self.path) for p in self.path.glob("*/**/*") if p.is_file()]
        shown = [p.as_posix() for p in paths if not any(part[0] in "._" for part in p.parts)]
        return tuple(sorted(filter(is_table_name, shown)))

    def member(self, file: str) -> Source:
        """Open a file, once."""
        if file not in self._opened:
            self._opened[file] = open_source(
                self.path / file, encoding=self.encoding, sheet=self.sheet, lenient=self.lenient
            )
        return self._opened[file]

    @cached_property
    def _opened(self) -> dict[str, Source]:
        return {}

    def plain_table(self, name: str = "") -> Table:
        """Return the table in the file of this name, such as ``retrieval.csv``."""
        for suffix in SUFFIXES:
            if f"{name}{suffix}" in self.files:
                return self.member(f"{name}{suffix}").plain_table()
        held = list(filter(is_table_name, self.files))
        near = [*(get_close_matches(f"{name}.csv", held, n=1) if name else []), *held][:1]
        what = f"tables of different columns: {listed(held)}" if held else "no table"
        raise RatingsError(
            [
                Problem(
                    code="folder-without-task",
                    what=f"the folder has {what}",
                    allowed="tables of the same columns, or one table"
                    + (f", or {name}.csv" if name else ""),
                    mend="give the path of one file" if held else "export the ratings into it",
                    go_on={"source": str(self.path / near[0])} if near else {},
                )
            ],
            self.name,
        )


@final
@dataclass(frozen=True, kw_only=True)
class FilesSource(Source):
    """Several files: those of an archive, or those of a list of paths.

    contents : reads the bytes of each file, by its name
    paths : path of each file alone, by its name
    chosen : whether the caller named each file
    """

    contents: Mapping[str, Callable[[], bytes]] = field(repr=False)
    paths: Mapping[str, str] = field(default_factory=dict, repr=False)
    chosen: bool = False
    encoding: str | None = None
    sheet: str | None = None

    @property
    def kind(self) -> Kind:
        """A folder."""
        return "folder"

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self.contents)

    def member(self, file: str) -> Source:
        """Open a file, once."""
        if file not in self._opened:
            try:
                data = self.contents[file]()
            except (OSError, zipfile.BadZipFile, zlib.error) as error:
                raise RatingsError.of("damaged-file", str(error), self.name, mend=AGAIN) from None
            opened = _from_bytes(data, f"{self.name}/{file}", self.encoding, self.sheet)
            self._opened[file] = replace(opened, lenient=self.lenient)
        return self._opened[file]

    @cached_property
    def _opened(self) -> dict[str, Source]:
        return {}

    def plain_table(self, name: str = "") -> Table:
        """Refuse to choose among the files."""
        tables = list(filter(is_table_name, self.files))
        first = (*tables, *self.files)[:1]
        what = "files of different columns" if tables else "files, none of them a table"
        raise RatingsError.of(
            "several-files",
            f"there are {len(self.files)} {what}: {listed(self.files)}",
            self.name,
            mend="give one of them",
            go_on={"source": self.paths[first[0]]} if first and first[0] in self.paths else {},
        )


def open_source(
    source: object,
    *,
    what: str = "the ratings",
    encoding: str | None = None,
    sheet: str | None = None,
    lenient: bool = False,
) -> Source:
    """Open a path, a folder, standard input (``-``), a DataFrame, or a table with ``to_pandas``.

    ``what`` names it in messages. ``encoding`` and ``sheet`` are found if not given. ``lenient``
    sets
    lines aside that are no rows.
    """
    opened = _opened(source, what, encoding, sheet)
    return replace(opened, lenient=True) if lenient else opened


def _opened(source: object, what: str, encoding: str | None, sheet: str | None) -> Source:
    source = as_pandas(source)
    if isinstance(source, pd.DataFrame):
        return FrameSource(name=f"{what} (a DataFrame)", frame=source)
    if isinstance(source, list | tuple) and all(isinstance(one, str | Path) for one in source):
        given = {str(Path(one).absolute()): Path(one) for one in source}
        paths = {name: given[path] for path, name in short_names(given).items()}
        return FilesSource(
            name=f"{what} ({counted(len(paths), 'file')})",
            contents={k: partial(read_bytes, p) for k, p in paths.items()},
            paths={k: str(p) for k, p in paths.items()},
            chosen=True, encoding=encoding, sheet=sheet,
        )  # fmt: skip
    if not isinstance(source, str | Path):
        raise RatingsError.of(
            "source-type",
            f"{what} must be a path, a folder or a DataFrame, not {type(source).__name__}",
            what,
            mend="make a table of it: pandas.DataFrame(...)",
        )
    path = Path(source)
    if str(source) == STANDARD_INPUT:
        return _from_bytes(sys.stdin.buffer.read(), "standard input", encoding, sheet)
    data = None if is_folder(path) else read_bytes(path)
    if data is None:
        opened = _open_folder(path, encoding, sheet)
    else:
        opened = _from_bytes(data, str(path), encoding, sheet)
    return replace(opened, part=isinstance(source, Part))


def _open_folder(path: Path, encoding: str | None, sheet: str | None) -> Source:
    """Open a folder of files, or a saved dataset."""
    if (saved := saved_dataset(path)) is not None:
        return FrameSource(name=str(path), frame=saved)
    return FolderSource(name=str(path), path=path, encoding=encoding, sheet=sheet)


def as_pandas(source: Any) -> Any:
    """Return a table of another library as a DataFrame, with class names; else the argument."""
    convert = None if isinstance(source, pd.DataFrame) else getattr(source, "to_pandas", None)
    if not callable(convert):
        return source
    frame, features = convert(), getattr(source, "features", None)
    return with_class_names(frame, features) if isinstance(features, Mapping) else frame


def read_beside(source: object, *, name: str, what: str) -> Table:
    """Read a table that accompanies the ratings; its places carry its name."""
    return replace(open_source(source, what=what).plain_table(name), beside=True)


def _from_bytes(data: bytes, name: str, encoding: str | None, sheet: str | None) -> Source:
    """Open the bytes of a file by their content, not by the file's name."""
    digest = hashlib.sha256(data).hexdigest()
    data = unpacked(data, name)
    refuse_foreign(data, name)
    if is_archive(data):
        contents = {file: partial(packed_file, data, file) for file in packed_names(data)}
        paths = {file: f"{name}/{file}" for file in contents}
        return FilesSource(
            name=name, sha256=digest, contents=contents, paths=paths, encoding=encoding, sheet=sheet
        )
    if kind := arrow_kind(data, name):
        frame = read_arrow(data, kind, name)
        lines: NDArray[Any] = np.arange(1, len(frame) + 1)
        return FrameSource(name=name, sha256=digest, frame=frame, lines=lines)
    if is_spreadsheet(data):
        found = read_sheet(data, name, sheet)
        return FrameSource(
            name=name, sha256=digest, frame=found.frame, lines=found.lines, notes=found.notes,
        )  # fmt: skip
    text, notes = decode_text(data, name, encoding)
    if not text.strip():
        raise RatingsError.of("empty-file", "the file is empty", name, mend=AGAIN)
    if looks_like_json(text):
        text = without_lone_surrogates(text)
        return JsonSource(name=name, sha256=digest, text=text, notes=tuple(notes))
    return TextSource(name=name, sha256=digest, text=text, notes=tuple(notes))
