"""States (admissible truth vectors) and responses (admissible answer vectors) of a task.

They hold class codes, or :data:`NOT_ASKED` for a label that the gates close. Both are enumerated
label by label, so that a rule prunes as soon as its labels are set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import TaskError
from assay._util.typing import Bools
from assay.data.rules import NOT_ASKED, Expression
from assay.data.task import Task
from assay.data.task_files import task_from_json

MISSING = -1
"""Code of a missing answer that was, or may have been, asked for."""

Vectors = NDArray[np.int16]


@dataclass(frozen=True, kw_only=True)
class StateSpace:
    """The truth vectors and the answer vectors that a task admits.

    states : truth vectors that obey the hard rules (state, label)
    soft : whether a state breaks each soft rule (state, soft rule)
    paths : complete answer vectors through the gates, without rules (path, label)
    blocked : paths that break a rule that the interface blocks (path,)
    warned : whether a path breaks each rule that the interface warns about (path, warned rule)
    """

    states: Vectors
    state_names: tuple[str, ...]
    soft: Bools
    soft_names: tuple[str, ...]
    paths: Vectors
    blocked: Bools
    warned: Bools
    warned_names: tuple[str, ...]


@lru_cache(maxsize=64)
def _space(key: str) -> StateSpace:
    return _enumerate_space(task_from_json(key))


def free_pairs(task: Task) -> list[tuple[int, int]]:
    """Return the pairs of labels without a gate, or a rule of the interface, between them."""
    acting = [rule for rule in task.rules if rule.response != "off"]
    ties = [frozenset(task.expression(rule.expression).labels) for rule in acting]
    ties += [
        frozenset({la.name, *task.expression(la.asked_if).labels})
        for la in task.labels
        if la.asked_if
    ]
    names = task.label_names
    return [
        (one, other)
        for one, other in combinations(range(len(names)), 2)
        if not any({names[one], names[other]} <= tie for tie in ties)
    ]


def identifies_halo(task: Task) -> bool:
    """Return whether a task of two-class labels has three without gates or interface rules.

    As in a model with one factor, three associations identify the effect on each of three labels.
    """
    if any(len(label.classes) > 2 for label in task.labels):
        return False
    free = set(free_pairs(task))
    return any(
        free.issuperset(combinations(three, 2))
        for three in combinations(range(len(task.labels)), 3)
    )


def state_space(task: Task) -> StateSpace:
    """Enumerate the states and responses of a task whose classes are known.

    Refuse gates in a circle, rules that exclude all states or a class, and too many states.
    """
    return _space(task.to_json())


def _enumerate_space(task: Task) -> StateSpace:
    for label in task.labels:
        if not label.classes:
            raise TaskError(
                f"label {label.name} of task {task.name} takes its classes from the data. "
                "Read ratings with this task first",
                code="open-classes",
            )
    rules = [(rule, task.expression(rule.expression)) for rule in task.rules]
    hard = [e for rule, e in rules if rule.truth == "hard"]
    states = _enumerate(task, hard, what="states")
    if not len(states):
        texts = "; ".join(e.text for e in hard)
        raise TaskError(
            f"the rules of task {task.name} contradict each other, so no state is left: {texts}",
            code="rules-contradict",
        )
    for column, label in enumerate(task.labels):
        for code, name in enumerate(label.classes):
            if not (states[:, column] == code).any():
                raise TaskError(
                    f"the rules and gates of task {task.name} leave no state in which "
                    f"{label.name} is {name}. Remove the class, or soften a rule",
                    code="rules-exclude-class",
                )
    paths = _enumerate(task, [], what="answer vectors")
    blocks = [e for rule, e in rules if rule.response == "block"]
    soft = [(rule.name, e) for rule, e in rules if rule.truth == "soft"]
    warn = [(rule.name, e) for rule, e in rules if rule.response == "warn"]
    blocked = _broken(task, paths, blocks).any(axis=1)
    if blocked.all():
        raise TaskError(
            f"the blocked rules of task {task.name} leave no answer for a rater to give",
            code="rules-block-all",
        )
    return StateSpace(
        states=states,
        state_names=tuple(vector_name(task, s) for s in states),
        soft=_broken(task, states, [e for _, e in soft]),
        soft_names=tuple(n for n, _ in soft),
        paths=paths,
        blocked=blocked,
        warned=_broken(task, paths, [e for _, e in warn]),
        warned_names=tuple(n for n, _ in warn),
    )


def vector_name(task: Task, vector: Sequence[int] | Vectors) -> str:
    """Return a readable name of a vector of class codes."""
    words = []
    for label, code in zip(task.labels, vector, strict=True):
        if code == NOT_ASKED:
            continue
        if code == MISSING:
            words.append(f"{label.name}=?")
        elif label.classes == ("no", "yes"):
            words.append(label.name if code else f"not {label.name}")
        elif len(task.labels) == 1:
            words.append(label.classes[code])
        else:
            words.append(f"{label.name}={label.classes[code]}")
    return ", ".join(words)


def label_order(task: Task) -> list[int]:
    """Return the positions of the labels, each after the labels of its gate."""
    waiting = {
        la.name: set(task.expression(la.asked_if).labels) if la.asked_if else set()
        for la in task.labels
    }
    names, order = list(task.label_names), []
    while waiting:
        ready = [n for n in waiting if not (waiting[n] & waiting.keys())]
        if not ready:
            circle = ", ".join(sorted(waiting))
            raise TaskError(
                f"the gates of task {task.name} form a circle among: {circle}",
                code="gates-in-circle",
            )
        for name in ready:
            order.append(names.index(name))
            del waiting[name]
    return order


def _columns(task: Task, vectors: Vectors) -> dict[str, NDArray[np.integer]]:
    return {name: vectors[:, n] for n, name in enumerate(task.label_names)}


def _broken(task: Task, vectors: Vectors, rules: Sequence[Expression]) -> Bools:
    """Return which vectors break which rules, (vector, rule)."""
    columns = _columns(task, vectors)
    broken = [~rule(columns) for rule in rules]
    return np.stack(broken, axis=1) if broken else np.zeros((len(vectors), 0), bool)


def _enumerate(task: Task, rules: Sequence[Expression], *, what: str) -> Vectors:
    """Return all vectors that pass the gates and obey the rules, in lexical order of the labels."""
    limit = task.max_states
    vectors = np.full((1, len(task.labels)), MISSING, np.int16)
    done: set[str] = set()
    pending = list(rules)
    for column in label_order(task):
        label = task.labels[column]
        asked = np.ones(len(vectors), bool)
        if label.asked_if:
            asked = task.expression(label.asked_if)(_columns(task, vectors))
        closed = vectors[~asked].copy()
        closed[:, column] = NOT_ASKED
        grown = np.repeat(vectors[asked], len(label.classes), axis=0)
        grown[:, column] = np.tile(np.arange(len(label.classes), dtype=np.int16), int(asked.sum()))
        vectors = np.concatenate([closed, grown])
        done.add(label.name)
        ready = [r for r in pending if set(r.labels) <= done]
        pending = [r for r in pending if r not in ready]
        vectors = vectors[~_broken(task, vectors, ready).any(axis=1)]
        if len(vectors) > limit:
            raise TaskError(
                f"task {task.name} has more than {limit} {what}. "
                "Split it into tasks, add rules, or raise max_states in the task file",
                code="too-many-states",
                numbers={"most": limit},
            )
    return vectors[np.lexsort(vectors.T[::-1])]
