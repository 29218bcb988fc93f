"""Tables of other shapes: a column for each rater, item, question, or class of votes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import as_code
from assay._util.text import first_names, listed
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.cells import spellings
from assay.io.derived_columns import derived_columns
from assay.io.files.file_paths import FILE
from assay.io.likely_columns import MOST_CLASSES, likely_columns
from assay.io.name_patterns import (
    LABEL,
    RATER,
    Grid,
    distinct_parts,
    find_grid,
    said_of,
    slots_of,
)
from assay.io.names import (
    ALL_KNOWN,
    COUNT_NAMES,
    EMPTY,
    EXPERTS,
    FORM,
    GENERIC,
    KNOWN,
    MARKS,
    PEOPLE,
    RECOGNISED,
    SUMMARIES,
    bare,
    is_called,
    is_system_name,
    names_criterion,
    names_question,
    names_rater,
    names_system,
    names_truth,
    squash,
    words_in,
    words_of,
)
from assay.io.reading_log import Ledger

FEWEST_COLUMNS = 2
FEWEST_COUNTED = 3
"""Fewest rows with equal sums that show counts of votes."""
MOST_WORDS = 3
"""Words beyond which a name is a question, and no system."""
SHOWN = 4
BY_CHANCE = 0.001
"""Probability below which it is no chance that a column is filled only where others differ."""
MOSTLY = 0.9
"""Smallest share of distinct values for a column to identify rows."""
NUMBERS = re.compile(r"(\d+)")
"""Splits a name at its numbers."""
GRID = re.compile(r"(.+?)\s*\[[^\[\]]+\]")
"""A question of a grid, with its row in brackets."""
MOST_NAMED = 12
"""Most columns that a proposed argument lists."""
ITEM_PARTS = (*RECOGNISED["system"], *RECOGNISED["rank"])
"""Names of columns that may tell apart what is rated, beside the item."""
EVERY = "*"
"""Wildcard for all columns that fit."""
NAMES = frozenset({"name", "yourname", "fullname", "yourfullname", "ihrname", "deinname"})
"""Squashed questions of forms for the respondent's name."""
RESPONSE = "responseid"
"""Squashed name of what forms call a respondent without a name."""


def answer_columns(frame: pd.DataFrame, label: Label, taken: Sequence[str] = ()) -> list[str]:
    """Return the columns that only hold classes of a label, if several do.

    If the data define the classes, these are columns of few values that other columns share.
    """
    others = COUNT_NAMES | SUMMARIES
    columns = [str(c) for c in frame.columns if squash(str(c)) not in others]
    columns = [c for c in columns if c not in taken and not names_truth(c)]
    held = {c: words_in(frame[c]) for c in columns}
    if label.classes:
        words = {canonical(word) for word in spellings(label)}
        found = [c for c, values in held.items() if values and values <= words]
        found = _without_deciding(frame, found)
        return found if len(found) >= FEWEST_COLUMNS else []
    free = {c: v for c, v in held.items() if bare(c) not in ALL_KNOWN}
    apart = [c for c in free if len(frame) > FEWEST_COUNTED and frame[c].nunique() == len(frame)]
    found = _alike({c: v for c, v in free.items() if c not in apart})
    if len(found) < FEWEST_COLUMNS:
        return []
    found = _without_constant(found, held)
    values = set().union(*(held[c] for c in found))
    # Such columns name the rows, unless raters who all differ gave them the others' values.
    found += [
        c for c in apart
        if held[c] - MARKS <= values and (not _counts_rows(frame[c]) or _called_alike(c, found))
    ]  # fmt: skip
    found = _without_deciding(frame, found)
    raters = [c for c in columns if bare(c) in KNOWN["rater"]]  # of crowd and expert, say
    return [c for c in columns if c in found or (c in raters and held[c] <= values)]


def _without_constant(columns: list[str], held: Mapping[str, set[str]]) -> list[str]:
    """Leave out columns of one number whose names lack the word that those of the others share."""
    varied = [c for c in columns if len(held[c]) > 1]
    words = set.intersection(*(set(words_of(c)) for c in varied)) if varied else set()
    if len(varied) < FEWEST_COLUMNS or not words:
        return columns
    return [
        c for c in columns
        if c in varied or words & set(words_of(c)) or not next(iter(held[c]), "").isdigit()
    ]  # fmt: skip


