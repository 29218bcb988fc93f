"""EM = the climb on the same density = a textbook Dawid-Skene; the log posterior never falls."""

import warnings
from dataclasses import replace

import brute
import numpy as np
import pandas as pd
import pytest
from small import small_ratings, task_named, with_strengths

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings
from assay.inference.density import make_density
from assay.inference.em import FAMILIES, ascend, closed_form, find_em_modes, starting_point
from assay.inference.mode_search import find_modes
from assay.inference.optimise import climb, prior_centre
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

OFF = with_strengths(task_named("retrieval"), ("off",), ("off",))
FLAT = 1e-7
"""Prior answers of a prior that is flat on the scale on which modes are sought."""


def structure_of(ratings: Ratings, family: str = "dawid_skene", **options: object) -> Structure:
    return build_structure(ratings, make_spec(family, "dirichlet", **options))


def drawn(name: str, seed: int, **options: object) -> Ratings:
    sizes = {"n_items": 50, "n_raters": 5, "ratings_per_item": 3, "rng": seed}
    return assay.simulate(OFF if name == "retrieval" else task_named(name), **sizes | options)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["single", "retrieval", "generation", "relevance"])
@pytest.mark.parametrize("family", FAMILIES)
def test_em_finds_the_mode_that_the_climb_finds(family: str, name: str, seed: int):
    structure = structure_of(drawn(name, seed), family)
    density, form = make_density(structure), closed_form(structure)
    start = prior_centre(density)
    x, height = climb(density, start)
    found = ascend(form, density, start)
    assert found.heights[-1] == pytest.approx(height, abs=1e-7)
    assert found.heights[-1] == pytest.approx(density(found.x)[0], abs=1e-9)
    for name, value in density.constrain(found.x).items():
        np.testing.assert_allclose(value, density.constrain(x)[name], atol=2e-4)
    assert np.abs(density(found.x)[1]).max() < 1e-3


@pytest.mark.parametrize(
    "ratings",
    [
        drawn("single", 3, n_systems=2, n_clusters=10),
        drawn("retrieval", 3, n_systems=2, n_clusters=10),
        drawn("generation", 3, missing=0.3),
        drawn("single", 3, gold=0.4),
        small_ratings(OFF, 3, items=12, systems=3, ranked=True, known=True, missing=0.2),
        small_ratings(task_named("single"), 4, items=12, systems=3, strata=2, known=True),
    ],
    ids=["systems", "systems, three labels", "missing", "gold", "shared items", "strata"],
)
def test_em_finds_it_with_all_that_a_study_may_have(ratings: Ratings):
    structure = structure_of(ratings)
    density, form = make_density(structure), closed_form(structure)
    start = prior_centre(density)
    found = ascend(form, density, start)
    assert np.abs(density(found.x)[1]).max() < 1e-3
    assert np.diff(found.heights).min() > -1e-9
    assert found.heights[-1] == pytest.approx(climb(density, start)[1], abs=1e-6)


