"""A task drafted from a table: a label for each column of answers, or for each question."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from assay.data.task import Label, Task
from assay.io.answers import LabelsArg
from assay.io.cells import classes_from_data
from assay.io.columns import ColumnFinder
from assay.io.names import ANSWER_COLUMNS, QUESTION_COLUMNS, VALUE_COLUMNS
from assay.io.one_label import answer_columns_of, one_label_task
from assay.io.reading_log import Ledger
from assay.io.sources import open_source
from assay.io.tables import Table

MOST_LABELS = 24
FEWEST_ANSWERS = 5
"""Rows of each question from which a column names questions."""


def draft_task(
    source: str | Path | pd.DataFrame, labels: LabelsArg = None, taken: Sequence[str] = ()
) -> Task:
    """Return the task that a table answers, as far as its columns say.

    Parameters
    ----------
    source : str, path or DataFrame
    labels : optional
        As for :func:`assay.read_ratings`. Else labels are called as their columns are, or as the
        values of the column that names the question.
    taken : sequence of str
        Columns that the caller names for other roles.

    Returns
    -------
    Task
        Classes come from the data where it is read, as do the metrics of one label.
    """
    table = open_source(source).plain_table()
    if labels:
        return one_label_task(table, labels)
    questions = _questions(table)
    if len(questions) > 1:
        return _with_labels(questions)
    finder = ColumnFinder([str(c) for c in table.frame.columns])
    usual = [c for c in finder.all_of(ANSWER_COLUMNS) if table.frame[c].nunique() > 1]
    columns = answer_columns_of(table, usual, taken)
    if 1 < len(columns) <= MOST_LABELS:
        return _with_labels([Label(name=column, classes=()) for column in columns])
    return one_label_task(table, taken=taken)


def _with_labels(labels: Sequence[Label]) -> Task:
    return Task(name="mine", labels=tuple(labels))


def _questions(table: Table) -> list[Label]:
    """Return a label for each question of a table whose rows answer one each."""
    frame = table.frame
    finder = ColumnFinder([str(c) for c in frame.columns])
    for column in finder.all_of(QUESTION_COLUMNS):
        answers = [c for c in finder.all_of(VALUE_COLUMNS) if c != column]
        counts = frame[column].str.strip().value_counts()
        counts = counts[counts.index != ""]
        if answers and 1 < len(counts) <= MOST_LABELS and counts.min() >= FEWEST_ANSWERS:
            labels = [Label(name=name, classes=()) for name in sorted(counts.index)]
            return [_read(frame, column, answers[0], label, table) for label in labels]
    return []


def _read(frame: pd.DataFrame, question: str, answer: str, label: Label, table: Table) -> Label:
    """Return the label with the classes of its own rows."""
    own = frame.loc[frame[question].str.strip() == label.name, answer]
    return Label(name=label.name, classes=classes_from_data([own], label, Ledger(table)))
