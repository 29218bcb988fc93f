"""Tables of web pages, which programs save under the name of a sheet of Excel."""

import re
from collections import Counter
from html.parser import HTMLParser

import pandas as pd

from assay._util.errors import Note, RatingsError
from assay._util.text import counted
from assay.io.files.spreadsheets import Sheet, from_header

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

    Examples
    --------
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
