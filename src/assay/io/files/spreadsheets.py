"""Sheets of Excel and OpenDocument files, and tables of web pages saved under such names."""

import contextlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note, RatingsError, as_code, nearest, suggest
from assay._util.text import counted, listed
from assay._util.typing import Ints
from assay.io.blocks import header_again, with_blocks
from assay.io.header_rows import header_of_two
from assay.io.names import KNOWN, SHEET, is_system_name, squash
from assay.io.tables import AGAIN, reader_note

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
ZIP = b"PK\x03\x04"
SHEET_FILES = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
"""Files in a ZIP archive that show a spreadsheet."""
FEWEST_FIELDS = 2
"""Fewest filled cells of a header; emptier rows above are a title."""
EVERY = "*"
MOST_SHARED = 10
"""Most values of columns of raters in a sheet."""
"""What stands for all sheets, and the column with the name of each."""
INSTALL = "pip install 'assay[excel]'"
SHEET_TAG = re.compile(rb"<sheet\b[^>]*>")
SHEET_ID = re.compile(rb"\br:id=\"([^\"]*)\"")
HIDDEN = re.compile(rb"\bstate=\"(?:veryH|h)idden\"")
RELATION = re.compile(rb"<Relationship\b[^>]*>")
ID, TARGET = re.compile(rb"\bId=\"([^\"]*)\""), re.compile(rb"\bTarget=\"([^\"]*)\"")
MERGED = re.compile(rb"<mergeCell\b[^>]*\bref=\"([A-Z]+)(\d+):([A-Z]+)(\d+)\"")
MOST_CELLS = 1_000_000
"""Larger ranges are whole rows or columns of a layout."""
NO_EXCEL = (KeyError, IndexError, zipfile.BadZipFile, OSError, RuntimeError)
"""What files other than of Excel since 2007 raise."""
Range = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The cells of a sheet, the number of each row, and notes."""

    frame: pd.DataFrame
    lines: Ints
    notes: tuple[Note, ...] = ()


def is_spreadsheet(data: bytes) -> bool:
    """Whether bytes are an Excel or OpenDocument file."""
    if data.startswith(OLD_EXCEL):
        return True
    if not data.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name in archive.namelist() for name in SHEET_FILES)
    except (zipfile.BadZipFile, OSError):
        return False


def read_sheet(data: bytes, source: str, sheet: str | None = None) -> Sheet:
    """Read the named sheet, or the only one with cells."""
    sheets = _sheets(data, source)
    filled = {name: cells for name, cells in sheets.items() if not cells.empty}
    if not filled:
        raise RatingsError.of("empty-file", "the file has no filled cells", source, mend=AGAIN)
    hidden = [name for name in _hidden_sheets(data, list(sheets)) if name in filled]
    shown = [name for name in filled if name not in hidden]
    if sheet is None and len(shown) != 1:
        raise _several(filled, hidden, source)
    if sheet == EVERY and EVERY not in filled:
        joined = _joined({name: filled[name] for name in shown or filled}, source)
        left = hidden if shown else []
        return replace(joined, notes=(*joined.notes, *_hidden_notes("", left)))
    name = shown[0] if sheet is None else sheet
    if name not in filled:
        raise RatingsError.of(
            "unknown-sheet",
            f"`sheet={name!r}` is not a sheet that holds cells",
            source,
            mend=suggest(name, list(filled)),
            go_on={"sheet": nearest(name, filled) or next(iter(filled))},
        )
    cells, merged = _with_merged(filled[name], _merged_ranges(data, list(sheets).index(name)))
    read = from_header(cells, source)
    text = f"{counted(merged, 'merged cell', 'have')} the value of the first cell of their range"
    note = reader_note(text, code="merged-cells", cells=merged)
    notes = [*read.notes, *([note] if merged else []), *_hidden_notes(name, hidden)]
    return replace(read, notes=tuple(notes))


def _joined(sheets: dict[str, pd.DataFrame], source: str) -> Sheet:
    """Read sheets of the same columns as one table, with a column of their names."""
    read = _alike(sheets, source)
    if not read:
        raise RatingsError.of(
            "unknown-sheet",
            f"the {counted(len(sheets), 'sheet')} have different columns: {listed(list(sheets))}",
            source,
            mend=f"name one of them: {as_code({'sheet': next(iter(sheets))})}",
            go_on={"sheet": next(iter(sheets))},
        )
    frames = [one.frame.assign(**{SHEET: name}) for name, one in read.items()]
    left = [name for name in sheets if name not in read]
    text = f"{counted(len(read), 'sheet')} of the same columns are read as one table: "
    note = reader_note(
        f"{text}{listed(list(read))}; column {SHEET} has their names"
        + (
            f". Other sheets share no column with them and are left out: {listed(left)}"
            if left
            else ""
        ),
        code="sheets-joined",
        sheets=len(read),
    )
    notes = [note, *(one for sheet in read.values() for one in sheet.notes)]
    lines = np.concatenate([one.lines for one in read.values()])
    return Sheet(frame=pd.concat(frames, ignore_index=True), lines=lines, notes=tuple(notes))


def _alike(sheets: Mapping[str, pd.DataFrame], source: str) -> dict[str, Sheet]:
    """Read the sheets that have the columns of most, each with a name, and none called sheet.

    Empty if there is but one, or if another sheet has some of these columns.
    """
    read: dict[str, Sheet] = {}
    for name, cells in sheets.items():
        with contextlib.suppress(RatingsError):  # a title alone is no table
            read[name] = from_header(cells, source)
    columns = {name: tuple(sorted(map(str, one.frame.columns))) for name, one in read.items()}
    most, number = Counter(columns.values()).most_common(1)[0] if columns else ((), 0)
    others = {c for names in columns.values() if names != most for c in names}
    if number < 2 or {"", SHEET, *others} & {*most}:
        return {}
    return {name: one for name, one in read.items() if columns[name] == most}


def _several(filled: dict[str, pd.DataFrame], hidden: Sequence[str], source: str) -> RatingsError:
    """Ask which of several sheets is meant; hidden ones are said to be so."""
    shown = [name for name in filled if name not in hidden] or list(filled)
    first = max(shown, key=lambda name: int(filled[name].count().sum()))
    said = [f"{name} (hidden)" if name in hidden else name for name in filled]
    go_on, alike = {"sheet": first}, _read_together({n: filled[n] for n in shown}, source)
    return RatingsError.of(
        "several-sheets",
        f"the file has {counted(len(filled), 'sheet')}: {', '.join(said)}",
        source,
        mend=f"name one of them, such as {as_code(go_on)}"
        + (f"; {as_code(alike)} reads those of the same columns together" if alike else ""),
        go_on=alike if len(alike) > 1 else go_on,
    )


def _read_together(sheets: Mapping[str, pd.DataFrame], source: str) -> dict[str, str]:
    """Return the arguments that read sheets of the same columns; the sheet may be the rater, or the
    system if it is called like one.
    """
    read = _alike(sheets, source)
    if not read:
        return {}
    frame = next(iter(read.values())).frame
    columns = {squash(str(c)) for c in frame.columns}
    of_raters = bool(columns & KNOWN["rater"]) or _has_alike(frame)
    if not columns & KNOWN["system"] and of_raters and all(map(is_system_name, read)):
        return {"sheet": EVERY, "system": SHEET}
    return {"sheet": EVERY} if columns & KNOWN["rater"] else {"sheet": EVERY, "rater": SHEET}


def _has_alike(frame: pd.DataFrame) -> bool:
    """Whether two columns share their few values, as those of raters do."""
    held = [frozenset(map(str, column.dropna().unique())) for _, column in frame.items()]
    few = [words for words in held if 1 < len(words) <= MOST_SHARED]
    return any(2 * len(a & b) > len(a | b) for n, a in enumerate(few) for b in few[:n])


def _hidden_notes(name: str, hidden: Sequence[str]) -> list[Note]:
    """Note hidden sheets: that they were not read, or that the one that was read is hidden."""
    left = [other for other in hidden if other != name]
    said = [f"sheet {name} is hidden in the file"] if name in hidden else []
    if left:
        named = as_code({"sheet": left[0]})
        said.append(f"hidden sheets were not read: {listed(left)}. To read one, give {named}")
    return [reader_note(text, code="hidden-sheets") for text in said]


def _sheets(data: bytes, source: str) -> dict[str, pd.DataFrame]:
    """Return the filled rows of every sheet."""
    engine = _engine(source)
    try:
        read: dict[Any, pd.DataFrame] = pd.read_excel(
            io.BytesIO(data), sheet_name=None, header=None, dtype=object, engine=engine,
            keep_default_na=False, na_values=[""],
        )  # fmt: skip
    except Exception as error:  # each engine has errors of its own
        raise RatingsError.of(
            "damaged-file", f"the spreadsheet cannot be read: {error}", source, mend=AGAIN
        ) from None
    return {
        str(name): cells.dropna(how="all").dropna(how="all", axis=1) for name, cells in read.items()
    }


def _engine(source: str) -> Any:
    """Return the installed package that reads sheets."""
    from importlib.util import find_spec

    for module, name in (("python_calamine", "calamine"), ("openpyxl", "openpyxl")):
        if find_spec(module) is not None:
            return name
    raise RatingsError.of(
        "excel-missing",
        "no package for reading spreadsheets is installed",
        source,
        mend=f"install one: {INSTALL}",
        first=INSTALL,
    )


def from_header(cells: pd.DataFrame, source: str) -> Sheet:
    """Take the first row with several filled cells as the header."""
    filled = cells.notna().sum(axis=1).to_numpy()
    enough = np.flatnonzero(filled >= min(FEWEST_FIELDS, cells.shape[1]))
    head = int(enough[0]) if len(enough) else 0
    rows = cells.iloc[head + 1 :]
    if rows.empty:
        raise RatingsError.of(
            "empty-file", "the sheet has a header but no rows", source, mend=AGAIN
        )
    names = ["" if pd.isna(name) else str(name).strip() for name in cells.iloc[head]]
    used = [n for n, name in enumerate(names) if name or rows.iloc[:, n].notna().any()]
    frame = rows.iloc[:, used].reset_index(drop=True)
    named, two, joined = header_of_two([names[n] for n in used], frame)
    frame, rows = frame.iloc[two:].reset_index(drop=True).set_axis(named, axis=1), rows.iloc[two:]
    notes: list[Note] = []
    if head:
        text = frame.astype(object).where(frame.notna(), "").astype(str)
        again = header_again(text, named)
        banner = str(cells.iloc[head - 1].dropna().iloc[0])
        text, is_line, blocks = with_blocks(text, again, banner)
        notes += blocks
        if blocks:
            out = is_line | again
            of_row = text.iloc[:, -1]
            frame = frame.assign(**{str(of_row.name): of_row})[~out].reset_index(drop=True)
            rows = rows[~out]
    if head > len(notes):
        title = str(cells.iloc[0].dropna().iloc[0])[:40]
        left = counted(head - len(notes), "row", "are")
        said = f"{left} left out above the header of the sheet: {title}"
        notes.append(reader_note(said, code="title-rows"))
    return Sheet(frame=frame, lines=rows.index.to_numpy(np.int64) + 1, notes=(*notes, *joined))


def _merged_ranges(data: bytes, position: int) -> list[Range]:
    """Return first row, last row, first and last column of merged cells of a sheet, each from 0.

    The readers of Excel do not tell them.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = archive.read(_file_of(archive, position))
    except NO_EXCEL:
        return []
    found = [
        (int(top) - 1, int(bottom) - 1, _column(left), _column(right))
        for left, top, right, bottom in MERGED.findall(text)
    ]
    return [one for one in found if (one[1] - one[0] + 1) * (one[3] - one[2] + 1) <= MOST_CELLS]


