"""Tables whose cells hold several chosen options: a label of no and yes for each option."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted, listed
from assay.data.questions import Column, Control, label_columns, task_of, within_reach
from assay.data.task import Task
from assay.io.answers import find_answers
from assay.io.arguments import Arguments
from assay.io.columns import ColumnFinder
from assay.io.formats import Export
from assay.io.multi_select import chosen_options
from assay.io.names import RECOGNISED
from assay.io.reading_log import Ledger
from assay.io.tables import Table

NAME = "options"
"""What the task is called that is written out."""
Chosen = Mapping[str, Sequence[str]]
"""The options that each distinct cell chooses."""


def with_options(export: Export, task: Task, given: Arguments) -> Export | None:
    """Make a label of each option, if the answers to the one label are choices of several.

    Parameters
    ----------
    export : Export
        A table that no format claims.
    task : Task
        The task of one label that was taken, as none was named.
    given : Arguments

    Returns
    -------
    Export or None
        With a column of no and yes for each option, and the task of these labels; None if answers
        are single.
    """
    table = export.table
    column = _answers(table, task, given)
    if not column:
        return None
    finder = ColumnFinder([str(name) for name in table.frame.columns])
    raters = given.rater or finder.all_of(RECOGNISED["rater"])
    chosen = chosen_options(table, column, task.labels[0], has_rater=bool(raters))
    if not chosen:
        return None
    names = sorted({option for options in chosen.values() for option in options})
    control = Control(name=column, kind="choices", options=tuple(names))
    labels = label_columns([control])
    kept = within_reach(labels, {column: control}, _uses(table, column, labels, chosen))
    places = {label.name: f"{column}: {label.option}" for label in kept}
    words = {places[one.name]: _words(table, column, one.option, chosen) for one in kept}
    frame = pd.concat([table.frame, pd.DataFrame(words)], axis=1)
    return replace(
        export, table=replace(table, frame=frame),
        notes=(*export.notes, *_notes(column, labels, kept)),
        options={**export.options, "labels": places},
        task=task_of(NAME, {column: control}, kept),
        reason=f"several options of {column} can be chosen, and each is a label",
    )  # fmt: skip


def _answers(table: Table, task: Task, given: Arguments) -> str:
    """Return the column of the answers to the one label; empty if there is none."""
    if given.shapes or len(task.labels) != 1:
        return ""
    found = find_answers(
        table, task, labels=given.labels, label=given.label, value=given.value,
        ledger=Ledger(table),
    )  # fmt: skip
    return "" if found.question else found.by_label.get(task.label_names[0], "")


def _uses(table: Table, column: str, labels: Sequence[Column], chosen: Chosen) -> dict[str, int]:
    """Return how often each option is chosen."""
    counts = table.frame[column].value_counts()
    return {
        label.name: sum(int(counts[c]) for c, options in chosen.items() if label.option in options)
        for label in labels
    }


def _words(table: Table, column: str, option: str, chosen: Chosen) -> "pd.Series[str]":
    """Return whether each row chooses an option; an empty cell answers nothing."""
    words = {
        cell: ("yes" if option in options else "no") if options else ""
        for cell, options in chosen.items()
    }
    return table.frame[column].map(words).astype("str")


def _notes(column: str, labels: Sequence[Column], kept: Sequence[Column]) -> list[Note]:
    """Say which labels there are, and which were left out."""
    names = [label.name for label in kept]
    notes = [
        Note(
            f"several options of {column} can be chosen: each is a label of no and yes "
            f"({listed(names)})",
            code="options-are-labels", level="note", numbers={"labels": len(names)},
        )
    ]  # fmt: skip
    left = [label.name for label in labels if label not in kept]
    if left:
        notes.append(
            Note(
                f"{counted(len(labels), 'label', 'are')} too many to be modelled together, so that "
                f"the rarest are left out: {listed(left)}",
                code="labels-left-out", level="note", numbers={"labels": len(left)},
            )
        )  # fmt: skip
    return notes
