"""What must not matter to a model does not: order of rows, names and order of items and raters."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import assay
from assay.data.ratings import Ratings, take_ratings
from assay.data.states import MISSING, state_space
from assay.fits.latent_states import sample_states
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

few = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
seeds = st.integers(0, 10_000)
tasks = st.sampled_from(["retrieval", "ais", "single", "relevance", "grounding"])
specs = st.sampled_from(
    [
        {"raters": "hierarchical + item_difficulty + drift", "reference": "human"},
        {"raters": "dawid_skene + system_bias", "reference": "gold"},
        {"raters": {"human": "pooled + drift", "model": "scored + item_difficulty"}},
        {"raters": "mace + item_difficulty_continuous"},
    ]
)


def drawn_ratings(task: str, seed: int, systems: int = 2) -> Ratings:
    ratings = assay.simulate(
        task,
        n_items=24,
        groups={"human": 2, "model": 3},
        ratings_per_item=2,
        n_systems=systems,
        n_clusters=6,
        missing=0.1,
        rng=seed,
    )
    truth = ratings.truth.copy()
    truth[0] = ratings.simulated.truth[0]
    return replace(ratings, truth=truth)


def structure_of(ratings: Ratings) -> Structure:
    return build_structure(ratings, make_spec())


def values_of(structure: Structure, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {p.name: p.draw(rng) for p in structure.parameters()}


def probabilities(structure: Structure, values: dict[str, np.ndarray]) -> np.ndarray:
    draws = {k: v[None] for k, v in values.items()}
    return sample_states(structure, draws, np.random.default_rng(1)).probabilities


@few
@given(task=tasks, seed=seeds)
def test_row_order_does_not_matter(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    order = np.random.default_rng(seed).permutation(len(ratings.answers))
    moved = replace(
        ratings,
        **{
            name: getattr(ratings, name)[order]
            for name in ("answers", "item", "rater", "replicate", "abstained")
        },
    )
    first, second = structure_of(ratings), structure_of(moved)
    values = values_of(first, seed)
    assert first.log_likelihood(values) == pytest.approx(second.log_likelihood(values), abs=1e-9)
    np.testing.assert_allclose(
        probabilities(first, values), probabilities(second, values), atol=1e-12
    )


@few
@given(task=tasks, seed=seeds)
def test_items_may_stand_in_any_order(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    order = np.random.default_rng(seed).permutation(len(ratings.items))
    place = np.argsort(order)
    moved = replace(
        ratings,
        item=place[ratings.item],
        items=ratings.items.iloc[order],
        truth=ratings.truth[order],
        panels=ratings.panels.assign(item=place[ratings.panels["item"]]).sample(
            frac=1, random_state=seed
        ),
    )
    first, second = structure_of(ratings), structure_of(moved)
    values = values_of(first, seed)
    assert first.log_likelihood(values) == pytest.approx(second.log_likelihood(values), abs=1e-9)
    np.testing.assert_allclose(
        probabilities(first, values)[order], probabilities(second, values), atol=1e-12
    )


@few
@given(task=tasks, seed=seeds)
def test_raters_may_stand_in_any_order(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    order = np.random.default_rng(seed).permutation(len(ratings.raters))
    moved = replace(
        ratings, rater=np.argsort(order)[ratings.rater], raters=ratings.raters.iloc[order]
    )
    first, second = structure_of(ratings), structure_of(moved)
    values = values_of(first, seed)
    turned = values | {"logit_offset": values["logit_offset"][order]}
    assert first.log_likelihood(values) == pytest.approx(second.log_likelihood(turned), abs=1e-9)


@few
@given(task=tasks, seed=seeds)
def test_twice_the_data_is_twice_the_log_likelihood(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    count = len(ratings.items)
    again = ratings.items.assign(cluster=ratings.items["cluster"] + "'").rename(index="{}'".format)
    panels = ratings.panels.assign(
        item=ratings.panels["item"] + count, cluster=ratings.panels["cluster"] + "'"
    )
    double = replace(
        ratings,
        answers=np.tile(ratings.answers, (2, 1)),
        item=np.concatenate([ratings.item, ratings.item + count]),
        rater=np.tile(ratings.rater, 2),
        replicate=np.tile(ratings.replicate, 2),
        abstained=np.tile(ratings.abstained, 2),
        items=pd.concat([ratings.items, again]),
        truth=np.tile(ratings.truth, (2, 1)),
        panels=pd.concat([ratings.panels, panels], ignore_index=True),
    )
    first, second = structure_of(ratings), structure_of(double)
    values = values_of(first, seed)
    assert second.log_likelihood(values) == pytest.approx(
        2 * first.log_likelihood(values), abs=1e-9
    )
    once = probabilities(first, values)
    np.testing.assert_allclose(probabilities(second, values), np.tile(once, (2, 1)), atol=1e-12)
    assert second.pattern.data.bundle_weight.sum() == 2 * first.pattern.data.bundle_weight.sum()
    assert len(second.pattern.data.cell_mask) == len(first.pattern.data.cell_mask)


@few
@given(task=tasks, seed=seeds)
def test_probabilities_add_up_to_one_and_respect_what_is_known(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    structure = structure_of(ratings)
    table = probabilities(structure, values_of(structure, seed))
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    states = state_space(ratings.task).states
    assert table[0, (states == ratings.truth[0]).all(axis=1)] == pytest.approx(1)


@few
@given(task=tasks, seed=seeds)
def test_a_rating_without_answers_tells_nothing(task: str, seed: int):
    ratings = drawn_ratings(task, seed)
    blank = np.full((1, ratings.answers.shape[1]), MISSING, np.int16)
    more = replace(
        ratings,
        answers=np.concatenate([ratings.answers, blank]),
        item=np.append(ratings.item, 3),
        rater=np.append(ratings.rater, 1),
        replicate=np.append(ratings.replicate, 5),
        abstained=np.append(ratings.abstained, True),
    )
    first, second = structure_of(ratings), structure_of(more)
    values = values_of(first, seed)
    assert first.log_likelihood(values) == second.log_likelihood(values)


def layered_ratings(task: str, seed: int) -> Ratings:
    """Scores, sessions, repeated ratings and some gold."""
    ratings = assay.simulate(
        task,
        classes=("no", "yes") if task == "single" else None,  # scores need an order
        n_items=16,
        groups={"human": 2, "model": 3},
        ratings_per_item=3,
        n_systems=2,
        n_clusters=6,
        replicates=2,
        sessions=2,
        gold=0.2,
        rng=seed,
    )
    some = take_ratings(ratings, np.flatnonzero(np.arange(len(ratings.answers)) % 3))
    classes = np.array([len(label.classes) for label in some.task.labels])
    scores = (some.answers + np.random.default_rng(seed).random(some.answers.shape)) / classes
    return replace(some, scores=np.where(some.answers >= 0, scores, np.nan))


@few
@given(task=tasks, spec=specs, seed=seeds)
def test_row_order_does_not_matter_to_layers(task: str, spec: dict, seed: int):
    ratings = layered_ratings(task, seed)
    order = np.random.default_rng(seed).permutation(len(ratings.answers))
    first = build_structure(ratings, make_spec(**spec))
    second = build_structure(take_ratings(ratings, order), make_spec(**spec))
    values = values_of(first, seed)
    assert first.log_likelihood(values) == pytest.approx(second.log_likelihood(values), abs=1e-9)
    np.testing.assert_allclose(
        probabilities(first, values), probabilities(second, values), atol=1e-12
    )


@few
@given(task=tasks, spec=specs, seed=seeds)
def test_probabilities_of_layered_models_respect_what_is_known(task: str, spec: dict, seed: int):
    ratings = layered_ratings(task, seed)
    structure = build_structure(ratings, make_spec(**spec))
    draws = {k: v[None] for k, v in values_of(structure, seed).items()}
    found = sample_states(structure, draws, np.random.default_rng(1))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(found.difficulty.sum(axis=1), 1, atol=1e-9)
    states = state_space(ratings.task).states
    known = np.flatnonzero((ratings.truth != MISSING).all(axis=1))
    assert len(known)
    for i in known:
        assert found.probabilities[i, (states == ratings.truth[i]).all(axis=1)] == pytest.approx(1)
