"""Tables with a row for each question on an item: a label for each question."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.grouping import unique_rows
from assay._util.text import counted, listed
from assay.data.task import Label, Task
from assay.io.arguments import Arguments
from assay.io.cells import classes_from_data
from assay.io.columns import ColumnFinder
from assay.io.likely_columns import MOST_CLASSES
from assay.io.list_cells import is_nested
from assay.io.names import QUESTION_COLUMNS, RECOGNISED, VALUE_COLUMNS
from assay.io.reading_log import Ledger
from assay.io.tables import Table

MOST_LABELS = 24
FEWEST_ANSWERS = 5
"""Rows of each question from which a column names questions."""
NAME = "questions"
"""What the task is called that is written out."""


def task_of_rows(table: Table, given: Arguments) -> tuple[Task, str] | None:
    """Return the task of a table whose rows answer a question each, and the column of these.

    Parameters
    ----------
    table : Table
    given : Arguments
        What the caller says of columns.

    Returns
    -------
    tuple or None
        None unless raters answer several questions of an item, each once, in a few words.
    """
    if given.labels or given.label or given.value or given.shapes or given.score:
        return None
    column, labels = questions_of(table)
    if len(labels) < 2 or any(len(label.classes) > MOST_CLASSES for label in labels):
        return None
    finder = ColumnFinder([str(c) for c in table.frame.columns])
    keys = []
    for role in ("item", "rater"):
        asked = getattr(given, role) or RECOGNISED[role]
        named = finder.all_of([asked] if isinstance(asked, str) else asked)
        found = [c for c in named if c != column]
        if not found:
            return None
        keys += found if getattr(given, role) else found[:1]
    codes = [pd.factorize(table.frame[c])[0] for c in keys]
    asked_once = [*codes, pd.factorize(table.frame[column])[0]]
    sizes = [len(unique_rows(*key)[0]) for key in (codes, asked_once)]
    if sizes[0] == sizes[1] or sizes[1] < len(table.frame):
        return None
    return Task(name=NAME, labels=tuple(within_reach(labels))), column


def within_reach(labels: Sequence[Label]) -> list[Label]:
    """Return the labels of the fewest classes that one model can hold, in their order."""
    order = sorted(labels, key=lambda label: len(label.classes))
    sizes = np.cumprod([len(label.classes) for label in order], dtype=float)
    kept = [label.name for label, size in zip(order, sizes, strict=True) if size <= Task.max_states]
    return [label for label in labels if label.name in kept]


def of_questions(table: Table, task: Task, column: str) -> Table:
    """Leave out the rows of questions that are no labels of the task, with a note."""
    asked = table.frame[column].str.strip()
    kept = asked.isin(["", *task.label_names]).to_numpy(bool)
    if kept.all():
        return table
    left = sorted(set(asked[~kept]))
    text = (
        f"{counted(len(left) + len(task.labels), 'label', 'are')} too many to be modelled "
        f"together, so that those of the most classes are left out: {listed(left)} "
        f"({counted(int((~kept).sum()), 'row')})"
    )
    note = Note(text, code="labels-left-out", level="note", numbers={"labels": len(left)})
    frame = table.frame[kept].reset_index(drop=True)
    return replace(table, frame=frame, lines=table.lines[kept], notes=(*table.notes, note))


def questions_of(table: Table) -> tuple[str, list[Label]]:
    """Return the column of questions, and a label for each; none if rows answer no question."""
    frame = table.frame
    finder = ColumnFinder([str(c) for c in frame.columns])
    for column in finder.all_of(QUESTION_COLUMNS):
        answers = [c for c in finder.all_of(VALUE_COLUMNS) if c != column]
        counts = frame[column].str.strip().value_counts()
        counts = counts[counts.index != ""]
        if answers and 1 < len(counts) <= MOST_LABELS and counts.min() >= FEWEST_ANSWERS:
            labels = [Label(name=name, classes=()) for name in sorted(counts.index)]
            return column, [_read(frame, column, answers[0], label, table) for label in labels]
    return "", []


def _read(frame: pd.DataFrame, question: str, answer: str, label: Label, table: Table) -> Label:
    """Return the label with the classes of its own rows."""
    own = frame.loc[frame[question].str.strip() == label.name, answer]
    own = own[[not is_nested(str(cell)) for cell in own]]
    classes = classes_from_data([own], label, Ledger(table), named=True)
    return Label(name=label.name, classes=classes)
