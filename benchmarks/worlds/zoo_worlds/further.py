"""More worlds of studies as they are run: interfaces, rounds, adjudicators, copies, judges."""

import numpy as np
from scipy.special import logsumexp

from benchmarks.worlds.zoo_worlds.reported import answered_by_labels
from benchmarks.worlds.zoo_worlds.study import (
    NODES,
    Population,
    Sizes,
    Study,
    World,
    answered,
    assigned,
    by_item,
    difference_of,
    finished,
    log_chances,
    one_label,
    several_labels,
    skills,
)
from benchmarks.worlds.zoo_worlds.vectors import drawn_answers, log_responses, state_positions

Rng = np.random.Generator
SESSIONS = 4
FATIGUE = 0.9
"""Share of their log odds of being right that raters have lost at the end."""
LENIENT = 1.8
TRUNCATED = 0.15
SEEN_IF_TRUNCATED = 0.1
DUPLICATED = 0.4
FOLLOWS = 0.9
CARRIED_OVER = 0.35
FOREIGN = 0.25
COPIED = 0.7
POSITION = 2.0
TINGE = 2.5
TRUST = 1.5
SEEN = 0.52, 0.6
PLAIN = 0.93, 0.98
CLEAR = 0.9, 0.96
UNCLEAR = 0.66, 0.78
MOSTLY_YES = 0.8, 1.6


