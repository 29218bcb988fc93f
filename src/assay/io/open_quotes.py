"""Quotes that are not closed in their row, so that the rows after it become part of a cell."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from assay._util.errors import Problem, RatingsError, as_code
from assay._util.typing import Ints
from assay.io.tables import SET_ASIDE

if TYPE_CHECKING:
    from assay.io.delimited import Delimited

LINE_END = re.compile(r"\r\n|\r|\n")
FEWEST_FIELDS, FEWEST_LINES = 3, 2
"""Fewest columns of a table, and fewest lines in a cell, for the lines to be rows."""
SHOWN = 60
MOST = 100
"""Most rows that are set aside for their quotes; beyond, the file is of another kind."""


class OpenQuoteError(RatingsError):
    """A quote that is not closed in its row.

    line : the line at which the row begins
    """

    line = 0


def require_closed(
    text: str,
    frame: pd.DataFrame,
    lines: Ints,
    wrong: Mapping[int, str],
    offset: int,
    separator: str,
    source: str,
) -> None:
    """Raise `OpenQuoteError` if a quote is closed rows later, or never.

    Parameters
    ----------
    text : str
        The table from its header on; ``offset`` lines of the file stand before it.
    frame : DataFrame
        Its records, the header included; ``lines`` has the first line of each.
    wrong : dict of int to str
        Records with a wrong number of fields, by their first line.
    """
    if '"' not in text or frame.empty:
        return
    found: dict[int, str] = {}
    several = text.count("\n") > len(frame) + len(wrong)
    for record, column in _long_cells(frame) if several else ():
        inner = LINE_END.split(str(frame.iat[record, column]))[1:-1]
        if len(inner) >= FEWEST_LINES and all(_is_row(line, separator, frame) for line in inner):
            found[int(lines[record])] = f"closed at line {lines[record] + len(inner) + 1} only"
    for line, torn in wrong.items():
        if any(_is_row(one, separator, frame) for one in LINE_END.split(torn)[1:]):
            found[line] = "not closed in its row"
    last = str(frame.iat[-1, -1]).replace('"', '""')
    if text.endswith(f'"{last}' if last else (f'{separator}"', '\n"')):
        found[int(lines[-1])] = "never closed"
    if found:
        raise _refusal(text, min(found), offset, found[min(found)], source)


def _is_row(line: str, separator: str, frame: pd.DataFrame) -> bool:
    """Whether a line has as many fields as the table has columns."""
    return line.count(separator) + 1 == frame.shape[1] > 1


def _long_cells(frame: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the records and columns of cells of several lines, if there are enough columns."""
    if frame.shape[1] < FEWEST_FIELDS:
        return []
    return [
        (int(record), column)
        for column in range(frame.shape[1])
        for record in (frame.iloc[:, column].str.count("\n") > FEWEST_LINES).to_numpy().nonzero()[0]
    ]


def _refusal(text: str, line: int, offset: int, end: str, source: str) -> OpenQuoteError:
    shown = LINE_END.split(text)[line - offset - 1][:SHOWN]
    is_header = line == offset + 1
    rest = "" if is_header else f"; or leave the line out: {as_code(SET_ASIDE)}"
    problem = Problem(
        code="unparsed-file",
        what=f"the quote that opens in line {line} is {end}, so that the lines after it would be "
        f"one cell: {shown}",
        mend=f"close the quote in that line, or write it twice if it belongs to the text{rest}",
        go_on={} if is_header else SET_ASIDE,
        numbers={"line": line},
    )
    error = OpenQuoteError([problem], source, code=problem.code)
    error.line = line
    return error


def without_open_quotes(text: str, parse: Callable[[str], "Delimited"]) -> "Delimited":
    """Parse a text without the lines whose quotes are not closed; they are lost."""
    lost: list[int] = []
    while True:
        try:
            parsed = parse(text)
        except OpenQuoteError as error:
            if error.line in (0, *lost) or len(lost) == MOST:
                raise
            lost.append(error.line)
            text = _blanked(text, error.line)
            continue
        return replace(
            parsed, lost=tuple(sorted((*parsed.lost, *lost))),
            blank_lines=max(parsed.blank_lines - len(lost), 0),
        )  # fmt: skip


def _blanked(text: str, line: int) -> str:
    """Empty a line of a text."""
    ends = [(0, 0), *((found.start(), found.end()) for found in LINE_END.finditer(text))]
    start = ends[line - 1][1]
    end = ends[line][0] if line < len(ends) else len(text)
    return text[:start] + text[end:]