def _hidden_sheets(data: bytes, names: Sequence[str]) -> list[str]:
    """Return the hidden sheets."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sheets = SHEET_TAG.findall(archive.read("xl/workbook.xml"))
    except NO_EXCEL:
        return []
    return [name for name, sheet in zip(names, sheets, strict=False) if HIDDEN.search(sheet)]


def _file_of(archive: zipfile.ZipFile, position: int) -> str:
    """Return the file of a sheet."""
    sheet = SHEET_TAG.findall(archive.read("xl/workbook.xml"))[position]
    wanted = SHEET_ID.findall(sheet)[0]
    for relation in RELATION.findall(archive.read("xl/_rels/workbook.xml.rels")):
        if ID.findall(relation) == [wanted]:
            target = TARGET.findall(relation)[0].decode().lstrip("/")
            return target if target.startswith("xl/") else f"xl/{target}"
    raise KeyError(wanted)


def _column(letters: bytes) -> int:
    """Return the number of a column, from 0.

    >>> _column(b"A"), _column(b"AB")
    (0, 27)
    """
    number = 0
    for letter in letters.decode():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _with_merged(cells: pd.DataFrame, ranges: list[Range]) -> tuple[pd.DataFrame, int]:
    """Return the cells with the value of each merged range in all its rows, and how many it filled.

    Ranges over several columns are titles: only ranges of one column are filled.
    """
    grid = cells.to_numpy(object, copy=True)
    rows = {int(row): n for n, row in enumerate(cells.index)}
    columns = {int(column): n for n, column in enumerate(cells.columns)}
    count = 0
    for top, bottom, left, right in ranges:
        if left != right or left not in columns or top not in rows:
            continue
        column, value = columns[left], grid[rows[top], columns[left]]
        for row in range(top + 1, bottom + 1):
            if row in rows and pd.isna(grid[rows[row], column]):
                grid[rows[row], column] = value
                count += 1
    return pd.DataFrame(grid, index=cells.index, columns=cells.columns), count


WEB_PAGE = re.compile(
    rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?<(!doctype html|html|head|meta|style|table)\b",
    re.IGNORECASE,
)
FEWEST_ROWS, FEWEST_CELLS = 2, 2
"""Fewest rows and columns of a table of ratings."""
MOST_SPAN = 1000
"""Widest cell; wider ones are those of a layout."""
EVEN = 0.9
"""Smallest share of rows of the same width; tables of a layout are less even."""
Rows = list[list[str]]


def is_page(data: bytes) -> bool:
    """Whether bytes are a page of the web."""
    return WEB_PAGE.match(data) is not None


def table_of_page(text: str, source: str) -> Sheet:
    """Return the largest table of a page; refuse a page of which no table has even rows.

    >>> page = "<table><tr><th>item<th>label<tr><td>1<td>x<tr><td>2<td>a &amp; b</table>"
    >>> table_of_page(page, "export.xls").frame.to_dict("list")
    {'item': ['1', '2'], 'label': ['x', 'a & b']}
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    found = [rows for rows in reader.tables if _is_even(rows)]
    if not found:
        raise RatingsError.of(
            "web-page",
            "the file is a web page without a table of ratings",
            source,
            mend="download the file itself, such as by the link called raw, or save the table as "
            "CSV",
        )
    rows = max(found, key=lambda one: sum(map(len, one)))
    width = max(map(len, rows))
    cells = pd.DataFrame([row + [None] * (width - len(row)) for row in rows], dtype=object)
    cells = cells.where(cells != "", None)
    read = from_header(cells.dropna(how="all").dropna(how="all", axis=1), source)
    said = f", the largest of {counted(len(found), 'table')}" if len(found) > 1 else ""
    note = Note(f"the file is a web page, and its table is read{said}", code="table-of-page")
    return Sheet(frame=read.frame, lines=read.lines, notes=(*read.notes, note))


