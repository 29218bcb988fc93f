"""Votes of unnamed raters: numbered within each item, in a group of their own."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay.data.ratings import UNNAMED
from assay.data.task import Label, Task
from assay.io.arguments import BY_ROW, Arguments, names_in
from assay.io.formats import Export
from assay.io.identifiers import joined_ids
from assay.io.list_cells import exploded, joined_answers, lists_of, longest
from assay.io.names import (
    ANSWER_COLUMNS,
    COUNT,
    GENERIC,
    NUMBERED,
    NUMBERED_GROUP,
    RECOGNISED,
    TRUTH_NAMES,
    ColumnFinder,
    count_column,
    is_called,
    named_columns,
    squash,
)
from assay.io.share_tables import number_column, total_column
from assay.io.tables import Table, cell_text, reader_note

SEED = 1
RATER, GROUP = NUMBERED, NUMBERED_GROUP


def times_counted(table: Table, column: str) -> Table:
    """Repeat each row by its count, and drop the column of counts."""
    times = np.asarray(table.frame[column].astype(float), np.int64)
    rows = np.repeat(np.arange(len(times)), times)
    text = f"each row stands for as many ratings as column {column} says: {len(rows)} in all"
    note = reader_note(text, code="rows-counted", rows=len(times), ratings=len(rows))
    return replace(table, frame=table.frame.drop(columns=column)).taking(rows, note)


def counted_rows(export: Export, given: Arguments) -> tuple[Export, Arguments]:
    """Repeat each row by its number of votes, if ``counts=`` names the single column of them.

    A single column of shares, or one beside the number of raters, has votes for one class.
    """
    named, frame = names_in(given.counts), export.table.frame
    column = export.table.finder.get(named[0]) if named else None
    if len(named) != 1 or column is None or not frame[column].str.fullmatch(COUNT).all():
        return export, given
    others = [str(c) for c in frame.columns if c != column]
    if (
        number_column(frame, others) is not None
        or total_column(frame, [column])
        or frame[column].astype(float).max() <= 1
    ):
        return export, given
    export = replace(export, table=times_counted(export.table, column))
    return export, replace(given, counts=None, rater=given.rater or BY_ROW)


def without_names(export: Export, task: Task, given: Arguments) -> Export | None:
    """Give numbers to votes of unnamed raters: the caller says so, or every column has another role
    and items have several rows. None if a column may name the raters.
    """
    frame = export.table.frame
    said_so = given.rater == BY_ROW and export.table.finder.get(BY_ROW) is None
    if said_so:
        export = replace(export, table=_votes_apart(export.table, task, given))
        frame = export.table.frame
    if not said_so and (given.rater is not None or "rater" in export.roles):
        return None
    number = count_column(frame)
    if not said_so and not _all_else(export, task, given, number):
        return None
    if number:
        export = replace(export, table=times_counted(export.table, number))
    item = _item(export, given, task)
    if not said_so and (not item or not export.table.frame.duplicated(item).any()):
        return None
    return number_votes(export, given, task)


def _votes_apart(table: Table, task: Task, given: Arguments) -> Table:
    """Give each vote a row where a cell holds the answers of several raters.

    Lists in other columns, such as the sentences of a text, are no votes.
    """
    finder = table.finder
    named = named_columns(finder, given.labels, given.value) or finder.all_of(task.label_names)
    for column in named or finder.all_of(ANSWER_COLUMNS)[:1]:
        cells = _votes_of(table.frame[column], task.labels[0])
        if not cells:
            continue
        votes = sum(len(cells[cell]) for cell in table.frame[column])
        text = f"each vote in {column} has a row: {votes} in all"
        note = reader_note(text, code="votes-apart", votes=votes)
        table = exploded(table, {column: cells}, note)
    return table


def _votes_of(column: "pd.Series[str]", label: Label) -> dict[str, list[str]]:
    """Return the votes in each distinct cell; nothing if cells hold one answer, or options."""
    lists = lists_of(column)
    if longest(lists) > 1:
        return {cell: [cell_text(one) for one in items] for cell, items in lists.items()}
    words = [str(word) for word in pd.unique(column)]
    found = joined_answers(words, label)
    if found is None or not found.votes:
        return {}
    return {w: [part.strip() for part in w.split(found.separator)] for w in words}


def _all_else(export: Export, task: Task, given: Arguments, number: str) -> bool:
    """Whether every column has a role other than the rater."""
    columns = [str(c) for c in export.table.frame.columns]
    finder = ColumnFinder(columns)
    if finder.all_of([*RECOGNISED["rater"], *task.columns.get("rater", ())]):
        return False
    known = [name for role in RECOGNISED.values() for name in role]
    known += [*task.label_names, *ANSWER_COLUMNS, *(c for cs in task.columns.values() for c in cs)]
    played = set(finder.all_of(known)) | {c for c in columns if squash(c) in TRUTH_NAMES}
    asked = [*given.roles.values(), given.labels, given.label, given.value, given.truth,
             given.covariates, given.score, given.confidence]  # fmt: skip
    played |= set(named_columns(finder, *asked))
    return not set(columns) - played - {number}


def _item(export: Export, given: Arguments, task: Task) -> list[str]:
    """Return the columns of the item, as far as known at this point."""
    finder = export.table.finder
    if given.item:
        return finder.all_of(given.item)
    if "item" in export.roles:
        return list(export.roles["item"])
    by_task = finder.all_of(task.columns.get("item", ()))
    if by_task and len(by_task) == len(task.columns["item"]):
        return by_task
    named = finder.all_of(RECOGNISED["item"])
    return [c for c in named if tells_rows_apart(c, named, export.table.frame)] or named[:1]


def tells_rows_apart(column: str, named: Sequence[str], frame: pd.DataFrame) -> bool:
    """Whether a column such as ``id`` differs in each row, and other names of items hardly repeat.

    Then each row is an item, and equal texts are not. Votes repeat most of their items.
    """
    if not is_called(column, GENERIC) or frame[column].duplicated().any():
        return False
    others = [c for c in named if c != column and frame[c].duplicated().any()]
    return bool(others) and all(float((frame[c].value_counts() > 1).mean()) < 0.5 for c in others)


def number_votes(export: Export, given: Arguments, task: Task) -> Export:
    """Give each item's raters the numbers 1, 2, ..., all in one group."""
    frame, item = export.table.frame, _item(export, given, task)
    keys = joined_ids(frame, item) if item else pd.Series("", index=frame.index)
    # Shuffle first: with sorted votes, rater 1 would always give the same class.
    mixed = np.random.default_rng(SEED).permutation(len(frame))
    numbers = np.empty(len(frame), np.int64)
    numbers[mixed] = keys.iloc[mixed].groupby(keys.iloc[mixed].to_numpy()).cumcount() + 1
    names = pd.Series(numbers.astype(str), dtype="str")
    group = pd.Series(UNNAMED, index=frame.index, dtype="str")
    named = ColumnFinder(frame.columns).all_of(RECOGNISED["item"])
    by_row = bool(item) and not given.item and tells_rows_apart(item[0], named, frame)
    rows = {"item": tuple(item)} if by_row else {}
    frame = frame.assign(**{RATER: names, GROUP: group})
    note = reader_note(
        "the raters have no names: their votes are numbered within each item, and a model gives "
        f"all of them one confusion (group {UNNAMED}, `raters='pooled + item_difficulty'`)",
        code="unnamed-raters",
    )
    return replace(
        export,
        table=replace(export.table, frame=frame),
        roles={**rows, **export.roles, "rater": (RATER,), "group": (GROUP,)},
        notes=(*export.notes, note),
        title=export.title or "votes without names",
    )
