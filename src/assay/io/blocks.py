"""Tables below each other in one file, each under a line that names its rater or system."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted, first_names
from assay._util.typing import Bools
from assay.io.names import FLAGS, KNOWN, REMARKS, names_rater, names_truth, squash
from assay.io.tables import Table, reader_note

BANNER = re.compile(r"\s*([^\W\d][^:=]{0,30}?)\s*[:=]\s*(\S.*)")
"""A line such as ``Annotator: Kim``."""
BLOCK = "block"
"""Name of the column of such lines, if they do not say what they name."""


def header_again(frame: pd.DataFrame, header: Sequence[str]) -> Bools:
    """Return which rows are the header once more, as in files that were put one below the other."""
    same = np.ones(len(frame), bool)
    if len(header) < 2:
        return ~same
    for n, name in enumerate(header):
        if same.any():
            same &= (frame.iloc[:, n] == name).to_numpy(bool)
    return same


def padded(text: str, separator: str) -> str:
    r"""Give lines of a single field above a header as many as it has, if it stands there again.

    >>> padded("a,b\n1,2\nKim\na,b\n3,4\n", ",")
    'a,b\n1,2\nKim,\na,b\n3,4\n'
    """
    header = text[: text.find("\n")].rstrip("\r")
    if f"\n{header}" not in text:
        return text
    above = re.compile(
        rf"^([^{re.escape(separator)}\"\r\n]+)(?=\r?\n{re.escape(header)}\r?$)", re.MULTILINE
    )
    return above.sub(rf"\1{separator * header.count(separator)}", text)


def _names_people(cell: str) -> bool:
    """Whether a line such as ``Annotator: Kim`` names a rater or a system."""
    found = BANNER.fullmatch(cell)
    known = KNOWN["rater"] | KNOWN["system"]
    return found is not None and (squash(found[1]) in known or names_rater(found[1]))


def with_blocks(
    frame: pd.DataFrame, again: Bools, title: str
) -> tuple[pd.DataFrame, Bools, tuple[Note, ...]]:
    """Give rows a column with the line above their block; return it, which rows are such lines, and
    a note. Nothing changes if a block has no such line; that of the first is the ``title``.

    frame : cells as text, "" if empty
    again : rows that are the header once more

    >>> frame = pd.DataFrame([["1", "x"], ["Rater: Lee", ""], ["item", "label"], ["1", "y"]])
    >>> with_blocks(frame, np.array([0, 0, 1, 0], bool), "Rater: Kim")[0]["Rater"].tolist()
    ['Kim', 'Lee', 'Lee', 'Lee']
    """
    nothing = frame, np.zeros(len(frame), bool), ()
    filled, first = (frame != "").to_numpy(bool), [str(cell) for cell in frame.iloc[:, 0]]
    alone = (filled.sum(axis=1) == 1) & filled[:, 0]
    if not title.strip() or not alone.any():
        return nothing
    if again.any():
        rows = np.flatnonzero(filled.any(axis=1))
        above = rows[np.searchsorted(rows, np.flatnonzero(again)) - 1]
        lines = above[(above < np.flatnonzero(again)) & alone[above]]
        if len(lines) < again.sum():
            return nothing
    else:
        lines = np.array([n for n in np.flatnonzero(alone) if _names_people(first[n])], int)
    texts = [title.strip(), *(first[n].strip() for n in lines)]
    told = [BANNER.fullmatch(text) for text in texts]
    words = {hit[1].casefold() if hit else "" for hit in told}
    named = len(words) == 1 and told[0] is not None
    if len(set(texts)) < 2 or not (named or again.any()):
        return nothing
    values = texts
    name = BLOCK
    if named and told[0]:
        name, values = told[0][1], [hit[2].strip() for hit in told if hit]
    while name in frame.columns:
        name = f"{name}_"
    is_line = np.zeros(len(frame), bool)
    is_line[lines] = True
    of_row = pd.Series(np.array(values, object)[np.cumsum(is_line)], frame.index, dtype="str")
    said = f"lines above {len(values)} blocks of rows are column {name}: {first_names(values)}"
    note = reader_note(said, code="blocks-read", blocks=len(values))
    return frame.assign(**{name: of_row}), is_line, (note,)


FEWEST_FILLED = 3
"""Fewest filled cells of a column that names groups of rows in their first row."""


def filled_down(table: Table) -> Table:
    """Give empty cells below a name the name, where the first column names groups of rows so.

    Merged cells are written like this. Most cells are empty then, no name occurs twice, the rows
    without one have their other cells, and the second column begins anew in each group.
    """
    frame = table.frame
    if frame.shape[1] < 2 or not len(frame) or frame.iat[0, 0] == "":
        return table
    first, rest = frame.iloc[:, 0], frame.iloc[:, 1:] != ""
    empty = (first == "").to_numpy(bool)
    names = first[~empty]
    if 2 * empty.sum() < len(frame) or len(names) < FEWEST_FILLED or names.duplicated().any():
        return table
    if rest[empty].to_numpy(bool).mean() < rest[~empty].to_numpy(bool).mean() / 2:
        return table
    column, second = str(frame.columns[0]), frame.iloc[:, 1]
    within = pd.DataFrame({"group": (~empty).cumsum(), "second": second})
    restarts = not within.duplicated().any() and 2 * second.nunique() <= len(frame)
    if not restarts or names_truth(column) or squash(column) in REMARKS | FLAGS:
        return table
    full = first.mask(empty).ffill().astype("str")
    note = reader_note(
        f"{counted(int(empty.sum()), 'empty cell', 'have')} the value above in {column}, which "
        "names groups of rows in their first row",
        code="filled-down",
        cells=int(empty.sum()),
    )
    return table.noted(note, frame=frame.assign(**{column: full}))
