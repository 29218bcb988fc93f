"""Skip logic: effects of gates and rules on answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Ints
from assay.data.rules import NOT_ASKED, Expression
from assay.data.states import MISSING, Vectors, label_order, state_space
from assay.data.task import Task

NO_LIKE = ("no", "0", "false", "none")
CLOSED = "answers a question that its own answers close"
BROKEN = "breaks the blocked rule"
CHUNK = 2048


@dataclass(frozen=True, kw_only=True)
class Gated:
    """Answers after the gates.

    answers : ``NOT_ASKED`` where the rating's own answers close the gate (rating, label)
    contradicts : first label answered behind a closed gate; -1 if none (rating)
    unasked_no : number of "no" behind a closed gate, read as not asked (label)
    """

    answers: Vectors
    contradicts: Ints
    unasked_no: Ints


def patterns_of(answers: Vectors) -> tuple[Vectors, Ints]:
    """Return the distinct vectors, and the position of every vector among them."""
    first, inverse = unique_rows(*answers.T)
    return answers[first], inverse


def apply_gates(task: Task, answers: Vectors) -> Gated:
    """Mark the answers that gates close: empty ones, and first classes spelled like "no". A gate
    that depends on a missing answer may be open.
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


def _may_open(task: Task, gate: Expression, patterns: Vectors) -> Bools:
    """Whether some completion of the missing answers opens the gate, for each pattern."""
    columns = [task.label_names.index(name) for name in gate.labels]
    parts, inverse = patterns_of(patterns[:, columns])
    opens = np.zeros(len(parts), bool)
    for n, part in enumerate(parts):
        choices = [
            [*range(len(label.classes)), *[NOT_ASKED] * bool(label.asked_if)]
            if code == MISSING
            else [int(code)]
            for label, code in zip((task.labels[n] for n in columns), part, strict=True)
        ]
        complete = np.array(list(product(*choices)), np.int16)
        opens[n] = gate(dict(zip(gate.labels, complete.T, strict=True))).any()
    return np.asarray(opens[inverse], bool)


def consistent(vectors: Vectors, patterns: Vectors) -> Iterator[tuple[int, Bools]]:
    """Yield for chunks of patterns whether complete vectors agree with them where they are known.

    A chunk has its first pattern, and (pattern, vector).
    """
    for start in range(0, len(patterns), CHUNK):
        chunk = patterns[start : start + CHUNK]
        agree = np.ones((len(chunk), len(vectors)), bool)
        for column in range(vectors.shape[1]):
            known = chunk[:, column, None]
            agree &= (known == MISSING) | (known == vectors[None, :, column])
        yield start, agree


def broken_rules(task: Task, answers: Vectors) -> tuple[list[str], Ints]:
    """Return why each distinct answer vector (each completion of it) is impossible, else ``""``,
    and the vector of each rating.
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
    for start, agree in consistent(space.paths, patterns):
        possible = (agree & ~space.blocked).any(axis=1)
        for n in np.flatnonzero(~possible):
            reasons[start + n] = _reason(agree[n], blocks)
    return reasons, inverse


def _reason(agree: Bools, blocks: dict[str, Bools]) -> str:
    if not agree.any():
        return CLOSED
    for name, broken in blocks.items():
        if broken[agree].all():
            return f"{BROKEN} {name}"
    return f"{BROKEN}s {', '.join(blocks)} together"


def admitted(task: Task, truth: Vectors) -> Bools:
    """Whether some state of the task agrees with each (partly) known truth."""
    states = state_space(task).states
    patterns, inverse = patterns_of(truth)
    parts = [agree.any(axis=1) for _, agree in consistent(states, patterns)]
    return np.asarray(np.concatenate(parts)[inverse], bool)