def _counts_rows(column: "pd.Series[str]") -> bool:
    """Whether a column numbers the rows, from 0 or 1."""
    words = [canonical(word) for word in column]
    return any(words == [str(n + start) for n in range(len(words))] for start in (0, 1))


def _without_deciding(frame: pd.DataFrame, columns: list[str]) -> list[str]:
    """Leave out columns filled only where the others differ, which decide between raters."""
    if not FEWEST_COLUMNS < len(columns) <= MOST_NAMED:
        return columns
    cells = frame[columns].map(canonical).to_numpy(object)
    filled = ~np.isin(cells, list(EMPTY))
    found = []
    for n, column in enumerate(columns):
        others = pd.DataFrame(cells).where(filled).drop(columns=n)
        differ = (others.nunique(axis=1) > 1).to_numpy(bool)
        chance = differ.mean() ** filled[:, n].sum()
        if not (differ | ~filled[:, n]).all() or chance > BY_CHANCE:
            found.append(column)
    return found


def _alike(held: dict[str, set[str]]) -> list[str]:
    """Return the largest group of columns that share their few values: at most one of its own
    beside two shared. Columns whose names differ from theirs in a number only are added, if they
    share some value.
    """
    few = {c: frozenset(v) for c, v in held.items() if 1 <= len(v) <= MOST_CLASSES}
    distinct = dict.fromkeys(few.values())  # hundreds of questions share a few sets of answers
    best: list[str] = []
    for values in distinct:
        alike = {
            own for own in distinct
            if own <= values or len(own & values) >= max(2, len(own) - 1)
        }  # fmt: skip
        group = [c for c, own in few.items() if own in alike]
        if len(group) > len(best):
            best = group
    found = list(best)
    others = [c for c in few if c not in best and _called_alike(c, best)]
    while more := [c for c in others if any(few[c] & few[shown] for shown in found)]:
        found += more
        others = [c for c in others if c not in more]
    return [c for c in few if c in found]


def _called_alike(column: str, others: Sequence[str]) -> bool:
    """Whether a name differs from similar names in one number, or is a row of the same grid."""
    if len(others) >= FEWEST_COLUMNS and all(_grid(name) == _grid(column) != "" for name in others):
        return True
    parts = [NUMBERS.split(name) for name in others]
    if len(others) < FEWEST_COLUMNS or any(len(own) != len(parts[0]) for own in parts):
        return False
    own = NUMBERS.split(column)
    same = [len(set(cells)) == 1 for cells in zip(*parts, strict=True)]
    if same.count(False) != 1 or len(own) != len(same):
        return False
    changing = same.index(False)
    fits = all(a == b for n, (a, b) in enumerate(zip(own, parts[0], strict=True)) if n != changing)
    return fits and own[changing].isdigit()


def _grid(column: str) -> str:
    """Return the question of a grid in a name with its row in brackets; else empty."""
    found = GRID.fullmatch(column.strip())
    return found[1] if found else ""


def report_wide(task: Task, ledger: Ledger, taken: Sequence[str] = ()) -> bool:
    """Add a problem, and return True, if rows seem to hold several ratings."""
    if len(task.labels) != 1 or ledger.problems:
        return False
    frame, label = ledger.table.frame, task.labels[0]
    free = [str(c) for c in frame.columns if str(c) not in taken]
    grid = find_grid(frame, free)
    beside = [str(c) for c in frame.columns if grid and str(c) not in grid.columns]
    if is_form(beside or free) or person_of(beside or free):
        grid = find_grid(frame, free, people=True)
    columns = list(grid.columns) if grid else answer_columns(frame, label, taken)
    if not columns or _are_rater_and_answer(frame, columns):
        return False
    rest = [str(c) for c in frame.columns if str(c) not in columns]
    item, person = item_of(rest), person_of(rest)
    parts = [c for c in rest if item and (names_system(c) or is_called(c, ITEM_PARTS))]
    keys = [key for key in ([item, *parts], [person]) if key[0]]
    if any(len(frame[key].drop_duplicates()) < MOSTLY * len(frame) for key in keys):
        return False  # several rows of one item or rater: rows are ratings
    if item and person and not (is_called(item, GENERIC) and frame[item].nunique() == len(frame)):
        return False  # several questions on what is rated
    if grid:
        _report_grid(grid, ledger)
    else:
        _report_shape(frame, columns, label, item, person, ledger)
    return True


