"""Parse delimited text, which may lack a header, as strings with the line of each row."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note, RatingsError, as_code
from assay._util.text import counted
from assay._util.typing import Ints
from assay.io.blocks import header_again, padded, with_blocks
from assay.io.header_rows import header_of_two
from assay.io.names import ALL_KNOWN, ANSWER_COLUMNS, composed, note_apart, squash
from assay.io.tables import AGAIN, SET_ASIDE, reader_note

ROW_NAME = "row name"
"""Name of the first column, where rows begin with names and the header does not say so."""
SEPARATORS = (",", ";", "\t", "|")
CELL = re.compile(r'[^,;\t\r\n"]+')
BLOCK_LIMIT = 1 << 30
HEADER_LIMIT = 1 << 20
SHOWN = 5
LINE_END = re.compile(r"\r\n|\r|\n")
MOST_TITLES = 10
"""Lines that may stand above the header."""
SEPARATOR_LINE = re.compile(r"sep=.[ \t]*\r?\n", re.IGNORECASE)
FEWEST_FIELDS, FEWEST_LINES = 3, 2
"""Fewest columns of a table, and fewest lines in a cell for the lines to be rows."""
SHOWN_CHARACTERS = 60
MOST_OPEN = 100
"""Most rows that are set aside for their quotes; beyond, the file is of another kind."""
FIRST_LINES = 100
FEWEST_NAMES = 2
"""Fewest names of known columns in a line that is a header for certain."""
SEEN_ROWS = 5000
COLUMN_NAMES = ALL_KNOWN | set(ANSWER_COLUMNS)
BLANKS = re.compile(r"[ \t]+")
NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")


@dataclass(frozen=True, kw_only=True)
class Delimited:
    """Rows of a delimited file as strings, with their lines, without blank lines and columns."""

    frame: pd.DataFrame
    lines: Ints
    blank_lines: int
    blank_columns: int = 0
    separator: str = ","
    notes: tuple[Note, ...] = ()
    lost: Mapping[int, str] = field(default_factory=dict)


def parse_delimited(text: str, *, source: str, lenient: bool = False) -> Delimited:
    """Parse delimited text with a header.

    Ragged rows, and lines whose quotes are not closed, are refused, or lost if ``lenient``.
    """
    lost: dict[int, str] = {}
    while True:
        try:
            parsed = _parsed(text, source=source, lenient=lenient)
        except RatingsError as error:  # of an open quote, it has the line
            line = int(error.numbers.get("line", 0))
            if not lenient or line in (0, *lost) or len(lost) == MOST_OPEN:
                raise
            lost[line] = "a quote is not closed"
            # Empty the line.
            ends = [(0, 0), *((found.start(), found.end()) for found in LINE_END.finditer(text))]
            start = ends[line - 1][1]
            end = ends[line][0] if line < len(ends) else len(text)
            text = text[:start] + text[end:]
            continue
        return replace(
            parsed, lost=dict(sorted({**parsed.lost, **lost}.items())),
            blank_lines=max(parsed.blank_lines - len(lost), 0),
        )  # fmt: skip


def _parsed(raw: str, *, source: str, lenient: bool) -> Delimited:
    text = composed(raw)
    notes = () if text == raw else note_apart(CELL.findall(raw))
    text, offset = _from_header(text)
    text, titles, above = _below_titles(text)
    offset += titles
    header, separator = _header(text, source)
    text = padded(text, separator) if above else text
    frame, bad = _parse(text.encode(), header, separator, source)
    # R writes the names of rows under a header that has no column for them.
    if len(frame) == 1 and bool(bad) and all(row.actual_columns == len(header) + 1 for row in bad):
        header, text = [ROW_NAME, *header], f"{ROW_NAME}{separator}{text}"
        frame, bad = _parse(text.encode(), header, separator, source)
        said = f"the header names one column less than there are: the first is called {ROW_NAME}"
        notes = (*notes, Note(said, code="nameless-columns", numbers={"columns": 1}))
    lines = offset + _line_numbers(text, frame, bad)
    wrong = np.array([row.number - 1 for row in bad], np.int64)
    texts = {int(line): row.text for line, row in zip(lines[wrong], bad, strict=True)}
    _require_closed(text, frame, np.delete(lines, wrong), texts, offset, separator, source)
    if bad and not lenient:
        raise _ragged(bad, lines, len(header), source)
    lost = dict.fromkeys(lines[wrong].tolist(), "wrong number of fields")
    lines = np.delete(lines, wrong)
    frame, lines = frame.iloc[1:].reset_index(drop=True), lines[1:]
    blank = np.asarray((frame == "").all(axis=1), bool)
    again = header_again(frame, header)
    if rows := int(again.sum()):
        text = f"{counted(rows, 'row', 'are')} left out, as the header stands there once more"
        note = reader_note(text, code="header-again", rows=rows)
        notes = (*notes, note)
    banner = above[-1] if above else ""
    frame, is_line, joined = with_blocks(frame, again, banner)
    header = [*header, *frame.columns[len(header) :]]
    notes = (*notes, *joined)
    if left := titles - len(joined):
        text = f"{counted(left, 'line', 'are')} left out above the header: {above[0][:40]}"
        notes = (*notes, reader_note(text, code="title-rows"))
    out = blank | again | is_line
    frame, lines = frame.loc[~out].reset_index(drop=True), lines[~out]
    header, rows, joined = header_of_two(header, frame)
    frame, lines = frame.iloc[rows:].reset_index(drop=True).set_axis(header, axis=1), lines[rows:]
    if frame.empty:
        raise RatingsError.of("empty-file", "the file has a header but no rows", source, mend=AGAIN)
    nothing = np.array(
        [not c and bool((frame.iloc[:, n] == "").all()) for n, c in enumerate(header)]
    )
    return Delimited(
        frame=frame.loc[:, ~nothing],
        lines=lines,
        blank_lines=int(blank.sum()),
        blank_columns=int(nothing.sum()),
        separator=separator,
        notes=(*notes, *joined),
        lost=lost,
    )


def read_header(text: str, source: str) -> list[str]:
    """Return the fields of the first line."""
    beginning = _from_header(composed(text[:HEADER_LIMIT]))[0]
    return _header(_below_titles(beginning)[0], source)[0]


def _from_header(text: str) -> tuple[str, int]:
    """Return the text from its header on, and the number of lines before it."""
    skipped = len(text) - len(text.lstrip("\r\n"))
    offset = text[:skipped].count("\n")
    text = text[skipped:]
    if SEPARATOR_LINE.match(text):  # written by spreadsheets; the header shows the separator too
        offset, text = offset + 1, text.partition("\n")[2]
    return text, offset


def _below_titles(text: str) -> tuple[str, int, list[str]]:
    r"""Return a text from its header on, the number of lines above it, and their words: comments
    after "#", or lines of a single filled field, if rows of several fields follow.

    >>> _below_titles("Study 7;;\nitem;rater;label\n1;A;yes\n")
    ('item;rater;label\n1;A;yes\n', 1, ['Study 7'])
    """
    ways = [_first_rows(text, separator) for separator in SEPARATORS]
    if above := _comments(text, ways):
        ends = [line.end() for line in islice(LINE_END.finditer(text), above)]
        return text[ends[-1] :], above, [text[: ends[0]].strip()]
    if any(rows and sum(map(bool, rows[0][0])) > 1 for rows in ways):
        return text, 0, []  # the first line has several fields: it is the header
    for rows in ways:
        filled = [sum(bool(cell.strip()) for cell in row) for row, _ in rows]
        head = next((n for n, number in enumerate(filled) if number > 1), 0)
        after = rows[head + 1 : head + 2]
        if head and after and len(after[0][0]) == len(rows[head][0]) == filled[head]:
            above = rows[head - 1][1]
            titles = [cell.strip() for row, _ in rows[:head] for cell in row if cell.strip()]
            start = [0, *(line.end() for line in islice(LINE_END.finditer(text), above))][-1]
            return text[start:], above, titles
    return text, 0, []


def _comments(text: str, ways: Sequence[list[tuple[list[str], int]]]) -> int:
    """Return the number of lines above the header that begin with "#".

    The last of them is the header itself if it has as many fields as the line below, which is
    none.
    """
    if not text.startswith("#"):
        return 0
    lines = LINE_END.split(text[:HEADER_LIMIT], maxsplit=MOST_TITLES + 2)[: MOST_TITLES + 2]
    number = next((n for n, line in enumerate(lines) if not line.startswith("#")), 0)
    rows = max(ways, key=lambda rows: len(rows[number][0]) if len(rows) > number else 0)
    if not number or len(rows) <= number or len(rows[number][0]) < 2:
        return 0
    last, below = rows[number - 1][0], rows[number][0]
    is_header = sum(squash(name) in COLUMN_NAMES for name in below) >= FEWEST_NAMES
    return number - (len(last) == len(below) and not is_header)


def _first_rows(text: str, separator: str) -> list[tuple[list[str], int]]:
    """Return the first rows, and the number of lines up to the end of each."""
    reader = csv.reader(io.StringIO(text[:HEADER_LIMIT], newline=""), delimiter=separator)
    try:
        return [(row, reader.line_num) for row in islice(reader, MOST_TITLES + 2)]
    except csv.Error:
        return []


def _header(text: str, source: str) -> tuple[list[str], str]:
    """Return the column names, by the separator that gives the most of them."""
    beginning = text[:HEADER_LIMIT]
    best: tuple[list[str], str] = ([], ",")
    for separator in SEPARATORS:
        try:
            names = next(csv.reader(io.StringIO(beginning, newline=""), delimiter=separator))
        except csv.Error as error:
            raise RatingsError.of(
                "unparsed-file",
                f"the header cannot be read: {error}",
                source,
                mend="close the quotation mark that line 1 opens, or remove it",
            ) from None
        if len(names) > len(best[0]):
            best = ([name.strip() for name in names], separator)
    return best


def _parse(
    data: bytes, header: list[str], separator: str, source: str
) -> tuple[pd.DataFrame, list[Any]]:
    """Parse all records, the header included, as strings; collect ragged ones."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    bad: list[Any] = []

    def note(row: Any) -> str:
        bad.append(row)
        return "skip"

    keys = [str(n) for n in range(len(header))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=keys, block_size=min(len(data) + 1, BLOCK_LIMIT)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=note,
            ),
            convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string())),
        )
    except pa.ArrowException as error:
        raise RatingsError.of(
            "unparsed-file", f"the file cannot be parsed: {error}", source, mend=AGAIN
        ) from None
    frame = table.to_pandas()
    frame.columns = pd.Index(header)
    return frame, bad


