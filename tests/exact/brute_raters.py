"""Who said what, a second time: the recipe of each rater, and the chances of its ratings."""

import math
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from brute_confusions import (
    HONEST_ERROR,
    Confusion,
    Tilt,
    biased,
    blind,
    confusion_of,
    honest,
    lapse_share,
    nearer_guessing,
    partly_guessed,
    spam,
    tilted,
)
from brute_layers import Position, bias, mean_bias, system_of, walk
from brute_prevalence import unknowns
from brute_responses import Mixture, Rater, Vector
from brute_scores import ScoreRater, codes

from assay.modelling.structure import Structure

SHARED = ("pooled",)
Speaker = Rater | Mixture | ScoreRater
Place = tuple[int, int]
"""Session of a rating, and the system of its item."""


@dataclass(frozen=True, eq=False)
class Voice:
    """How one rater is modelled: family, layers, and where its parameters stand."""

    group: str
    family: str
    layers: tuple[str, ...]
    values: dict
    levels: dict
    rater: int
    group_place: int
    place: int
    direction: int = 0


def voices(structure: Structure, values: dict, read: Vector = ()) -> list[Voice]:
    """Read the recipe of each rater, and give it the parameters of its part.

    ``read`` is the direction in which each rater misreads the cluster, 0 if it does not.
    """
    groups = [str(g) for g in structure.ratings.raters["group"]]
    levels = {dim: names for p in unknowns(structure) for dim, names in p.coords.items()}
    recipe = structure.spec.raters
    found = []
    for j, group in enumerate(groups):
        alone = not isinstance(recipe, str)
        names = [n.strip() for n in (recipe[group] if alone else recipe).split("+")]
        prefix = f"{group}." if alone else ""
        own = {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}
        found.append(
            Voice(
                group=group,
                family=names[0],
                layers=tuple(names[1:]),
                values=own,
                levels={k.removeprefix(prefix): v for k, v in levels.items()},
                rater=groups[:j].count(group) if alone else j,
                group_place=0 if alone else sorted(set(groups)).index(group),
                place=j,
                direction=read[j] if read else 0,
            )
        )
    return found


def loading(voice: Voice, label: int, row: int) -> float:
    """How much the difficulty of an item matters to a rater; ``row`` counts true classes."""
    of_group = voice.values["difficulty_rate"][voice.group_place]
    found = float(of_group[row if "item_difficulty_by_class" in voice.layers else label])
    if not {"item_difficulty_by_rater", "item_difficulty_by_class"} & set(voice.layers):
        return found
    sd = float(voice.values["difficulty_rate_sd"][voice.group_place][label])
    offset = float(voice.values["difficulty_rate_offset"][voice.rater][label])
    return found * math.exp(sd * offset)


def hardness(voice: Voice, position: Position, label: int) -> float:
    """How hard an item at a position is on a label."""
    return position[label] if isinstance(position, tuple) else position


def lost(rate: float, hard: float) -> float:
    """Minus the log of the share of the answers that are no guesses."""
    return rate if hard == 1 else -math.log(1 - hard * (1 - math.exp(-rate)))


def guessing(structure: Structure, voice: Voice, position: Position) -> Tilt:
    """Minus the log of the share of answers that are no guesses: [label][true class]."""
    hard = any(name.startswith("item_difficulty") for name in voice.layers)
    found: Tilt = []
    row = 0
    for label, la in enumerate(structure.ratings.task.labels):
        found.append([])
        for _ in la.classes:
            rate = loading(voice, label, row) if hard else 0.0
            here = hardness(voice, position, label)
            by = rate * here if "item_difficulty" in voice.layers else lost(rate, here)
            found[-1].append(by)
            row += 1
    return found


def tilt_of(structure: Structure, voice: Voice, place: Place, position: Position) -> Tilt:
    """What the layers add to the log odds of right answers.

    For scores and spam, difficulty is taken from it.
    """
    session, system = place
    j, g = (0, 0) if voice.family in SHARED else (voice.rater, voice.group_place)
    taken = guessing(structure, voice, position)
    found: Tilt = []
    row = 0
    for label, la in enumerate(structure.ratings.task.labels):
        found.append([])
        for true in range(len(la.classes)):
            added = 0.0
            if "drift" in voice.layers:
                added += walk(voice.values, j, g, label, row, session)
            if voice.family in ("scored", "mace"):
                added -= taken[label][true]
            if "system_bias" in voice.layers and system >= 0:
                added += bias(voice.values, j, g, label, row, system)
                if (place := place_of_mean(structure, voice)) is not None:
                    added += mean_bias(voice.values, place, label, row, system)
            found[-1].append(added)
            row += 1
    return found


