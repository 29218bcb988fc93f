"""Rows of totals, means and the like, above or below the rows of items or raters."""

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.text import counted, does, first_names
from assay._util.typing import Floats
from assay.io.names import EMPTY, SHEET, WORDS, without_accents, words_of
from assay.io.tables import Table, reader_note

SUMS = frozenset(map(without_accents, WORDS["summary_rows"]))
BESIDE = frozenset(map(without_accents, WORDS["summary_rows_beside"]))
"""Words that name such a row beside another only, since people are called so, too."""
MEDIANS = frozenset({"median", "mediana", "mediane"})
SIGNS = ("%", "Σ", "∑", "Ø", "⌀", "∅")
"""Signs with which the name of such a row begins."""
LONGEST_NAME = 3
"""Most words in the name of such a row."""
MOST_ABOVE, MOST_BELOW = 5, 15
"""Rows at the top and at the end that are looked at."""
FEWEST_ROWS, FEWEST_SUMMED = 3, 5
"""Fewest rows that are summed up: by a row with such a name, and by one without a name."""
MOST_ROWS = 100_000
"""Most rows of a table that people sum up in its last row."""
BEYOND = 2
"""Times the largest number of a column beyond which a number is none of its kind."""
NUMBER = re.compile(r"[-+−]?\d+(?:[.,]\d+)?\s*%?")


def without_summaries(table: Table) -> Table:
    """Leave out rows that sum up the others, and the notes below them; say so.

    The name of such a row says so, and its numbers are none of the kind of their columns, or are
    computed from these. A row without a name has the sum or the mean of all its columns.
    """
    frame = table.frame
    if frame.shape[1] < 2 or len(frame) > MOST_ROWS:
        return table
    parts = [np.arange(len(frame))]
    if SHEET in frame:  # each sheet has rows of its own
        parts = [np.flatnonzero(frame[SHEET] == name) for name in pd.unique(frame[SHEET])]
    left, called = list[int](), list[str]()
    for rows in parts:
        out, names = _sums_of(frame.iloc[rows].drop(columns=SHEET, errors="ignore"))
        left += rows[out].tolist()
        called += names
    if not left:
        return table
    beside = len(left) - len(called)
    rows_left = counted(len(called), "row", "are")
    shown = first_names(list(dict.fromkeys(called)))
    said = f"{rows_left} left out that {does(len(called), 'sum')} up the others: {shown}"
    said += f"; so are the notes below ({beside})" * bool(beside)
    note = reader_note(said, code="summary-rows", rows=len(left))
    return table.taking(np.setdiff1d(np.arange(len(frame)), left), note)


def _sums_of(frame: pd.DataFrame) -> tuple[list[int], list[str]]:
    """Return the rows that sum up the others, with the notes below, and the names of the former."""
    whole = len(frame)
    seen = [n for n in range(whole) if n < MOST_ABOVE or n >= whole - MOST_BELOW]
    ends = dict(zip(seen, _stripped(frame.iloc[seen]), strict=True))
    names = {n: _name(row) for n, row in ends.items()}
    notes = [n for n in seen if _is_note(ends[n])]
    maybe = [
        n for n in seen
        if (_is_called(names[n], SUMS | BESIDE) or not names[n]) and _has_numbers(ends[n], names[n])
    ]  # fmt: skip
    if not maybe or whole < FEWEST_ROWS + len(maybe) + len(notes):
        return [], []
    body = np.delete(_stripped(frame), [*maybe, *notes], axis=0)
    maybe = [n for n in maybe if not names[n] or names[n] not in body[:, :2]]
    sums = [n for n in maybe if _sums_up(ends[n], names[n], body)]
    sums += [n for n in maybe if sums and names[n] and n not in sums]
    above = next(n for n in range(whole + 1) if n not in sums)
    below = whole
    while below > above and (below - 1 in sums or below - 1 in notes):
        below -= 1
    first = min((n for n in sums if n >= below), default=whole)
    left = [*range(above), *range(first, whole)]
    return left, [names[n] or "one without a name" for n in left if n in sums]


def _stripped(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the cells of a table without spaces around them."""
    return np.asarray(frame.apply(lambda column: column.str.strip()), object)


def _name(row: NDArray[Any]) -> str:
    """Return the name of a row: its first cell, or its second one if this is a word."""
    return str(row[0]) or ("" if NUMBER.fullmatch(row[1]) else str(row[1]))


def _is_note(row: NDArray[Any]) -> bool:
    """Whether only the first cell of a row is filled."""
    return bool(row[0]) and not (row[1:] != "").any()


def _is_called(name: str, known: frozenset[str]) -> bool:
    """Whether a short name begins or ends like that of a row of sums.

    >>> [_is_called(name, SUMS) for name in ("Total yes", "Cohen's kappa", "% yes", "Totality")]
    [True, True, True, False]
    """
    words = [without_accents(word) for word in words_of(name)]
    if len(words) > LONGEST_NAME or not name:
        return False
    return name.startswith(SIGNS) or bool(known & {*words[:1], *words[-1:]})


def _filled(row: NDArray[Any], name: str) -> list[int]:
    """Return the columns of the filled cells beside the name."""
    return [n for n in range(1, len(row)) if row[n] and row[n] != name]


def _has_numbers(row: NDArray[Any], name: str) -> bool:
    """Whether all filled cells beside the name are numbers, and there is one."""
    filled = _filled(row, name)
    return bool(filled) and all(NUMBER.fullmatch(row[n]) for n in filled)


def _sums_up(row: NDArray[Any], name: str, body: NDArray[Any]) -> bool:
    """Whether the numbers of a row sum up their columns, by their kind or by their value.

    Those of an item that is called so may be the means of their columns by chance, but not sums.
    """
    columns = {n: _numbers(body[:, n]) for n in _filled(row, name)}
    others = sum(_is_other(row[n], numbers) for n, numbers in columns.items())
    ways = set.intersection(*(_computed(row[n], numbers) for n, numbers in columns.items()))
    if name:
        is_computed = "sum" in ways or ("median" in ways and _is_called(name, MEDIANS))
        return _is_called(name, SUMS) and (2 * others >= len(columns) or is_computed)
    several = len(columns) > 1 and len(body) >= FEWEST_SUMMED
    return several and ("sum" in ways or ("mean" in ways and others > 0))


def _number(cell: str) -> float:
    return float(cell.rstrip("% ").replace(",", ".").replace("−", "-"))


def _numbers(column: NDArray[Any]) -> Floats:
    """Return the numbers of a column; none if most of its filled cells are words."""
    filled = [cell for cell in column if cell.casefold() not in EMPTY]
    found = [_number(cell) for cell in filled if NUMBER.fullmatch(cell)]
    return np.array(found if 2 * len(found) > len(filled) else [], float)


def _is_other(cell: str, numbers: Floats) -> bool:
    """Whether a number is of another kind than those of its column: words, whole, or small."""
    if not len(numbers):
        return True
    value = _number(cell)
    whole = bool((numbers == np.round(numbers)).all())
    return (whole and not value.is_integer()) or abs(value) > BEYOND * np.abs(numbers).max()


def _computed(cell: str, numbers: Floats) -> set[str]:
    """Return how a number is computed from those of its column, as far as its digits tell."""
    if not len(numbers):
        return set()
    digits = len(re.split("[.,]", cell.rstrip("% "))[1]) if re.search("[.,]", cell) else 0
    ways = {"sum": numbers.sum(), "mean": numbers.mean(), "median": np.median(numbers)}
    near = 0.51 * 10.0**-digits
    return {way for way, value in ways.items() if abs(_number(cell) - value) <= near}
