"""The model a second time, slowly: plain loops over states, answer vectors and completions.

Nothing here comes from the package but the task, its rule expressions and the data. Parameters are
looked up by their names in the fitted posterior, so that a wrong index or a wrong name shows.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
from brute_confusions import Confusion, confusions
from scipy.integrate import quad

from assay.model import Structure
from assay.ratings import Ratings
from assay.task import Task, task_from_json

MISSING, NOT_ASKED = -1, -2
BEND = 2.5
Vector = tuple[int, ...]


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
def _obeying(key: str, text: str) -> frozenset[Vector]:
    return frozenset(v for v in _paths(key) if holds(task_from_json(key), text, v))


def states(task: Task) -> list[Vector]:
    """Every path that obeys the hard rules."""
    hard = [_obeying(task.to_json(), r.expression) for r in task.rules if r.truth == "hard"]
    return [v for v in paths(task) if all(v in obeying for obeying in hard)]


# -- responses ---------------------------------------------------------------------------------


class Rater:
    """P(answers | state) of one rater, by enumeration of what could have been answered."""

    def __init__(self, ratings: Ratings, confusion: Confusion, values: dict) -> None:
        self.task, self.partial, self.resolve = ratings.task, ratings.partial, ratings.resolve
        self.confusion = confusion
        self.unasked = {
            n: values[f"unasked_{la.name}"] for n, la in enumerate(self.task.labels) if la.asked_if
        }
        obeying = {r: _obeying(self.task.to_json(), r.expression) for r in self.task.rules}
        warned = [v for r, v in obeying.items() if r.response == "warn"]
        self.warned = list(zip(warned, values.get("warn_omega", []), strict=True))
        self.block = [v for r, v in obeying.items() if r.response == "block"]
        self.paths = paths(self.task)
        self.cache: dict = {}

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

    def _menu(self, state: Vector, answered: Vector) -> dict[Vector, float]:
        extensions: dict[Vector, list[Vector]] = {}
        for path in self.paths:
            shown = tuple(c if a else MISSING for c, a in zip(path, answered, strict=True))
            extensions.setdefault(shown, []).append(path)
        raw, blocked = {}, {}
        for option, longer in extensions.items():
            chance = math.prod(self.factor(n, state[n], y) for n, y in enumerate(option))
            for obeying, omega in self.warned:
                if not any(v in obeying for v in longer):
                    chance *= omega
            raw[option] = chance
            blocked[option] = not any(all(v in rule for rule in self.block) for v in longer)
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


@cache
def _nearest(option: Vector, admitted: tuple[Vector, ...]) -> list[Vector]:
    changes = {v: sum(a != b for a, b in zip(v, option, strict=True)) for v in admitted}
    fewest = min(changes.values())
    return [v for v in admitted if changes[v] == fewest]


# -- prevalence --------------------------------------------------------------------------------


def corner(classes: int, code: int) -> list[float]:
    """Coordinates of a class: corners of a simplex with edges of length 1, centred at 0."""
    if code == NOT_ASKED:
        return [0.0] * (classes - 1)
    found = []
    for j in range(1, classes):
        size = math.sqrt(2 * j * (j + 1))
        found.append(-1 / size if code < j else (j / size if code == j else 0.0))
    return found


def terms(task: Task, state: Vector) -> dict[str, float]:
    """Coordinates of a state by the names of the main effects."""
    found = {}
    for la, code in zip(task.labels, state, strict=True):
        values = corner(len(la.classes), code)
        single = len(values) == 1
        for n, value in enumerate(values, start=1):
            found[la.name if single else f"{la.name}[{n}]"] = value
    return found


def contexts(structure: Structure) -> list[dict[str, dict[str, float]]]:
    """Which share of each item's places belongs to each level of each effect."""
    ratings, found = structure.ratings, []
    columns = {
        "system": ratings.panels["system"],
        "rank": ratings.panels["rank"],
        "stratum": ratings.panels["item"].map(lambda i: ratings.items["stratum"].iloc[i]),
    }
    varying = {name: list(c) for name, c in columns.items() if len(set(c)) > 1}
    for i in range(len(ratings.items)):
        here = [n for n, item in enumerate(ratings.panels["item"]) if item == i]
        shares: dict[str, dict[str, float]] = {}
        for name, column in varying.items():
            shares[name] = {}
            for n in here:
                level = str(column[n])
                shares[name][level] = shares[name].get(level, 0.0) + 1 / len(here)
        found.append(shares)
    return found


