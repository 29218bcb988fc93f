"""Ten worlds in which a model that asks nothing of them was surer than a vote, and wrong."""

from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from benchmarks.worlds.zoo_worlds.study import (
    NODES,
    Population,
    Sizes,
    Study,
    World,
    answered,
    assigned,
    by_item,
    finished,
    log_chances,
    one_label,
    several_labels,
    skills,
)
from benchmarks.worlds.zoo_worlds.vectors import drawn_answers, log_responses, state_positions

Rng = np.random.Generator
MISREAD = 0.15
ALL_OR_NOTHING = 0.9
SKIP = (0.1, 0.7)
FAVOUR = 0.7
LENIENT = 0.5
THRESHOLD_SD = 0.5
NOISE = (0.8, 1.6)
JUDGE_REPEATS = 0.85
HALO = 0.35
GOOD_IMPRESSION = (0.8, 0.3)
WEAK = (0.62, 0.75)
TIMES = (0.9, 0.05, 0.05)


def misread_queries(rng: Rng, sizes: Sizes) -> Study:
    """Three raters answer whole queries, and each misreads some of them."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng, by_cluster=True)
    log_odds = skills(sizes.raters, rng)[rater]
    kind = rng.choice(3, (sizes.clusters, sizes.per_item), p=MISREADINGS)
    slot = np.tile(np.arange(sizes.per_item), sizes.items)
    own = kind[sizes.cluster[item], slot]
    level = np.log(ALL_OR_NOTHING / (1 - ALL_OR_NOTHING))
    seen = np.stack([log_odds, np.full_like(log_odds, -level), np.full_like(log_odds, level)])
    answers = answered(seen[own, np.arange(len(item))], truth.ravel()[item], rng)
    told = np.stack([log_chances(odds, answers) for odds in seen])
    told = told.reshape(3, sizes.items, sizes.per_item, 2)
    patterns = list(product(range(3), repeat=sizes.per_item))
    log_likelihood = np.stack([sum(told[k, :, s] for s, k in enumerate(p)) for p in patterns])
    weights = np.array([np.log(np.array(MISREADINGS)[list(p)]).sum() for p in patterns])
    settings = np.repeat(weights[:, None], sizes.clusters, axis=1)
    return finished(
        population, sizes, truth, item, rater, answers, log_likelihood, settings=settings
    )


MISREADINGS = (1 - MISREAD, MISREAD / 2, MISREAD / 2)
"""Reads rightly; misreads, so that hardly anything fits; misreads, so that most things do."""


def two_favour_one(rng: Rng, sizes: Sizes) -> Study:
    """Two of the raters say yes to A, and no to B, more easily than the truth has it."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    favour = np.where(rater < 2, 1.0, 0.0) * np.where(sizes.system[item] == 0, 1, -1)
    log_odds = skills(sizes.raters, rng)[rater] + FAVOUR * favour[:, None]
    return answered_by_labels(population, sizes, truth, item, rater, log_odds, rng)


def separate_teams(rng: Rng, sizes: Sizes) -> Study:
    """One team rates A alone and is lenient, the other rates B alone and is strict."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    team = sizes.raters // 2
    within = rng.random((sizes.items, team)).argsort(axis=1)[:, : sizes.per_item]
    item = np.repeat(np.arange(sizes.items), sizes.per_item)
    rater = (within + team * sizes.system[:, None]).ravel()
    lenient = np.where(sizes.system[item] == 0, LENIENT, -LENIENT)
    log_odds = skills(sizes.raters, rng, 0.82, 0.92)[rater] + lenient[:, None]
    return answered_by_labels(population, sizes, truth, item, rater, log_odds, rng)


def skipping(rng: Rng, sizes: Sizes) -> Study:
    """Raters are asked alike, and skip an item without a trace far more often if it is a yes."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    skip = np.array(SKIP)
    left = rng.random(len(item)) >= skip[truth.ravel()[item]]
    first = np.arange(len(item)) % sizes.per_item == 0  # someone answers: the first one asked
    left |= first
    log_odds = skills(sizes.raters, rng)[rater]
    answers = answered(log_odds, truth.ravel()[item], rng)
    chances = np.where(left[:, None], log_chances(log_odds, answers) + np.log(1 - skip), 0)
    chances = np.where(left[:, None], chances, np.log(skip))
    chances[first] = log_chances(log_odds, answers)[first]
    log_likelihood = by_item(chances, item, sizes.items)
    return finished(
        population, sizes, truth, item[left], rater[left], answers[left], log_likelihood
    )


