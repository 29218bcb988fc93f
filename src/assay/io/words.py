"""Words of a file that stand for a class: classes={"label": {"word": "class"}}."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from assay._util.errors import suggest
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.answer_columns import AnswerColumns
from assay.io.ledger import Ledger
from assay.io.names import squash
from assay.io.tables import Table

Words = Mapping[str, Mapping[str, str]]
OPEN = "..."
"""What stands in proposals for a class that the user has to fill in."""


def check_words(given: object, task: Task, ledger: Ledger) -> Words:
    """Return the class that each word stands for, by label; what is wrong is a problem."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        ledger.problem(
            "argument-type",
            f"classes= must be a dict like {{label: {{word: class}}}}, not {given!r}",
        )
        return {}
    found = {}
    by_name = {label.name: label for label in task.labels}
    for name, words in given.items():
        if name not in by_name:
            ledger.problem(
                "unknown-label",
                f"classes= names {name!r}, which is no label of task {task.name}",
                mend=suggest(str(name), task.label_names),
            )
        else:
            found[str(name)] = _checked(by_name[name], words, ledger)
    return found


def _checked(label: Label, words: Mapping[object, object], ledger: Ledger) -> dict[str, str]:
    """Look the classes up; an empty class means no answer. Classes from the data are free."""
    known = {canonical(c): c for c in label.classes}
    found = {}
    for word, name in words.items():
        text = "" if name is None else str(name).strip()
        if text == OPEN:
            ledger.problem(
                "unknown-class",
                f"classes= leaves open what {word!r} means",
                mend=f"write the class of {label.name} in the place of {OPEN}",
            )
            continue
        if text and known and canonical(text) not in known:
            ledger.problem(
                "unknown-class",
                f"classes= turns {word!r} into {text!r}, which is no class of {label.name}",
                mend=suggest(text, label.classes),
            )
            continue
        found[canonical(str(word))] = known.get(canonical(text), text)
    return found


def note_idle_words(words: Words, said: Sequence[Mapping[str, set[str]]], ledger: Ledger) -> None:
    """Note the words that neither an answer nor the truth says.

    Parameters
    ----------
    words : mapping
        The words that are given, by label.
    said : sequence of mapping of str to set of str
        What the answers and the truth say, by label (see :func:`words_said`).
    ledger : Ledger
    """
    for label, classes in words.items():
        found = [part[label] for part in said if label in part]
        idle = [word for word in classes if found and word not in set().union(*found)]
        if idle:
            ledger.note(f"classes= names {', '.join(idle)}, which no answer to {label} says")


def words_said(table: Table, columns: AnswerColumns, words: Words) -> dict[str, set[str]]:
    """Return what the columns of some labels say, as words are looked up."""
    found = {}
    for label in words:
        column = columns.by_label.get(label, columns.value)
        if column:
            cells = table.frame[column]
            if columns.question:
                cells = cells[table.frame[columns.question].map(squash) == squash(label)]
            found[label] = {canonical(str(word)) for word in pd.unique(cells)}
    return found


def apply_words(table: Table, columns: AnswerColumns, words: Words) -> Table:
    """Return the table with the words replaced in the columns of answers."""
    if not words:
        return table
    frame = table.frame.copy()
    for label, classes in words.items():
        column = columns.by_label.get(label, columns.value)
        if not column:
            continue
        rows = np.ones(len(frame), bool)
        if columns.question:
            rows = (frame[columns.question].map(squash) == squash(label)).to_numpy(bool)
        raw, distinct = pd.factorize(frame[column])
        known = [canonical(str(word)) for word in distinct]
        new = np.array([classes.get(k, v) for k, v in zip(known, distinct, strict=True)], object)
        frame[column] = frame[column].where(~rows, pd.Series(new[raw], dtype="str"))
    return replace(table, frame=frame)