def place_of_mean(structure: Structure, voice: Voice) -> int | None:
    """Return the place of a rater's group among those of several raters, which share a bias."""
    groups = [str(g) for g in structure.ratings.raters["group"]]
    if voice.family in SHARED or groups.count(voice.group) < 2:
        return None
    alone = not isinstance(structure.spec.raters, str)
    several = [voice.group] if alone else sorted(g for g in set(groups) if groups.count(g) > 1)
    return several.index(voice.group)


def speaker(
    structure: Structure, voice: Voice, place: Place = (0, -1), position: Position = 0.0
) -> Speaker:
    """Return the rater as it is in a place, with an item of some difficulty."""
    task = structure.ratings.task
    tilt = tilt_of(structure, voice, place, position)
    if voice.family == "scored":
        return ScoreRater(task, voice.values, voice.rater, voice.group_place, tilt)
    if voice.family == "mace":
        return mace(structure, voice, tilt)
    confusion = confusion_of(voice.family, task, voice.values, voice.rater, voice.group_place)
    taken = guessing(structure, voice, position)
    kept = [[math.exp(-by) for by in rows] for rows in taken]
    changed = as_rated(structure, voice, tilted(confusion, tilt), kept)
    if voice.direction:
        changed = moved(structure, voice, changed, "misread", "misreading", voice.direction)
    if voice.family != "joint":
        seen = [(1.0, Rater(structure.ratings, changed, voice.values))]
        if "halo" in voice.layers:
            seen = by_impression(structure, voice, changed)
        if "lapses" in voice.layers:
            seen = with_lapses(structure, voice, seen)
        return seen[0][1] if len(seen) == 1 else Mixture(seen)

    def residual(state: Vector, option: Vector) -> float:
        return association(structure, voice, state, option, taken)

    return Rater(structure.ratings, changed, voice.values, residual=residual)


Kinds = list[tuple[float, Rater]]


def by_impression(structure: Structure, voice: Voice, confusion: Confusion) -> Kinds:
    """Ratings without an impression of the item, and with either of two opposite ones."""
    share = share_of(voice, "halo_share")
    found = []
    for impression, weight in ((0, 1 - share), (-1, share / 2), (1, share / 2)):
        seen = moved(structure, voice, confusion, "halo", "halo", impression)
        found.append((weight, Rater(structure.ratings, seen, voice.values)))
    return found


def share_of(voice: Voice, name: str) -> float:
    """Share of the ratings with an impression, or chance that a rater alone misreads a cluster."""
    g = 0 if voice.family in SHARED else voice.group_place
    return float(voice.values[name][g])


def moved(
    structure: Structure, voice: Voice, confusion: Confusion, answer: str, layer: str, sign: int
) -> Confusion:
    """The confusion with the loadings of a layer added to the log odds of answers, or taken."""
    task, g = structure.ratings.task, 0 if voice.family in SHARED else voice.group_place
    names = voice.levels[f"{answer}_answer"]
    loads = dict(zip(names, voice.values[f"{layer}_loading"][g], strict=True))
    found: Confusion = []
    for la, rows in zip(task.labels, confusion, strict=True):
        top = len(la.classes) - 1
        if la.ordered or top == 1:
            by = [loads[la.name] * (k / top - 0.5) for k in range(top + 1)]
        else:
            own = [loads[f"{la.name}={name}"] for name in la.classes]
            by = [one - math.fsum(own) / len(own) for one in own]
        odds = [[p * math.exp(sign * b) for p, b in zip(row, by, strict=True)] for row in rows]
        found.append([[o / math.fsum(row) for o in row] for row in odds])
    return found


def with_lapses(structure: Structure, voice: Voice, seen: Kinds) -> Kinds:
    """Ratings that have seen the item, and blind ones."""
    j, g = (0, 0) if voice.family in SHARED else (voice.rater, voice.group_place)
    share = lapse_share(voice.values, j, g)
    confusion = blind(structure.ratings.task, voice.values, j, g)
    lapse = Rater(structure.ratings, confusion, voice.values)
    return [*((weight * (1 - share), kind) for weight, kind in seen), (share, lapse)]


