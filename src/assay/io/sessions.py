"""Sessions, the periods of the ratings, and replicates: in their order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import suggest
from assay._util.typing import Ints
from assay.io.cells import parse_numbers
from assay.io.identifiers import codes_of, joined_ids
from assay.io.names import Roles
from assay.io.reading_log import Ledger
from assay.io.tables import Table

ISO_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?"
)
DAYS_AND_MONTHS = {
    "%d.%m.%Y": "day.month.year", "%d/%m/%Y": "day/month/year", "%m/%d/%Y": "month/day/year",
}  # fmt: skip
NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")
MANY = 100
SHOWN = 6


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """The session of every row as a position in ``names`` (-1 unknown), in order of time."""

    code: Ints
    names: tuple[str, ...] = ()

    @property
    def words(self) -> NDArray[np.object_]:
        """The name of every row's session; empty if unknown."""
        return np.array([*self.names, ""], object)[self.code]


FOUND_ORDER = {"sessions": None}
"""Arguments to continue with the order that the reader finds."""


def find_sessions(table: Table, roles: Roles, given: object, ledger: Ledger) -> Sessions:
    """Read the sessions and order them: as given, else by their names."""
    if "session" not in roles:
        if given is not None:
            ledger.problem(
                "no-session-column",
                "`sessions=` gives an order, but no column holds the sessions",
                mend='name it: `session="..."`',
                go_on=FOUND_ORDER,
            )
        return Sessions(code=np.full(len(table.frame), -1, np.int64))
    columns = roles["session"].columns
    code, found = codes_of(joined_ids(table.frame, columns))
    names = [str(name) for name in found]
    order = _given(given, names, ledger) if given is not None else None
    if order is None:
        known = table.ordered.get(columns[0]) if len(columns) == 1 else None
        order, why = _ordered(names, known)
        if len(names) > 1:
            shown = ", ".join(order)
            if len(order) > SHOWN:
                shown = f"{', '.join(order[:3])}, ..., {order[-1]} ({len(order)})"
            ledger.note(
                f"the sessions are ordered {why}: {shown}; `sessions=` gives another order",
                code="sessions-ordered",
                sessions=len(names),
            )
    if len(names) > MANY:
        ledger.note(
            f"column {', '.join(columns)} has {len(names)} sessions; if it holds times, "
            "coarser periods (e.g. days) say more about drift",
            code="many-sessions",
            sessions=len(names),
        )
    place = pd.Index(order).get_indexer(pd.Index(names)).astype(np.int64)
    return Sessions(code=np.append(place, -1)[code], names=tuple(order))


def _given(given: object, names: Sequence[str], ledger: Ledger) -> list[str] | None:
    """Return the order that the caller gives; errors become problems."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        what = f"`sessions=` must be a list of sessions in order, not {given!r}"
        ledger.problem("sessions-argument", what, go_on=FOUND_ORDER)
        return None
    order = [str(name) for name in given]
    twice = sorted({name for name in order if order.count(name) > 1})
    if twice:
        what = f"`sessions=` names {', '.join(twice)} more than once"
        ledger.problem("sessions-argument", what, go_on=FOUND_ORDER)
    missing = [name for name in names if name not in order]
    for name in missing[:5]:
        what, mend = f"`sessions=` does not name {name!r}", suggest(name, order)
        ledger.problem("sessions-argument", what, mend=mend, go_on=FOUND_ORDER)
    return None if twice or missing else order


def _ordered(names: Sequence[str], known: Sequence[str] | None) -> tuple[list[str], str]:
    """Return names in order of time, and how it was found."""
    if known is not None and set(names) <= set(known):
        return [name for name in known if name in set(names)], "as their categories are"
    words = pd.Series(list(names), dtype="str")
    numbers, _ = parse_numbers(words)
    if np.isfinite(numbers).all():
        return _by(names, numbers), "by number"
    if all(ISO_DATE.fullmatch(name) for name in names):
        times = pd.to_datetime(words, format="ISO8601", utc=True, errors="coerce")
        if times.notna().all():
            return _by(names, times.to_numpy()), "by date"
    dates = {form: pd.to_datetime(words, format=form, errors="coerce") for form in DAYS_AND_MONTHS}
    read = [form for form, times in dates.items() if times.notna().all()]
    if len(read) == 1:  # 1/2/2024 alone may be either
        return _by(names, dates[read[0]].to_numpy()), f"by date ({DAYS_AND_MONTHS[read[0]]})"
    parts = [NUMBERED.fullmatch(name) for name in names]
    if len({(p[1], p[3]) for p in parts if p}) == 1 and all(parts):
        return _by(names, np.array([int(p[2]) for p in parts if p])), "by the number in their names"
    return list(names), "as they first appear"


def _by(names: Sequence[str], keys: NDArray[np.generic]) -> list[str]:
    return [names[n] for n in np.argsort(keys, kind="stable")]


def replicate_order(names: "pd.Series[str]") -> NDArray[Any]:
    """Return values that distinguish and order a rater's ratings of one item."""
    numbers = pd.to_numeric(names, errors="coerce")
    if numbers.notna().all():
        return np.asarray(numbers.to_numpy())
    return np.asarray(pd.factorize(names)[0])