def test_em_counts_each_group_of_raters_with_its_own_family():
    ratings = drawn("single", 4, groups={"human": 3, "model": 3}, ratings_per_item=4)
    recipe = {"human": "pooled", "model": "class_conditional"}
    structure = structure_of(ratings, recipe)
    density = make_density(structure)
    found = ascend(closed_form(structure), density, prior_centre(density))
    x, height = climb(density, prior_centre(density))
    assert found.heights[-1] == pytest.approx(height, abs=1e-7)
    np.testing.assert_allclose(found.x, x, atol=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_log_posterior_never_falls(seed: int):
    """From anywhere, on data that say little, where leaps go wrong."""
    rng = np.random.default_rng(seed)
    ratings = small_ratings(task_named("single"), seed, items=9)
    structure = structure_of(ratings, priors={"confusion": "Confusion(0.5, 0.2)"})
    density = make_density(structure)
    start = 3 * rng.standard_normal(density.size)
    heights = ascend(closed_form(structure), density, start).heights
    assert len(heights) > 3
    assert np.diff(heights).min() > -1e-9


def test_the_height_is_the_brute_force_likelihood_and_the_prior():
    structure = structure_of(drawn("retrieval", 7, n_items=10))
    density = make_density(structure)
    found = ascend(closed_form(structure), density, prior_centre(density))
    exact = sum(brute.log_likelihoods(structure, density.constrain(found.x)))
    assert found.heights[-1] - density.log_prior(found.x) == pytest.approx(exact, abs=1e-8)


def test_known_truth_makes_it_counting():
    """With the truth of every item known, shares of counts and prior counts are the mode."""
    ratings = drawn("single", 8, gold=1.0)
    structure = structure_of(ratings, priors={"confusion": "Confusion(0.5, 4)"})
    density = make_density(structure)
    values = density.constrain(ascend(closed_form(structure), density, np.zeros(density.size)).x)
    truth = ratings.truth[ratings.item, 0]
    counts = np.zeros((5, 4, 4))
    np.add.at(counts, (ratings.rater, truth, ratings.answers[:, 0]), 1)
    counts += np.where(np.eye(4), 2.0, 2.0 / 3)
    expected = counts / counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(values["confusion_4"], expected, atol=1e-9)
    shares = np.bincount(ratings.truth[:, 0], minlength=4) + 0.5
    np.testing.assert_allclose(values["state_share"][0], shares / shares.sum(), atol=1e-9)


def plain_dawid_skene(ratings: Ratings, classes: int) -> tuple[float, np.ndarray]:
    """Dawid & Skene's EM, as in their paper: log-likelihood and label probabilities.

    It begins with raters who are right in 7 of 10 answers: where there are several maxima, from
    the same side.
    """
    item, rater, answer = ratings.item, ratings.rater, ratings.answers[:, 0]
    logs = np.zeros((len(ratings.items), classes))
    np.add.at(logs, item, np.log(np.where(np.eye(classes), 0.7, 0.3 / (classes - 1)))[answer])
    shares = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    for _ in range(20_000):
        counts = np.zeros((len(ratings.raters), classes, classes))
        np.add.at(counts.swapaxes(1, 2), (rater, answer), shares[item])
        confusion = counts / counts.sum(axis=-1, keepdims=True)
        logs = np.tile(np.log(shares.mean(axis=0)), (len(shares), 1))
        np.add.at(logs, item, np.log(np.maximum(confusion, 1e-300))[rater, :, answer])
        before, shares = shares, np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        if np.abs(shares - before).max() < 1e-12:
            break
    return float(np.logaddexp.reduce(logs, axis=1).sum()), shares


def flat_fit(ratings: Ratings, classes: int) -> tuple[float, np.ndarray]:
    flat = np.full((classes, classes), FLAT)
    priors = {"confusion": flat, "prevalence": f"Dirichlet({FLAT})"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings, raters="dawid_skene", prevalence="dirichlet", priors=priors, method="em",
            draws=1, chains=1, starts=1, rng=1,
        )  # fmt: skip
    value = float(fit["log_likelihood"]["ratings"].sum())
    return value, assay.label_probabilities(fit).isel(label=0).to_numpy()


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_with_a_flat_prior_it_is_the_em_of_dawid_and_skene(seed: int):
    """A flat prior's centre is a saddle: EM has to find its way out of it."""
    ratings = assay.simulate(
        "single", raters="dawid_skene", classes=("a", "b", "c"), n_items=400, n_raters=6,
        ratings_per_item=5, priors={"confusion": "Confusion(0.7, 30)"}, rng=seed,
    )  # fmt: skip
    value, probabilities = flat_fit(ratings, 3)
    expected, shares = plain_dawid_skene(ratings, 3)
    assert value == pytest.approx(expected, abs=1e-4)
    np.testing.assert_allclose(probabilities, shares, atol=1e-4)


def test_a_prior_of_one_answer_is_not_flat_here():
    """The mode is that of the unconstrained values: Dirichlet(1) counts as one answer each."""
    ratings = drawn("single", 2, gold=1.0)
    structure = structure_of(ratings, priors={"confusion": np.ones((4, 4))})
    density = make_density(structure)
    values = density.constrain(ascend(closed_form(structure), density, np.zeros(density.size)).x)
    truth = ratings.truth[ratings.item, 0]
    right = ((truth == 0) & (ratings.answers[:, 0] == 0) & (ratings.rater == 0)).sum() + 1
    total = ((truth == 0) & (ratings.rater == 0)).sum() + 4
    assert values["confusion_4"][0, 0, 0] == pytest.approx(right / total, abs=1e-9)


def test_crowd_kit_finds_no_higher_likelihood():
    crowd = pytest.importorskip("crowdkit.aggregation")
    ratings = assay.simulate(
        "single", raters="dawid_skene", classes=("a", "b", "c"), n_items=300, n_raters=8,
        ratings_per_item=8, priors={"confusion": "Confusion(0.7, 60)"}, rng=4,
    )  # fmt: skip
    table = pd.DataFrame(
        {"task": ratings.item, "worker": ratings.rater, "label": ratings.answers[:, 0]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = crowd.DawidSkene(n_iter=60, tol=1e-14).fit(table)
    value, probabilities = flat_fit(ratings, 3)
    shares = found.probas_.sort_index().sort_index(axis=1).to_numpy()
    np.testing.assert_allclose(probabilities, shares, atol=1e-3)
    errors = found.errors_.to_dict("index")
    logs = np.tile(np.log(found.priors_.sort_index().to_numpy()), (300, 1))
    for item, rater, answer in table.itertuples(index=False):
        logs[item] += np.log([errors[rater, answer][k] for k in range(3)])
    assert value >= np.logaddexp.reduce(logs, axis=1).sum() - 1e-4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_several_starts_find_the_modes_that_climbs_find(seed: int):
    ratings = assay.simulate("single", classes=("a", "b"), n_items=30, n_raters=4, rng=seed)
    structure = structure_of(ratings)
    density, form = make_density(structure), closed_form(structure)
    by_em = find_em_modes(form, density, np.random.default_rng(1), starts=6)
    by_climb = find_modes(structure, density, np.random.default_rng(1), starts=6)
    assert by_em[0].height == pytest.approx(by_climb[0].height, abs=1e-6)
    if len(by_em) > 1:
        assert by_em[0].weight == pytest.approx(by_climb[0].weight, abs=0.02)


def test_the_centre_of_a_prior_that_tells_classes_apart_is_where_it_starts():
    structure = structure_of(drawn("single", 1))
    density, form = make_density(structure), closed_form(structure)
    assert (starting_point(form, density) == prior_centre(density)).all()
    flat = structure_of(drawn("single", 1), priors={"confusion": np.ones((4, 4))})
    moved = starting_point(closed_form(flat), make_density(flat))
    right = np.diagonal(make_density(flat).constrain(moved)["confusion_4"], axis1=-2, axis2=-1)
    np.testing.assert_allclose(right, 0.7, atol=0.01)


@pytest.mark.parametrize(
    ("ratings", "raters", "prevalence"),
    [
        (drawn("single", 1), "hierarchical", "dirichlet"),
        (drawn("single", 1), "dawid_skene", "loglinear"),
        (drawn("single", 1), "dawid_skene + item_difficulty", "dirichlet"),
        (drawn("single", 1), "mace", "dirichlet"),
        (assay.simulate("retrieval", n_items=10, rng=1), "dawid_skene", "dirichlet"),
        (assay.simulate("ais", n_items=10, rng=1), "dawid_skene", "dirichlet"),
        (drawn("single", 1, replicates=2), "dawid_skene", "dirichlet"),
    ],
)
def test_other_models_have_no_closed_form(ratings: Ratings, raters: str, prevalence: str):
    assert closed_form(build_structure(ratings, make_spec(raters, prevalence))) is None


def test_raters_without_an_error_have_finite_log_odds():
    ratings = drawn("single", 1)
    truth = np.zeros_like(ratings.truth)
    perfect = replace(ratings, truth=truth, answers=np.zeros_like(ratings.answers))
    structure = structure_of(perfect, "one_coin", priors={"accuracy": "Beta(1, 1e-30)"})
    density = make_density(structure)
    found = ascend(closed_form(structure), density, np.zeros(density.size))
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.heights[-1])
