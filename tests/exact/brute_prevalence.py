"""The prevalence of each item a second time: log-linear scores, state by state."""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

from brute_responses import NOT_ASKED, Vector, obeying_paths, states

from assay.data.task import Task
from assay.modelling.parameters import Parameter
from assay.modelling.structure import Structure

BEND = 2.5


@lru_cache(maxsize=1)
def unknowns(structure: Structure) -> tuple[Parameter, ...]:
    """Parameters of a model: the loops ask for their names again and again."""
    return tuple(structure.parameters())


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


FORMULA = "~ length + language + (1 | source)"
"""The one formula whose columns :func:`shifts` makes by hand."""


def shifts(structure: Structure, values: dict) -> list[dict[str, float]]:
    """What the covariates of each item add to the main effects, by term."""
    items = structure.ratings.items
    if structure.spec.formula is None:
        return [{} for _ in range(len(items))]
    assert structure.spec.formula == FORMULA
    terms = next(p for p in unknowns(structure) if p.name == "main").coords["term"]
    languages, sources = sorted(set(items["language"])), sorted(set(items["source"]))
    lengths = [float(x) for x in items["length"]]
    mean = math.fsum(lengths) / len(lengths)
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in lengths) / len(lengths))
    found = []
    for i in range(len(items)):
        column = [(lengths[i] - mean) / sd]
        for language in languages[1:]:
            same = [name == language for name in items["language"]]
            column.append(same[i] - sum(same) / len(same))
        source = sources.index(items["source"].iloc[i])
        by_source = values["by_source_sd"] * values["by_source_offset"][source]
        by_column = [c * b for c, b in zip(column, values["coefficient"], strict=True)]
        added = [math.fsum(parts) for parts in zip(*by_column, by_source, strict=True)]
        found.append(dict(zip(terms, added, strict=True)))
    return found


class Scores:
    """Log-linear predictor of each state of an item: intercepts and slopes in u."""

    def __init__(
        self,
        structure: Structure,
        values: dict,
        shares: dict[str, dict[str, float]],
        shift: dict[str, float] | None = None,
    ):
        task = structure.ratings.task
        coords = {p.name: p.coords for p in unknowns(structure)}
        self.intercept, self.slope = [], []
        self.cache: dict[float, list[float]] = {}
        for state in states(task):
            x = terms(task, state)
            names = list(coords["main"]["term"])
            total = math.fsum(x[t] * b for t, b in zip(names, values["main"], strict=True))
            total += math.fsum(x[t] * (shift or {}).get(t, 0.0) for t in names)
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
                total -= kappa * (state not in obeying_paths(task.to_json(), text))
            asked = [la for la, c in zip(task.labels, state, strict=True) if c != NOT_ASKED]
            total -= math.fsum(math.log(len(la.classes)) for la in asked)
            loading = values.get("cluster_loading", [0.0] * len(names))
            self.intercept.append(total)
            self.slope.append(math.fsum(x[t] * w for t, w in zip(names, loading, strict=True)))

    def __call__(self, u: float) -> list[float]:
        """Probabilities of the states at one value of the cluster effect."""
        if u not in self.cache:
            self.cache[u] = self.at(u)
        return self.cache[u]

    def at(self, u: float) -> list[float]:
        """Probabilities of the states, of odds that a state has by its score."""
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
    pairs = list(zip(shares, shifts(structure, values), strict=True))
    for pair in pairs:
        if repr(pair) not in made:
            made[repr(pair)] = Scores(structure, values, *pair)
    return [made[repr(pair)] for pair in pairs]


def nodes(structure: Structure) -> Iterator[tuple[float, float]]:
    """Nodes of the model's quadrature; weights are density times spacing, adding up to 1."""
    where = [float(u) for u in structure.prevalence.design.nodes]
    density = [math.exp(-u * u / 2) * math.hypot(1, u / BEND) for u in where]
    total = math.fsum(density)
    return zip(where, [d / total for d in density], strict=True)


def marginals(structure: Structure, values: dict) -> list[list[float]]:
    """Prevalence of each item, averaged over the cluster effect."""
    here = list(nodes(structure)) if structure.prevalence.has_clusters else [(0.0, 1.0)]
    count = len(states(structure.ratings.task))
    return [
        [math.fsum(w * prior(u)[s] for u, w in here) for s in range(count)]
        for prior in prevalences(structure, values)
    ]
