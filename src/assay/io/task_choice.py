"""Choose the task that the columns of a table fit, or draft one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.grouping import unique_rows
from assay._util.text import counted, listed
from assay.data.class_words import canonical
from assay.data.generic_metrics import numbers_of
from assay.data.task import Label, Task
from assay.data.task_files import catalogue_names, load_task
from assay.io.answers import find_answers, free_columns, has_options, question_columns
from assay.io.arguments import Arguments, LabelsArg, names_in
from assay.io.cells import classes_from_data, has_steps, spellings
from assay.io.class_orders import in_order
from assay.io.files.opening import joined, open_source
from assay.io.formats import Export, read_unless_named
from assay.io.likely_columns import (
    MOST_CLASSES,
    are_numbers,
    has_few,
    left_out,
    likely_columns,
    within_states,
)
from assay.io.names import (
    ANSWER_COLUMNS,
    QUESTION_COLUMNS,
    RECOGNISED,
    VALUE_COLUMNS,
    ColumnFinder,
    named_columns,
    names_rater,
    question_column,
    squash,
    values_beside,
    words_in,
)
from assay.io.printed_values import is_nested
from assay.io.reading_log import Ledger
from assay.io.tables import Table, reader_note
from assay.io.told_columns import Told, told_columns
from assay.io.wide_tables import are_systems

FALLBACK = "single"
"""Task of one label, with the classes of the data."""
SEVERAL = "several"
"""Name of a task of several labels that the columns of a table make."""
DESCRIPTION = "One label, whose name and classes are those of the data."
QUESTIONS = "questions"
"""Task of a table whose rows answer a question each."""
MOST_LABELS = 24
FEWEST_ANSWERS = 5
"""Rows of each question from which a column names questions."""


def choose_task(
    named: Task | None, export: Export, given: Arguments
) -> tuple[Task, tuple[Note, ...]]:
    """Return the task: named, of the export, fitting the columns, or ``single``.

    A note says which task was chosen, unless it was named.
    """
    if named is not None:
        return named, ()
    asked = _named_labels(given.labels)
    own = () if export.task is None else export.task.label_names
    others = bool(asked) and set(asked) != set(own) and {*asked} <= {*export.table.frame.columns}
    if export.task is not None and others:
        task, why = _of_labels(export.task, asked), f"it has the labels named: {', '.join(asked)}"
    elif export.task is not None:
        task, why = export.task, export.reason or f"the {export.title} writes it out"
    else:
        task, why = _fitting(export, given)
    text = f"task {task.name} is taken: {why}. `task=` names another"
    return task, (reader_note(text, code="task-chosen"),)


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
    finder = ColumnFinder(frame.columns)
    tasks = [load_task(name) for name in catalogue_names("tasks") if name != FALLBACK]
    found = [(task, _labels_in(task, finder, frame)) for task in tasks]
    task, labels = max(found, key=lambda one: len(one[1]))
    if labels and not given.shapes:
        return task, f"the columns have its {counted(len(labels), 'label')}"
    if given.shapes:
        return load_task(FALLBACK), "one label, whose classes are those of the file"
    asked = None if export.title else _task_of_rows(export.table, given)
    if asked is not None:
        task, column = asked
        graded = " with a grade" * any(label.ordered for label in task.labels)
        return task, f"each row answers one question{graded}, which column {column} names"
    taken = named_columns(
        finder, given.score, given.confidence, given.audit, given.truth, given.covariates,
        *given.roles.values(), *export.roles.values(), export.reserved,
    )  # fmt: skip
    task = _one_label_task(export.table, given.labels, given.value or given.label, taken)
    named = f"{'labels' if len(task.labels) > 1 else 'label'} {', '.join(task.label_names)}"
    return task, f"{named}, with the classes of the file"


def _labels_in(task: Task, finder: ColumnFinder, frame: pd.DataFrame) -> list[str]:
    """Return the labels of a task that a table answers; empty if too few."""
    columns = {label.name: finder.get(label.name) for label in task.labels}
    found = [
        label.name
        for label in task.labels
        if (column := columns[label.name]) is not None
        and (words := words_in(frame[column]))
        and words <= {canonical(word) for word in spellings(label)}
    ]
    if len(found) == len(task.labels) or (len(found) > 1 and 2 * len(found) > len(task.labels)):
        return found
    labels = {squash(name) for name in task.label_names}
    for question in finder.all_of(QUESTION_COLUMNS):
        values = {squash(str(v)) for v in pd.unique(frame[question])} - {""}
        if len(labels) > 1 and values and values <= labels:
            return [name for name in task.label_names if squash(name) in values]
    return []


def _one_label_task(
    table: Table, labels: LabelsArg = None, value: str | None = None, taken: Sequence[str] = ()
) -> Task:
    """Return the task ``single``, its label named after the column of answers: the caller's, one
    recognised, or the only free one with few values. Several named labels are a task.
    """
    single = load_task(FALLBACK)
    names = _named_labels(labels, value)
    if not names:
        found = find_answers(table, single, Arguments(), Ledger(table), taken)
        names = _answer_columns_of(table, [*found.by_label.values()], taken)
    if len(names) > 1 and isinstance(labels, Mapping):
        return Task(name=SEVERAL, labels=tuple(Label(name=name, classes=()) for name in names))
    if len(names) != 1 or names[0] == single.label_names[0]:
        return single
    label = replace(single.labels[0], name=names[0], description="")
    return replace(single, labels=(label,), description=DESCRIPTION)


def _named_labels(labels: LabelsArg, value: str | None = None) -> list[str]:
    """Return the labels that the caller names, or the column of one."""
    given = value if labels is None else labels
    return [name for name in names_in(given) if isinstance(name, str) and name]


def _answer_columns_of(table: Table, named: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return the columns of answers: the named one, unless it is text (what is rated) and other
    columns have few values. Beside a column of questions it answers all of them.
    """
    usual = [c for c in named if c not in taken]
    free = free_columns(table.frame, taken)
    if usual and question_column(table.frame):
        return usual[:1]
    if usual and (not free or has_few(table.frame[usual[0]]) or are_numbers(table.frame[usual[0]])):
        return usual[:1]
    return free


