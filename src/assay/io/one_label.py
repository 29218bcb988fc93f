"""The task of one label, with name and classes from the table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.data.task import Label, Task
from assay.data.task_files import load_task
from assay.io.answers import LabelsArg, find_answers, free_columns
from assay.io.columns import question_column
from assay.io.likely_columns import are_numbers, has_few
from assay.io.reading_log import Ledger
from assay.io.tables import Table

DESCRIPTION = "One label, whose name and classes are those of the data."


def one_label_task(
    table: Table, labels: LabelsArg = None, value: str | None = None, taken: Sequence[str] = ()
) -> Task:
    """Return the task ``single``, with its label named after the column of answers.

    That column is named by the caller, or recognised, or the only free one with few values;
    otherwise
    the label is called ``label``. Several named labels are a task of their own.
    """
    single = load_task("single")
    names = named_labels(labels, value) or _likely(table, single, taken)
    if len(names) > 1 and isinstance(labels, Mapping):
        return Task(name="mine", labels=tuple(Label(name=name, classes=()) for name in names))
    if len(names) != 1 or names[0] == single.label_names[0]:
        return single
    label = replace(single.labels[0], name=names[0], description="")
    return replace(single, labels=(label,), description=DESCRIPTION)


def named_labels(labels: LabelsArg, value: str | None = None) -> list[str]:
    """Return the labels that the caller names, or the column of one."""
    given = value if labels is None else labels
    names = [given] if isinstance(given, str) else list(given or ())
    return [name for name in names if isinstance(name, str) and name]


def _likely(table: Table, single: Task, taken: Sequence[str]) -> list[str]:
    found = find_answers(
        table, single, labels=None, label=None, value=None, ledger=Ledger(table), scored=taken
    ).by_label
    return answer_columns_of(table, [*found.values()], taken)


def answer_columns_of(table: Table, named: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return the columns of answers: the named one, unless it is text and other columns are not.

    An answer may be what is rated: then it has many values, which are no numbers, and other
    columns have few. Beside a column of questions it has the answers to all of them.
    """
    usual = [c for c in named if c not in taken]
    free = free_columns(table.frame, taken)
    if usual and question_column(table.frame):
        return usual[:1]
    if usual and (not free or has_few(table.frame[usual[0]]) or are_numbers(table.frame[usual[0]])):
        return usual[:1]
    return free
