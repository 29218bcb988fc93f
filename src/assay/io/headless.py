"""Text with columns separated by spaces, and text without a header."""

import csv
import io
import re
from collections.abc import Sequence

import pandas as pd

from assay._util.errors import Note
from assay.io.delimited import SEPARATORS
from assay.io.names import ANSWER_COLUMNS, RECOGNISED, squash

FIRST_ROWS = 100
FEWEST_FIELDS = 3
SEEN_ROWS = 5000
COLUMN_NAMES = {squash(n) for names in RECOGNISED.values() for n in names} | set(ANSWER_COLUMNS)
BLANKS = re.compile(r"[ \t]+")


def with_tabs(text: str) -> str | None:
    """Return the text with tabs for spaces, if each line has as many words; else None."""
    lines = text.splitlines()
    first = [line for line in lines if line.strip()][:FIRST_ROWS]
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
    words = any(not _is_number(name) for name in below) or not _counts_up(names)
    return bool(below) and 2 * len(below) >= len(names) and words


def _counts_up(names: Sequence[str]) -> bool:
    """Whether names are numbers of columns: 0, 1, 2, ... or 1, 2, 3, ..."""
    places = range(len(names))
    return list(names) in ([str(n) for n in places], [str(n + 1) for n in places])


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?\d+([.,]\d+)?", text) is not None


def numbered(columns: int) -> list[str]:
    """Return names for nameless columns."""
    return [f"column {n}" for n in range(1, columns + 1)]


def note_spaces() -> Note:
    """Return the note on columns separated by spaces."""
    return Note("spaces separate the columns", code="spaces", level="note")


def note_numbers() -> Note:
    """Return the note on a first line that is a row."""
    text = "the first line is a row and not a header, so columns are called by their numbers"
    return Note(text, code="no-header", level="note")