def _task_of_rows(table: Table, given: Arguments) -> tuple[Task, str] | None:
    """Return the task of a table whose rows answer a question each, and the column of these.

    None unless raters answer several questions of an item, each once, in a few words, or the caller
    names the columns of questions and answers.
    """
    if given.labels or given.shapes or given.score or (given.value and not given.label):
        return None
    told = bool(given.label and given.value)
    others = [*names_in(given.item), *names_in(given.system), *names_in(given.cluster)]
    column, labels = _questions_of(table, given.label, given.value, others)
    fewest = 1 if told else 2
    if len(labels) < fewest or any(len(label.classes) > MOST_CLASSES for label in labels):
        return None
    if told:
        return Task(name=QUESTIONS, labels=tuple(labels_within_reach(labels))), column
    finder = table.finder
    keys = []
    for role in ("item", "rater"):
        named = finder.all_of(getattr(given, role) or RECOGNISED[role])
        found = [c for c in named if c != column]
        if not found:
            return None
        keys += found if getattr(given, role) else found[:1]
    if table.frame.duplicated([*keys, column]).any():  # the answers of several systems, perhaps
        keys += [c for c in finder.all_of(RECOGNISED["system"]) if c not in (*keys, column)][:1]
    codes = [pd.factorize(table.frame[c])[0] for c in keys]
    asked_once = [*codes, pd.factorize(table.frame[column])[0]]
    sizes = [len(unique_rows(*key)[0]) for key in (codes, asked_once)]
    if sizes[0] == sizes[1] or sizes[1] < len(table.frame):
        return None
    return Task(name=QUESTIONS, labels=tuple(labels_within_reach(labels))), column


def labels_within_reach(labels: Sequence[Label]) -> list[Label]:
    """Return the labels of the fewest classes that one model can hold, in their order."""
    order = sorted(labels, key=lambda label: len(label.classes))
    sizes = np.cumprod([len(label.classes) for label in order], dtype=float)
    kept = [label.name for label, size in zip(order, sizes, strict=True) if size <= Task.max_states]
    return [label for label in labels if label.name in kept]


def of_questions(table: Table, task: Task, given: Arguments) -> Table:
    """Leave out the rows of questions that are no labels of the task, with a note."""
    if task.name != QUESTIONS:
        return table
    column = (
        table.finder.all_of(given.label or ()) or [question_column(table.frame, graded=True)]
    )[0]
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
    note = reader_note(text, code="labels-left-out", labels=len(left))
    frame = table.frame[kept].reset_index(drop=True)
    return replace(table, frame=frame, lines=table.lines[kept], notes=(*table.notes, note))


