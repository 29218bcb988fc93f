"""Rows grouped by integer codes: distinct rows, sorted rows, first rows."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.typing import Bools, Ints

LARGEST = 2**62
"""Bound of combined codes; above it they are numbered anew."""
MAX_SPREAD = 8
"""Largest range per row for which integers serve as codes themselves."""


def first_rows(codes: Ints, size: int) -> Ints:
    """Return the first row with each code; -1 if there is none."""
    first = np.full(size, -1, np.int64)
    rows = np.flatnonzero(codes >= 0)[::-1]
    first[codes[rows]] = rows
    return first


def unique_rows(*columns: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the first row of each distinct combination, and the combination of every row."""
    code, size = _from_zero(columns[0])
    for column in columns[1:]:
        inner, width = _from_zero(column)
        if size * width > LARGEST:
            code, distinct = pd.factorize(code)
            size = len(distinct)
        code *= width
        code += inner
        size *= width
    if size > len(code):
        code, distinct = pd.factorize(code)
        size = len(distinct)
    first = first_rows(code, size)
    seen = np.flatnonzero(first >= 0)
    seen = seen[np.argsort(first[seen])]
    number = np.empty(size, np.int64)
    number[seen] = np.arange(len(seen))
    return first[seen], number[code]


def all_apart(*columns: NDArray[np.integer], at: Bools) -> bool:
    """Whether no combination of numbers (from 0) occurs twice in the rows ``at``."""
    # No copy where all rows are chosen.
    chosen = [column if at.all() else column[at] for column in columns]
    code, size = np.zeros(len(chosen[0]), np.int64), 1
    for column in chosen:
        width = int(column.max(initial=0)) + 1
        if size * width > LARGEST:
            return len(unique_rows(*chosen)[0]) == len(code)
        code *= width
        code += column
        size *= width
    code.sort()
    return not (code[1:] == code[:-1]).any()


def sorted_rows(*columns: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the distinct combinations in order, and the place of every row among them."""
    first, code = unique_rows(*columns)
    found = np.stack([column[first] for column in columns], axis=1).astype(np.int64)
    order = np.lexsort(found.T[::-1])
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return found[order], position[code]


def _from_zero(column: NDArray[Any]) -> tuple[Ints, int]:
    """Return codes of the values of a column, and one more than the largest code."""
    if len(column) and column.dtype.kind in "biu":
        low, high = int(column.min()), int(column.max())
        if high - low < MAX_SPREAD * len(column):
            codes = column.astype(np.int64)
            codes -= low
            return codes, high - low + 1
    codes, distinct = pd.factorize(column, use_na_sentinel=False)
    return codes, max(len(distinct), 1)


def number_within(*keys: NDArray[Any]) -> Ints:
    """Return 0, 1, ... for the occurrences of each combination of keys, in order."""
    first, code = unique_rows(*keys)
    if len(first) == len(code):
        return np.zeros(len(code), np.int64)
    group = pd.Series(code)
    return np.asarray(group.groupby(group).cumcount(), np.int64)
