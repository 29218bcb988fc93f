"""Choose the task that the columns of a table fit."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.data.task_files import catalogue_names, load_task
from assay.io.arguments import Arguments
from assay.io.cells import spellings, words_in
from assay.io.columns import ColumnFinder, named_columns
from assay.io.formats import Export
from assay.io.names import QUESTION_COLUMNS, squash
from assay.io.one_label import named_labels, one_label_task
from assay.io.questions_in_rows import task_of_rows

FALLBACK = "single"
"""Task of one label, with the classes of the data."""


def choose_task(
    named: Task | None, export: Export, given: Arguments
) -> tuple[Task, tuple[Note, ...]]:
    """Return the task: named, of the export, fitting the columns, or ``single``.

    A note says which task was chosen, unless it was named.
    """
    if named is not None:
        return named, ()
    asked = named_labels(given.labels)
    if export.task is not None and _are_others(asked, export.task, export):
        task, why = _of_labels(export.task, asked), f"it has the labels named: {', '.join(asked)}"
    elif export.task is not None:
        task, why = export.task, export.reason or f"the {export.title} writes it out"
    else:
        task, why = _fitting(export, given)
    text = f"task {task.name} is taken: {why}. `task=` names another"
    return task, (Note(text, code="task-chosen", level="note"),)


def _are_others(labels: Sequence[str], task: Task, export: Export) -> bool:
    """Whether the caller names labels other than the task's, each a column of the export."""
    columns = set(map(str, export.table.frame.columns))
    return set(labels) != set(task.label_names) and bool(labels) and columns.issuperset(labels)


def _of_labels(task: Task, names: Sequence[str]) -> Task:
    """Return a task of these labels, as the export has them; a gate needs the label it asks."""
    known = {label.name: label for label in task.labels}
    labels = [known.get(name, Label(name=name, classes=())) for name in names]
    gone = [name for name in known if name not in names]
    kept = [
        replace(one, asked_if="") if any(name in one.asked_if for name in gone) else one
        for one in labels
    ]
    return replace(task, labels=tuple(kept), metrics=())


def _fitting(export: Export, given: Arguments) -> tuple[Task, str]:
    """Return the task with the most labels among the columns, and why; else one label."""
    frame = export.table.frame
    finder = ColumnFinder([str(column) for column in frame.columns])
    tasks = [load_task(name) for name in catalogue_names("tasks") if name != FALLBACK]
    found = [(task, _labels_in(task, finder, frame)) for task in tasks]
    task, labels = max(found, key=lambda one: len(one[1]))
    if labels and not given.shapes:
        return task, f"the columns have its {counted(len(labels), 'label')}"
    if given.shapes:
        return load_task(FALLBACK), "one label, whose classes are those of the file"
    asked = None if export.title else task_of_rows(export.table, given)
    if asked is not None:
        task, column = asked
        return task, f"each row answers one question, which column {column} names"
    taken = named_columns(
        finder, given.score, given.confidence, given.audit, given.truth, given.covariates,
        *given.roles.values(), *export.roles.values(), export.reserved,
    )  # fmt: skip
    task = one_label_task(export.table, given.labels, given.value or given.label, taken)
    named = f"{'labels' if len(task.labels) > 1 else 'label'} {', '.join(task.label_names)}"
    return task, f"{named}, with the classes of the file"


def _labels_in(task: Task, finder: ColumnFinder, frame: pd.DataFrame) -> list[str]:
    """Return the labels of a task that a table answers; empty if too few."""
    columns = {label.name: finder.get(label.name) for label in task.labels}
    found = [
        label.name
        for label in task.labels
        if (column := columns[label.name]) is not None and _holds(frame[column], label)
    ]
    if len(found) == len(task.labels) or (len(found) > 1 and 2 * len(found) > len(task.labels)):
        return found
    labels = {squash(name) for name in task.label_names}
    for question in finder.all_of(QUESTION_COLUMNS):
        values = {squash(str(v)) for v in pd.unique(frame[question])} - {""}
        if len(labels) > 1 and values and values <= labels:
            return [name for name in task.label_names if squash(name) in values]
    return []


def _holds(column: "pd.Series[str]", label: Label) -> bool:
    """Whether a column only has classes of a label."""
    words = words_in(column)
    return bool(words) and words <= {canonical(word) for word in spellings(label)}
