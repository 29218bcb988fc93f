"""The model a second time, slowly: plain loops over states, difficulty, appearances and answers.

Nothing here comes from the package but the task, its rule expressions and the data. Parameters are
looked up by their names in the fitted posterior, so that a wrong index or a wrong name shows.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from brute_layers import (
    Position,
    difficulties,
    hard_states,
    layered,
    layers_of,
    looks,
    misperceiving,
    urn,
)
from brute_prevalence import Scores, marginals, nodes, prevalences
from brute_raters import Voice, chances, places, said, share_of, speaker, voices
from brute_responses import MISSING, NOT_ASKED, Rater, Vector, holds, paths, states
from scipy.integrate import quad

from assay.modelling.structure import Structure

__all__ = [
    "MISSING", "NOT_ASKED", "Rater", "Scores", "Vector", "clusters", "difficulty_probabilities",
    "evidence", "holds", "log_likelihoods", "nodes", "paths", "prevalences", "speaker",
    "state_probabilities", "states", "voices",
]  # fmt: skip
RIGHT, WRONG, SOME_WRONG = 1, 0, -2


def possible(structure: Structure, item: int, state: Vector) -> bool:
    """Whether gold and audits admit a state."""
    ratings = structure.ratings
    if any(k not in (MISSING, s) for k, s in zip(ratings.truth[item], state, strict=True)):
        return False
    for n in np.flatnonzero(ratings.item == item):
        audit = ratings.audit[n].tolist()
        given = [(a, s, w) for a, s, w in zip(ratings.answers[n], state, audit, strict=True)]
        given = [(a == s, found) for a, s, found in given if a >= 0]
        if (False, RIGHT) in given or (True, WRONG) in given:
            return False
        if SOME_WRONG in audit and all(same for same, _ in given):
            return False
    return True


def urns(structure: Structure, values: dict) -> list[list[int]]:
    """Ratings that count as one: of one rater on one item, in one session, of the same labels."""
    ratings, what, where = structure.ratings, said(structure, values), places(structure, values)
    found: dict[tuple, list[int]] = {}
    together = structure.spec.replicates == "together"
    for n, (i, j) in enumerate(zip(ratings.item, ratings.rater, strict=True)):
        shown = tuple(code != MISSING for code in what[n])
        if any(shown):
            alone = () if together else (n,)
            found.setdefault((int(i), int(j), where[n], shown, alone), []).append(n)
    return list(found.values())


def copied_from(structure: Structure, n: int) -> int | None:
    """The rating that a rating may copy: its rater and the source rated the item once each."""
    ratings = structure.ratings
    names = [str(name) for name in ratings.raters.index]
    source = structure.spec.copies.get(names[ratings.rater[n]])
    if source not in names:
        return None
    beside = [m for m in range(len(ratings.item)) if ratings.item[m] == ratings.item[n]]
    own = [m for m in beside if ratings.rater[m] == ratings.rater[n]]
    theirs = [m for m in beside if names[ratings.rater[m]] == source]
    if len(own) != 1 or len(theirs) != 1:
        return None
    shown = [[code != MISSING for code in ratings.answers[m]] for m in (n, theirs[0])]
    return theirs[0] if shown[0] == shown[1] and any(shown[0]) else None


def with_copying(structure: Structure, voice: Voice, n: int, chance: float) -> float:
    """P(rating | state, the rating of the source), from that of a rating of one's own."""
    source = copied_from(structure, n)
    if source is None:
        return chance
    answers, name = structure.ratings.answers, structure.ratings.raters.index[voice.place]
    at = list(voice.levels["copier"]).index(str(name))
    share = float(voice.values["copied"][at])
    return (1 - share) * chance + share * bool((answers[n] == answers[source]).all())


