"""Names for the columns of a table that have none, and for those that share one."""

from collections.abc import Sequence

import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted, listed
from assay.io.names import composed

MOST_NAMELESS = 1
"""Columns that may go without a name: that of row numbers does."""


def told_apart(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """Return a table whose columns have names of their own, and notes on those that were given.

    A column that repeats another, cell by cell, is left out.

    Examples
    --------
    >>> frame = pd.DataFrame([[1, "x", "y"], [2, "y", "y"]], columns=["item", "label", "label"])
    >>> list(told_apart(frame)[0].columns)
    ['item', 'label', 'label (2)']
    """
    names = [composed(str(name)).replace("\0", "") for name in frame.columns]
    if len(set(names)) == len(names):
        return frame.set_axis(names, axis=1), ()
    copies = _copies(frame, names)
    kept = [n for n in range(len(names)) if n not in copies]
    numbered = _numbered(names)
    made = _distinct(numbered)
    notes = [
        *_nameless(names, made, kept), *_repeated(numbered, made, kept),
        *_left_out([names[n] for n in copies]),
    ]  # fmt: skip
    return frame.iloc[:, kept].set_axis([made[n] for n in kept], axis=1), tuple(notes)


def _copies(frame: pd.DataFrame, names: Sequence[str]) -> list[int]:
    """Return the columns that have the name and the cells of one before them."""
    first: dict[str, list[int]] = {}
    copies = []
    for n, name in enumerate(names):
        same = first.setdefault(name, [])
        if name and any(_alike(frame.iloc[:, n], frame.iloc[:, one]) for one in same):
            copies.append(n)
        else:
            same.append(n)
    return copies


def _alike(one: "pd.Series[str]", other: "pd.Series[str]") -> bool:
    return bool((one.astype(str).to_numpy() == other.astype(str).to_numpy()).all())


def _numbered(names: Sequence[str]) -> list[str]:
    """Call columns without a name by their places, unless there is only one."""
    if sum(not name for name in names) <= MOST_NAMELESS:
        return list(names)
    return [name or f"column {n}" for n, name in enumerate(names, start=1)]


def _distinct(names: Sequence[str]) -> list[str]:
    """Write a number behind names that were there before."""
    made: list[str] = []
    taken = set(names)
    for name in names:
        new, number = name, 1
        while new in made or (number > 1 and new in taken):
            number += 1
            new = f"{name} ({number})"
        made.append(new)
    return made


def _nameless(names: Sequence[str], made: Sequence[str], kept: Sequence[int]) -> list[Note]:
    new = [made[n] for n in kept if not names[n] and made[n]]
    text = f"{counted(len(new), 'column')} without a name: called {listed(new)}"
    return [Note(text, code="nameless-columns", numbers={"columns": len(new)})] * bool(new)


def _repeated(names: Sequence[str], made: Sequence[str], kept: Sequence[int]) -> list[Note]:
    new = [made[n] for n in kept if names[n] and made[n] != names[n]]
    text = f"columns with the same name are numbered: {listed(new)}"
    return [Note(text, code="repeated-columns", numbers={"columns": len(new)})] * bool(new)


def _left_out(names: Sequence[str]) -> list[Note]:
    text = f"{counted(len(names), 'column')} left out as copies of others: {listed(names)}"
    return [Note(text, code="repeated-columns", numbers={"columns": len(names)})] * bool(names)
