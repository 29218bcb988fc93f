"""Ratings that repeat: exactly, as replicates, under a key that is not the item, or as options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.grouping import number_within, unique_rows
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay.data.states import MISSING, Vectors
from assay.data.task import Task
from assay.io.arguments import BY_ROW
from assay.io.files.file_paths import FILE
from assay.io.files.opening import OF_SYSTEMS
from assay.io.identifiers import clean_ids, keys_of
from assay.io.layout import Layout
from assay.io.likely_columns import crossing, has_few
from assay.io.list_cells import MOST_OPTIONS
from assay.io.names import BESIDE, KEY_PARTS, WORDS, columns_of, names_measure, names_system, squash
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
    rater: Sequence[str],
    taken_for_item: Callable[[], str],
) -> None:
    """Set repeats aside that agree in all ``used`` columns; other ratings of one item by a rater
    are a problem. ``keys`` are item, rater, replicate (and label, if rows answer one).
    """
    kept = np.flatnonzero(ledger.kept)
    first, group = unique_rows(*[key[kept] for key in keys])
    if len(first) == len(group):
        return
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
        by_system = _files_without_system(ledger)
        go_on: dict[str, Any] = {"system": FILE} if by_system else {"replicate": BY_ROW}
        again = f" under the same {told_apart}" if told_apart else ""
        ledger.problem(
            "repeated-ratings",
            f"{len(clash)} rows in which a rater rates an item more than once{again}, differently"
            f"{taken_for_item()}",
            where=ledger.table.where(np.sort(clash)),
            mend="make the replicates differ"
            if told_apart == "replicate"
            else f"if each file is of another system, `system={FILE!r}`; if each has raters of its "
            f"own, `rater={[FILE, *rater]!r}`; " * by_system + MEND,
            numbers={"rows": len(clash)},
            go_on={} if told_apart == "replicate" else go_on,
        )


def _files_without_system(ledger: Ledger) -> bool:
    """Whether files of a folder were joined whose names may be those of systems."""
    return any(
        getattr(note, "code", "") == "files-joined" and OF_SYSTEMS in note for note in ledger.notes
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


MOST_CLASH = 0.25
"""Largest share of contradictory ratings of one rater and item for a key to be believed."""
MOST_LEFT = 0.25
"""Largest share of these that a system in the key may leave: rows that stand there twice."""
MOST_ADDED = 3
MOST_COLUMNS = 12
SHOWN = 3
NUMBERING = frozenset(WORDS["numbering"])
ORDERS = frozenset({"order", "position", "orientation", "permutation"})
"""Names of columns that number the orders in which a rater saw the sides of a pair."""
FEWEST_PAIRS = 10
"""Fewest pairs of rater and item for answers that never repeat to be options."""


def require_own_key(
    layout: Layout,
    keys: Sequence[NDArray[np.integer]],
    answers: Vectors,
    scores: Floats,
) -> bool:
    """Add a problem, and return True, if ratings clash that a system, or, where most clash, another
    key tells apart. ``keys`` are item, rater, and others without file order, (row,).
    """
    ledger = layout.ledger
    if "item" not in layout.roles or "rater" not in layout.roles:
        return False
    rows = np.flatnonzero(ledger.kept)
    clash = clashing(keys, answers, scores, rows)
    many, item = clash.sum() > MOST_CLASH * len(rows), layout.roles["item"].columns
    system, left = _system_of(layout, keys, answers, scores, many=bool(many))
    found = [(*item, system)] if system else _unique_keys(layout) if many else []
    if not found:
        return False
    said = " or ".join(
        f"`item={list(key)!r}`" if len(key) > 1 else f"`item={key[0]!r}`" for key in found
    )
    others = {c for key in found for c in key} - set(item)
    # A column with another role does not number ratings.
    told = set(columns_of(layout.roles, *KEY_PARTS))
    items = len(np.unique(keys[0][rows]))
    what = (
        f"{', '.join(item)} has {counted(items, 'value')}, and in {int(clash.sum())} of "
        f"{counted(len(rows), 'row')} a rater gives one of them several answers"
    )
    # The caller names the item, and says that its ratings repeat.
    if layout.roles["item"].evidence.startswith("named by `item=`") and layout.told_apart:
        rest = f"{left} of them are left" if left else "no rater does"
        ledger.note(
            f"{what}; with {said}, {rest}",
            code="item-repeated",
            items=items,
            rows=int(clash.sum()),
            of=len(rows),
        )
        return False
    added = min(others) if len(others) == 1 and not others & told else ""
    numbers = NUMBERING | ORDERS if _has_sides(layout) else NUMBERING
    numbering = [c for c in found[0] if c in others - told and squash(c) in numbers]
    own = [c for c in found[0] if c not in numbering]
    go_on: dict[str, Any] = {"item": own} | _asked(layout, item, own)
    if added and numbering and not left:
        go_on = {"replicate": added}
    elif len(numbering) == 1:
        go_on["replicate"] = numbering[0]
        said = f"`item={own!r}, replicate={numbering[0]!r}`, or {said} if that is what is rated"
    else:
        go_on = {"item": list(found[0])} | _asked(layout, item, found[0])
    ledger.problem(
        "item-key",
        f"{what}, so it does not identify the items",
        where=ledger.table.where(rows[clash], ", ".join(item)),
        mend=f"with {said}, {left} of these rows are left" if left else _ways(said, added),
        role="item",
        go_on=go_on,
    )
    return True


def _system_of(
    layout: Layout,
    keys: Sequence[NDArray[np.integer]],
    answers: Vectors,
    scores: Floats,
    *,
    many: bool,
) -> tuple[str, int]:
    """Return the column of the systems whose answers to an item were rated, and the clashes left.

    A column of another name must occur with each item, and ``many`` ratings clash.
    """
    frame, rows = layout.table.frame, np.flatnonzero(layout.ledger.kept)
    held = {*layout.answers.columns, *layout.scores.columns, *layout.audits.columns, layout.status}
    held |= set(columns_of(layout.roles, *(role for role in layout.roles if role != "system")))
    item, known = columns_of(layout.roles, "item"), columns_of(layout.roles, "system")
    free = [str(c) for c in frame.columns if c not in held and has_few(frame[c])]
    system = [c for c in free if c in known or names_system(c)]
    if not system and many:
        rest = [c for c in free if squash(c) not in NUMBERING]
        codes = {c: keys_of(frame, [c])[rows] for c in [*rest, *item]}
        system = [crossing(item, rest, codes)]
    clash = clashing(keys, answers, scores, rows).sum()
    for column in filter(None, system):
        apart = clashing([keys_of(frame, [column]), *keys], answers, scores, rows)
        if apart.sum() <= MOST_LEFT * clash and clash:
            return column, int(apart.sum())
    return "", 0


def _has_sides(layout: Layout) -> bool:
    """Whether rows compare two systems, so that no single one was rated."""
    return any(getattr(note, "code", "") == "sides-ordered" for note in layout.table.notes)


def _asked(layout: Layout, item: Sequence[str], key: Sequence[str]) -> dict[str, str]:
    """Name the system, and the cluster if each has an answer to the item: what it was asked."""
    if _has_sides(layout):
        return {"cluster": item[0]} if "cluster" not in layout.roles and len(item) == 1 else {}
    named = [c for c in key if c not in item and names_system(c)]
    system = columns_of(layout.roles, "system") or named[:1]
    asked = {} if "system" in layout.roles or not system else {"system": system[0]}
    if "cluster" in layout.roles or len(item) > 1 or not {*item, *system} <= set(key):
        return asked
    return asked | {"cluster": item[0]} if system else {}


def _ways(said: str, added: str) -> str:
    """Propose a better key, or a column that may number the ratings."""
    if not added:
        return f"no rater rates an item twice with {said}"
    again = f"`replicate={added!r}` if it numbers repeated ratings"
    part = f"{said} if it is part of what is rated"
    first, second = (again, part) if squash(added) in NUMBERING else (part, again)
    return f"no rater rates an item twice within {added}: {first}, {second}"


def clashing(
    keys: Sequence[NDArray[np.integer]],
    answers: Vectors,
    scores: Floats,
    rows: Ints,
) -> Bools:
    """Return rows that have the same keys as another, and another answer."""
    _, group = unique_rows(*[key[rows] for key in keys])
    said = [*answers[rows].T, *(pd.factorize(s)[0] for s in scores[rows].T)]
    first, _ = unique_rows(group, *said)
    given = ((answers[rows] != MISSING) | np.isfinite(scores[rows])).any(axis=1)
    kinds = np.bincount(group[first][given[first]], minlength=group.max(initial=-1) + 1)
    return np.asarray((kinds[group] > 1) & given, bool)


def _unique_keys(layout: Layout) -> list[tuple[str, ...]]:
    """Find the smallest keys with which no rater rates an item twice."""
    answers, scores, audits = layout.answers, layout.scores, layout.audits
    beside = [*columns_of(layout.roles, *BESIDE), *filter(None, [answers.question])]
    held = {*beside, *answers.columns, *scores.columns, *audits.columns, layout.status}
    held |= set(columns_of(layout.roles, "group", "seconds", "weight"))
    frame = layout.table.frame
    frame = frame.loc[~frame.duplicated()]
    codes = {str(c): keys_of(frame, [str(c)]) for c in frame.columns}
    free = [c for c in codes if c not in held and 1 < len(np.unique(codes[c])) < len(frame)]
    free = [c for c in free if not names_measure(c)]
    item = [c for c in layout.roles["item"].columns if c in free]
    first = [*columns_of(layout.roles, *KEY_PARTS), *layout.roles["item"].alternatives]
    rest = sorted((c for c in free if c not in item), key=lambda c: (c not in first, free.index(c)))
    rest = sorted(rest, key=lambda c: squash(c) in NUMBERING)[:MOST_COLUMNS]
    raters = [codes[c] for c in beside]
    # By size: other columns alone, then added to the item.
    candidates: list[list[tuple[str, ...]]] = [[(c,) for c in rest]]
    candidates += [
        [(*item, *more) for more in combinations(rest, size)] for size in range(1, MOST_ADDED + 1)
    ]
    for keys in candidates:
        found = [key for key in keys if _is_key([codes[c] for c in key], raters)]
        if found:
            order = list(codes)
            return [tuple(sorted(key, key=order.index)) for key in found[:SHOWN]]
    return []


def _is_key(key: Sequence[Ints], raters: Sequence[Ints]) -> bool:
    """Whether no rater has two rows of one key, and some key has several raters."""
    pairs, _ = unique_rows(*key, *raters)
    items, _ = unique_rows(*key)
    return len(pairs) == len(key[0]) and len(items) < len(key[0])


def require_one_choice(
    layout: Layout,
    task: Task,
    keys: Sequence[NDArray[np.integer]],
    answers: Vectors,
    scores: Floats,
) -> bool:
    """Add a problem if rows are the options that a rater chose; return whether they are.

    Rows of a rater and item (``keys``) then share an index label, as after ``DataFrame.explode``,
    or never repeat an answer.
    """
    if len(task.labels) > 1 or layout.told_apart not in ("", BY_ROW):
        return False
    rows = np.flatnonzero(layout.ledger.kept)
    clash = rows[clashing(keys, answers, scores, rows)]
    if not len(clash):
        return False
    _, group = unique_rows(*[key[clash] for key in keys])
    pairs = int(group.max()) + 1
    # Neighbouring rows of one rater and item may have the same index label.
    order = np.argsort(clash)
    lines, near = layout.table.lines[clash[order]], np.diff(clash[order]) == 1
    beside = near & (np.diff(group[order]) == 0) & (lines[1:] == lines[:-1])
    # In many repeats, no rater gives an item the same answer twice.
    distinct, _ = unique_rows(*[key[rows] for key in keys], answers[rows, 0])
    several = 2 < len(task.labels[0].classes) <= MOST_OPTIONS and pairs >= FEWEST_PAIRS
    if layout.table.unit == "row" and beside.any():
        why = "some of them come from one row of a larger table"
    elif several and len(distinct) == len(rows):
        why = "never the same one twice"
    else:
        return False
    label = task.labels[0]
    column = layout.answers.of(label.name)
    layout.ledger.problem(
        "multi-select-rows",
        f"{counted(len(clash), 'row')} hold different answers of one rater to one item, and {why} "
        f"({counted(pairs, 'pair')} of rater and item). They look like the chosen options of one "
        "question",
        where=layout.table.where(np.sort(clash), column),
        mend="if they are, give `replicate='options'`, and each option is a label; if raters rated "
        'again, name the column that numbers their ratings: `replicate="..."`',
        numbers={"rows": len(clash), "pairs": pairs},
        go_on={"replicate": "options", "task": None},
    )
    return True
