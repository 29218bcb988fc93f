"""Words of a file that stand for a class: classes={"label": {"word": "class"}}."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from assay.errors import suggest
from assay.reading.answer_columns import AnswerColumns
from assay.reading.ledger import Ledger
from assay.reading.names import squash
from assay.reading.table import Table
from assay.reading.values import canonical
from assay.task import Label, Task

Words = Mapping[str, Mapping[str, str]]


def check_words(given: object, task: Task, ledger: Ledger) -> Words:
    """Return the class that each word stands for, by label; what is wrong is a problem."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        ledger.problem(
            f"classes= must be a dict like {{label: {{word: class}}}}, not {given!r}",
        )
        return {}
    found = {}
    by_name = {label.name: label for label in task.labels}
    for name, words in given.items():
        if name not in by_name:
            ledger.problem(
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
        if text and known and canonical(text) not in known:
            ledger.problem(
                f"classes= turns {word!r} into {text!r}, which is no class of {label.name}",
                mend=suggest(text, label.classes),
            )
            continue
        found[canonical(str(word))] = known.get(canonical(text), text)
    return found


def apply_words(
    table: Table, columns: AnswerColumns, words: Words, ledger: Ledger | None = None
) -> Table:
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
        idle = [word for word in classes if word not in known]
        if idle and ledger is not None:
            ledger.note(f"classes= names {', '.join(idle)}, which no answer to {label} says")
        new = np.array([classes.get(k, v) for k, v in zip(known, distinct, strict=True)], object)
        frame[column] = frame[column].where(~rows, pd.Series(new[raw], dtype="str"))
    return replace(table, frame=frame)
