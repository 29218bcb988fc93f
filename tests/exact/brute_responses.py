"""States, answer vectors and P(answers | state) a second time: plain loops over completions."""

import math
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from brute_confusions import Confusion

from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.data.task_files import task_from_json

MISSING, NOT_ASKED = -1, -2
Vector = tuple[int, ...]
Residual = Callable[[Vector, Vector], float]
"""Log odds of an option beyond the confusions, given the state."""


def holds(task: Task, text: str, vector: Vector) -> bool:
    """Whether a rule holds for one vector."""
    codes = {name: np.array([code]) for name, code in zip(task.label_names, vector, strict=True)}
    return bool(task.expression(text)(codes)[0])


def paths(task: Task) -> list[Vector]:
    """Every complete vector that the gates let through."""
    return list(_paths(task.to_json()))


@cache
def _paths(key: str) -> tuple[Vector, ...]:
    task = task_from_json(key)
    choices = [[NOT_ASKED, *range(len(la.classes))] for la in task.labels]
    return tuple(
        v
        for v in product(*choices)
        if all(
            (code != NOT_ASKED) == (not la.asked_if or holds(task, la.asked_if, v))
            for la, code in zip(task.labels, v, strict=True)
        )
    )


@cache
def obeying_paths(key: str, text: str) -> frozenset[Vector]:
    return frozenset(v for v in _paths(key) if holds(task_from_json(key), text, v))


def states(task: Task) -> list[Vector]:
    """Every path that obeys the hard rules."""
    return list(_states(task.to_json()))


@cache
def _states(key: str) -> tuple[Vector, ...]:
    rules = [r.expression for r in task_from_json(key).rules if r.truth == "hard"]
    return tuple(v for v in _paths(key) if all(v in obeying_paths(key, r) for r in rules))


class Rater:
    """P(answers | state) of one rater, by enumeration of what could have been answered."""

    def __init__(
        self,
        ratings: Ratings,
        confusion: Confusion,
        values: dict,
        *,
        unasked: str = "unasked",
        residual: Residual = lambda state, option: 0.0,
    ) -> None:
        self.task, self.partial, self.resolve = ratings.task, ratings.partial, ratings.resolve
        self.confusion, self.residual = confusion, residual
        self.unasked = {
            n: values[f"{unasked}_{la.name}"]
            for n, la in enumerate(self.task.labels)
            if la.asked_if
        }
        obeying = {r: obeying_paths(self.task.to_json(), r.expression) for r in self.task.rules}
        warned = [v for r, v in obeying.items() if r.response == "warn"]
        self.warned = list(zip(warned, values.get("warn_omega", []), strict=True))
        self.block = [v for r, v in obeying.items() if r.response == "block"]
        self.paths = paths(self.task)
        self.cache: dict = {}
        self.options: dict = {}

    def factor(self, label: int, true: int, reported: int) -> float:
        """Chance of one answer; 1 if there is none."""
        if reported < 0:
            return 1.0
        if true == NOT_ASKED:
            return float(self.unasked[label][reported])
        return float(self.confusion[label][true][reported])

    def menu(self, state: Vector, answered: Vector) -> dict[Vector, float]:
        """What ends up recorded on the labels that are answered, with its probability."""
        if (state, answered) not in self.cache:
            self.cache[state, answered] = self._menu(state, answered)
        return self.cache[state, answered]

    def ruled(self, answered: Vector) -> dict[Vector, tuple[float, bool]]:
        """What can be recorded on the labels that are answered: what warnings leave, if blocked."""
        extensions: dict[Vector, list[Vector]] = {}
        for path in self.paths:
            shown = tuple(c if a else MISSING for c, a in zip(path, answered, strict=True))
            extensions.setdefault(shown, []).append(path)
        found = {}
        for option, longer in extensions.items():
            left = 1.0
            for obeying, omega in self.warned:
                if not any(v in obeying for v in longer):
                    left *= omega
            blocked = not any(all(v in rule for rule in self.block) for v in longer)
            found[option] = (left, blocked)
        return found

    def _menu(self, state: Vector, answered: Vector) -> dict[Vector, float]:
        if answered not in self.options:
            self.options[answered] = self.ruled(answered)
        raw, blocked = {}, {}
        for option, (left, blocked[option]) in self.options[answered].items():
            chance = math.prod(self.factor(n, state[n], y) for n, y in enumerate(option))
            raw[option] = chance * left * math.exp(self.residual(state, option))
        if self.resolve == "retry":
            kept = {v: p for v, p in raw.items() if not blocked[v]}
            return {v: p / math.fsum(kept.values()) for v, p in kept.items()}
        total = math.fsum(raw.values())
        recorded = {v: 0.0 for v in raw if not blocked[v]}
        for option, chance in raw.items():
            nearest = _nearest(option, tuple(recorded))
            for v in nearest:
                recorded[v] += chance / total / len(nearest)
        return recorded

    def probability(self, answer: Vector, state: Vector) -> float:
        """P(answer | state): lost answers are summed over, drafts stand for themselves."""
        if all(a == MISSING for a in answer):
            return 1.0
        if self.partial == "draft":
            return self.menu(state, tuple(a != MISSING for a in answer))[answer]
        whole = self.menu(state, (True,) * len(answer))
        return math.fsum(
            p
            for v, p in whole.items()
            if all(a in (MISSING, b) for a, b in zip(answer, v, strict=True))
        )


class Mixture:
    """A rater whose ratings are of several kinds, each as a whole."""

    def __init__(self, kinds: list[tuple[float, Rater]]) -> None:
        self.kinds = kinds

    def menu(self, state: Vector, answered: Vector) -> dict[Vector, float]:
        """What ends up recorded on the labels that are answered, with its probability."""
        menus = [(weight, rater.menu(state, answered)) for weight, rater in self.kinds]
        every = {option for _, menu in menus for option in menu}
        return {v: math.fsum(w * menu.get(v, 0.0) for w, menu in menus) for v in sorted(every)}

    def probability(self, answer: Vector, state: Vector) -> float:
        """P(answer | state)."""
        return math.fsum(w * rater.probability(answer, state) for w, rater in self.kinds)


@cache
def _nearest(option: Vector, admitted: tuple[Vector, ...]) -> list[Vector]:
    changes = {v: sum(a != b for a, b in zip(v, option, strict=True)) for v in admitted}
    fewest = min(changes.values())
    return [v for v in admitted if changes[v] == fewest]
