"""Findings of the reader: problems, notes, rows set aside, silent raters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Note, Problem, RatingsError, suggest
from assay._util.grouping import first_rows
from assay._util.text import counted, does, some
from assay._util.typing import Bools, Ints
from assay.data.task import Task
from assay.io.tables import SET_ASIDE, Table, reader_note


@dataclass(frozen=True, kw_only=True)
class Silence:
    """Missing answers: ratings (``abstentions``) and items (``unanswered``) without one, and
    ``raters`` who only abstained.
    """

    ratings: int
    abstentions: int
    items: int
    unanswered: int
    raters: tuple[str, ...]

    def notes(self) -> list[Note]:
        """Return the notes; all of these ratings are kept."""
        found = []
        if self.abstentions:
            text = f"{counted(self.abstentions, 'rating', 'answer')} no label: an abstention each"
            found.append(reader_note(text, code="abstentions-read", ratings=self.abstentions))
        if self.unanswered:
            one = self.unanswered == 1
            text = (
                f"{self.unanswered} of {counted(self.items, 'item')} "
                f"{does(self.unanswered, 'have')} no answer; "
                f"{'it keeps its place' if one else 'they keep their places'}"
            )
            numbers = {"items": self.unanswered, "of": self.items}
            found.append(reader_note(text, code="items-without-answer", **numbers))
        if self.raters:
            text = f"{counted(len(self.raters), 'rater')} only abstained: {some(self.raters)}"
            found.append(reader_note(text, code="raters-only-abstained", raters=len(self.raters)))
        return found


def find_silence(
    item: Ints,
    rater: Ints,
    abstained: Bools,
    *,
    items: int,
    raters: "pd.Index[str]",
) -> Silence:
    """Find missing answers; ``item`` and ``rater`` are positions (rating,)."""
    return Silence(
        ratings=len(item),
        abstentions=int(abstained.sum()),
        items=items,
        unanswered=int((first_rows(item[~abstained], items) < 0).sum()),
        raters=tuple(raters[first_rows(rater[~abstained], len(raters)) < 0]),
    )


NO_RATER = "no rater"
"""Why a row is set aside that names nobody."""
TRUTH_ROWS = "known truth"
"""Why the rows of the rater of the truth are set aside."""


class Ledger:
    """Collects problems, notes and rows set aside; the one mutable object of the reader."""

    def __init__(self, table: Table, *, lenient: bool = False) -> None:
        self.table = table
        self.lenient = lenient
        self.problems: list[Problem] = []
        self.notes: list[Note] = list(table.notes)
        self.kept: Bools = np.ones(len(table.frame), bool)
        self._aside: list[pd.DataFrame] = []

    def problem(self, code: str, what: str, **more: Any) -> None:
        """Add a :class:`~assay._util.errors.Problem`; ``more`` are its other fields."""
        self.problems.append(Problem(code=code, what=what, **more))

    def unknown_label(self, argument: str, name: object, task: Task, **more: Any) -> None:
        """Add the problem that an argument names no label of the task."""
        self.problem(
            "unknown-label",
            f"`{argument}=` names {name!r}, which is no label of task {task.name}",
            mend=suggest(name, task.label_names),
            **more,
        )

    def unknown_column(
        self, argument: str, name: object, columns: Sequence[str], **more: Any
    ) -> None:
        """Add the problem that an argument names no column."""
        self.problem(
            "unknown-column",
            f"`{argument}=` names {name!r}, which is no column",
            mend=suggest(name, columns),
            **more,
        )

    def row_problem(self, rows: Bools, reason: str, code: str, what: str, **more: Any) -> None:
        """Add a problem of some rows; if ``lenient``, set them aside for the reason instead."""
        if self.lenient:
            self.set_aside(rows, reason)
        else:
            self.problem(code, what, **{"go_on": SET_ASIDE, **more})

    def note(self, text: str, *, code: str, **numbers: float) -> None:
        """Add a sentence about a decision of the reader."""
        self.notes.append(reader_note(text, code=code, **numbers))

    def raise_problems(self) -> None:
        """Raise all problems at once, if there are any."""
        if self.problems:
            raise RatingsError(self.problems, self.table.source)

    def set_aside(self, rows: Bools, reason: str, detail: "str | NDArray[Any]" = "") -> None:
        """Set rows aside; the first reason counts. ``detail`` is one text, or one per row."""
        chosen = np.flatnonzero(rows & self.kept)
        if not len(chosen):
            return
        self.kept[chosen] = False
        details = detail if isinstance(detail, str) else np.asarray(detail)[chosen]
        self._aside.append(pd.DataFrame({"row": chosen, "reason": reason, "detail": details}))

    def aside(self, item: "pd.Series[str]", rater: "pd.Series[str]") -> pd.DataFrame:
        """Return the rows set aside, in file order (see ``Accounting.set_aside``)."""
        columns = ["line", "item", "rater", "reason", "detail"]
        lost = pd.DataFrame({"line": [*self.table.lost], "item": "", "rater": "",
                             "reason": [*self.table.lost.values()], "detail": ""})  # fmt: skip
        if not self._aside:
            empty = pd.DataFrame({c: pd.Series(dtype="str") for c in columns})
            return lost if len(lost) else empty
        frame = pd.concat(self._aside).sort_values("row", kind="stable").reset_index(drop=True)
        rows = frame["row"].to_numpy()
        frame["line"] = self.table.lines[rows]
        frame["item"] = item.to_numpy()[rows]
        frame["rater"] = rater.to_numpy()[rows]
        return pd.concat([frame[columns], lost], ignore_index=True) if len(lost) else frame[columns]