def _line_numbers(text: str, frame: pd.DataFrame, bad: list[Any]) -> Ints:
    """Return the first line of each record, ragged ones included; quoted fields may span lines."""
    records = len(frame) + len(bad)
    wrong = np.array([row.number - 1 for row in bad], np.int64)
    is_wrong = np.zeros(records, bool)
    is_wrong[wrong] = True
    height = np.ones(records, np.int64)
    height[wrong] = [1 + row.text.count("\n") for row in bad]
    if text.count("\n") > records:
        extra = np.zeros(len(frame), np.int64)
        for n in range(frame.shape[1]):
            extra += frame.iloc[:, n].str.count("\n").to_numpy(np.int64)
        height[~is_wrong] += extra
    begins = 1 + np.concatenate([[0], np.cumsum(height)[:-1]])
    return np.asarray(begins, np.int64)


def _ragged(bad: list[Any], begins: Ints, columns: int, source: str) -> RatingsError:
    """Report the lines with a wrong number of fields."""
    shown = ", ".join(f"line {begins[r.number - 1]} has {r.actual_columns}" for r in bad[:SHOWN])
    more = f", and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
    return RatingsError.of(
        "ragged-rows",
        f"{counted(len(bad), 'row')} with a wrong number of fields",
        source,
        where=shown + more,
        allowed=f"{columns} fields, as in the header",
        mend="quote values that hold the separator, a quote or a line break; or leave such rows "
        f"out: {as_code(SET_ASIDE)}",
        go_on=SET_ASIDE,
        numbers={"rows": len(bad), "fields": columns},
    )


