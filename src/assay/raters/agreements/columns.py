"""What was said, coded: a column for each label, and one for the whole answer vector."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import UnknownNameError, suggest
from assay._util.validation import names_given
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, state_space
from assay.data.task import Task

WHOLE = "all labels"
"""Name of the column that holds whole answer vectors."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """Answers to one question, as classes from 0 on.

    Attributes
    ----------
    name : str
        A label, or ``WHOLE``.
    codes : ndarray of int (row,)
        Class of each row, -1 where the row says nothing about the question.
    classes : int
        Number of different codes that may occur.
    scale : int
        Number of classes that a rater could choose from.
    ordered : bool
    """

    name: str
    codes: Ints
    classes: int
    scale: int
    ordered: bool = False


def column_names(task: Task, labels: Sequence[str] | str | None) -> list[str]:
    """Return the columns that were asked for: by default all labels, and their whole vector.

    Raises
    ------
    UnknownNameError
        If a name is neither a label of the task nor ``WHOLE``.
    """
    valid = [*task.label_names, WHOLE]
    if labels is None:
        # With one label, the whole vector is that label.
        return valid if len(task.labels) > 1 else valid[:1]
    chosen = names_given("labels", labels, what="label")
    for name in chosen:
        if name not in valid:
            raise UnknownNameError(
                f"labels: {name!r} is no label of task {task.name}; {suggest(name, valid)}",
                code="unknown-label",
            )
    return chosen


def build_columns(task: Task, answers: Vectors, names: Sequence[str]) -> list[Column]:
    """Code the answers (row, label) to each of some questions.

    Examples
    --------
    >>> from assay.data.task_files import load_task
    >>> answers = np.array([[0, 1, 1], [1, NOT_ASKED, NOT_ASKED], [0, MISSING, MISSING]], np.int16)
    >>> for column in build_columns(load_task("ais"), answers, ["interpretable", WHOLE]):
    ...     print(column.name, column.codes)
    interpretable [ 1 -1 -1]
    all labels [ 0  1 -1]
    """
    return [_whole(task, answers) if n == WHOLE else _label(task, answers, n) for n in names]


def _label(task: Task, answers: Vectors, name: str) -> Column:
    """Code one label. Raters whom their own answers spared the question do not count."""
    place = task.label_names.index(name)
    label = task.labels[place]
    count = len(label.classes)
    codes = np.maximum(answers[:, place], -1).astype(np.int64)
    return Column(name=name, codes=codes, classes=count, scale=count, ordered=label.ordered)


def _whole(task: Task, answers: Vectors) -> Column:
    """Code whole answer vectors: complete ones, in which "not asked" is an answer of its own."""
    complete = (answers != MISSING).all(axis=1)
    codes = np.full(len(answers), -1, np.int64)
    if not answers.shape[1]:
        return Column(name=WHOLE, codes=codes, classes=1, scale=1)
    found, codes[complete] = _distinct(answers[complete])
    space = state_space(task)
    return Column(name=WHOLE, codes=codes, classes=max(found, 1), scale=int((~space.blocked).sum()))


def _distinct(vectors: Vectors) -> tuple[int, Ints]:
    """Return how many vectors differ, and which of them each is."""
    number = np.zeros(len(vectors), np.int64)
    for column in vectors.T:
        # From 0 on and dense, so that the number of a long vector does not overflow.
        digits = column.astype(np.int64) - min(NOT_ASKED, MISSING)
        number = number * (int(digits.max(initial=0)) + 1) + digits
        number = np.unique(number, return_inverse=True)[1].ravel()
    return int(number.max(initial=-1)) + 1, number
