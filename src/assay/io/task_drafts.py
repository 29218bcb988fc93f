"""Draft a task from a file: from its export, or a label for each column or question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from assay.data.task import Task
from assay.io.answers import LabelsArg, has_options, question_columns
from assay.io.columns import ColumnFinder
from assay.io.formats import read_unless_named
from assay.io.joined_files import joined
from assay.io.likely_columns import within_states
from assay.io.names import ANSWER_COLUMNS
from assay.io.one_label import answer_columns_of
from assay.io.opening import open_source
from assay.io.questions_in_rows import MOST_LABELS, questions_of


def draft_arguments(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    labels: LabelsArg = None,
    taken: Sequence[str] = (),
    *,
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> dict[str, Any]:
    """Return the arguments with which :func:`assay.read_ratings` drafts the task of a file.

    ``labels`` for several columns of answers, beside those that are ``left`` out as one model
    cannot hold all; ``task`` for rows that answer one question each; empty if the export has a
    task, or if reading finds it.
    """
    opened = open_source(source, sheet=sheet, encoding=encoding)
    if labels or read_unless_named(opened, None, format, ()) is not None:
        return {}
    table = joined(opened).plain_table()
    _, asked = questions_of(table)
    if len(asked) > 1:
        return {"task": Task(name="mine", labels=tuple(asked))}
    finder = ColumnFinder([str(c) for c in table.frame.columns])
    usual = [c for c in finder.all_of(ANSWER_COLUMNS) if table.frame[c].nunique() > 1]
    columns = answer_columns_of(table, usual, taken)
    questions = question_columns(table.frame, taken)
    if len(columns) != 1 or columns[0] not in usual:
        columns = questions
    else:  # lists of chosen options are answers whatever their column is called
        columns += [c for c in questions if c not in columns and has_options(table.frame[c])]
    if 1 < len(columns) <= MOST_LABELS:
        kept = within_states(table.frame, columns, most=Task.max_states)
        left = [column for column in columns if column not in kept]
        labels_of = {"labels": {column: column for column in kept}}
        return labels_of | ({"left": left} if left else {})
    return {}
