"""The task of one label whose name and classes are those of the table."""

from dataclasses import replace

from assay.data.task import Task
from assay.data.task_files import load_task
from assay.io.answers import find_answers, free_columns
from assay.io.reading_log import Ledger
from assay.io.tables import Table

DESCRIPTION = "One label, whose name and classes are those of the data."


def one_label_task(table: Table) -> Task:
    """Return the task ``single``, whose label has the name of the column of its answers.

    That column is the one whose name is recognised, else the only one without another role that
    holds a few values. If there is none, or several, the label is called ``label``.
    """
    single = load_task("single")
    found = find_answers(
        table, single, labels=None, label=None, value=None, ledger=Ledger(table)
    ).by_label
    likely = [*found.values()] or free_columns(table.frame)
    if len(likely) != 1:
        return single
    label = replace(single.labels[0], name=likely[0], description="")
    return replace(single, labels=(label,), description=DESCRIPTION)
