"""What ratings say beside answers and scores: sessions, audits, times."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import Codes
from assay._util.plurals import counted
from assay.data.ratings import NOT_AUDITED
from assay.data.task import Task
from assay.io.audits import Marks, RowAudits, rating_audits, read_audits
from assay.io.layout import Layout
from assay.io.numbers import has_numbers, numbers_within
from assay.io.replicates import Joined

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RowExtras:
    """Audits and seconds of every row."""

    audits: RowAudits
    seconds: Floats


@dataclass(frozen=True, kw_only=True)
class RatingExtras:
    """Sessions, audits and seconds of the ratings (see ``Ratings``)."""

    session: NDArray[np.object_]
    audit: Marks
    seconds: Floats


def read_extras(layout: Layout, question: Codes | None, task: Task) -> RowExtras:
    """Read audits and times of every row; unknown values become problems."""
    audits = read_audits(layout.audits, question, task, layout.ledger)
    return RowExtras(audits=audits, seconds=_seconds(layout))


def _seconds(layout: Layout) -> Floats:
    ledger, frame = layout.ledger, layout.table.frame
    nothing = np.full(len(frame), np.nan)
    if "seconds" not in layout.roles:
        return nothing
    (column, *more), why = layout.roles["seconds"].columns, layout.roles["seconds"].evidence
    if more:
        ledger.problem(
            "seconds-columns",
            "seconds= must be one column",
            where=f"columns {column}, {', '.join(more)}",
        )
    if not has_numbers(frame[column]) and why != "named by seconds=":
        ledger.note(f"column {column} holds no numbers of seconds: it is not used")
        return nothing
    return numbers_within(
        frame[column], (0, np.inf), ledger, what="time in seconds",
        allowed="numbers from 0",
        mend='turn them into seconds, or leave the column out: seconds=""',
    )  # fmt: skip


def rating_extras(
    rows: RowExtras, joined: Joined, kept: NDArray[np.bool_], layout: Layout, task: Task
) -> RatingExtras:
    """Join what the rows say to what is said of each kept rating."""
    first = joined.first_row[kept]
    cells, whole, seconds = rows.audits.cells[first], rows.audits.whole[first], rows.seconds[first]
    if layout.answers.question:
        used = np.flatnonzero(layout.ledger.kept & (joined.rating_of_row >= 0))
        rating = (np.cumsum(kept) - 1)[joined.rating_of_row[used]]
        cells = _cells_of(rows.audits.cells[used], rating, len(first))
        seconds = _seconds_of(rows.seconds[used], rating, len(first), layout)
        _check_sessions(layout, used, rating, first)
    return RatingExtras(
        session=layout.sessions.words[first],
        audit=rating_audits(cells, whole, joined.answers[kept], task, layout.ledger),
        seconds=seconds,
    )


def _cells_of(cells: Marks, rating: Codes, size: int) -> Marks:
    joined = np.full((size, cells.shape[1]), NOT_AUDITED, np.int8)
    row, label = np.nonzero(cells != NOT_AUDITED)
    joined[rating[row], label] = cells[row, label]
    return joined


def _seconds_of(seconds: Floats, rating: Codes, size: int, layout: Layout) -> Floats:
    """Time of each rating: what all its rows repeat, if all ratings do so, else their sum."""
    groups = pd.Series(seconds).groupby(rating)
    total = _numbers(groups.sum(min_count=1), size)
    if not np.isfinite(total).any():
        return total
    rows, spread = groups.count(), groups.max() - groups.min()
    repeated = bool((rows > 1).any()) and bool((spread[rows > 1] == 0).all())
    how = "the time of the rating, which its rows repeat" if repeated else "added over its rows"
    layout.ledger.note(f"the seconds of a rating are {how}")
    return _numbers(groups.max(), size) if repeated else total


def _numbers(found: "pd.Series[float]", size: int) -> Floats:
    return np.asarray(found.reindex(range(size)), np.float64)


def _check_sessions(layout: Layout, used: Codes, rating: Codes, first: Codes) -> None:
    """Add a problem if the rows of one rating stand in different sessions."""
    code = layout.sessions.code
    clash = used[code[used] != code[first[rating]]]
    if len(clash):
        layout.ledger.problem(
            "rating-sessions",
            f"{counted(len(clash), 'row', 'answer')} a label in another session than the "
            "rest of the rating",
            where=layout.table.where(np.sort(clash), ", ".join(layout.roles["session"].columns)),
            mend='number the ratings by session: replicate="" with session="..."',
            numbers={"rows": len(clash)},
        )
