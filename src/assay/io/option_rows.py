"""Rows of one rater and item with a chosen option each, gathered into one rating."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.grouping import unique_rows
from assay._util.text import counted
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.answers import find_answers
from assay.io.arguments import Arguments
from assay.io.cells import EMPTY
from assay.io.columns import BESIDE, ColumnFinder, find_roles
from assay.io.formats import Export
from assay.io.identifiers import joined_ids
from assay.io.reading_log import Ledger

OPTIONS = "options"
"""Value of ``replicate=`` for such rows."""


def gather_options(export: Export, task: Task, given: Arguments) -> Export:
    """Join the rows of a rater and item into one, with a list of the chosen options.

    Unchanged if no column of answers, items or raters is found, which reading reports.
    """
    table = export.table
    finder = ColumnFinder([str(name) for name in table.frame.columns])
    one = Task(name=task.name, labels=(Label(name="label", classes=()),), columns=task.columns)
    told = given.labels if isinstance(given.labels, str) else None
    asked = task if len(task.labels) == 1 else one
    found = find_answers(
        table, asked, labels=told, label=given.label, value=given.value, ledger=Ledger(table)
    )
    answers = list(found.by_label.values())
    roles = find_roles(
        finder, table.frame, task=task, asked=given.roles, defaults={}, taken=answers,
        ledger=Ledger(table),
    )  # fmt: skip
    if len(answers) != 1 or not {"item", "rater"} <= set(roles):
        return export
    keys = [c for role in ("item", *BESIDE) if role in roles for c in roles[role].columns]
    return _gathered(export, answers[0], keys)


def _gathered(export: Export, column: str, keys: Sequence[str]) -> Export:
    """Put the answers of all rows with the same key into a list."""
    table = export.table
    codes = [pd.factorize(joined_ids(table.frame, [key]))[0] for key in keys]
    first, group = unique_rows(*codes)
    order = np.argsort(first)
    place = np.argsort(order)[group]
    chosen: list[list[str]] = [[] for _ in first]
    for at, word in zip(place, table.frame[column], strict=True):
        if canonical(str(word)) not in EMPTY and word not in chosen[at]:
            chosen[at].append(str(word))
    rows = first[order]
    cells = [json.dumps(options, ensure_ascii=False) if options else "" for options in chosen]
    frame = table.frame.iloc[rows].reset_index(drop=True)
    frame[column] = pd.Series(cells, dtype="str")
    note = Note(
        f"{counted(len(table.frame), 'row')} hold an option each, and are the options that were "
        f"chosen in {counted(len(rows), 'rating')}",
        code="options-gathered", level="note",
        numbers={"rows": len(table.frame), "ratings": len(rows)},
    )  # fmt: skip
    return replace(
        export, table=replace(table, frame=frame, lines=table.lines[rows]),
        notes=(*export.notes, note),
    )  # fmt: skip
