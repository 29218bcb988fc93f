"""Layers a second time: difficulty, drift, perception and repeated ratings."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
from brute_prevalence import contexts, terms, unknowns
from brute_responses import Vector, states

from assay.modelling.structure import Structure

Position = float | tuple[float, ...]


DEGREES = tuple(f"item_difficulty_{by}" for by in ("continuous", "by_rater", "by_class"))
"""Layers in which items are hard by degrees."""


def degrees(structure: Structure) -> np.ndarray:
    """Difficulties at which items are looked at: 0, 1, and between them the zeros of a polynomial.

    It is orthogonal under the Beta(0.1 + 1, 0.4 + 1) distribution. The more answers the item with
    most of them has, the more.
    """
    ratings = structure.ratings
    answers = [0] * len(ratings.items)
    for item, row in zip(ratings.item, ratings.answers, strict=True):
        answers[item] += sum(code >= 0 for code in row)
    longer = any(len(label.classes) > 2 for label in ratings.task.labels)
    inner = math.ceil(2.12 + 1.54 * math.sqrt(max(answers)) + 5 * longer) - 2
    a, b = 0.4, 0.1  # powers of 1 - t and of 1 + t
    matrix = np.zeros((inner, inner))
    for k in range(inner):
        n = 2 * k + a + b
        matrix[k, k] = (b * b - a * a) / (n * (n + 2))
        if k:
            before = 4 * k * (k + a) * (k + b) * (k + a + b) / (n * n * (n + 1) * (n - 1))
            matrix[k, k - 1] = matrix[k - 1, k] = math.sqrt(before)
    return np.array([0.0, *((1 + np.linalg.eigvalsh(matrix)) / 2), 1.0])


@cache
def degree_weights(where: tuple[float, ...], mean: float) -> np.ndarray:
    """Weights with which powers have their means under Beta(mean / 2, (1 - mean) / 2).

    In fractions: powers of many nodes are nearly collinear, and doubles leave 8 digits.
    """
    nodes, half = [Fraction(x) for x in where], Fraction(mean) / 2
    rows, moment = [], Fraction(1)
    for power in range(len(nodes)):
        rows.append([x**power for x in nodes] + [moment])
        moment *= (half + power) / (Fraction(1, 2) + power)
    for k, pivot in enumerate(rows):
        rows[k] = pivot = [x / pivot[k] for x in pivot]
        for other in range(len(rows)):
            if other != k:
                times = rows[other][k]
                rows[other] = [x - times * y for x, y in zip(rows[other], pivot, strict=True)]
    return np.array([float(row[-1]) for row in rows])


def layers_of(structure: Structure) -> list[str]:
    """Names of the families and layers of all rater groups."""
    raters = structure.spec.raters
    written = raters if isinstance(raters, str) else " + ".join(raters.values())
    return [name.strip() for name in written.split("+")]


def hard_shares(structure: Structure, values: dict) -> list[list[float]]:
    """Share of each kind of hard items among items like each: its systems pull the odds of it."""
    ratings, share = structure.ratings, float(values["hard_share"])
    kinds = [share * float(part) for part in np.ravel(values.get("hard_split", 1.0))]
    if "hard_share_system_sd" not in values:
        return [kinds] * len(ratings.items)
    names, found = sorted(set(ratings.panels["system"])), []
    offset = np.reshape(values["hard_share_system_offset"], (len(names), len(kinds)))
    for item in contexts(structure):
        shift = sum(part * offset[names.index(name)] for name, part in item["system"].items())
        sd = float(values["hard_share_system_sd"])
        pulled = [kind * math.exp(sd * by) for kind, by in zip(kinds, shift, strict=True)]
        found.append([kind / (1 - share + math.fsum(pulled)) for kind in pulled])
    return found


def hard_degrees() -> list[tuple[float, float]]:
    """How hard hard items are, and how many: a rule of Gauss in the share of answers kept."""
    away = math.sqrt(3 / 5) / 2
    return [(-math.log(0.5 + by), q / 18) for by, q in ((away, 5), (0.0, 8), (-away, 5))]


def difficulties(structure: Structure, values: dict) -> list[tuple[Position, np.ndarray]]:
    """Positions of the classes of difficulty, one or one a label, each with its share by item."""
    layers = layers_of(structure)
    if "item_difficulty" in layers:
        split = np.transpose(hard_shares(structure, values))
        labels = range(len(structure.ratings.task.labels) if "hard_split" in values else 0)
        alone = [tuple(math.log(2) * (n == label) for n in labels) for label in labels]
        hard: list[tuple[Position, np.ndarray]] = list(zip(alone, split, strict=False))
        hard += [(x, q * split[-1]) for x, q in hard_degrees()]
        return [(0.0, 1 - split.sum(axis=0)), *hard]
    if not set(DEGREES) & set(layers):
        return [(0.0, np.ones(len(structure.ratings.items)))]
    where = tuple(degrees(structure).tolist())
    weights = [degree_weights(where, mean) for (mean,) in hard_shares(structure, values)]
    return list(zip(where, np.transpose(weights), strict=True))


def at_label(position: Position, label: int) -> float:
    """Where an item at some position stands on a label."""
    return position[label] if isinstance(position, tuple) else position


def hard_states(
    structure: Structure, values: dict, easy: list[float], position: Position = 1.0
) -> list[float]:
    """Probabilities of the states of items at a position, from those of easy ones.

    One label after the other, each is kept with the squared share of the answers that are no
    guesses, or has each class as often, other labels staying as near as they can. Under a layer of
    perception hard items are like the others.
    """
    layers = layers_of(structure)
    if not {"item_difficulty", *DEGREES} & set(layers) or structure.spec.reference is not None:
        return list(easy)
    every, now = states(structure.ratings.task), list(easy)
    rates = [v for name, v in values.items() if name.split(".")[-1] == "difficulty_rate"]
    for n, label in enumerate(structure.ratings.task.labels):
        if len(label.classes) > 2 or at_label(position, n) == 0:
            continue
        hard, first = (
            at_label(position, n),
            sum(len(la.classes) for la in structure.ratings.task.labels[:n]),
        )
        own = range(first, first + 2) if "item_difficulty_by_class" in layers else [n]
        mean = [math.fsum(row[k] for k in own) / len(own) for rate in rates for row in rate]
        by_class = "item_difficulty" in layers
        squares = [
            (math.exp(-each * hard) if by_class else 1 - hard * (1 - math.exp(-each))) ** 2
            for each in mean
        ]
        kept, then = math.fsum(squares) / len(squares), [0.0] * len(every)
        for here, share in enumerate(now):
            then[here] += kept * share
            nearest = nearest_by_class(tuple(every), here, n)
            for places in nearest:
                for place in places:
                    then[place] += (1 - kept) * share / len(nearest) / len(places)
        now = then
    return now


@cache
def nearest_by_class(every: tuple[Vector, ...], here: int, label: int) -> list[list[int]]:
    """Of each class of a label, the states with it that differ from one on the fewest labels.

    They are asked the same questions.
    """
    state, found = every[here], []
    asked = [a < 0 for a in state]
    alike = {i: z for i, z in enumerate(every) if [a < 0 for a in z] == asked}
    for k in sorted({z[label] for z in alike.values()}):
        away = {
            i: sum(a != b for a, b in zip(z, state, strict=True))
            for i, z in alike.items()
            if z[label] == k
        }
        found.append([i for i, d in away.items() if d == min(away.values())])
    return found


def walk(values: dict, walker: int, group: int, label: int, row: int, session: int) -> float:
    """Where a random walk stands in a session, having started at 0 in the first.

    ``row`` counts the classes of all labels.
    """
    all_alike = math.fsum(values["drift_step"][walker][label][:session])
    own = math.fsum(values["drift_lean_step"][walker][row][:session])
    sds = (float(values[f"{name}_sd"][group][label]) for name in ("drift", "drift_lean"))
    return sum(sd * steps for sd, steps in zip(sds, (all_alike, own), strict=True))


def bias(values: dict, rater: int, group: int, label: int, row: int, system: int) -> float:
    """What a rater's log odds gain on a system's items; row counts the classes of all labels."""
    return float(values["system_bias_sd"][group][label]) * float(
        values["system_bias_offset"][rater][row][system]
    )


def mean_bias(values: dict, place: int, label: int, row: int, system: int) -> float:
    """What all raters of a group gain on a system's items, at its place among groups of several."""
    sd = float(values["system_bias_mean_sd"][place][label])
    return sd * float(values["system_bias_mean_offset"][place][row][system])