def _require_closed(
    text: str,
    frame: pd.DataFrame,
    lines: Ints,
    wrong: Mapping[int, str],
    offset: int,
    separator: str,
    source: str,
) -> None:
    """Refuse a quote that is closed rows later, or never, so that rows become part of a cell.

    ``frame`` has the records of ``text``, header included, ``lines`` the first line of each;
    ``wrong`` those with a wrong number of fields. ``offset`` lines precede the header.
    """
    if '"' not in text or frame.empty:
        return
    found: dict[int, str] = {}
    several = text.count("\n") > len(frame) + len(wrong) and frame.shape[1] >= FEWEST_FIELDS
    for column in range(frame.shape[1]) if several else ():
        long = frame.iloc[:, column].str.count("\n") > FEWEST_LINES
        for record in map(int, np.flatnonzero(long)):
            inner = LINE_END.split(str(frame.iat[record, column]))[1:-1]
            if len(inner) >= FEWEST_LINES and all(_is_row(one, separator, frame) for one in inner):
                found[int(lines[record])] = f"closed at line {lines[record] + len(inner) + 1} only"
    for line, torn in wrong.items():
        if any(_is_row(one, separator, frame) for one in LINE_END.split(torn)[1:]):
            found[line] = "not closed in its row"
    last = str(frame.iat[-1, -1]).replace('"', '""')
    if text.endswith(f'"{last}' if last else (f'{separator}"', '\n"')):
        found[int(lines[-1])] = "never closed"
    if found:
        raise _open_quote(text, min(found), offset, found[min(found)], source)