def _questions_of(
    table: Table, label: str | None = None, value: str | None = None, others: Sequence[str] = ()
) -> tuple[str, list[Label]]:
    """Return the column of questions, and a label for each; none if rows answer no question.

    The caller may name the columns of questions (``label``), answers (``value``), and ``others``.
    """
    frame = table.frame
    finder = ColumnFinder(frame.columns)
    asked = [c for c in finder.all_of(QUESTION_COLUMNS) if c not in others]
    fewest = FEWEST_ANSWERS
    if label:
        own = finder.all_of(label)
        asked, fewest = (own, 1) if value else ([c for c in own if c in asked], fewest)
    for column in asked:
        answers = finder.all_of(value) if value else values_beside(column, frame)
        counts = frame[column].str.strip().value_counts()
        counts = counts[counts.index != ""]
        several = bool(label and value) or len(counts) > 1
        if answers and several and 0 < len(counts) <= MOST_LABELS and counts.min() >= fewest:
            labels = []
            for name in sorted(counts.index):  # with the classes of its own rows
                own = frame.loc[frame[column].str.strip() == name, answers[0]]
                own = own[[not is_nested(str(cell)) for cell in own]]
                open_label, ledger = Label(name=name, classes=()), Ledger(table)
                classes = classes_from_data([own], open_label, ledger, named=True)
                if any(problem.code == "binary-spellings" for problem in ledger.problems):
                    classes = ("no", "yes")  # it has their spellings
                known = table.ordered.get(answers[0], ())
                labels.append(in_order(replace(open_label, classes=classes), known, ledger))
            numbers = sorted({n for label in labels for n in numbers_of(label) or ()})
            if answers[0] not in finder.all_of(VALUE_COLUMNS) and has_steps(numbers):
                labels = [replace(one, ordered=len(one.classes) > 2) for one in labels]
            return column, labels
    return "", []


def _told(
    frame: pd.DataFrame, taken: Sequence[str], roles: Mapping[str, Sequence[str]]
) -> tuple[Told, list[str]]:
    """Return what the table tells of its columns, and those that are no answers by it."""
    finder, free = ColumnFinder(frame.columns), [str(c) for c in frame.columns if c not in taken]
    named = {
        role: finder.all_of(roles.get(role, ())) or finder.all_of(RECOGNISED[role])[:1]
        for role in ("item", "rater")
    }
    known = {role: columns for role, columns in named.items() if columns}
    told = told_columns(frame, free, known)
    if told.clear:
        return told, [*told.items[0], *told.raters]
    guess = likely_columns(frame, free, known)
    found = [c for role, c in guess.items() if role == "system" or names_rater(c)]
    return told, [c for c in found if c not in (guess.get("item"), guess.get("answer"))]


def draft_arguments(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    labels: LabelsArg = None,
    taken: Sequence[str] = (),
    roles: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any]:
    """Return the arguments with which :func:`assay.read_ratings` drafts the task of a file.

    They are ``labels``, for several columns of answers, and in ``left`` what one model cannot hold.
    Rows that answer one question each need ``task``; none if reading finds the task. ``taken`` are
    columns that the caller names, ``roles`` the item and the rater among them.
    """
    opened = open_source(source, sheet=sheet, encoding=encoding)
    if labels or read_unless_named(opened, None, format, ()) is not None:
        return {}
    table = joined(opened).plain_table()
    _, asked = _questions_of(table)
    if len(asked) > 1:
        return {"task": Task(name=SEVERAL, labels=tuple(asked))}
    finder = table.finder
    told, others = _told(table.frame, taken, roles)
    alone = told.alone(told.answers)
    if told.unclear or (alone and are_systems(told.answers, told.raters[0], table.frame)):
        return {}  # reading says so
    taken = [*taken, *others]
    usual = [c for c in finder.all_of(ANSWER_COLUMNS) if table.frame[c].nunique() > 1]
    columns = _answer_columns_of(table, usual, taken)
    questions = question_columns(table.frame, taken)
    if len(columns) != 1 or columns[0] not in usual:
        columns = [
            c for c in questions
            if not told.clear or c in told.answers or has_options(table.frame[c])
        ]  # fmt: skip
    else:  # lists of chosen options are answers whatever their column is called
        columns += [c for c in questions if c not in columns and has_options(table.frame[c])]
    if (0 if others else 1) < len(columns) <= MOST_LABELS:
        kept = within_states(table.frame, columns)
        labels_of = {"labels": {column: column for column in kept}}
        return labels_of | ({"left": left} if (left := left_out(columns, kept)) else {})
    return {}
