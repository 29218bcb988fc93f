"""Simulator = likelihood: simulated states and answers against their exact probabilities."""

from dataclasses import replace

import brute
import numpy as np
import pytest
from scipy import stats
from small import draw_values, small_ratings, task_named, with_strengths

from assay.data.ratings import Ratings
from assay.fits.simulate import simulate_answers
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

ITEMS = 10_000


def study(task, raters: int = 1, **options: object) -> Ratings:
    """Many items that each rater has rated once, with placeholders for answers."""
    few = small_ratings(task, 1, items=4, raters=2, **options)
    item = np.repeat(np.arange(ITEMS), raters)
    names = [f"i{i}" for i in range(ITEMS)]
    items = few.items.iloc[np.zeros(ITEMS, int)].assign(cluster=names)
    blank = few.answers[np.flatnonzero((few.answers >= 0).any(axis=1))[0]]
    return replace(
        few,
        item=item,
        rater=np.tile(np.arange(raters), ITEMS),
        answers=np.repeat(blank[None], len(item), axis=0),
        replicate=np.zeros(len(item), np.int64),
        abstained=np.zeros(len(item), bool),
        items=items.set_axis(names),
        truth=np.full((ITEMS, len(task.labels)), -1, np.int16),
        panels=few.panels.iloc[np.zeros(ITEMS, int)]
        .assign(panel=names, cluster=names, item=np.arange(ITEMS))
        .reset_index(drop=True),
    )


def simulated(
    task, missing: float = 0.0, raters: int = 1, **options: object
) -> tuple[Structure, Ratings, dict]:
    structure = build_structure(study(task, raters, **options), make_spec("hierarchical"))
    values = draw_values(structure, 2)
    rng = np.random.default_rng(7)
    return structure, simulate_answers(structure, values, rng, missing=missing), values


def p_value(patterns: np.ndarray, chance: dict[tuple[int, ...], float]) -> float:
    """Chi-squared of rows against the probabilities of all possible rows."""
    assert sum(chance.values()) == pytest.approx(1, abs=1e-9)
    rows, counts = np.unique(patterns, axis=0, return_counts=True)
    seen = {tuple(int(c) for c in row): n for row, n in zip(rows, counts, strict=True)}
    assert set(seen) <= {row for row, p in chance.items() if p > 0}
    common = [row for row, p in chance.items() if p * len(patterns) >= 5]
    observed = [seen.get(row, 0) for row in common]
    expected = [chance[row] * len(patterns) for row in common]
    rest = len(patterns) - sum(expected)
    if rest > 5:
        observed.append(len(patterns) - sum(observed))
        expected.append(rest)
    return float(
        stats.chisquare(observed, np.array(expected) * sum(observed) / sum(expected)).pvalue
    )


def masks(task, partial: str, missing: float) -> dict[tuple[bool, ...], float]:
    """Chance of each set of labels that are answered."""
    count = len(task.labels)
    if partial == "lost":
        every = np.array(np.meshgrid(*[[False, True]] * count)).reshape(count, -1).T
        return {
            tuple(bool(a) for a in m): (1 - missing) ** m.sum() * missing ** (count - m.sum())
            for m in every
        }
    order = {"gated": [1, 3, 2, 0]}.get(task.name, list(range(count)))
    found = {}
    for reached in range(count + 1):
        answered = [False] * count
        for n in order[:reached]:
            answered[n] = True
        found[tuple(answered)] = (1 - missing) ** reached * (missing if reached < count else 1.0)
    return found


def exact(structure: Structure, values: dict, missing: float) -> dict[tuple[int, ...], float]:
    """Joint probability of each (state, recorded answers) of the first rater."""
    ratings, task = structure.ratings, structure.ratings.task
    rater = brute.speaker(structure, brute.voices(structure, values)[0])
    shares = brute.Scores(structure, values, {})(0.0)
    found: dict[tuple[int, ...], float] = {}
    for state, share in zip(brute.states(task), shares, strict=True):
        for answered, chance in masks(task, ratings.partial, missing).items():
            whole = answered if ratings.partial == "draft" else (True,) * len(answered)
            menu = rater.menu(state, whole) if any(answered) else {(-1,) * len(answered): 1.0}
            for option, p in menu.items():
                shown = tuple(y if a else -1 for y, a in zip(option, answered, strict=True))
                key = (*state, *shown)
                found[key] = found.get(key, 0.0) + share * chance * p
    return found


@pytest.mark.parametrize("resolve", ["retry", "repair"])
@pytest.mark.parametrize("responses", [("block",), ("warn",), ("off",), ("block", "warn")])
@pytest.mark.parametrize("name", ["retrieval", "gated"])
def test_answers_under_rules(name: str, responses: tuple[str, ...], resolve: str):
    task = with_strengths(task_named(name), ("hard", "soft"), responses)
    structure, ratings, values = simulated(task, resolve=resolve)
    patterns = np.concatenate([ratings.simulated.truth, ratings.answers], axis=1)
    assert p_value(patterns, exact(structure, values, 0.0)) > 1e-3


@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize("name", ["retrieval", "ais", "gated", "relevance"])
def test_partly_answered(name: str, partial: str):
    structure, ratings, values = simulated(task_named(name), 0.3, partial=partial)
    patterns = np.concatenate([ratings.simulated.truth, ratings.answers], axis=1)
    assert p_value(patterns, exact(structure, values, 0.3)) > 1e-3


def test_ratings_of_an_item_are_independent_given_its_state():
    structure, ratings, values = simulated(task_named("relevance"), raters=2)
    table = [brute.speaker(structure, voice) for voice in brute.voices(structure, values)]
    chance = {}
    for state, share in zip(
        brute.states(ratings.task), brute.Scores(structure, values, {})(0.0), strict=True
    ):
        for first, p in table[0].menu(state, (True,)).items():
            for second, q in table[1].menu(state, (True,)).items():
                chance[(*state, *first, *second)] = share * p * q
    pairs = np.concatenate([ratings.simulated.truth, ratings.answers.reshape(-1, 2)], axis=1)
    assert p_value(pairs, chance) > 1e-3


def test_the_test_has_power():
    """The other kernel's probabilities do not fit the answers."""
    structure, ratings, values = simulated(task_named("retrieval"), resolve="retry")
    other = build_structure(replace(structure.ratings, resolve="repair"), make_spec("hierarchical"))
    patterns = np.concatenate([ratings.simulated.truth, ratings.answers], axis=1)
    assert p_value(patterns, exact(other, values, 0.0)) < 1e-6
