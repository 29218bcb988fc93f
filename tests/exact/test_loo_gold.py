"""Gold that is left out: its probability, draw by draw, against brute force."""

import warnings
from dataclasses import replace

import brute
import numpy as np
import pytest
import xarray as xr
from refusals import refusal
from small import in_sessions, small_ratings, task_named

import assay
from assay._util.errors import FitError
from assay.data.ratings import Ratings
from assay.data.states import MISSING, state_space
from assay.fits.view import FitView
from assay.validation.loo import gold_log_probability

FEW = {"draws": 13, "tune": 30, "chains": 2, "rng": 1, "progress": False}


def ratings_of(name: str, **options: object) -> Ratings:
    """Ratings in sessions, some answers missing, the truth of some items known."""
    return in_sessions(small_ratings(task_named(name), 4, missing=0.1, **options), 4)


def fit_of(ratings: Ratings, **options: object) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few draws
        return assay.fit(ratings, **{**FEW, **options})


def expected(fit: xr.DataTree, draw: int) -> np.ndarray:
    """Log probability that an item's state agrees with its gold, by Bayes' rule without it."""
    structure = FitView.of(fit).structure
    values = {name: value[draw] for name, value in FitView.of(fit).draws.items()}
    by_state = brute.posterior(structure.without_gold(), values).sum(axis=1)
    states, truth = structure.prevalence.space.states, structure.ratings.truth
    agrees = ((truth[:, None] == MISSING) | (truth[:, None] == states)).all(axis=-1)
    known = (truth != MISSING).any(axis=1)
    return np.log((by_state * agrees).sum(axis=1)[known])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"raters": "hierarchical + item_difficulty_by_class + drift"},
        {"raters": {"human": "hierarchical", "model": "hierarchical + item_difficulty"}},
    ],
    ids=["default", "by class", "mixed"],
)
@pytest.mark.parametrize("name", ["single", "ais", "gated"])
def test_the_gold_of_an_item(name: str, options: dict):
    fit = fit_of(ratings_of(name, known=True), **options)
    found = gold_log_probability(FitView.of(fit))
    assert found.dims == ("chain", "draw", "item")
    flat = found.stack(at=("chain", "draw")).transpose("at", "item").to_numpy()
    np.testing.assert_allclose(flat[20], expected(fit, 20), atol=1e-9)
    assert (found.std(("chain", "draw")) > 0).any()


def test_a_perception_layer_stays_where_the_gold_is_left_out():
    ratings = ratings_of("ais", items=60)
    states, truth = state_space(ratings.task).states, ratings.truth.copy()
    truth[:30] = states[np.random.default_rng(2).integers(0, len(states), 30)]
    ratings = replace(ratings, truth=truth)
    fit = fit_of(ratings, reference="gold")
    found = gold_log_probability(FitView.of(fit))
    flat = found.stack(at=("chain", "draw")).transpose("at", "item").to_numpy()
    np.testing.assert_allclose(flat[7], expected(fit, 7), atol=1e-9)
    assert (found.std(("chain", "draw")) > 0).any()


@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
def test_clusters_are_left_out_whole(prevalence: str):
    """With an effect of the cluster and without: log p(y, gold) - log p(y) of its items."""
    ratings = ratings_of("ais", known=True, clusters=6, items=18)
    fit = fit_of(ratings, prevalence=prevalence)
    structure, found = FitView.of(fit).structure, gold_log_probability(FitView.of(fit))
    assert structure.prevalence.has_clusters == (prevalence == "loglinear")
    assert found.dims == ("chain", "draw", "cluster")
    values = {name: value[3] for name, value in FitView.of(fit).draws.items()}
    apart = np.subtract(
        brute.log_likelihoods(structure, values),
        brute.log_likelihoods(structure.without_gold(), values),
    )
    cluster = ratings.items["cluster"].to_numpy(str)
    of_unit = np.unique(cluster, return_index=True)[1]
    known = np.unique(cluster[(ratings.truth != MISSING).any(axis=1)])
    assert found["cluster"].to_numpy().tolist() == known.tolist()
    here = found.isel(chain=0, draw=3)
    if prevalence == "dirichlet":  # an item is a unit of the likelihood
        for name in known:
            assert float(here.sel(cluster=name)) == pytest.approx(apart[cluster == name].sum())
    else:
        assert len(apart) == len(of_unit)
        assert float(here.sum()) == pytest.approx(apart.sum(), abs=1e-9)


def test_gold_that_is_certain_has_no_tail():
    """Every draw says the same of it: there is nothing to smooth, and nothing to distrust."""
    ratings = assay.simulate(
        "single", n_items=20, n_raters=40, ratings_per_item=40, classes=["a", "b"], gold=0.5, rng=1
    )
    found = assay.loo_gold(fit_of(ratings, raters="one_coin"))
    assert float(found.elpd) == pytest.approx(0, abs=1e-3)
    assert (found.pareto_k == 0).all()


def test_without_gold_or_draws_it_says_so():
    ratings = ratings_of("single", known=True)
    quick = {"method": "map", "draws": 5, "chains": 1}
    with pytest.raises(FitError, check=refusal("approximate-draws")):
        assay.loo_gold(fit_of(ratings, **quick))
    with pytest.raises(FitError, check=refusal("few-draws", draws=20, needed=25)):
        assay.loo_gold(fit_of(ratings, draws=10))
    blind = FitView.of(fit_of(ratings, **quick)).structure.without_gold().ratings
    with pytest.raises(FitError, check=refusal("no-known-truth")):
        assay.loo_gold(fit_of(blind))