def graded_evidence(rng: Rng, sizes: Sizes) -> Study:
    """Evidence is a matter of degree; each rater sees it with noise and has a threshold."""
    population = one_label(rng, sd=1.0)
    at = population.log_odds(sizes.places)[..., 0]
    ease = rng.normal(0, population.sd, (sizes.clusters, 1, 1))
    evidence = (at + ease + rng.logistic(size=(sizes.clusters, *at.shape))).ravel()
    truth = (evidence > 0).astype(int)
    item, rater = assigned(sizes, rng)
    threshold = rng.normal(0, THRESHOLD_SD, sizes.raters)
    noise = rng.uniform(*NOISE, sizes.raters)
    scaled = (evidence[item] - threshold[rater]) / noise[rater]
    answers = (rng.random(len(item)) < norm.cdf(scaled)).astype(int)
    edges = np.linspace(-12, 12, 241)
    middle = (edges[1:] + edges[:-1]) / 2
    side = (2 * answers - 1)[:, None]
    seen = norm.logcdf(side * (middle - threshold[rater, None]) / noise[rater, None])
    told = np.exp(by_item(seen, item, sizes.items))
    nodes, _ = np.polynomial.hermite_e.hermegauss(NODES)
    odds = np.tile(at.ravel(), sizes.clusters) + population.sd * nodes[:, None]
    joint = np.empty((NODES, sizes.items, 2))
    for node, mean in enumerate(odds):
        weight = np.diff(expit(edges - mean[:, None]), axis=1) * told
        joint[node, :, 0] = weight[:, middle < 0].sum(1)
        joint[node, :, 1] = weight[:, middle > 0].sum(1)
    log_joint = np.log(np.maximum(joint, 1e-300))
    return finished(population, sizes, truth, item, rater, answers, log_joint, joint=True)


def judge_like_one_person(rng: Rng, sizes: Sizes) -> Study:
    """Two people and a judge rate everything; the judge mostly sees what the first person sees."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item = np.repeat(np.arange(sizes.items), 3)
    rater = np.tile(np.arange(3), sizes.items)
    log_odds = skills(3, rng)[rater]
    answers = answered(log_odds, truth.ravel()[item], rng)
    first, judge = answers[0::3], answers[2::3]
    repeats = rng.random(sizes.items) < JUDGE_REPEATS
    judge[:] = np.where(repeats, first, judge)
    told = log_chances(log_odds, answers).reshape(sizes.items, 3, 2)
    same = (judge == first)[:, None]
    of_judge = np.log(JUDGE_REPEATS * same + (1 - JUDGE_REPEATS) * np.exp(told[:, 2]))
    log_likelihood = told[:, 0] + told[:, 1] + of_judge
    return finished(population, sizes, truth, item, rater, answers, log_likelihood)


def halo(rng: Rng, sizes: Sizes) -> Study:
    """Let a rater answer all five grounding labels by one impression in some of the ratings."""
    population = several_labels("grounding", rng)
    states = population.states
    truth = population.draw(sizes.clusters, sizes.places, rng).reshape(sizes.items, -1)
    item, rater = assigned(sizes, rng)
    log_odds = skills(sizes.raters * 5, rng, 0.85, 0.95).reshape(-1, 5, 2)[rater]
    impression = np.zeros((len(states), len(states)))
    good = (states[:, 0] == 1) & (states[:, 1] == 0)  # supported, and nothing unsupported
    chance = np.where(good, *GOOD_IMPRESSION)
    impression[:, state_positions(states, np.array([[1, 0, 0, 1, 0]]))[0]] = chance
    impression[:, state_positions(states, np.array([[0, 1, 1, 1, 1]]))[0]] = 1 - chance
    by_label = np.exp(log_responses(states, log_odds, states))
    chances = np.log((1 - HALO) * by_label + HALO * impression)
    own = state_positions(states, truth)[item]
    answer = drawn_answers(chances[np.arange(len(item)), own], rng)
    told = np.take_along_axis(chances, answer[:, None, None], axis=-1)[..., 0]
    log_likelihood = by_item(told, item, sizes.items)
    return finished(population, sizes, truth, item, rater, states[answer], log_likelihood)


def weak_raters(rng: Rng, sizes: Sizes) -> Study:
    """All raters are weak, and five rate each item."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    right = rng.uniform(*WEAK, sizes.raters)  # of both classes alike
    log_odds = (logit(right)[:, None] * np.array([-1, 1]))[rater]
    return answered_by_labels(population, sizes, truth, item, rater, log_odds, rng)


def anchored_on_rank(rng: Rng, sizes: Sizes) -> Study:
    """All raters find the first places of a list better, and the last ones worse, than they are."""
    population = several_labels("retrieval", rng)
    item, rater = assigned(sizes, rng)
    strength = rng.uniform(0.8, 1.6, sizes.raters)[rater]
    depth = 1 - sizes.place[item] / ((sizes.places - 1) / 2)
    shift = np.array([1, 1, -1.0]) * (strength * depth)[:, None]
    return answered_by_vectors(population, sizes, item, rater, shift, rng)


