"""The effective number of raters in a group, and what a perception layer says."""

import json

import numpy as np
import pytest
from true_fits import at_the_truth, quick

import assay
from assay.fits.answer_draws import draw_answers
from assay.fits.view import FitView
from assay.raters.dependence import (
    appearance_chances,
    effective_number_of_raters,
    group_misperception,
)


def test_effective_raters_is_kish_over_simulated_errors():
    """Errors of six raters with a perception layer and hard items, counted in a simulation."""
    few = assay.simulate(
        "retrieval",
        raters="hierarchical + item_difficulty",
        reference="gold",
        gold=0.8,
        n_items=60,
        n_raters=6,
        ratings_per_item=6,
        values={"misperceived": np.array([0.25]), "logit_mean": np.full((1, 6), 2.0)},
        rng=4,
    )
    fit = at_the_truth(few, raters="hierarchical + item_difficulty", reference="gold")
    found = effective_number_of_raters(fit).isel(chain=0, draw=0, group=0)
    structure = FitView.of(fit).structure
    values = FitView.of(fit).draws
    rng = np.random.default_rng(1)
    prevalence = np.asarray(fit["posterior"]["prevalence"])[0, 0]
    states = structure.prevalence.space.states
    errors: list[np.ndarray] = []
    drawn = []
    for _ in range(400):
        true = rng.choice(len(states), size=60, p=prevalence / prevalence.sum())
        answers, _ = draw_answers(structure, values, true.astype(np.int16), rng)
        order = np.lexsort((few.rater, few.item))
        errors.append((answers[order].reshape(60, 6, 3) != states[true][:, None]).astype(float))
        drawn.append(true)
    wrong, true = np.concatenate(errors), np.concatenate(drawn)
    for label in range(3):
        covariance = variance = 0.0
        for s in range(len(states)):
            here = wrong[true == s][:, :, label]
            if len(here) < 50:
                continue
            matrix = np.cov(here.T)
            weight = len(here) / len(wrong)
            covariance += weight * matrix[~np.eye(6, dtype=bool)].mean()
            variance += weight * np.diag(matrix).mean()
        expected = 6 / (1 + 5 * covariance / variance)
        assert float(found[label]) == pytest.approx(expected, rel=0.05)


def test_appearances_are_chances():
    ratings = assay.simulate(
        "ais", reference="gold", gold=0.6, n_items=60, n_raters=4, n_systems=2, rng=2
    )
    fit = at_the_truth(ratings, reference="gold")
    table = appearance_chances(FitView.of(fit).structure, "all", FitView.of(fit).draws)[0, 0]
    np.testing.assert_allclose(table.sum(axis=1), 1)
    blur = ratings.simulated.values["misperceived"][0]
    assert (np.diag(table) >= 1 - blur).all()


def test_perception_is_called_prior_driven_only_where_it_is():
    gold = assay.simulate(
        "single", classes=("a", "b"), reference="gold", gold=0.9, n_items=300, n_raters=4, rng=6
    )
    told = group_misperception(quick(gold, reference="gold"))
    assert not told["prior_driven"].iloc[0]
    assert told["lower"].iloc[0] < gold.simulated.values["misperceived"][0] < told["upper"].iloc[0]
    poor = assay.simulate(
        "single",
        classes=("a", "b"),
        reference="gold",
        gold=1.0,
        n_items=30,
        n_raters=1,
        ratings_per_item=1,
        rng=6,
    )
    # The SD is 0.87 of the prior's: few draws cannot tell it from the limit of 0.8.
    fit = quick(poor, draws=3000, reference="gold")
    assert group_misperception(fit)["prior_driven"].iloc[0]
    assert any(
        "on the prior: the posterior SD" in text for text in json.loads(fit.attrs["assumptions"])
    )
