"""Tables of shares: the part of the raters that chose a class, as a number up to 1 or per cent."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError, as_code
from assay._util.text import listed
from assay._util.typing import Floats, Ints
from assay.data.class_words import BINARY_SPELLINGS, canonical
from assay.data.task import Label
from assay.io.names import (
    COUNT_NAMES,
    EMPTY,
    KNOWN,
    WORDS,
    empty_cells,
    names_number_of_raters,
    squash,
    words_of,
)
from assay.io.reading_log import Ledger
from assay.io.wide_tables import answer_columns

SHARES = frozenset(WORDS["shares"])
VOTERS = frozenset(WORDS["voters"])
NUMBER = re.compile(r"\d+(?:[.,]\d+)?\s*%?")
TOTALS = frozenset({"total", "totals", "gesamt", "all", "sum", "summe"})
"""Words in the name of a column of totals."""
ROUNDING = 0.011
FEW_APART = 0.3
"""Distance from whole numbers of raters that rounding may explain, if shares are to show them."""
"""Largest rounding of a share: two digits."""
CLEAR = 0.26
"""Largest distance of a share times raters from a whole number of raters."""
FEWEST_ROWS, FEWEST_RATERS = 3, 2
MOSTLY = 0.95
"""Smallest share of rows that show what a column is."""
MOST_VOTERS = 20
"""Most raters that are tried as the number behind shares."""


def share_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of shares: by name, or as several that sum to 1 in each row.

    Empty beside a column of raters, whose numbers are their answers.
    """
    columns = [str(c) for c in frame.columns]
    if any(squash(c) in KNOWN["rater"] for c in columns) or len(frame) < FEWEST_ROWS:
        return []
    numbers = {c: shares_of(frame[c]) for c in columns}
    named = [
        c
        for c, values in numbers.items()
        if values is not None
        and ("%" in c or SHARES & set(words_of(c)) or frame[c].str.endswith("%").any())
    ]
    if named:
        return named
    others = [c for c in columns if number_column(frame, [c]) is None]
    parts = [
        c for c in others if numbers[c] is not None and not frame[c].str.fullmatch(r"\d+").all()
    ]
    held = [values for c in parts if (values := numbers[c]) is not None]
    if len(held) > 1 and np.abs(np.sum(held, axis=0) - 1).max() <= 2 * ROUNDING:
        return parts
    number = next((c for c in columns if names_number_of_raters(c)), "")
    if number and number_column(frame, [number]):
        each = np.asarray(frame[number].astype(float), np.float64)
        held_by = {c: values for c, values in numbers.items() if values is not None}
        told = [c for c, values in held_by.items() if c != number and _are_of(values, each)]
        rest = frame.drop(columns=[*told, number])
        if told and len(answer_columns(rest, Label(name="label", classes=()))) < FEWEST_RATERS:
            return told[:1]  # one answer is read at a time
    return []


def _are_of(shares: Floats, each: Floats) -> bool:
    """Whether shares, some of them fractions, are those of whole numbers of raters."""
    votes, near = shares * each, ROUNDING / 2 * each
    fits = np.abs(votes - np.round(votes)) <= near
    return bool(fits.all() and np.median(near) < FEW_APART and ((shares > 0) & (shares < 1)).any())


def shares_of(column: "pd.Series[str]") -> Floats | None:
    """Return shares from 0 to 1; None if a cell is no number from 0 to 1, or to 100."""
    distinct = pd.unique(column)  # the first word ends the look at most columns
    if not all(
        NUMBER.fullmatch(str(word).strip()) or canonical(word) in EMPTY for word in distinct
    ):
        return None
    words = column.str.strip()
    words = words.mask(empty_cells(words), "0")
    percent = words.str.endswith("%")
    values = words.str.rstrip("% ").str.replace(",", ".").astype(float).to_numpy()
    if values.max(initial=0) > 100:
        return None
    return np.asarray(values / (100 if percent.any() or values.max(initial=0) > 1 else 1), float)


def number_column(frame: pd.DataFrame, among: Sequence[str] | None = None) -> str | None:
    """Return the column with the number of raters of each row; None if there is none."""
    for column in frame.columns if among is None else among:
        words = set(words_of(column))
        counts = squash(column) in COUNT_NAMES or words & VOTERS or names_number_of_raters(column)
        if counts and frame[column].str.fullmatch(r"[1-9]\d{0,5}(\.0)?").all():
            return str(column)
    return None


