"""An opened input: text, a table, JSON, or several files."""

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Note, RatingsError
from assay._util.text import counted, listed
from assay.io.files.delimited import (
    Delimited,
    lacks_header,
    parse_delimited,
    read_header,
    with_tabs,
)
from assay.io.files.file_paths import SUFFIXES, is_table_name, names_without_suffix, short_names
from assay.io.files.json_records import (
    flat_frame,
    flattened,
    parse_json,
    records_of,
    sound_records,
    stream_records,
)
from assay.io.tables import AGAIN, Table, reader_note, rows_of, table_of, told_apart

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
    notes : on how it was opened
    """

    kind: ClassVar[Kind]
    name: str
    sha256: str = ""
    part: bool = False
    lenient: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table, or keys of the first records of JSON."""
        return tuple(dict.fromkeys(key for record in self.first for key in record))

    @property
    def first(self) -> Sequence[Mapping[str, Any]]:
        """The first records or rows."""
        return ()

    @property
    def first_json(self) -> Sequence[Mapping[str, Any]]:
        """The first records of JSON; none of other kinds."""
        return self.first if self.kind == "json" else ()

    @property
    def beginning(self) -> str:
        """The first characters of a text; else empty."""
        text: str = getattr(self, "text", "")
        return text[:FIRST_CHARACTERS]

    def each(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield all records or rows, with their places."""
        yield from enumerate(self.first, start=1)

    @abstractmethod
    def plain_table(self, name: str = "") -> Table:
        """Return the plain table, if no format claims it; ``name`` is a file of a folder."""

    @property
    def lost(self) -> Mapping[int, str]:
        """Lines that are no rows, with the reason, where such lines are set aside."""
        return {}

    def tabled(
        self,
        frame: pd.DataFrame,
        *,
        lines: NDArray[Any] | None = None,
        unit: str = "row",
        notes: Sequence[Note] = (),
    ) -> Table:
        """Make a table of rows that a format took from this source, with places ``lines`` counted
        in ``unit``. Cells may have any type; lists and dicts become JSON.
        """
        lines = np.arange(1, len(frame) + 1) if lines is None else lines
        made = table_of(
            frame, source=self.name, sha256=self.sha256, lines=lines, unit=unit,
            notes=(*self.notes, *notes),
        )  # fmt: skip
        return replace(made, part=self.part, lost=self.lost)


@final
@dataclass(frozen=True, kw_only=True)
class TextSource(Source):
    """Delimited text, parsed on demand."""

    kind = "table"
    text: str = field(repr=False)

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
            notes.append(reader_note("spaces separate the columns", code="spaces"))
        if lacks_header(parsed.frame):
            head = (f"column {n}" for n in range(1, len(parsed.frame.columns) + 1))
            parsed = self._parse(f"{parsed.separator.join(head)}\n{text}")
            lost = {line - 1: reason for line, reason in parsed.lost.items()}
            parsed = replace(parsed, lines=parsed.lines - 1, lost=lost)
            said = (
                "the first line is a row and not a header, so columns are called by their numbers"
            )
            notes.append(reader_note(said, code="no-header"))
        return self._as_table(parsed, notes)

    def _parse(self, text: str) -> Delimited:
        return parse_delimited(text, source=self.name, lenient=self.lenient)

    @cached_property
    def _parsed(self) -> Delimited:
        return self._parse(self.text)

    @property
    def lost(self) -> Mapping[int, str]:
        """Lines that are no rows."""
        return self._parsed.lost if self.lenient else {}

    @cached_property
    def _table(self) -> Table:
        return self._as_table(self._parsed, self.notes)

    def _as_table(self, parsed: Delimited, notes: Sequence[Note]) -> Table:
        frame, named = told_apart(parsed.frame)
        skipped = [
            reader_note(
                f"{counted(number, what, 'were')} skipped", code="blanks-skipped", skipped=number
            )
            for number, what in (
                (parsed.blank_lines, "blank line"),
                (parsed.blank_columns, "nameless, empty column"),
            )
            if number
        ]
        made = Table(
            frame=frame, lines=parsed.lines, unit="line", source=self.name, part=self.part,
            lost=parsed.lost,
            sha256=self.sha256, notes=(*notes, *named, *skipped, *parsed.notes),
        )  # fmt: skip
        return made.without_nul() if "\0" in self.text else made


@final
@dataclass(frozen=True, kw_only=True)
class FrameSource(Source):
    """A table of typed cells: Parquet, Feather, an Excel sheet, a DataFrame."""

    kind = "table"
    frame: pd.DataFrame = field(repr=False)
    lines: NDArray[Any] | None = field(default=None, repr=False)

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
        lines = self.frame.index.to_numpy() if self.lines is None else self.lines
        flat, of = flat_frame(self.frame)
        return self.tabled(flat, lines=lines if flat is self.frame else lines[of])


@final
@dataclass(frozen=True, kw_only=True)
class JsonSource(Source):
    """JSON (one value, or a record a line), parsed on demand."""

    kind = "json"
    text: str = field(repr=False)

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
    def lost(self) -> Mapping[int, str]:
        """The records that are no JSON, where such records are set aside."""
        return dict.fromkeys(self._sound[2], "no JSON") if self.lenient else {}

    @cached_property
    def _sound(self) -> tuple[list[dict[str, Any]], list[int], list[int]]:
        """The records that can be read; nothing is lost of JSON that is whole."""
        try:
            parse_json(self.text, self.name)
        except RatingsError:
            return sound_records(self.text)
        return [], [], []

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


@dataclass(frozen=True, kw_only=True)
class SeveralFiles(Source):
    """Files that are opened by name."""

    kind = "folder"

    @property
    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """The names of the files."""

    @abstractmethod
    def _open(self, file: str) -> Source: ...

    def member(self, file: str) -> Source:
        """Open a file, once."""
        if file not in self._opened:
            self._opened[file] = replace(self._open(file), lenient=self.lenient)
        return self._opened[file]

    @cached_property
    def _opened(self) -> dict[str, Source]:
        return {}


@final
@dataclass(frozen=True, kw_only=True)
class FolderSource(SeveralFiles):
    """A folder, whose files are opened by name with ``open_file``."""

    path: Path
    open_file: Callable[[Path], Source] = field(repr=False)

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

    def _open(self, file: str) -> Source:
        return self.open_file(self.path / file)

    def plain_table(self, name: str = "") -> Table:
        """Return the table in the file of this name, such as ``retrieval.csv``."""
        for suffix in SUFFIXES:
            if f"{name}{suffix}" in self.files:
                return self.member(f"{name}{suffix}").plain_table()
        held = list(filter(is_table_name, self.files))
        near = [*(get_close_matches(f"{name}.csv", held, n=1) if name else []), *held][:1]
        what = f"tables of different columns: {listed(held)}" if held else "no table"
        raise RatingsError.of(
            "folder-without-task",
            f"the folder has {what}",
            self.name,
            allowed="tables of the same columns, or one table" + f", or {name}.csv" * bool(name),
            mend="give the path of one file" if held else "export the ratings into it",
            go_on={"source": str(self.path / near[0])} if near else {},
        )


@final
@dataclass(frozen=True, kw_only=True)
class FilesSource(SeveralFiles):
    """Several files: those of an archive, or those of a list of paths.

    contents, open_bytes : reads the bytes of each file, by name; opens them under a name
    paths : path of each file alone, by its name
    chosen : whether the caller named each file
    """

    contents: Mapping[str, Callable[[], bytes]] = field(repr=False)
    open_bytes: Callable[[bytes, str], Source] = field(repr=False)
    paths: Mapping[str, str] = field(default_factory=dict, repr=False)
    chosen: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(self.contents)

    def _open(self, file: str) -> Source:
        try:
            data = self.contents[file]()
        except (OSError, zipfile.BadZipFile, zlib.error) as error:
            raise RatingsError.of("damaged-file", str(error), self.name, mend=AGAIN) from None
        return self.open_bytes(data, f"{self.name}/{file}")

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


class Member(NamedTuple):
    """One file of a data set: ``file`` is its name, with folders where another has the same;
    ``stem``, without suffix, may name a rater.
    """

    source: Source
    file: str
    stem: str


def members_of(source: Source, *, any_name: bool = False) -> Iterator[Member]:
    """Yield the source itself, or the files of a folder, archive or list. Files that the caller did
    not name need records or rows by their name, unless ``any_name``.
    """
    if not isinstance(source, SeveralFiles):
        file = Path(source.name).name
        yield Member(source, file, file.split(".")[0])
        return
    every = any_name or (isinstance(source, FilesSource) and source.chosen)
    kept = [file for file in source.files if every or is_table_name(file)]
    names = short_names(kept)
    stems = names_without_suffix(names.values())
    for file, name in names.items():
        yield Member(source.member(file), name, stems[name])
