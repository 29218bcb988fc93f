"""Words in answers that the caller says the class of."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

import numpy as np
import pandas as pd

from assay._util.errors import suggest
from assay.data.class_words import canonical
from assay.data.task import Label, Task
from assay.io.answers import AnswerColumns
from assay.io.names import squash
from assay.io.reading_log import Ledger
from assay.io.tables import Table

WITHOUT_WORDS = {"classes": None}
"""Arguments to continue with if ``classes=`` is wrong."""
Words = Mapping[str, Mapping[str, str]]
OPEN = "..."
"""Placeholder in proposals for a class that the user must fill in."""


def check_words(given: object, task: Task, ledger: Ledger) -> Words:
    """Return the class of each word, by label; errors become problems."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        ledger.problem(
            "argument-type",
            f"`classes=` must be a dict like {{label: {{word: class}}}}, not {given!r}",
            go_on=WITHOUT_WORDS,
        )
        return {}
    found = {}
    by_name = {label.name: label for label in task.labels}
    for name, words in given.items():
        if name not in by_name:
            ledger.problem(
                "unknown-label",
                f"`classes=` names {name!r}, which is no label of task {task.name}",
                mend=suggest(str(name), task.label_names),
                go_on=WITHOUT_WORDS,
            )
        else:
            found[str(name)] = _checked(by_name[name], words, ledger)
    return found


def _checked(label: Label, words: Mapping[object, object], ledger: Ledger) -> dict[str, str]:
    """Check the classes of words; an empty class means no answer."""
    known = {canonical(c): c for c in label.classes}
    found = {}
    for word, name in words.items():
        text = "" if name is None else str(name).strip()
        if text == OPEN:
            ledger.problem(
                "unknown-class",
                f"`classes=` leaves open what {word!r} means",
                mend=f"write the class of {label.name} in the place of {OPEN}",
                go_on={"classes": {label.name: {word: ""}}},
            )
            continue
        if text and known and canonical(text) not in known:
            near = get_close_matches(text, label.classes, n=1)
            ledger.problem(
                "unknown-class",
                f"`classes=` turns {word!r} into {text!r}, which is no class of {label.name}",
                mend=suggest(text, label.classes),
                go_on={"classes": {label.name: {word: near[0] if near else ""}}},
            )
            continue
        found[canonical(str(word))] = known.get(canonical(text), text)
    return found


def note_idle_words(words: Words, said: Sequence[Mapping[str, set[str]]], ledger: Ledger) -> None:
    """Note given words that neither the answers nor the truth (``said``) contain."""
    for label, classes in words.items():
        found = [part[label] for part in said if label in part]
        idle = [word for word in classes if found and word not in set().union(*found)]
        if idle:
            ledger.note(f"`classes=` names {', '.join(idle)}, which no answer to {label} says")


def words_written(
    table: Table, columns: AnswerColumns, labels: Sequence[str]
) -> dict[str, list[str]]:
    """Return the words in the columns of these labels, as the file writes them."""
    held = {label: columns.by_label.get(label, columns.value) for label in labels}
    return {
        label: [str(word).strip() for word in pd.unique(table.frame[column])]
        for label, column in held.items()
        if column
    }


def words_said(table: Table, columns: AnswerColumns, words: Words) -> dict[str, set[str]]:
    """Return the words in the columns of these labels, in canonical form."""
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
    """Replace words in the columns of answers."""
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