def _is_even(rows: Rows) -> bool:
    """Whether nearly all rows have the same number of cells, and there are several."""
    if len(rows) < FEWEST_ROWS:
        return False
    width, times = Counter(map(len, rows)).most_common(1)[0]
    return width >= FEWEST_CELLS and times >= EVEN * len(rows)


class _Reader(HTMLParser):
    """Collects the rows of all tables that hold no other table."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Rows] = []
        self._open: list[Rows] = []
        self._cell: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell, which ends the one before."""
        if tag == "table":
            self._end_cell()
            self._open.append([])
        elif tag == "tr" and self._open:
            self._end_cell()
            self._open[-1].append([])
        elif tag in ("td", "th") and self._open:
            self._end_cell()
            if not self._open[-1]:
                self._open[-1].append([])
            span = dict(attrs).get("colspan") or "1"
            self._cell = []
            self._span = int(span) if span.isdigit() and int(span) <= MOST_SPAN else 1
        elif tag == "br" and self._cell is not None:
            self._cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End a table, a row or a cell."""
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "table" and self._open:
            self.tables.append([row for row in self._open.pop() if row])

    def handle_data(self, data: str) -> None:
        """Add text to the cell."""
        if self._cell is not None:
            self._cell.append(data)

    def close(self) -> None:
        """End tables that the page does not end."""
        super().close()
        while self._open:
            self.handle_endtag("table")

    def _end_cell(self) -> None:
        if self._cell is not None and self._open and self._open[-1]:
            text = "".join(self._cell).replace("\xa0", " ").strip()
            self._open[-1][-1] += [text, *[""] * (self._span - 1)]
        self._cell, self._span = None, 1