def _are_rater_and_answer(frame: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Whether two columns of the same numbers are a rater and its answer, beside the item."""
    if len(columns) != FEWEST_COLUMNS or len(frame.columns) == len(columns):
        return False
    guess = likely_columns(frame, [str(c) for c in frame.columns], {})
    items = frame[guess["item"]] if "item" in guess else None
    return (
        items is not None
        and bool(items.duplicated().any())
        and {guess["rater"], guess["answer"]} == set(columns)
    )


def _report(
    columns: Sequence[str], seen: str, wanted: str, mend: str, go_on: dict[str, Any], ledger: Ledger
) -> None:
    """Report columns that hold the answers, as is seen, with the arguments that read them."""
    ledger.problem(
        "wide-table",
        f"no column holds the answers, and {len(columns)} columns {seen}",
        allowed=f"a row for each rating: the item, the rater, {wanted}",
        mend=mend,
        role="rater",
        numbers={"columns": len(columns)},
        go_on=go_on,
    )


def _report_grid(grid: Grid, ledger: Ledger) -> None:
    """Report columns whose names have parts, with the pattern that reads them."""
    reading, slots = {"wide": grid.pattern}, slots_of(grid.pattern)
    seen = f"seem to hold {said_of(grid.columns)}"
    turned = f", or {as_code({'wide': grid.turned})} if the parts of the names mean that"
    mend = f"if they do, give {as_code(reading)}{turned if grid.turned else ''}"
    if set(slots) == {RATER, LABEL}:
        labels = distinct_parts(grid.columns)[LABEL]
        first = [c for c, parts in grid.columns.items() if parts[LABEL] == labels[0]]
        mend += f"; or read one question: {as_code({'wide': first})}"
    wanted = "an answer to each question" if LABEL in slots else "the answer"
    _report(list(grid.columns), seen, wanted, mend, reading, ledger)


def _report_shape(
    frame: pd.DataFrame, columns: list[str], label: Label, item: str, person: str, ledger: Ledger
) -> None:
    """Report the apparent shape, with the arguments that read it."""
    rest = [str(c) for c in frame.columns if c not in columns]
    form = is_form(rest)
    key = {} if item and squash(item) not in NAMES else key_row(frame, rest)
    if not person and not form and not key and are_criteria(columns):
        rater = next((c for c in rest if names_rater(c)), "")
        reading = {"labels": {c: c for c in columns}, "rater": rater or "row"}
        raters = as_code({"wide": list(columns)})
        shown = first_names(columns, SHOWN)
        seen = f"look like criteria by which {rater or 'one rater'} judged each item: {shown}"
        mend = f"if each is a label, give {as_code(reading)}; if they are raters, {raters}"
        _report(columns, seen, "an answer to each criterion", mend, reading, ledger)
        return
    ways = ["wide", "wide_items"]
    if 2 * sum(bool(EXPERTS & set(words_of(c))) for c in columns) > len(columns):
        seen = "a row seems to hold the answers of all raters to one item"
    elif person or form or key:
        seen, ways = "a row seems to hold all answers of one rater", ways[::-1]
    elif item and 2 * sum(map(names_question, columns)) <= len(columns):
        seen = "a row seems to hold all answers to one item"
    else:
        seen = "they may be raters, items or questions"
    is_every = len(columns) > MOST_NAMED and columns == answer_columns(frame, label)
    derived = derived_columns(frame, columns) if ways[0] == "wide" else {}
    columns = [c for c in columns if c not in derived]
    named = EVERY if is_every else columns
    said = {"wide": "raters", "wide_items": "items"}
    offers = [
        f"{as_code({way: named} | (key if way == 'wide_items' else {}))} if they are {said[way]}"
        for way in ways
    ]
    seen = f"hold classes of {label.name}: {first_names(columns, SHOWN)}; {seen}"
    mend = (
        f"say what the columns are: {', '.join(offers)}; if they are several questions, write "
        "a task file with a label for each"
    )
    for column, fit in derived.items():
        truth = as_code({"wide": named, "truth": column})
        mend += (
            f". {fit.said(column)}: it is left out here. If it is known truth, give {truth}; if it "
            f"is a rater, name it in `wide=`, too"
        )
    _report(columns, seen, "the answer", mend, {ways[0]: named, **key}, ledger)


def key_row(frame: pd.DataFrame, rest: Sequence[str]) -> dict[str, str]:
    """Return the arguments for rows of raters if the first or last of them is known truth, or if
    each is a file.

    >>> frame = pd.DataFrame({"who": ["ANSWER KEY", "Uma", "Vik"], "q1": list("aab")})
    >>> key_row(frame, ["who"])
    {'rater': 'who', 'truth_rater': 'ANSWER KEY'}
    """
    for column in rest:
        for name in map(str, frame[column].iloc[[0, -1]]):
            if names_truth(name) and not frame[column].duplicated().any():
                return {"rater": column, "truth_rater": name}
    by_file = FILE in rest and not frame[FILE].duplicated().any()
    return {"rater": FILE} if by_file else {}


def are_criteria(columns: Sequence[str]) -> bool:
    """Whether most names are those of criteria, and not of raters.

    >>> are_criteria(["faithfulness", "is_relevant"]), are_criteria(["Ann", "Bob", "gpt-4"])
    (True, False)
    """
    named = [names_criterion(c) for c in columns]
    people = any(EXPERTS & set(words_of(c)) for c in columns)
    return not people and 2 * sum(named) > len(columns)


def rows_are_items(frame: pd.DataFrame, item: Sequence[str]) -> bool:
    """Whether each row is another item."""
    return bool(item) and not frame.duplicated(list(item)).any()


def item_of(rest: Sequence[str]) -> str:
    """Return the column with a name of items; else empty."""
    known = [squash(name) for name in RECOGNISED["item"]]
    found = [c for c in rest if bare(c) in known and not names_people(c)]
    return min(found, key=lambda c: known.index(bare(c)), default="")


def names_people(column: str) -> bool:
    """Whether the name of a column is that of people."""
    words = {word.removesuffix("s") for word in words_of(column)} | set(words_of(column))
    return bare(column) in KNOWN["rater"] or bool(words & PEOPLE)


def is_form(rest: Sequence[str]) -> bool:
    """Whether a form added such columns for each respondent."""
    return any(part in squash(c) for c in rest for part in FORM)


def person_of(rest: Sequence[str]) -> str:
    """Return the column of the respondent; else empty."""
    found = [c for c in rest if names_people(c)]
    if is_form(rest):
        found += [c for c in rest if squash(c).rstrip("?:") in NAMES]
        found += [c for c in rest if squash(c) == RESPONSE]
    return min(found, key=lambda c: bare(c) not in KNOWN["rater"], default="")


def are_systems(columns: Sequence[str], rater: str, frame: pd.DataFrame) -> bool:
    """Return whether columns seem to be systems: they share their few answers, and none is called
    like a criterion. Most are called like systems, or ``rater`` is the file of a folder.
    """
    held = {frozenset(words_in(frame[c])) for c in columns}
    called = any(names_criterion(c) or "?" in c or len(words_of(c)) > MOST_WORDS for c in columns)
    if len(columns) < FEWEST_COLUMNS or len(held) != 1 or called:
        return False
    return rater == FILE or 2 * sum(
        is_system_name(c) or len(c.strip()) == 1 for c in columns
    ) > len(columns)


def report_systems(columns: Sequence[str], key: Sequence[str], rater: str, ledger: Ledger) -> None:
    """Add the problem that columns seem to be systems; each may be a label too."""
    name = "system"
    while name in ledger.table.frame.columns:
        name = f"{name}_"
    reading: dict[str, Any] = {
        "wide_items": list(columns), "item": [*key, name], "rater": rater, "system": name,
    } | ({"cluster": key[0]} if len(key) == 1 else {})  # fmt: skip
    seen = (
        f"share their answers: {first_names(columns, SHOWN)}; a row seems to hold what one rater "
        f"({rater}) says of each of several systems for one {listed(key)}"
    )
    labels = as_code({"labels": {c: c for c in columns}, "rater": rater})
    mend = f"if they are systems, give {as_code(reading)}; if each is a label, {labels}"
    _report(columns, seen, "the system, the answer", mend, reading, ledger)
