"""What gates and blocked rules make of answer vectors; decided once per distinct vector."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from assay._util.grouping import Codes, unique_rows
from assay.data.rules import NOT_ASKED, Expression
from assay.data.states import MISSING, Vectors, label_order, state_space
from assay.data.task import Task

NO_LIKE = ("no", "0", "false", "none")
CLOSED = "answers a question that its own answers close"
BROKEN = "breaks the blocked rule"
CHUNK = 2048


@dataclass(frozen=True, kw_only=True)
class Gated:
    """Answer vectors after the gates.

    Attributes
    ----------
    answers : ndarray of int16 (rating, label)
        ``NOT_ASKED`` where the vector's own answers close the gate.
    contradicts : ndarray of int64 (rating,)
        The first label that is answered although its gate is closed; -1 if none.
    unasked_no : ndarray of int64 (label,)
        How many "no" stood behind a closed gate and were taken as not asked.
    """

    answers: Vectors
    contradicts: Codes
    unasked_no: Codes


def patterns_of(answers: Vectors) -> tuple[Vectors, Codes]:
    """Return the distinct vectors and the position of every vector among them."""
    first, inverse = unique_rows(*answers.T)
    return answers[first], inverse


def apply_gates(task: Task, answers: Vectors) -> Gated:
    """Mark the answers that the gates close.

    An empty answer behind a closed gate becomes ``NOT_ASKED``; so does a first class that is
    spelled like "no", since some exports write the questions that were not asked as 0. Where a
    gate hangs on an answer that is missing, it may be open, and an empty answer stays missing.
    """
    patterns, inverse = patterns_of(answers)
    patterns = patterns.copy()
    contradicts = np.full(len(patterns), -1, np.int64)
    unasked_no = np.zeros(len(task.labels), np.int64)
    weights = np.bincount(inverse, minlength=len(patterns))
    for column in label_order(task):
        label = task.labels[column]
        if not label.asked_if:
            continue
        closed = ~_may_open(task, task.expression(label.asked_if), patterns)
        given = patterns[:, column].copy()
        if label.classes[0].casefold() in NO_LIKE:
            silent = closed & (given == 0)
            unasked_no[column] = weights[silent].sum()
            given[silent] = MISSING
        patterns[closed & (given == MISSING), column] = NOT_ASKED
        wrong = closed & (given >= 0) & (contradicts < 0)
        contradicts[wrong] = column
    return Gated(answers=patterns[inverse], contradicts=contradicts[inverse], unasked_no=unasked_no)


def _may_open(task: Task, gate: Expression, patterns: Vectors) -> NDArray[np.bool_]:
    """Whether some completion of the missing answers opens the gate, for each pattern."""
    columns = [task.label_names.index(name) for name in gate.labels]
    parts, inverse = patterns_of(patterns[:, columns])
    opens = np.zeros(len(parts), bool)
    for n, part in enumerate(parts):
        choices = [
            _completions(task, column) if code == MISSING else [int(code)]
            for column, code in zip(columns, part, strict=True)
        ]
        complete = np.array(list(product(*choices)), np.int16)
        opens[n] = gate(dict(zip(gate.labels, complete.T, strict=True))).any()
    return np.asarray(opens[inverse], bool)


def _completions(task: Task, column: int) -> list[int]:
    """Return what a missing answer may stand for."""
    label = task.labels[column]
    return list(range(len(label.classes))) + [NOT_ASKED] * bool(label.asked_if)


def consistent(vectors: Vectors, patterns: Vectors) -> NDArray[np.bool_]:
    """Whether each complete vector agrees with each pattern where it is not missing.

    Returns
    -------
    ndarray of bool
        (pattern, vector)
    """
    agree = np.ones((len(patterns), len(vectors)), bool)
    for column in range(vectors.shape[1]):
        known = patterns[:, column, None]
        agree &= (known == MISSING) | (known == vectors[None, :, column])
    return agree


def broken_rules(task: Task, answers: Vectors) -> tuple[list[str], Codes]:
    """Say for each distinct answer vector why no rater could record it; ``""`` if one could.

    A vector with missing answers is at fault only if every completion of it is.

    Returns
    -------
    reasons : list of str (vector,)
    vector : ndarray of int (rating,)
        The distinct vector that each rating is.
    """
    space = state_space(task)
    patterns, inverse = patterns_of(answers)
    columns = {name: space.paths[:, n] for n, name in enumerate(task.label_names)}
    blocks = {
        rule.name: ~task.expression(rule.expression)(columns)
        for rule in task.rules
        if rule.response == "block"
    }
    reasons = [""] * len(patterns)
    for start in range(0, len(patterns), CHUNK):
        agree = consistent(space.paths, patterns[start : start + CHUNK])
        possible = (agree & ~space.blocked).any(axis=1)
        for n in np.flatnonzero(~possible):
            reasons[start + n] = _reason(agree[n], blocks)
    return reasons, inverse


def _reason(agree: NDArray[np.bool_], blocks: dict[str, NDArray[np.bool_]]) -> str:
    if not agree.any():
        return CLOSED
    for name, broken in blocks.items():
        if broken[agree].all():
            return f"{BROKEN} {name}"
    return f"{BROKEN}s {', '.join(blocks)} together"


def admitted(task: Task, truth: Vectors) -> NDArray[np.bool_]:
    """Whether some state of the task agrees with each (partly) known truth."""
    states = state_space(task).states
    patterns, inverse = patterns_of(truth)
    parts = [
        consistent(states, patterns[start : start + CHUNK]).any(axis=1)
        for start in range(0, len(patterns), CHUNK)
    ]
    return np.asarray(np.concatenate(parts)[inverse], bool)