def consistency(structure: Structure, voice: Voice) -> float:
    """How often a repeated rating of a rater copies an earlier one."""
    if "consistency_mean" not in voice.values:
        return 0.0
    name = str(structure.ratings.raters.index[voice.place])
    if name not in voice.levels["repeating"]:
        return 0.0
    at = list(voice.levels["repeating"]).index(name)
    mean, sd = (
        float(voice.values[f"consistency_{kind}"][voice.group_place]) for kind in ("mean", "sd")
    )
    odds = math.exp(mean + sd * float(voice.values["consistency_offset"][at]))
    return odds / (1 + odds)


def rater_evidence(
    structure: Structure, values: dict, position: Position, read: Vector = ()
) -> np.ndarray:
    """P(ratings of an item by one rater group | what the item looks like): (item, group, state)."""
    ratings, what = structure.ratings, said(structure, values)
    who, every = voices(structure, values), states(ratings.task)
    groups = sorted({voice.group for voice in who})
    single = chances(structure, values, position, every, read)
    table = np.ones((len(ratings.items), len(groups), len(every)))
    for members in urns(structure, values):
        voice = who[ratings.rater[members[0]]]
        kappa = consistency(structure, voice)
        same = [
            sum(what[m] == what[n] for m in members[:before]) for before, n in enumerate(members)
        ]
        g = groups.index(voice.group)
        for s in range(len(every)):
            found = urn([float(single[n][s]) for n in members], same, kappa)
            if len(members) == 1:
                found = with_copying(structure, voice, members[0], found)
            table[ratings.item[members[0]], g, s] *= found
    return table


def parts(structure: Structure, values: dict, read: Vector = ()) -> np.ndarray:
    """P(ratings, what is known, difficulty | state) of each item: (item, difficulty, state).

    ``read`` has how each rater reads the cluster of the item.
    """
    ratings, every = structure.ratings, states(structure.ratings.task)
    groups = sorted(set(ratings.raters["group"]))
    names, average = layered(structure), marginals(structure, values)
    found = []
    for position, weight in difficulties(structure, values):
        seen = rater_evidence(structure, values, position, read)
        for i in range(len(ratings.items)):
            for layer, name in enumerate(names):
                clear, g = seen[i, groups.index(name)].copy(), groups.index(name)
                blur = misperceiving(structure, values, layer, position)
                for s in range(len(every)):
                    appearance = looks(structure, values, layer, average[i], s)
                    afresh = math.fsum(p * c for p, c in zip(appearance, clear, strict=True))
                    seen[i, g, s] = (1 - blur) * clear[s] + blur * afresh
        found.append(weight[:, None] * seen.prod(axis=1))
    table = np.stack(found, axis=1)
    for i in range(len(ratings.items)):
        for s, state in enumerate(every):
            table[i, :, s] *= possible(structure, i, state)
    return table


def by_difficulty(structure: Structure, values: dict) -> list[Callable[[float], np.ndarray]]:
    """P(state | difficulty) of each item, as a function of its cluster's effect."""
    positions = [position for position, _ in difficulties(structure, values)]
    alone = np.eye(len(states(structure.ratings.task))).tolist()
    moved = [
        np.array([hard_states(structure, values, easy, position) for easy in alone])
        for position in positions
    ]

    def at(u: float, prior: Callable[[float], list[float]]) -> np.ndarray:
        easy = np.array(prior(u))
        return np.array([easy @ table for table in moved])

    return [lambda u, p=p: at(u, p) for p in prevalences(structure, values)]


def of_all_items(structure: Structure, values: dict) -> list[Callable[[float], np.ndarray]]:
    """P(state) of each item, easy or hard, as a function of its cluster's effect."""
    weights = np.array([weight for _, weight in difficulties(structure, values)])
    given = by_difficulty(structure, values)
    return [lambda u, p=p, w=w: w @ p(u) for p, w in zip(given, weights.T, strict=True)]