class Scores:
    """Log-linear predictor of each state of an item: intercepts and slopes in u."""

    def __init__(self, structure: Structure, values: dict, shares: dict[str, dict[str, float]]):
        task = structure.ratings.task
        coords = {p.name: p.coords for p in structure.parameters()}
        self.intercept, self.slope = [], []
        for state in states(task):
            x = terms(task, state)
            names = list(coords["main"]["term"])
            total = math.fsum(x[t] * b for t, b in zip(names, values["main"], strict=True))
            for pair, z in zip(
                coords["main"]["pair"], values.get("interaction_offset", []), strict=True
            ):
                first, second = pair.split(":")
                total += values["interaction_sd"] * z * x[first] * x[second]
            for effect, share in shares.items():
                levels = list(coords[f"{effect}_offset"][effect])
                for level, part in share.items():
                    offset = values[f"{effect}_offset"][levels.index(level)]
                    scale = values[f"{effect}_sd"] * part
                    total += scale * math.fsum(x[t] * o for t, o in zip(names, offset, strict=True))
            soft = [r.expression for r in task.rules if r.truth == "soft"]
            for text, kappa in zip(soft, values.get("penalty", []), strict=True):
                total -= kappa * (state not in _obeying(task.to_json(), text))
            asked = [la for la, c in zip(task.labels, state, strict=True) if c != NOT_ASKED]
            total -= math.fsum(math.log(len(la.classes)) for la in asked)
            loading = values.get("cluster_loading", [0.0] * len(names))
            self.intercept.append(total)
            self.slope.append(math.fsum(x[t] * w for t, w in zip(names, loading, strict=True)))

    def __call__(self, u: float) -> list[float]:
        """Probabilities of the states at one value of the cluster effect."""
        score = [a + b * u for a, b in zip(self.intercept, self.slope, strict=True)]
        top = max(score)
        odds = [math.exp(s - top) for s in score]
        total = math.fsum(odds)
        return [o / total for o in odds]


def prevalences(structure: Structure, values: dict) -> list[Callable[[float], list[float]]]:
    """Prevalence of each item as a function of its cluster's effect."""
    shares = contexts(structure)
    if structure.spec.prevalence == "dirichlet":
        systems = structure.ratings.systems
        table = values["state_share"]

        def mixed(share: dict[str, dict[str, float]]) -> list[float]:
            parts = share.get("system", {"all": 1.0})
            rows = {s: table[systems.index(s) if len(systems) > 1 else 0] for s in parts}
            return [math.fsum(parts[s] * rows[s][k] for s in parts) for k in range(table.shape[1])]

        return [lambda u, p=p: p for p in map(mixed, shares)]
    made: dict[str, Scores] = {}
    for share in shares:
        made.setdefault(repr(share), Scores(structure, values, share))
    return [made[repr(share)] for share in shares]


# -- the likelihood ----------------------------------------------------------------------------


def evidence(structure: Structure, values: dict) -> list[list[float]]:
    """P(ratings of the item, known truth | state): [item][state]."""
    ratings = structure.ratings
    raters = [Rater(ratings, c, values) for c in confusions(structure, values)]
    table = []
    for i, known in enumerate(ratings.truth):
        row = []
        for state in states(ratings.task):
            possible = all(k in (MISSING, s) for k, s in zip(known, state, strict=True))
            chance = float(possible)
            for n in np.flatnonzero(ratings.item == i) if possible else ():
                answer = tuple(int(a) for a in ratings.answers[n])
                chance *= raters[ratings.rater[n]].probability(answer, state)
            row.append(chance)
        table.append(row)
    return table


def clusters(structure: Structure) -> list[list[int]]:
    """Items of each cluster, in the order in which clusters appear; an item each without effect."""
    names = list(structure.ratings.items["cluster"])
    if not structure.prevalence.has_clusters:
        return [[i] for i in range(len(names))]
    return [[i for i, n in enumerate(names) if n == name] for name in dict.fromkeys(names)]


def log_likelihoods(structure: Structure, values: dict, *, adaptive: bool = False) -> list[float]:
    """Log-likelihood of each cluster.

    The cluster effect is summed over the model's own nodes, or integrated adaptively.
    """
    given, prior = evidence(structure, values), prevalences(structure, values)

    def at(u: float, items: list[int]) -> float:
        return math.prod(
            math.fsum(p * e for p, e in zip(prior[i](u), given[i], strict=True)) for i in items
        )

    found = []
    for items in clusters(structure):
        if not structure.prevalence.has_clusters:
            found.append(math.log(at(0.0, items)))
        elif adaptive:
            found.append(math.log(_integral(lambda u, items=items: at(u, items))))
        else:
            found.append(math.log(math.fsum(w * at(u, items) for u, w in nodes(structure))))
    return found


def nodes(structure: Structure) -> Iterator[tuple[float, float]]:
    """Nodes of the model's quadrature; weights are density times spacing, adding up to 1."""
    where = [float(u) for u in structure.prevalence.design.nodes]
    density = [math.exp(-u * u / 2) * math.hypot(1, u / BEND) for u in where]
    total = math.fsum(density)
    return zip(where, [d / total for d in density], strict=True)


def _integral(function: Callable[[float], float]) -> float:
    """Integrate against the standard normal density, piece by piece."""
    scale = max(function(u / 4) for u in range(-32, 33)) or 1.0

    def weighted(u: float) -> float:
        return function(u) / scale * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)

    pieces = [quad(weighted, a, a + 2, epsabs=1e-15, epsrel=1e-12)[0] for a in range(-12, 12, 2)]
    return math.fsum(pieces) * scale


def state_probabilities(structure: Structure, values: dict) -> np.ndarray:
    """Posterior probabilities of the states by Bayes' rule: (item, state)."""
    given, prior = evidence(structure, values), prevalences(structure, values)
    found = np.zeros((len(given), len(given[0])))
    here = list(nodes(structure)) if structure.prevalence.has_clusters else [(0.0, 1.0)]
    for items in clusters(structure):
        for u, w in here:
            joint = {i: [p * e for p, e in zip(prior[i](u), given[i], strict=True)] for i in items}
            for i in items:
                others = math.prod(math.fsum(joint[k]) for k in items if k != i)
                found[i] += [w * others * j for j in joint[i]]
    return found / found.sum(axis=1, keepdims=True)