def fatigue(rng: Rng, sizes: Sizes) -> Study:
    """Raters go through the queries in one order, and get ever closer to guessing."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    when = sizes.cluster[item] / sizes.clusters
    log_odds = skills(sizes.raters, rng, 0.85, 0.97)[rater] * (1 - FATIGUE * when)[:, None]
    sessions = (when * SESSIONS).astype(int) + 1
    return answered_by_labels(
        population, sizes, truth, item, rater, log_odds, rng, columns={"session": sessions}
    )


def drift_between_rounds(rng: Rng, sizes: Sizes) -> Study:
    """Half of the queries are rated in a second round, in which half of the raters are lenient."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    second = sizes.cluster[item] >= sizes.clusters // 2
    lenient = LENIENT * (second & (rater < sizes.raters // 2))
    log_odds = skills(sizes.raters, rng)[rater] + lenient[:, None]
    return answered_by_labels(
        population, sizes, truth, item, rater, log_odds, rng, columns={"session": second + 1}
    )


def truncating_interface(rng: Rng, sizes: Sizes) -> Study:
    """Cut off some items, so that hardly any rater sees what makes them a yes."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    whole = skills(sizes.raters, rng)[rater]
    unseen = whole.copy()
    unseen[:, 1] = np.log(SEEN_IF_TRUNCATED / (1 - SEEN_IF_TRUNCATED))
    cut = rng.random(sizes.items) < TRUNCATED
    answers = answered(np.where(cut[item, None], unseen, whole), truth.ravel()[item], rng)
    told = [by_item(log_chances(odds, answers), item, sizes.items) for odds in (whole, unseen)]
    log_likelihood = np.logaddexp(np.log(1 - TRUNCATED) + told[0], np.log(TRUNCATED) + told[1])
    return finished(population, sizes, truth, item, rater, answers, log_likelihood)


def duplicated_items(rng: Rng, sizes: Sizes) -> Study:
    """Both systems often return the same chunk, which is rated once and has both lines."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    same = rng.random((sizes.clusters, sizes.places)) < DUPLICATED
    truth[:, 1, :, 0] = np.where(same, truth[:, 0, :, 0], truth[:, 1, :, 0])
    order = np.arange(sizes.items).reshape(sizes.clusters, 2, sizes.places)
    original = order.copy()
    original[:, 1] = np.where(same, order[:, 0], order[:, 1])
    original = original.ravel()
    item, rater = assigned(sizes, rng)
    rater = rater.reshape(sizes.items, -1)[original].ravel()
    log_odds = skills(sizes.raters, rng)[rater]
    answers = answered(log_odds, truth.ravel()[item], rng)
    answers = answers.reshape(sizes.items, -1)[original].ravel()
    log_likelihood = by_item(log_chances(log_odds, answers), item, sizes.items)
    share = population.values(sizes.places)
    mixed = {
        name: np.array([a, DUPLICATED * a + (1 - DUPLICATED) * b]) for name, (a, b) in share.items()
    }
    return finished(
        population, sizes, truth, item, rater, answers, log_likelihood,
        same_as=original, values=mixed,
    )  # fmt: skip


def adjudicator_sees_votes(rng: Rng, sizes: Sizes) -> Study:
    """Let an adjudicator rate every item last, and mostly confirm what two raters agree on."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng).ravel()
    item, rater, log_odds, answers = _pairs(sizes, truth, rng)
    first, second = answers[0::2], answers[1::2]
    own = answered(np.repeat(log_odds[-1:], sizes.items, axis=0), truth, rng)
    follows = (first == second) & (rng.random(sizes.items) < FOLLOWS)
    last = np.where(follows, first, own)
    told = by_item(log_chances(log_odds[rater], answers), item, sizes.items)
    alone = np.exp(log_chances(log_odds[-1:], last))
    bound = np.where(first == second, FOLLOWS, 0.0)[:, None]
    told += np.log(bound * (last == first)[:, None] + (1 - bound) * alone)
    every = np.arange(sizes.items)
    return finished(
        population, sizes, truth, np.concatenate([item, every]),
        np.concatenate([rater, np.full(sizes.items, sizes.raters - 1)]),
        np.concatenate([answers, last]), told,
    )  # fmt: skip


def experts_on_disputes(rng: Rng, sizes: Sizes) -> Study:
    """Two raters answer each item; an expert is called only where they disagree."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng).ravel()
    item, rater, log_odds, answers = _pairs(sizes, truth, rng, expert=True)
    called = np.flatnonzero(answers[0::2] != answers[1::2])
    expert = np.full(len(called), sizes.raters - 1)
    own = answered(log_odds[expert], truth[called], rng)
    item, rater = np.concatenate([item, called]), np.concatenate([rater, expert])
    answers = np.concatenate([answers, own])
    told = by_item(log_chances(log_odds[rater], answers), item, sizes.items)
    return finished(population, sizes, truth, item, rater, answers, told)


def _pairs(
    sizes: Sizes, truth: np.ndarray, rng: Rng, *, expert: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Let two raters, but for the last one, answer each item: item, rater, log odds, answers."""
    log_odds = skills(sizes.raters, rng, 0.75, 0.92)
    if expert:
        log_odds[-1] = skills(1, rng, 0.93, 0.98)
    chosen = rng.random((sizes.items, sizes.raters - 1)).argsort(axis=1)[:, :2]
    item, rater = np.repeat(np.arange(sizes.items), 2), chosen.ravel()
    return item, rater, log_odds, answered(log_odds[rater], truth[item], rng)


def leaking_systems(rng: Rng, sizes: Sizes) -> Study:
    """Raters see A's item, then B's beside it, and often give B the answer that they gave A."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    order = np.arange(sizes.items).reshape(sizes.clusters, 2, sizes.places)
    before = np.repeat(order[:, :1], 2, axis=1).ravel()
    item, rater = assigned(sizes, rng)
    rater = rater.reshape(sizes.items, -1)[before].ravel()
    log_odds = skills(sizes.raters, rng)[rater]
    answers = answered(log_odds, truth.ravel()[item], rng)
    of_a = answers.reshape(sizes.items, -1)[before].ravel()
    leaks = np.where(sizes.system[item] == 1, CARRIED_OVER, 0.0)
    answers = np.where(rng.random(len(item)) < leaks, of_a, answers)
    own = np.exp(log_chances(log_odds, answers))
    told = np.log((leaks * (answers == of_a))[:, None] + (1 - leaks)[:, None] * own)
    log_likelihood = by_item(told, item, sizes.items)
    return finished(population, sizes, truth, item, rater, answers, log_likelihood)


def mixed_languages(rng: Rng, sizes: Sizes) -> Study:
    """Write some queries in a language that half of the raters hardly read: they mostly say no."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    foreign = rng.random(sizes.clusters) < FOREIGN
    item, rater = assigned(sizes, rng)
    log_odds = skills(sizes.raters, rng)[rater]
    lost = foreign[sizes.cluster[item]] & (rater < sizes.raters // 2)
    guess = np.array([-1.3, -0.7])
    log_odds = np.where(lost[:, None], guess, log_odds)
    language = np.where(foreign, "de", "en")[sizes.cluster[item]]
    return answered_by_labels(
        population, sizes, truth, item, rater, log_odds, rng, columns={"language": language}
    )


def copying_rater(rng: Rng, sizes: Sizes) -> Study:
    """Two raters answer every item and one mostly copies the other; two others answer as well."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng).ravel()
    others = rng.random((sizes.items, sizes.raters - 2)).argsort(axis=1)[:, : sizes.per_item - 2]
    pair = np.tile([0, 1], (sizes.items, 1))
    rater = np.concatenate([pair, others + 2], axis=1)
    item = np.repeat(np.arange(sizes.items), sizes.per_item)
    log_odds = skills(sizes.raters, rng)[rater.ravel()]
    answers = answered(log_odds, truth[item], rng).reshape(sizes.items, -1)
    copies = rng.random(sizes.items) < COPIED
    answers[:, 1] = np.where(copies, answers[:, 0], answers[:, 1])
    told = log_chances(log_odds, answers.ravel()).reshape(sizes.items, -1, 2)
    same = (answers[:, 1] == answers[:, 0])[:, None]
    told[:, 1] = np.log(COPIED * same + (1 - COPIED) * np.exp(told[:, 1]))
    return finished(
        population, sizes, truth, item, rater.ravel(), answers.ravel(), told.sum(axis=1)
    )


def position_biased_judges(rng: Rng, sizes: Sizes) -> Study:
    """Two judges overrate the first places of a list and underrate the last; people do not."""
    population = one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    judge = rater >= sizes.raters - 2
    depth = 1 - sizes.place[item] / ((sizes.places - 1) / 2)
    log_odds = skills(sizes.raters, rng)[rater] + (POSITION * depth * judge)[:, None]
    kind = np.where(judge, "model", "person")
    return answered_by_labels(
        population, sizes, truth, item, rater, log_odds, rng, columns={"group": kind}
    )


def graded_halo(rng: Rng, sizes: Sizes) -> Study:
    """Let an impression of each answer tinge all five grounding labels of a rating."""
    population = several_labels("grounding", rng)
    states = population.states
    truth = population.draw(sizes.clusters, sizes.places, rng).reshape(sizes.items, -1)
    item, rater = assigned(sizes, rng)
    log_odds = skills(sizes.raters * 5, rng, 0.9, 0.97).reshape(-1, 5, 2)[rater]
    good = np.array([1, -1, -1, 1, -1.0])[:, None] * TINGE
    impression = rng.normal(size=len(item))[:, None, None] * good
    own = state_positions(states, truth)[item]
    chances = log_responses(states, log_odds + impression, states)
    answer = drawn_answers(chances[np.arange(len(item)), own], rng)
    nodes, weight = np.polynomial.hermite_e.hermegauss(NODES)
    told = np.stack([_of_answer(states, log_odds + z * good, answer) for z in nodes])
    per_rating = logsumexp(told, axis=0, b=(weight / weight.sum())[:, None, None])
    log_likelihood = by_item(per_rating, item, sizes.items)
    return finished(population, sizes, truth, item, rater, states[answer], log_likelihood)


def _of_answer(states: np.ndarray, log_odds: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Log P(the answer given) for each truth state: (rating, state)."""
    chances = log_responses(states, log_odds, states)
    return np.take_along_axis(chances, answer[:, None, None], axis=-1)[..., 0]


def all_trust_one(rng: Rng, sizes: Sizes) -> Study:
    """All raters say yes to A more easily than to B, whatever is true."""
    log_odds = skills(sizes.raters, rng)
    return _by_system(rng, sizes, log_odds + TRUST, log_odds)


def errors_hard_to_see(rng: Rng, sizes: Sizes) -> Study:
    """Raters miss almost half of B's errors, which are its no, and hardly any of A's."""
    plain = skills(sizes.raters, rng, *PLAIN)
    hidden = np.column_stack([skills(sizes.raters, rng, *SEEN)[:, 0], plain[:, 1]])
    return _by_system(rng, sizes, plain, hidden)


def one_system_unclear(rng: Rng, sizes: Sizes) -> Study:
    """All raters err more on B, and on both classes; most items are a yes."""
    clear, unclear = (skills(sizes.raters, rng, *right) for right in (CLEAR, UNCLEAR))
    base = rng.uniform(*MOSTLY_YES)
    return _by_system(
        rng, sizes, clear, unclear, Population(base=(base,), difference=difference_of(rng))
    )


def _by_system(
    rng: Rng, sizes: Sizes, on_a: np.ndarray, on_b: np.ndarray, population: Population | None = None
) -> Study:
    """Finish a study of one label whose raters have other log odds on A than on B."""
    population = population or one_label(rng)
    truth = population.draw(sizes.clusters, sizes.places, rng)
    item, rater = assigned(sizes, rng)
    own = np.stack([on_a, on_b])[sizes.system[item], rater]
    return answered_by_labels(population, sizes, truth, item, rater, own, rng)


OF_ALL_RATERS = Sizes(clusters=120, places=1, raters=6, per_item=4)
ALIKE = "items of a system on which raters agree, and on which they do not, show how they err there"
FURTHER = (
    World(
        name="fatigue",
        what="raters tire in the order of the queries, from .85 to .97 right to guessing",
        knowable=True,
        because="sessions are in the file, and agreement falls over them",
        draw=fatigue,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="drift_between_rounds",
        what="half of the raters turn lenient in a second round",
        knowable=True,
        because="rounds have queries of one kind, and the other raters stay as they were",
        draw=drift_between_rounds,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="truncating_interface",
        what="the interface cuts off 15 % of the items, so that all raters miss a yes there",
        knowable=False,
        because="all raters err together",
        draw=truncating_interface,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="duplicated_items",
        what="40 % of B's items are A's, rated once and copied into both lines",
        knowable=True,
        because="equal answers of all raters on both lines give the copies away",
        draw=duplicated_items,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="adjudicator_sees_votes",
        what="an adjudicator sees two votes and confirms 90 % of those that agree",
        knowable=False,
        because="of three answers, which two depend on each other is not identified",
        draw=adjudicator_sees_votes,
        sizes=Sizes(raters=5, per_item=3),
    ),
    World(
        name="experts_on_disputes",
        what="an expert rates only the items on which two raters disagree",
        knowable=True,
        because="who is asked depends on recorded answers alone",
        draw=experts_on_disputes,
        sizes=Sizes(raters=5, per_item=2),
    ),
    World(
        name="leaking_systems",
        what="raters carry 35 % of their answers on A's item over to B's",
        knowable=True,
        because="their own answers on A are in the file",
        draw=leaking_systems,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="mixed_languages",
        what="half of the raters hardly read the language of 25 % of the queries",
        knowable=True,
        because="the other raters tell these queries, and the language is in the file",
        draw=mixed_languages,
        sizes=Sizes(raters=6, per_item=3),
    ),
    World(
        name="copying_rater",
        what="of 4 raters an item, the second copies 70 % of the first's answers",
        knowable=True,
        because="four others rate beside them, so that the copies show",
        draw=copying_rater,
        sizes=Sizes(raters=6, per_item=4),
    ),
    World(
        name="position_biased_judges",
        what="2 judges overrate the first places of a list, 3 people do not",
        knowable=True,
        because="the bias is even over places, and the people do not share it",
        draw=position_biased_judges,
        sizes=Sizes(raters=5, per_item=4),
    ),
    World(
        name="graded_halo",
        what="an impression of each answer tinges the five grounding labels of a rating",
        knowable=True,
        because="dependence among the labels of one rating shows",
        draw=graded_halo,
        sizes=Sizes(places=1, raters=6, per_item=4),
    ),
    World(
        name="all_trust_one",
        what="all raters say yes to system A more easily than to B, whatever is true",
        knowable=True,
        because=ALIKE,
        draw=all_trust_one,
        sizes=OF_ALL_RATERS,
    ),
    World(
        name="errors_hard_to_see",
        what="52 to 60 % of the raters see an error of system B, almost all one of A",
        knowable=True,
        because=ALIKE,
        draw=errors_hard_to_see,
        sizes=OF_ALL_RATERS,
    ),
    World(
        name="one_system_unclear",
        what="all raters are right on A in .90 to .96, on B in .66 to .78 of their answers",
        knowable=True,
        because=ALIKE,
        draw=one_system_unclear,
        sizes=OF_ALL_RATERS,
    ),
)
