"""Repeated ratings: exact repeats, replicates, and rows that answer one label each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.data.states import MISSING, Vectors
from assay.io.arguments import BY_ROW
from assay.io.identifiers import clean_ids
from assay.io.reading_log import Ledger

EXACT = "repeats an earlier line exactly"
ELSEWHERE = "the same rating stands in an earlier line under another panel"
ANSWERED = "an abstention beside an answer of the same rater"
MEND = (
    "to keep all of them, as repeated ratings, give the column that numbers them: "
    '`replicate="..."`, or `replicate="row"` for file order; to keep one of each, delete the other '
    "rows from the file"
)


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Ratings made of rows: answers, scores, first row of each rating, rating of each row."""

    answers: Vectors
    scores: Floats
    first_row: Ints
    rating_of_row: Ints


def replicate_order(names: "pd.Series[str]") -> NDArray[Any]:
    """Return values that distinguish and order a rater's ratings of one item."""
    numbers = pd.to_numeric(names, errors="coerce")
    if numbers.notna().all():
        return np.asarray(numbers.to_numpy())
    return np.asarray(pd.factorize(names)[0])


def number_within(*keys: NDArray[Any]) -> Ints:
    """Return 0, 1, ... for the occurrences of each combination of keys, in order."""
    group = pd.Series(unique_rows(*keys)[1])
    return np.asarray(group.groupby(group).cumcount(), np.int64)


def number_replicates(item: Ints, rater: Ints, order: NDArray[Any]) -> Ints:
    """Return 0, 1, ... for each rater's ratings of each item, in the order of replicates."""
    by_order = np.argsort(order, kind="stable")
    numbers = np.empty(len(item), np.int64)
    numbers[by_order] = number_within(item[by_order], rater[by_order])
    return numbers


def settle_repeats(
    ledger: Ledger,
    *,
    keys: Sequence[NDArray[Any]],
    answers: Vectors,
    scores: Floats,
    used: Sequence[str],
    told_apart: str,
    taken_for_item: Callable[[], str],
) -> None:
    """Set exact repeats aside; different ratings of one item by a rater are a problem.

    ``keys`` are item, rater, replicate (and label, if rows answer one). Exact repeats agree in all
    ``used`` columns. ``told_apart`` and ``taken_for_item`` are for the message.
    """
    kept = np.flatnonzero(ledger.kept)
    _, group = unique_rows(*[key[kept] for key in keys])
    rows = kept[np.bincount(group)[group] > 1]
    if not len(rows):
        return
    cells = [clean_ids(ledger.table.frame[c].iloc[rows].reset_index(drop=True)) for c in used]
    rows = _set_repeats_aside(ledger, rows, [pd.factorize(c)[0] for c in cells], EXACT)
    _, group = unique_rows(*[key[rows] for key in keys])
    answered = ((answers[rows] != MISSING) | np.isfinite(scores[rows])).any(axis=1)
    has_answer = np.bincount(group, weights=answered)[group] > 0
    ledger.set_aside(_mask(ledger, rows[has_answer & ~answered]), ANSWERED)
    rows, group = rows[~has_answer | answered], group[~has_answer | answered]
    same = [group, *answers[rows].T, *(pd.factorize(s)[0] for s in scores[rows].T)]
    rows = _set_repeats_aside(ledger, rows, same, ELSEWHERE)
    _, group = unique_rows(*[key[rows] for key in keys])
    clash = rows[np.bincount(group)[group] > 1]
    if len(clash):
        again = f" under the same {told_apart}" if told_apart else ""
        ledger.problem(
            "repeated-ratings",
            f"{len(clash)} rows in which a rater rates an item more than once{again}, differently"
            f"{taken_for_item()}",
            where=ledger.table.where(np.sort(clash)),
            mend="make the replicates differ" if told_apart == "replicate" else MEND,
            numbers={"rows": len(clash)},
            go_on={} if told_apart == "replicate" else {"replicate": BY_ROW},
        )


def _set_repeats_aside(
    ledger: Ledger, rows: Ints, columns: Sequence[NDArray[Any]], reason: str
) -> Ints:
    """Set aside the rows that equal an earlier one; return the others."""
    first, inverse = unique_rows(*columns)
    earlier: Ints = rows[first][inverse]
    repeats = earlier != rows
    lines, unit = ledger.table.lines, ledger.table.unit
    detail = np.full(len(lines), "", object)
    detail[rows[repeats]] = [f"repeats {unit} {lines[n]}" for n in earlier[repeats]]
    ledger.set_aside(_mask(ledger, rows[repeats]), reason, detail)
    return np.asarray(rows[~repeats], np.int64)


def _mask(ledger: Ledger, rows: Ints) -> Bools:
    mask = np.zeros(len(ledger.kept), bool)
    mask[rows] = True
    return mask


def join_rows(
    ledger: Ledger,
    *,
    keys: Sequence[NDArray[Any]],
    question: Ints,
    cells: NDArray[np.int16],
    scores: Floats,
) -> Joined:
    """Join rows that answer one label each into ratings; keys are item, rater, replicate."""
    kept = np.flatnonzero(ledger.kept)
    first, inverse = unique_rows(*[key[kept] for key in keys])
    rating_of_row = np.full(len(question), -1, np.int64)
    rating_of_row[kept] = inverse
    place = (inverse, question[kept])
    answers = np.full((len(first), scores.shape[1]), MISSING, np.int16)
    answers[place] = cells[kept]
    joined = np.full(answers.shape, np.nan)
    joined[place] = scores[kept, question[kept]]
    return Joined(
        answers=answers, scores=joined, first_row=kept[first], rating_of_row=rating_of_row
    )
