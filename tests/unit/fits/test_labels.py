import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning
from assay.data.rules import NOT_ASKED
from assay.evaluation.draws import predicted_labels
from assay.fits.labels import class_names
from assay.fits.view import FitView


@pytest.fixture(scope="module", params=["retrieval", "ais", "relevance"])
def fit(request: pytest.FixtureRequest) -> xr.DataTree:
    ratings = assay.simulate(request.param, n_items=30, ratings_per_item=2, n_clusters=6, rng=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(ratings, method="laplace", draws=1500, chains=2, rng=2, starts=1)


def test_codes_of_classes_are_not_averaged(fit: xr.DataTree):
    with pytest.raises(FitError, check=refusal("codes-not-numbers")):
        assay.summarize(assay.label_draws(fit))


def test_state_probabilities_add_up_to_one(fit: xr.DataTree):
    states = assay.state_probabilities(fit)
    assert states.dims == ("item", "state")
    np.testing.assert_allclose(states.sum("state"), 1, atol=1e-9)
    assert (states >= 0).all()


def test_label_probabilities_are_sums_of_state_probabilities(fit: xr.DataTree):
    labels, states = assay.label_probabilities(fit), assay.state_probabilities(fit)
    np.testing.assert_allclose(labels.sum("class"), 1, atol=1e-9)
    codes = fit["constant_data"]["states"].values
    for n, label in enumerate(labels["label"].values):
        for k, name in enumerate(labels["class"].values):
            here = labels.sel({"label": label, "class": name})
            code = NOT_ASKED if name == "not asked" else k
            if not here.isnull().all():
                np.testing.assert_allclose(here, states.values[:, codes[:, n] == code].sum(axis=1))
            else:
                assert not (codes[:, n] == code).any()


def test_draws_have_the_probabilities(fit: xr.DataTree):
    draws, labels = assay.label_draws(fit), assay.label_probabilities(fit)
    assert draws.dims == ("chain", "draw", "item", "label")
    for k, name in enumerate(labels["class"].values):
        code = NOT_ASKED if name == "not asked" else k
        share = (draws == code).mean(("chain", "draw"))
        expected = labels.sel({"class": name}).fillna(0)
        # 3000 draws: five standard errors
        np.testing.assert_allclose(share, expected, atol=5 * 0.5 / np.sqrt(3000))


def test_every_draw_is_a_state(fit: xr.DataTree):
    states = {tuple(s) for s in fit["constant_data"]["states"].values.tolist()}
    draws = assay.label_draws(fit).values
    assert {tuple(v) for v in draws.reshape(-1, draws.shape[-1]).tolist()} <= states


def test_predictive_draws_are_new_and_repeatable(fit: xr.DataTree):
    first, again = (
        np.stack([y[:] for y in predicted_labels(FitView.of(fit), 2)]) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
    observed = assay.label_draws(fit).values
    assert first.shape == (2, observed.shape[0] * observed.shape[1], *observed.shape[2:])
    assert (first[0] != first[1]).any()
    assert (first[0] != observed.reshape(first[0].shape)).any()


def test_outputs_name_whose_truth_they_mean(fit: xr.DataTree):
    for function in (assay.state_probabilities, assay.label_probabilities, assay.label_draws):
        assert function(fit).attrs["reference"] == "consensus of all raters"


def test_known_truth_is_certain():
    ratings = assay.simulate("ais", n_items=20, rng=4)
    known = replace(ratings, truth=ratings.simulated.truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(known, method="map", draws=3, chains=1, starts=1)
    np.testing.assert_array_equal(
        assay.label_draws(fit).values, np.broadcast_to(known.truth, (1, 3, *known.truth.shape))
    )
    assert set(np.unique(assay.state_probabilities(fit).values.round(12))) == {0.0, 1.0}


def test_class_names():
    assert class_names(assay.load_task("ais")) == ["no", "yes", "not asked"]
    assert class_names(assay.load_task("relevance")) == ["no", "partially", "yes"]


def test_what_is_no_fit_is_said_in_words():
    for function in (assay.state_probabilities, assay.label_probabilities, assay.label_draws):
        with pytest.raises(FitError, check=refusal("not-a-fit")):
            function(xr.DataTree())
