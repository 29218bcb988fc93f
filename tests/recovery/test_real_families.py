"""Families on real ratings with gold, beside aggregators: one small set, at the mode.

The tables of ``docs/real_families.md`` come from the same functions on all sets.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

family_sets = importlib.import_module("benchmarks.real_data.family_sets")
family_scores = importlib.import_module("benchmarks.real_data.family_scores")
family_fits = importlib.import_module("benchmarks.real_data.family_fits")
dependent_worlds = importlib.import_module("benchmarks.dependence.dependent_worlds")


@pytest.fixture(scope="module")
def sentiment(shared_data: Path) -> Any:
    return family_sets.read_gold_set(shared_data, "sentiment_sp_amt")


def scores(gold_set: Any, recipe: str, given: Any = None) -> dict[str, float]:
    ratings = gold_set.ratings if given is None else gold_set.with_gold(given)
    found = family_fits.at_mode(ratings, recipe, None if given is None else "gold")
    items = gold_set.scored(given)
    rng = np.random.default_rng(1)
    return dict(family_scores.score_line(found.probability[items], gold_set.gold[items], rng))


def test_gold_of_a_tenth_of_the_items_mends_overconfidence(sentiment: Any) -> None:
    given = sentiment.given(0, seed=1)
    without, with_gold = scores(sentiment, "hierarchical"), scores(sentiment, "hierarchical", given)
    assert without["accuracy"] > 0.93
    assert without["log_loss"] > 0.5
    assert with_gold["accuracy"] > 0.93
    assert with_gold["log_loss"] < 0.25
    assert with_gold["ece_excess"] <= 0.03


def test_gold_is_given_of_a_tenth_and_not_scored(sentiment: Any) -> None:
    given = sentiment.given(0, seed=1)
    assert len(given) == 50
    assert not np.intersect1d(given, sentiment.scored(given)).size
    assert (sentiment.ratings.truth < 0).all()
    assert not np.array_equal(given, sentiment.given(1, seed=1))


def test_valence_has_ordered_classes(shared_data: Path) -> None:
    valence = family_sets.read_gold_set(shared_data, "snow_affect")
    assert valence.ordered
    assert np.bincount(valence.gold).tolist() == [17, 68, 15]


def test_calibration_excess_is_about_zero_when_truth_follows_the_probabilities() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(0, 1, 2000)
    truth = (rng.random(2000) < p).astype(int)
    excess = family_scores.calibration_excess(np.column_stack([1 - p, p]), truth, rng)[1]
    assert abs(excess) < 0.02
    sure = np.column_stack([p < 0.5, p >= 0.5]).astype(float)
    assert family_scores.calibration_excess(sure, truth, rng)[1] > 0.2


@pytest.mark.parametrize("world", sorted(dependent_worlds.WORLDS))
def test_six_dependent_judges_are_worth_about_two(world: str) -> None:
    simulated = dependent_worlds.WORLDS[world](40_000, np.random.default_rng(1))
    worth = dependent_worlds.kish_worth(simulated)
    assert worth == pytest.approx(dependent_worlds.WORTH, abs=0.15)
