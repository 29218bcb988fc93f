"""The task of a table that comes without one: the one that its columns fit."""

import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.data.task_files import catalogue_names, load_task
from assay.io.cells import EMPTY, spellings
from assay.io.columns import ColumnFinder
from assay.io.formats import Export
from assay.io.names import QUESTION_COLUMNS, squash
from assay.io.tables import Table

FALLBACK = "single"
"""One label, with the classes of the data."""


def choose_task(
    named: Task | None, table: Table, export: Export | None
) -> tuple[Task, tuple[Note, ...]]:
    """Return the task that is named, else that of the export, of the columns, or ``single``.

    Parameters
    ----------
    named : Task, optional
    table : Table
    export : Export, optional

    Returns
    -------
    task : Task
    notes : tuple of Note
        Which task was taken where none is named, and what the format says.
    """
    told = () if export is None else export.notes
    if named is not None:
        return named, told
    if export is not None and export.task is not None:
        task, why = export.task, f"the {export.title} writes it out"
    else:
        task, why = _fitting(table)
    note = Note(f"task {task.name} is taken: {why}. `task=` names another", code="task-chosen",
                level="note")  # fmt: skip
    return task, (note, *told)


def _fitting(table: Table) -> tuple[Task, str]:
    """Return the task most of whose labels are columns, and why; else one label."""
    finder = ColumnFinder([str(column) for column in table.frame.columns])
    tasks = [load_task(name) for name in catalogue_names("tasks") if name != FALLBACK]
    fits = [
        (len(found), task, found)
        for task in tasks
        if (found := _labels_in(task, finder, table.frame))
    ]
    if not fits:
        return load_task(FALLBACK), "one label, whose classes are those of the file"
    _, task, found = max(fits, key=lambda fit: fit[0])
    return task, f"the columns have its {counted(len(found), 'label')}"


def _labels_in(task: Task, finder: ColumnFinder, frame: pd.DataFrame) -> list[str]:
    """Return the labels of a task that a table answers; none if they are too few."""
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
    """Whether a column holds nothing but classes of a label."""
    words = {canonical(str(word)) for word in pd.unique(column)} - EMPTY
    return bool(words) and words <= {canonical(word) for word in spellings(label)}