def system_of(structure: Structure, item: int) -> int:
    """Position of the one system whose lists an item stands in; -1 if there are several."""
    panels = structure.ratings.panels
    names = sorted(set(panels["system"]) - {""})
    here = {n for n, i in zip(panels["system"], panels["item"], strict=True) if i == item and n}
    return names.index(next(iter(here))) if len(here) == 1 else -1


def layered(structure: Structure) -> list[str]:
    """Rater groups that do not see the truth itself, in order."""
    members = list(structure.ratings.raters["group"])
    reference = structure.spec.reference
    if reference is None:
        return []
    fewest = 2 if reference == "groups" else 1
    groups = sorted(name for name in set(members) if members.count(name) >= fewest)
    return [name for name in groups if name != reference]


def misperceiving(structure: Structure, values: dict, layer: int, position: float) -> float:
    """Chance that a group misperceives an item of a given difficulty."""
    chance = float(values["misperceived"][layer])
    recipe = structure.spec.raters
    name = layered(structure)[layer]
    if "item_difficulty" not in (recipe if isinstance(recipe, str) else recipe[name]):
        return chance
    names = next(p for p in unknowns(structure) if p.name == "misperceived_loading").coords
    place = names["troubled_layer"].index(name)
    odds = chance / (1 - chance) * math.exp(values["misperceived_loading"][place] * position)
    return odds / (1 + odds)


def looks(
    structure: Structure, values: dict, layer: int, prevalence: list[float], true: int
) -> list[float]:
    """What a misperceived item of one state looks like: the prevalence, tilted."""
    names = next(p.coords["appearance"] for p in unknowns(structure) if p.name == "appearance_tilt")
    tilt = dict(zip(names, values["appearance_tilt"][layer], strict=True))
    every = states(structure.ratings.task)
    own = values["appearance_by_state"][layer][true] if 3 <= len(every) <= 8 else [0] * len(every)
    odds = []
    for state, share, more in zip(every, prevalence, own, strict=True):
        by = math.fsum(x * tilt[name] for name, x in terms(structure.ratings.task, state).items())
        odds.append(share * math.exp(by + more))
    return [o / math.fsum(odds) for o in odds]


def urn(chances: list[float], same: list[int], consistency: float) -> float:
    """P(a rater's ratings of one item): each new, or a copy of one that came before.

    ``same`` says how many of the ratings before each were like it.
    """
    total = 1.0
    for n, (chance, like) in enumerate(zip(chances, same, strict=True)):
        fresh = 1 - consistency
        total *= (fresh * chance + consistency * like) / (fresh + consistency * n)
    return total
