"""Numbers with a decimal comma, as spreadsheets write them in much of the world."""

import re

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import listed

NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?\s*%?\s*")
FIRST_CELLS = 100


def with_points(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Note]]:
    """Write points for decimal commas, in columns that hold nothing but numbers.

    Parameters
    ----------
    frame : DataFrame
        Cells as text, of a file in which the comma separates no columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"score": ["0,5", "1", ""], "chosen": ["1,2", "1,2,3", "2"]})
    >>> found, notes = with_points(frame.astype("str"))
    >>> found["score"].tolist(), found["chosen"].tolist()
    (['0.5', '1', ''], ['1,2', '1,2,3', '2'])
    """
    changed = [str(c) for c in frame.columns if _has_commas(frame[c])]
    if not changed:
        return frame, []
    points = {c: frame[c].str.replace(",", ".", regex=False) for c in changed}
    note = Note(
        f"the commas in the numbers of {listed(changed)} are decimal commas: 0,5 is 0.5",
        code="decimal-commas",
        level="note",
    )
    return frame.assign(**points), [note]


def _has_commas(column: "pd.Series[str]") -> bool:
    """Whether the cells are numbers, some with a decimal comma."""
    first = column[column.str.strip() != ""].head(FIRST_CELLS)
    if not all(NUMBER.fullmatch(str(cell)) for cell in first):
        return False
    words = [str(word) for word in pd.unique(column) if str(word).strip()]
    if not any("," in word for word in words):
        return False
    return bool(np.all([NUMBER.fullmatch(word) is not None for word in words]))
