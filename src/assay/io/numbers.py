"""Cells to numbers within a range; what is no such number becomes a problem."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.plurals import counted
from assay.io.ledger import Ledger
from assay.io.values import EMPTY

SHOWN = 5
ROUNDING = 1e-9
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+%?")
WHOLE = re.compile(r"[+-]?\d+%?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}%?")


def parse_numbers(column: "pd.Series[str]") -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers of a column (NaN if empty or no number) and which cells are filled.

    Examples
    --------
    >>> parse_numbers(pd.Series(["0.5", "", "high"], dtype="str"))
    (array([0.5, nan, nan]), array([ True, False,  True]))
    """
    raw, distinct = pd.factorize(column)
    words = [str(word).strip() for word in distinct]
    filled = np.array([word.casefold() not in EMPTY for word in words], bool)
    values = pd.to_numeric(pd.Series(words, dtype="str"), errors="coerce").to_numpy(float)
    return np.where(np.isfinite(values) & filled, values, np.nan)[raw], filled[raw]


def has_numbers(column: "pd.Series[str]") -> bool:
    """Whether any cell of a column is a number, or one with a decimal comma."""
    if np.isfinite(parse_numbers(column)[0]).any():
        return True
    return any(DECIMAL_COMMA.fullmatch(str(cell).strip()) for cell in pd.unique(column))


def with_points(column: "pd.Series[str]", ledger: Ledger) -> "pd.Series[str]":
    """Return a column with points for decimal commas, and note it if it had them."""
    pointed, had_commas = _pointed(column)
    if had_commas:
        _note_commas(column, ledger)
    return pointed


def all_numbers(column: "pd.Series[str]", ledger: Ledger) -> NDArray[np.float64] | None:
    """Return the numbers of a column where every cell is one; else None, and no note."""
    pointed, had_commas = _pointed(column)
    numbers, _ = parse_numbers(pointed)
    if not np.isfinite(numbers).all():
        return None
    if had_commas:
        _note_commas(column, ledger)
    return numbers


def _pointed(column: "pd.Series[str]") -> "tuple[pd.Series[str], bool]":
    """Return a column with points for decimal commas, and whether it had them.

    Only where every number has a comma or is whole, and one of them cannot be thousands.

    Examples
    --------
    >>> cells, had_commas = _pointed(pd.Series(["87,5", "", "90"], dtype="str"))
    >>> cells.tolist(), had_commas
    (['87.5', '', '90'], True)
    >>> _pointed(pd.Series(["1,250", "900"], dtype="str"))[1]
    False
    """
    raw, distinct = pd.factorize(column)
    words = [str(word).strip() for word in distinct]
    commas = [w for w in words if DECIMAL_COMMA.fullmatch(w)]
    others = [w for w in words if w not in commas and w.casefold() not in EMPTY]
    if all(map(THOUSANDS.fullmatch, commas)) or not all(map(WHOLE.fullmatch, others)):
        return column, False
    new = pd.array([w.replace(",", ".") for w in words], dtype="str")
    return pd.Series(new.take(raw), index=column.index, name=column.name), True


def _note_commas(column: "pd.Series[str]", ledger: Ledger) -> None:
    ledger.note(f"column {column.name} has decimal commas")


def point_wanted(cells: Sequence[str]) -> str:
    """Say how to write the first of some cells that has a decimal comma; empty if none has.

    Examples
    --------
    >>> point_wanted(["high", "0,5"])
    'write decimal points: 0.5'
    """
    found = next((c for c in cells if DECIMAL_COMMA.fullmatch(c.strip())), "")
    return f"write decimal points: {found.strip().replace(',', '.')}" if found else ""


def numbers_within(
    column: "pd.Series[str]",
    limits: Sequence[float],
    ledger: Ledger,
    *,
    what: str,
    allowed: str,
    mend: str = "",
) -> NDArray[np.float64]:
    """Return the numbers of a column, NaN where it is empty; others are one problem."""
    column = with_points(column, ledger)
    numbers, filled = parse_numbers(column)
    low, high = limits
    wrong = np.flatnonzero(filled & ~((numbers >= low - ROUNDING) & (numbers <= high + ROUNDING)))
    if len(wrong):
        cells = [str(v) for v in pd.unique(column.iloc[wrong])[:SHOWN]]
        shown = [repr(cell[:40]) for cell in cells]
        ledger.problem(
            "no-number",
            f"{counted(len(wrong), 'cell', 'hold')} no {what}: {', '.join(shown)}",
            where=ledger.table.where(wrong, str(column.name)),
            allowed=f"{allowed}, or empty",
            mend=point_wanted(cells) or mend,
            numbers={"cells": len(wrong)},
        )
    return np.clip(numbers, low, high)