def clusters(structure: Structure) -> list[list[int]]:
    """Items of each cluster, in the order in which clusters appear; an item each without effect."""
    names = list(structure.ratings.items["cluster"])
    if not structure.prevalence.has_clusters and "misreading" not in layers_of(structure):
        return [[i] for i in range(len(names))]
    return [[i for i, n in enumerate(names) if n == name] for name in dict.fromkeys(names)]


def readings(structure: Structure, values: dict, items: list[int]) -> list[tuple[float, Vector]]:
    """How the raters of a cluster read it, each with its probability.

    At most two of them misread it, or one where there are more than three.
    """
    ratings, what, who = structure.ratings, said(structure, values), voices(structure, values)
    answered = {
        int(j)
        for i, j, codes in zip(ratings.item, ratings.rater, what, strict=True)
        if i in items and any(code != MISSING for code in codes)
    }
    raters = [j for j in sorted(answered) if "misreading" in who[j].layers]
    found = []
    for wrong in product((0, -1, 1), repeat=len(raters)):
        if sum(map(abs, wrong)) <= (2 if len(raters) <= 3 else 1):
            read = [0] * len(who)
            chance = 1.0
            for j, direction in zip(raters, wrong, strict=True):
                read[j] = direction
                share = share_of(who[j], "misreading_chance")
                chance *= share / 2 if direction else 1 - share
            found.append((chance, tuple(read)))
    total = math.fsum(chance for chance, _ in found)
    return [(chance / total, read) for chance, read in found]


Evidence = tuple[Callable[[Vector], np.ndarray], list[Callable[[float], np.ndarray]]]


def evidence(structure: Structure, values: dict) -> Evidence:
    """What ratings and prevalence say of each item; both functions below need it."""
    of_reading = cache(lambda read: parts(structure, values, read))
    return of_reading, by_difficulty(structure, values)


def log_likelihoods(
    structure: Structure, values: dict, *, adaptive: bool = False, known: Evidence | None = None
) -> list[float]:
    """Log-likelihood of each cluster.

    The cluster effect is summed over the model's own nodes, or integrated adaptively.
    """
    given, prior = known or evidence(structure, values)

    def at(u: float, items: list[int]) -> float:
        return math.fsum(
            chance * math.prod(math.fsum((prior[i](u) * given(read)[i]).ravel()) for i in items)
            for chance, read in readings(structure, values, items)
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


def _integral(function: Callable[[float], float]) -> float:
    """Integrate against the standard normal density, piece by piece."""
    scale = max(function(u / 4) for u in range(-32, 33)) or 1.0

    def weighted(u: float) -> float:
        return function(u) / scale * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)

    pieces = [quad(weighted, a, a + 2, epsabs=1e-15, epsrel=1e-12)[0] for a in range(-12, 12, 2)]
    return math.fsum(pieces) * scale


def posterior(structure: Structure, values: dict, *, known: Evidence | None = None) -> np.ndarray:
    """P(difficulty, state | all ratings) by Bayes' rule: (item, difficulty, state)."""
    given, prior = known or evidence(structure, values)
    found = np.zeros_like(given((0,) * len(structure.ratings.raters)))
    here = list(nodes(structure)) if structure.prevalence.has_clusters else [(0.0, 1.0)]
    for items in clusters(structure):
        for (u, w), (chance, read) in product(here, readings(structure, values, items)):
            at = {i: prior[i](u) * given(read)[i] for i in items}
            for i in items:
                others = math.prod(math.fsum(at[k].ravel()) for k in items if k != i)
                found[i] += w * chance * others * at[i]
    return found / found.sum(axis=(1, 2), keepdims=True)


def state_probabilities(structure: Structure, values: dict) -> np.ndarray:
    """Posterior probabilities of the states: (item, state)."""
    return posterior(structure, values).sum(axis=1)


def difficulty_probabilities(structure: Structure, values: dict) -> np.ndarray:
    """Posterior probabilities of the classes of difficulty: (item, difficulty)."""
    return posterior(structure, values).sum(axis=2)
