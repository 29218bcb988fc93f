"""Answers drawn from a model, given its parameters and the states of the items."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import softmax
from assay._util.typing import Bools, Floats, Ints
from assay.data.misread_clusters import find_seats
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors
from assay.modelling.copying import in_order
from assay.modelling.layers.impressions import log_chances
from assay.modelling.rater_model import RaterModel
from assay.modelling.readings import patterns
from assay.modelling.structure import Structure

TINY = 1e-300
"""Least probability whose logarithm is taken."""


def draw_answers(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
    *,
    answered: Bools | None = None,
) -> tuple[Vectors, Floats]:
    """Draw answers and scores (rating, label), given parameters (one leading axis of length 1) and
    states (item,). ``answered`` (rating, label) is by default as in the data.
    """
    ratings = structure.ratings
    if answered is None:
        answered = (ratings.answers != MISSING) | np.isfinite(ratings.scores)
    harder = _draw_difficulty(structure, values, states, rng)
    read = _draw_readings(structure, values, answered, rng)
    answers = np.full(ratings.answers.shape, MISSING, np.int16)
    scores = np.full(ratings.answers.shape, np.nan)
    for part in structure.parts:
        own = part.own(values)
        mine = np.flatnonzero(part.unit >= 0)
        seen = _draw_appearance(structure, values, part, states, harder, rng)[mine]
        whole = ratings.partial == "lost"
        keys = np.column_stack([harder[ratings.item[mine]], read[mine], answered[mine] | whole])
        for key in np.unique(keys, axis=0):
            here = np.flatnonzero((keys == key).all(axis=1))
            tilt = part.tilt(own, structure.difficulty.positions[int(key[0])], np)
            direction, shown = part.directions[int(key[1])], key[2:].astype(bool)
            found = part.draw(own, mine[here], seen[here], tilt, shown, rng, direction)
            answers[mine[here]], scores[mine[here]] = found
        _repeat(ratings, part, own, answered, answers, scores, rng)
    part_of = {name: part for part in structure.parts for name in part.copying.names}
    for name in in_order(structure.spec.copies, list(part_of)):
        part = part_of[name]
        part.copying.copy(name, part.own(values)["copied"][0], answers, scores, rng)
    if ratings.partial == "lost":
        answers[~answered], scores[~answered] = MISSING, np.nan
    return answers, scores


def _draw_readings(
    structure: Structure, values: Mapping[str, Floats], answered: Bools, rng: np.random.Generator
) -> Ints:
    """Draw how the rater of each rating reads the cluster, as a position in ``DIRECTIONS``."""
    readings, ratings = structure.readings, structure.ratings
    if not readings.names:
        return np.zeros(len(ratings.item), np.int64)
    seats = find_seats(ratings, readings.group, answered)
    right, wrong = log_chances(readings.chances(values, np)[0][readings.group[seats.rater]], np)
    drawn = np.zeros(len(right) + 1, np.int64)  # the last is for ratings without a seat
    size = np.diff(seats.start)
    for raters in np.unique(size):
        at = seats.start[:-1][size == raters][:, None] + np.arange(raters)
        misread = patterns(int(raters)) > 0
        score = right[at].sum(axis=1, keepdims=True) + (wrong - right)[at] @ misread.T
        drawn[at] = patterns(int(raters))[pick(softmax(score, np).cumsum(axis=1), rng)]
    return drawn[seats.of_rating]


def _draw_difficulty(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> Ints:
    """Draw the class of difficulty of each item, given the states."""
    logs = np.asarray(structure.difficulty.log_weight(values, np))
    logs = logs.reshape(logs.shape[-2:])
    chance, classes = np.exp(logs), logs.shape[1]
    context = structure.prevalence.design.item_context
    if not structure.hard_truth.applies:
        if len(chance) > 1:
            return pick(softmax(logs[context], np).cumsum(axis=1), rng)
        return rng.choice(classes, size=len(states), p=chance[0] / chance[0].sum())
    easy = np.asarray(structure.prevalence.table(values, np))[:1]
    hard = np.asarray(structure.hard_chances(values, easy, np))[0]
    by_class = chance.T[:, :, None, None] * np.concatenate([easy, hard])
    total = by_class.sum(axis=0)
    node = _draw_nodes(structure, values, total, states, rng)
    place = (context, node, states)
    steps = by_class[::-1].cumsum(axis=0)[:-1][:, *place]
    passed = (rng.random(len(states)) * total[place] >= steps).sum(axis=0)
    return np.asarray(classes - 1 - passed, np.int64)


def _draw_nodes(
    structure: Structure,
    values: Mapping[str, Floats],
    table: Floats,
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> Ints:
    """Draw the node of the effect on each item, given the states of its whole cluster.

    ``table`` (context, node, state) holds the probabilities of the states.
    """
    design, log_weight = structure.prevalence.design, structure.prevalence.log_weight
    if len(log_weight) == 1 or design.cluster is None:
        return np.zeros(len(states), np.int64)
    by_item = np.log(np.maximum(table[design.item_context, :, states], TINY))
    score = np.tile(log_weight, (int(design.cluster.max()) + 1, 1))
    if not structure.prevalence.has_panels or design.panel is None:
        np.add.at(score, design.cluster, by_item)
        return pick(softmax(score, np).cumsum(axis=1), rng)[design.cluster]
    mixing = structure.prevalence.mixing(values, np)[0]
    _, first = np.unique(design.panel, return_index=True)
    by_panel = np.zeros((len(first), len(log_weight)))
    np.add.at(by_panel, design.panel, by_item)
    top = by_panel.max(axis=1, keepdims=True)
    outer = np.log(np.maximum(np.exp(by_panel - top) @ mixing.T, TINY)) + top
    cluster = design.cluster[first]
    np.add.at(score, cluster, outer)
    node = pick(softmax(score, np).cumsum(axis=1), rng)
    within = np.log(np.maximum(mixing[node[cluster]], TINY)) + by_panel
    return pick(softmax(within, np).cumsum(axis=1), rng)[design.panel]


def pick(steps: Floats, rng: np.random.Generator) -> Ints:
    """Draw a position in each row, by cumulative weights."""
    found = (rng.random(len(steps))[:, None] * steps[:, -1:] > steps).sum(axis=1)
    return np.asarray(found, np.int64)


def _draw_appearance(
    structure: Structure,
    values: Mapping[str, Floats],
    part: RaterModel,
    states: NDArray[np.int16],
    harder: Ints,
    rng: np.random.Generator,
) -> NDArray[np.int16]:
    """Draw the appearance of each rating's item to the rater's group, (rating,)."""
    ratings, perception = structure.ratings, structure.perception
    seen = states[ratings.item].copy()
    for g, name in enumerate(part.raters.groups):
        if name not in perception.groups:
            continue
        context = structure.prevalence.design.item_context
        chance, looks = (table[0] for table in perception.of_group(name, values))
        afresh = pick(looks[context, states].cumsum(axis=1), rng)
        missed = rng.random(len(states)) < chance[harder]
        appears = np.where(missed, afresh, states).astype(np.int16)
        mine = part.unit >= 0
        mine[mine] = part.unit_group[part.unit[mine]] == g
        seen[mine] = appears[ratings.item[mine]]
    return seen


def _repeat(
    ratings: Ratings,
    part: RaterModel,
    values: Mapping[str, Floats],
    answered: Bools,
    answers: Vectors,
    scores: Floats,
    rng: np.random.Generator,
) -> None:
    """Let later ratings of an item by a rater copy earlier ones, as in Polya's urn.

    Only ratings that answer the same labels share an urn, as in the likelihood.
    """
    of_part = part.kappa(values, np)
    if of_part is None:
        return
    kappa = np.zeros(len(ratings.raters))
    kappa[part.members] = of_part[0]
    mine = np.flatnonzero(part.unit >= 0)
    kind = np.unique(answered, axis=0, return_inverse=True)[1].ravel()
    who = np.stack([ratings.item, part.unit, ratings.rater, kind])
    order = mine[np.lexsort((ratings.replicate[mine], *who[::-1, mine]))]
    before: list[int] = []
    for n in order.tolist():
        if before and (who[:, before[0]] != who[:, n]).any():
            before = []
        own = kappa[ratings.rater[n]]
        if before and rng.random() < own * len(before) / (1 - own + own * len(before)):
            source = before[rng.integers(len(before))]
            answers[n], scores[n] = answers[source], scores[source]
        before.append(n)
