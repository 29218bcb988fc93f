"""Classes that are numbers with decimal commas, such as the grades 1,0 and 1,5."""

from collections.abc import Sequence

import pandas as pd

from assay._util.errors import Note
from assay.data.class_words import NUMBER, canonical
from assay.data.task import Task
from assay.io.answers import AnswerColumns
from assay.io.cells import DECIMAL_COMMA, EMPTY
from assay.io.reading_log import Ledger
from assay.io.tables import Table


def words_with_points(
    table: Table, columns: AnswerColumns, task: Task, ledger: Ledger
) -> dict[str, dict[str, str]]:
    """Return answers with decimal commas, by label, with the points that they stand for.

    Answers that may be two options, such as ``1,2``, are left as they are.
    """
    found: dict[str, dict[str, str]] = {}
    for label in task.labels:
        column = columns.by_label.get(label.name, columns.value if len(task.labels) == 1 else "")
        if not column or any("," in name for name in label.classes):
            continue
        words = [str(word).strip() for word in pd.unique(table.frame[column])]
        pointed = {w: w.replace(",", ".") for w in words if DECIMAL_COMMA.fullmatch(w)}
        if not pointed or not _are_decimals(words, list(pointed)):
            continue
        found[label.name] = pointed
        text = f"column {column} has decimal commas"
        ledger.note(Note(text, code="decimal-commas", level="note"))
    return found


def _are_decimals(words: Sequence[str], commas: Sequence[str]) -> bool:
    """Whether all answers are numbers, and those with a comma cannot be two options each.

    Examples
    --------
    >>> _are_decimals(["1,0", "1,5", "2"], ["1,0", "1,5"]), _are_decimals(["1,2", "3"], ["1,2"])
    (True, False)
    """
    others = [w for w in words if w not in commas and canonical(w) not in EMPTY]
    if not all(NUMBER.fullmatch(word) for word in others):
        return False
    parts = [word.strip("+-%").split(",") for word in commas]
    return any(len(after) > 1 or int(after) <= int(before) for before, after in parts)