def _is_row(line: str, separator: str, frame: pd.DataFrame) -> bool:
    """Whether a line has as many fields as the table has columns."""
    return line.count(separator) + 1 == frame.shape[1] > 1


def _open_quote(text: str, line: int, offset: int, end: str, source: str) -> RatingsError:
    shown = LINE_END.split(text)[line - offset - 1][:SHOWN_CHARACTERS]
    is_header = line == offset + 1
    rest = "" if is_header else f"; or leave the line out: {as_code(SET_ASIDE)}"
    return RatingsError.of(
        "unparsed-file",
        f"the quote that opens in line {line} is {end}, so that the lines after it would be one "
        f"cell: {shown}",
        source,
        mend=f"close the quote in that line, or write it twice if it belongs to the text{rest}",
        go_on={} if is_header else SET_ASIDE,
        numbers={"line": line},
    )


def with_tabs(text: str) -> str | None:
    """Return the text with tabs for spaces, if each line has as many words; else None."""
    lines = text.splitlines()
    first = [line for line in lines if line.strip()][:FIRST_LINES]
    if any(sign in first[0] for sign in SEPARATORS):
        return None
    words = _quoted_words if '"' in text else str.split
    head, *fields = [len(words(line)) for line in first]
    same = set(fields) or {head}
    # Tables of R have one name less than columns: rows begin with their names.
    if len(same) != 1 or max(same) < FEWEST_FIELDS:
        return None
    if max(same) - head not in ((0, 1) if len(fields) > 1 else (0,)):
        return None
    if words is str.split:
        return "\n".join(BLANKS.sub("\t", line.strip()) for line in lines)
    written = io.StringIO()
    csv.writer(written, delimiter="\t", lineterminator="\n").writerows(map(words, lines))
    return written.getvalue()


def _quoted_words(line: str) -> list[str]:
    """Split at spaces outside of quotes."""
    return [w for w in next(csv.reader([line.strip()], delimiter=" "), []) if w]


def lacks_header(frame: pd.DataFrame) -> bool:
    """Whether the header is a row: no name is known, and half of them recur in their column."""
    names = [str(c) for c in frame.columns]
    if any(squash(name) in COLUMN_NAMES for name in names):
        return False
    below = [
        name
        for n, name in enumerate(names)
        if name and bool((frame.iloc[:SEEN_ROWS, n] == name).any())
    ]
    places = ([str(n + start) for n in range(len(names))] for start in (0, 1))  # numbers of columns
    words = not all(map(NUMBER.fullmatch, below)) or names not in places
    return bool(below) and 2 * len(below) >= len(names) and words