def total_column(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    """Return the column with the total of the votes in each row; "" if there is none.

    It is called total, or has the name of a number of raters and is none of the ``columns`` of
    votes; it is nowhere less than one of them.
    """
    named = [str(c) for c in frame.columns if TOTALS & set(words_of(str(c)))]
    number = number_column(frame, [str(c) for c in frame.columns if c not in columns])
    for column in filter(None, [*named, number]):
        parts = [c for c in columns if c != column]
        if not parts or not frame[column].str.fullmatch(r"[1-9]\d{0,5}(\.0)?").all():
            continue
        cells = frame[parts].replace("", "0")
        if not all(cells[c].str.fullmatch(r"\d{1,6}(\.0)?").all() for c in parts):
            continue
        if (cells.astype(float).max(axis=1) <= frame[column].astype(float)).all():
            return column
    return ""


def report_shares(frame: pd.DataFrame, ledger: Ledger) -> bool:
    """Add a problem, and return True, if columns hold shares of raters."""
    columns = share_columns(frame)
    if not columns or raters_beside(frame, columns):
        return False
    number = number_column(frame)
    ledger.problem(
        "share-table",
        f"the cells of {listed(columns)} look like shares of the raters who chose a class"
        + ("" if number else ", and no column says how many raters there were"),
        allowed="a row for each rating, or numbers of votes",
        mend=f"if column {number} has the number of raters, give {as_code({'counts': columns})}"
        if number
        else _without_number(columns, frame),
        role="rater",
        go_on={"counts": columns} if number else {},
    )
    return True


def raters_beside(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns of raters whose agreement these shares are; empty if they are not.

    A share of agreement is 1 where all raters agree, and only there.
    """
    raters = answer_columns(frame.drop(columns=list(columns)), Label(name="label", classes=()))
    if len(raters) < FEWEST_RATERS:
        return []
    same = frame[raters].map(canonical).nunique(axis=1).eq(1).to_numpy()
    held = [values for c in columns if (values := shares_of(frame[c])) is not None]
    fits = [float(((values == 1) == same).mean()) for values in held]
    return raters if 0 < same.mean() < 1 and min(fits, default=0) >= MOSTLY else []


def _without_number(columns: Sequence[str], frame: pd.DataFrame) -> str:
    held = [values for c in columns if (values := shares_of(frame[c])) is not None]
    fits = fewest_voters(np.concatenate(held))
    hint = f" ({fits} fits all shares)" if fits else ""
    return (
        f"add a column n with the number of raters of each item{hint}, and give "
        f"{as_code({'counts': list(columns)})}"
    )


def fewest_voters(shares: Floats) -> int:
    """Return the smallest number of raters that gives all these shares; 0 if there is none.

    >>> fewest_voters(np.array([0, 0.33, 0.67, 1])), fewest_voters(np.array([0.2, 0.5]))
    (3, 10)
    """
    for size in range(2, MOST_VOTERS + 1):
        if np.abs(shares * size - np.round(shares * size)).max() <= size * ROUNDING / 2:
            return size
    return 0


def votes_of_shares(frame: pd.DataFrame, columns: Sequence[str], source: str) -> list[Ints] | None:
    """Return the votes for the class of each column; None if the columns are no shares."""
    if not set(columns) <= set(share_columns(frame)):
        return None
    number = number_column(frame)
    if number is None:
        raters = {"wide": raters_beside(frame, columns)}
        raise RatingsError.of(
            "share-table",
            f"the cells of {listed(columns)} are shares, and no column says of how many raters",
            source,
            mend=f"they tell how far {listed(raters['wide'])} agree; if these are raters, give "
            f"{as_code(raters)} instead"
            if raters["wide"]
            else _without_number(columns, frame),
            go_on={"counts": None, **raters} if raters["wide"] else {},
        )
    total = frame[number].astype(float).to_numpy()
    votes = [shares_of(frame[c]) * total for c in columns]  # type: ignore[operator]
    far = np.max([np.abs(one - np.round(one)) for one in votes], axis=0)
    if len(columns) > 1:
        far = np.maximum(far, np.abs(np.sum(votes, axis=0) - total))
    if far.max() > CLEAR:
        row = int(far.argmax())
        shown = " and ".join(f"{frame[c].iloc[row]} of {c}" for c in columns[:2])
        raise RatingsError.of(
            "share-table",
            f"{shown} is no share of {frame[number].iloc[row]} raters ({number})",
            source,
            mend=f"correct {number}, or these shares",
        )
    return [np.round(one).astype(np.int64) for one in votes]


def names_of_shares(columns: Sequence[str]) -> list[str]:
    """Return the classes of columns of shares: their names without the words for shares.

    >>> names_of_shares(["% negative", "% positive"]), names_of_shares(["share_yes"])
    (['negative', 'positive'], ['yes'])
    """
    words = [re.split(r"[\s_\-.%()]+", column) for column in columns]
    bare = [" ".join(w for w in own if w and w.casefold() not in SHARES) for own in words]
    return bare if all(bare) and len(set(bare)) == len(bare) else list(columns)


def other_class(name: str) -> str:
    """Return the class of the raters who did not choose this one."""
    code = BINARY_SPELLINGS.get(canonical(name))
    same = {"yes": "no", "no": "yes", "true": "false", "false": "true", "1": "0", "0": "1"}
    return same.get(canonical(name), f"not {name}") if code is not None else f"not {name}"
