"""What a reader finds out on its way: problems, notes, and rows that it sets aside."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import Numbers, Problem, RatingsError
from assay.io.tables import Table

Mask = NDArray[np.bool_]


class Ledger:
    """Collects problems, notes and rows set aside; the one mutable thing in the reader."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.problems: list[Problem] = []
        self.notes: list[str] = list(table.notes)
        self.kept: Mask = np.ones(len(table.frame), bool)
        self._aside: list[pd.DataFrame] = []

    def problem(
        self,
        code: str,
        what: str,
        *,
        where: str = "",
        allowed: str = "",
        mend: str = "",
        role: str = "",
        numbers: Numbers | None = None,
    ) -> None:
        """Add one thing wrong (see :class:`~assay._util.errors.Problem`)."""
        self.problems.append(
            Problem(
                code=code,
                what=what,
                where=where,
                allowed=allowed,
                mend=mend,
                role=role,
                numbers=numbers or {},
            )
        )

    def note(self, text: str) -> None:
        """Add a sentence about what the reader decided by itself."""
        self.notes.append(text)

    def raise_problems(self) -> None:
        """Raise all problems at once, if there are any."""
        if self.problems:
            raise RatingsError(self.problems, self.table.source)

    def set_aside(self, rows: Mask, reason: str, detail: "str | NDArray[Any]" = "") -> None:
        """Set rows aside for a reason; rows that are aside already keep their first reason.

        ``detail`` is one text, or one for each row of the table.
        """
        chosen = np.flatnonzero(rows & self.kept)
        if not len(chosen):
            return
        self.kept[chosen] = False
        details = detail if isinstance(detail, str) else np.asarray(detail)[chosen]
        self._aside.append(pd.DataFrame({"row": chosen, "reason": reason, "detail": details}))

    def aside(self, item: "pd.Series[str]", rater: "pd.Series[str]") -> pd.DataFrame:
        """Return one line per row set aside, in file order (see ``Accounting.set_aside``)."""
        columns = ["line", "item", "rater", "reason", "detail"]
        if not self._aside:
            return pd.DataFrame({c: pd.Series(dtype="str") for c in columns})
        frame = pd.concat(self._aside).sort_values("row", kind="stable").reset_index(drop=True)
        rows = frame["row"].to_numpy()
        frame["line"] = self.table.lines[rows]
        frame["item"] = item.to_numpy()[rows]
        frame["rater"] = rater.to_numpy()[rows]
        return frame[columns]