def as_rated(structure: Structure, voice: Voice, confusion: Confusion, kept: Tilt) -> Confusion:
    """The confusion on an item of some difficulty; ``ability_bias`` keeps biases to long labels."""
    task, guessed = structure.ratings.task, partly_guessed(confusion, kept)
    if voice.family != "ability_bias":
        return guessed
    nearer = nearer_guessing(confusion, kept)
    both = [n if len(la.classes) > 2 else g
            for la, n, g in zip(task.labels, nearer, guessed, strict=True)]  # fmt: skip
    return biased(task, both, voice.values, voice.rater, voice.group_place)


def mace(structure: Structure, voice: Voice, tilt: Tilt) -> Mixture:
    """Honest ratings and spam; a tilt, averaged over labels and classes, makes honesty likelier."""
    ratings, values = structure.ratings, voice.values
    rows = [by for by_class in tilt for by in by_class]
    mean = math.fsum(rows) / len(rows)
    spamming = float(values["spamming"][voice.rater])
    good = (1 - spamming) * math.exp(mean)
    outside = dict(values)
    for la in ratings.task.labels:  # questions that the truth would not ask
        outside[f"honest_{la.name}"] = [HONEST_ERROR] * len(la.classes)
        outside[f"spam_{la.name}"] = values[f"strategy_{la.name}"][voice.rater]
    kinds = {"honest": honest(ratings.task), "spam": spam(ratings.task, values, voice.rater)}
    weights = (good / (good + spamming), spamming / (good + spamming))
    return Mixture(
        [
            (weight, Rater(ratings, confusion, outside, unasked=kind))
            for weight, (kind, confusion) in zip(weights, kinds.items(), strict=True)
        ]
    )


def association(
    structure: Structure, voice: Voice, state: Vector, option: Vector, taken: Tilt
) -> float:
    """Halo and slips: log odds of an answer vector beyond the confusions."""
    labels = structure.ratings.task.labels
    shown: dict[str, dict[str, float]] = {}
    for la, said in zip(labels, option, strict=True):
        top = len(la.classes) - 1
        if top == 1 or la.ordered:
            shown[la.name] = {la.name: said / top - 0.5}
        else:
            shown[la.name] = {
                f"{la.name}={name}": (said == k) - 1 / (top + 1)
                for k, name in enumerate(la.classes)
            }
    strength = {
        kind: dict(
            zip(
                voice.levels[f"{kind}_pair"],
                voice.values[f"{kind}_sd"][voice.group_place]
                * voice.values[f"{kind}_offset"][voice.group_place],
                strict=True,
            )
        )
        for kind in ("halo", "slip")
    }
    total = 0.0
    for (a, s, y), (b, t, z) in combinations(zip(labels, state, option, strict=True), 2):
        if y >= 0 and z >= 0:
            for (c, u), (d, v) in product(shown[a.name].items(), shown[b.name].items()):
                total += strength["halo"][f"{c}:{d}"] * u * v
            if s >= 0 and t >= 0:
                slip = (0.5 if s != y else -0.5) * (0.5 if t != z else -0.5)
                for label in (a, b):
                    rows = taken[labels.index(label)]
                    slip *= math.exp(-math.fsum(rows) / len(rows) / 2)
                total += strength["slip"][f"{a.name}:{b.name}"] * slip
    return total


def said(structure: Structure, values: dict) -> list[Vector]:
    """What counts of each rating: its answers, or the codes of its scores."""
    scored, answers = codes(structure.ratings), structure.ratings.answers.tolist()
    who = voices(structure, values)
    return [
        scored[n] if who[j].family == "scored" else tuple(answers[n])
        for n, j in enumerate(structure.ratings.rater)
    ]


def places(structure: Structure, values: dict) -> list[Place]:
    """Where each rating was made, as far as it matters to its rater."""
    ratings, who = structure.ratings, voices(structure, values)
    found = []
    for n, (i, j) in enumerate(zip(ratings.item, ratings.rater, strict=True)):
        drifts, biased = (name in who[j].layers for name in ("drift", "system_bias"))
        session = ratings.sessions.index(ratings.session[n]) if drifts else 0
        found.append((session, system_of(structure, int(i)) if biased else -1))
    return found


def chances(
    structure: Structure, values: dict, position: float, states: list[Vector], read: Vector = ()
) -> np.ndarray:
    """P(one rating | what its item looks like): (rating, state)."""
    who, what, where = (
        voices(structure, values, read),
        said(structure, values),
        places(structure, values),
    )
    made: dict[tuple[int, Place], Speaker] = {}
    table = np.ones((len(what), len(states)))
    for n, j in enumerate(structure.ratings.rater):
        key = (int(j), where[n])
        if key not in made:
            made[key] = speaker(structure, who[j], where[n], position)
        table[n] = [made[key].probability(what[n], state) for state in states]
    return table
