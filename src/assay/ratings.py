"""Ratings: what raters said about items, as arrays with names. A value; reading is elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.states import Vectors
from assay.task import Task

Partial = Literal["lost", "draft"]
Resolve = Literal["retry", "repair"]
PARTIAL = ("lost", "draft")
RESOLVE = ("retry", "repair")


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """What became of every row of the input.

    Attributes
    ----------
    rows_read : int
        Rows of the source.
    rows_used : int
        Rows that became a rating (answers of one label a row are joined before counting: all
        rows of a used rating count).
    set_aside : pandas.DataFrame
        One line per row not used: ``line`` (number in the file, the header is line 1; for a
        DataFrame the index label), ``item``, ``rater``, ``reason`` (short, the same words for the
        same cause), ``detail``.
    roles : pandas.DataFrame
        One line per column of the source: ``column``, ``role``, ``evidence``, ``alternatives``.
    notes : tuple of str
        What the reader decided by itself, in sentences.
    source : str
        Path of the file, or ``"a DataFrame"``.
    sha256 : str
        Hash of the input.
    """

    rows_read: int
    rows_used: int
    set_aside: pd.DataFrame
    roles: pd.DataFrame
    notes: tuple[str, ...] = ()
    source: str = ""
    sha256: str = ""

    @property
    def reasons(self) -> dict[str, int]:
        """Number of rows set aside for each reason."""
        return {str(k): int(v) for k, v in self.set_aside["reason"].value_counts().items()}


def no_accounting(rows: int, source: str = "arrays") -> Accounting:
    """Accounting of input that was not read from a file: every row is used."""
    return Accounting(
        rows_read=rows,
        rows_used=rows,
        set_aside=pd.DataFrame(columns=["line", "item", "rater", "reason", "detail"]),
        roles=pd.DataFrame(columns=["column", "role", "evidence", "alternatives"]),
        source=source,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """What a simulation knows that its raters do not.

    Attributes
    ----------
    truth : ndarray of int16 (item, label)
        Class codes of the states that were drawn.
    values : mapping of str to ndarray
        Parameters by name.
    """

    truth: Vectors
    values: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ratings:
    """Ratings of items by raters under one task.

    Attributes
    ----------
    task : Task
        With the classes of every label known and the response strengths of the rules as they
        were in the interface that these ratings come from.
    answers : ndarray of int16 (rating, label)
        Class codes; ``MISSING`` (-1) if not there, ``NOT_ASKED`` (-2) if the rater's own answers
        close the label's gate.
    item, rater : ndarray of int64 (rating,)
        Positions in ``items`` and ``raters``.
    replicate : ndarray of int64 (rating,)
        0 for a rater's first rating of an item, 1 for the second, ...
    abstained : ndarray of bool (rating,)
        The rater discarded or skipped the item: all answers are missing, on purpose.
    items : pandas.DataFrame
        One line per item, index ``item`` (unique strings). Columns ``cluster`` (string; the
        item's own name if nothing is known), ``stratum`` (string, ``""`` if none), ``weight``
        (positive float, 1 if none).
    raters : pandas.DataFrame
        One line per rater, index ``rater`` (unique strings). Column ``group`` (string).
    truth : ndarray of int16 (item, label)
        Known truth: class codes, ``MISSING`` where it is not known, ``NOT_ASKED`` where it is
        known that the label does not apply.
    panels : pandas.DataFrame
        One line per place of an item in a ranked list: ``panel``, ``system``, ``cluster``
        (strings), ``rank`` (int, from 1), ``item`` (position in ``items``). An item may stand in
        the panels of several systems, and may have no rating. Without ranked lists each item is
        its own panel with rank 1; ``system`` is ``""`` where there is none.
    partial, resolve : str
        How partly answered ratings and blocked answers came about (DESIGN: tasks).
    accounting : Accounting
        What became of every row of the input.
    simulated : Simulated or None
        The truth, if these ratings are simulated; no fit looks at it.
    """

    task: Task
    answers: Vectors
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    replicate: NDArray[np.int64]
    abstained: NDArray[np.bool_]
    items: pd.DataFrame
    raters: pd.DataFrame
    truth: Vectors
    panels: pd.DataFrame
    partial: Partial = "lost"
    resolve: Resolve = "retry"
    accounting: Accounting = field(default_factory=lambda: no_accounting(0))
    simulated: Simulated | None = None

    @property
    def systems(self) -> list[str]:
        """Names of the systems, sorted; empty if there are none."""
        return sorted(set(self.panels["system"]) - {""})

    def __repr__(self) -> str:
        """One line: sizes and task."""
        parts = [
            f"{len(self.answers)} ratings",
            f"{len(self.items)} items",
            f"{len(self.raters)} raters",
        ]
        if self.items["cluster"].nunique() < len(self.items):
            parts.append(f"{self.items['cluster'].nunique()} clusters")
        if self.systems:
            parts.append(f"{len(self.systems)} systems")
        return f"<assay.Ratings of task {self.task.name}: {', '.join(parts)}>"