def answered_by_vectors(
    population: Population, sizes: Sizes, item: np.ndarray, rater: np.ndarray,
    shift: np.ndarray, rng: Rng,
) -> Study:  # fmt: skip
    """Finish a study of several labels whose log odds of yes are moved by ``shift``."""
    states = population.states
    truth = population.draw(sizes.clusters, sizes.places, rng).reshape(sizes.items, -1)
    labels = states.shape[1]
    log_odds = skills(sizes.raters * labels, rng).reshape(-1, labels, 2)[rater]
    chances = log_responses(states, log_odds + shift[..., None], states)
    own = state_positions(states, truth)[item]
    answer = drawn_answers(chances[np.arange(len(item)), own], rng)
    told = np.take_along_axis(chances, answer[:, None, None], axis=-1)[..., 0]
    log_likelihood = by_item(told, item, sizes.items)
    return finished(population, sizes, truth, item, rater, states[answer], log_likelihood)


def answered_by_labels(
    population: Population, sizes: Sizes, truth: np.ndarray, item: np.ndarray,
    rater: np.ndarray, log_odds: np.ndarray, rng: Rng, **other: Any,
) -> Study:  # fmt: skip
    """Finish a study of one label whose raters err independently with these log odds."""
    answers = answered(log_odds, truth.ravel()[item], rng)
    log_likelihood = by_item(log_chances(log_odds, answers), item, sizes.items)
    return finished(population, sizes, truth, item, rater, answers, log_likelihood, **other)


def mostly_one_rating(rng: Rng, sizes: Sizes) -> Study:
    """One rater an item; every tenth item has two or three."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    times = rng.choice(3, sizes.items, p=TIMES) + 1
    item, rater = assigned(sizes, rng)
    left = np.tile(np.arange(sizes.per_item), sizes.items) < times[item]
    log_odds = skills(sizes.raters, rng)[rater]
    return answered_by_labels(
        population, sizes, truth, item[left], rater[left], log_odds[left], rng
    )


REPORTED = (
    World(
        name="misread_queries",
        what="each of 3 raters of a query misreads 15 % of the queries, whole",
        knowable=True,
        because="the two other raters of the query and all other queries tell",
        draw=misread_queries,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="two_favour_one",
        what="2 of 4 raters favour system A over B",
        knowable=False,
        because="two raters who favour A mirror two others who oppose it",
        draw=two_favour_one,
        sizes=Sizes(raters=4, per_item=3),
    ),
    World(
        name="separate_teams",
        what="a lenient team rates system A alone, a strict one B alone",
        knowable=False,
        because="no item has raters of both teams",
        draw=separate_teams,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="skipping",
        what="5 raters are asked an item; each skips 70 % of the yes, 10 % of the no",
        knowable=False,
        because="the file does not say how many raters were asked about each item",
        draw=skipping,
        sizes=Sizes(raters=6, per_item=5),
    ),
    World(
        name="graded_evidence",
        what="evidence is graded, and raters have thresholds (signal detection)",
        knowable=True,
        because="thresholds lie about the same point as the truth's",
        draw=graded_evidence,
        sizes=Sizes(raters=5, per_item=4),
    ),
    World(
        name="judge_like_one_person",
        what="2 people and a judge; the judge repeats what one of the people sees on 85 %",
        knowable=False,
        because="of three raters, which two depend on each other is not identified",
        draw=judge_like_one_person,
        sizes=Sizes(raters=3, per_item=3),
    ),
    World(
        name="halo",
        what="35 % of the ratings answer the five grounding labels by one impression",
        knowable=True,
        because="dependence among the labels of one rating shows",
        draw=halo,
        sizes=Sizes(places=1, raters=6, per_item=3),
    ),
    World(
        name="weak_raters",
        what="6 raters are right in 62 to 75 %; 5 rate each item",
        knowable=True,
        because="five answers an item identify the confusions",
        draw=weak_raters,
        sizes=Sizes(raters=6, per_item=5),
    ),
    World(
        name="anchored_on_rank",
        what="all raters overrate the first places of a list and underrate the last",
        knowable=False,
        because="without a term for it, anchoring of all is the truth's own slope over ranks",
        draw=anchored_on_rank,
        sizes=Sizes(raters=5, per_item=3),
    ),
    World(
        name="mostly_one_rating",
        what="9 of 10 items have one rating, the others two or three",
        knowable=True,
        because="the double ratings and the prior on ability are enough for a wide interval",
        draw=mostly_one_rating,
        sizes=Sizes(raters=6, per_item=3),
    ),
)
