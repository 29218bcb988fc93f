"""Merged cells and hidden sheets of Excel, which its readers do not tell."""

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

SHEET = re.compile(rb"<sheet\b[^>]*>")
NAME, SHEET_ID = re.compile(rb"\bname=\"([^\"]*)\""), re.compile(rb"\br:id=\"([^\"]*)\"")
HIDDEN = re.compile(rb"\bstate=\"(?:veryH|h)idden\"")
RELATION = re.compile(rb"<Relationship\b[^>]*>")
ID, TARGET = re.compile(rb"\bId=\"([^\"]*)\""), re.compile(rb"\bTarget=\"([^\"]*)\"")
MERGED = re.compile(rb"<mergeCell\b[^>]*\bref=\"([A-Z]+)(\d+):([A-Z]+)(\d+)\"")
MOST_CELLS = 1_000_000
"""Larger ranges are whole rows or columns of a layout."""
Range = tuple[int, int, int, int]


def merged_ranges(data: bytes, position: int) -> list[Range]:
    """Return first row, last row, first and last column of merged cells, each from 0.

    Parameters
    ----------
    data : bytes
        The file; files other than of Excel since 2007 have no ranges.
    position : int
        The place of the sheet among the sheets.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = archive.read(_file_of(archive, position))
    except (KeyError, IndexError, zipfile.BadZipFile, OSError, RuntimeError):
        return []
    found = [
        (int(top) - 1, int(bottom) - 1, _column(left), _column(right))
        for left, top, right, bottom in MERGED.findall(text)
    ]
    return [one for one in found if (one[1] - one[0] + 1) * (one[3] - one[2] + 1) <= MOST_CELLS]


def hidden_sheets(data: bytes, names: Sequence[str]) -> list[str]:
    """Return the hidden sheets of an Excel file since 2007; none of other files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sheets = SHEET.findall(archive.read("xl/workbook.xml"))
    except (KeyError, zipfile.BadZipFile, OSError, RuntimeError):
        return []
    pairs = zip(names, sheets, strict=False)
    return [name for name, sheet in pairs if HIDDEN.search(sheet)]


def _file_of(archive: zipfile.ZipFile, position: int) -> str:
    """Return the file of a sheet."""
    sheet = SHEET.findall(archive.read("xl/workbook.xml"))[position]
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


def filled(cells: Any, ranges: list[Range]) -> tuple[Any, int]:
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
            if row in rows and _is_empty(grid[rows[row], column]):
                grid[rows[row], column] = value
                count += 1
    return type(cells)(grid, index=cells.index, columns=cells.columns), count


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and bool(np.isnan(value)))
