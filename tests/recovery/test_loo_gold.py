"""Gold that is left out: as fits without it say, and a judge of the truth that is meant."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats import compare

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.fits.view import FitView
from assay.validation.loo import gold_log_probability

KNOWN = 40
LEFT_OUT = 3


@pytest.fixture(scope="module")
def crowd() -> tuple[np.ndarray, Ratings]:
    """A crowd that sees a fifth of the items as what they are not, and forty items with gold."""
    rng = np.random.default_rng(3)
    items, raters = 300, 6
    truth = rng.random(items) < 0.4
    seen = np.where(rng.random(items) < 0.2, ~truth, truth)
    right = rng.random((items, raters)) < 0.85
    said = np.where(right, seen[:, None], ~seen[:, None])
    rows = [
        (f"{i:03d}", f"r{j}", ("no", "yes")[int(said[i, j])])
        for i in range(items)
        for j in range(raters)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    gold = [(f"{i:03d}", ("no", "yes")[int(truth[i])]) for i in range(KNOWN)]
    frame = pd.DataFrame(gold, columns=["item", "label"])
    return truth.astype(int), assay.read_ratings(table, task="single", truth=frame)


def fit_of(ratings: Ratings, **options: object) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, **{"tune": 300, "chains": 2, "rng": 1, "progress": False}, **options
        )


@pytest.fixture(scope="module")
def by_reference(crowd: tuple[np.ndarray, Ratings]) -> dict[str | None, xr.DataTree]:
    return {
        reference: fit_of(crowd[1], raters="one_coin", reference=reference, draws=400)
        for reference in (None, "gold")
    }


def test_as_a_fit_without_the_gold_of_the_item() -> None:
    """Two ratings an item, and much hangs on each item with gold."""
    ratings = assay.simulate(
        "single", classes=["a", "b"], n_items=40, n_raters=3, ratings_per_item=2, gold=0.5, rng=3
    )
    fit = fit_of(ratings, raters="dawid_skene", draws=1000)
    foretold = np.exp(assay.loo_gold(fit).elpd_i)
    seen = np.exp(gold_log_probability(FitView.of(fit))).mean(("chain", "draw"))
    worst = foretold["item"].to_numpy()[np.argsort(foretold.to_numpy())[:LEFT_OUT]]
    for name in worst:
        place, truth = ratings.items.index.get_loc(name), ratings.truth.copy()
        told = int(truth[place, 0])
        truth[place] = MISSING
        again = fit_of(replace(ratings, truth=truth), raters="dawid_skene", draws=1000)
        chance = assay.label_probabilities(again).isel(label=0).sel(item=name)
        chance = float(chance.isel(**{"class": told}))
        assert float(foretold.sel(item=name)) == pytest.approx(chance, abs=0.025)
    assert float((seen - foretold).sel(item=worst).max()) > 0.05


def test_it_tells_whose_truth_is_meant(
    crowd: tuple[np.ndarray, Ratings], by_reference: dict[str | None, xr.DataTree]
) -> None:
    """Leave-one-out of ratings is no judge of that."""
    truth, loss, foretold = crowd[0], {}, {}
    for reference, fit in by_reference.items():
        chance = assay.label_probabilities(fit).isel(label=0).sortby("item").to_numpy()[KNOWN:]
        loss[reference] = -np.log(chance[np.arange(len(chance)), truth[KNOWN:]]).mean()
        foretold[reference] = assay.loo_gold(fit)
    assert loss["gold"] < loss[None] - 0.1
    assert foretold["gold"].elpd > foretold[None].elpd + 2 * foretold["gold"].se
    names = {str(reference): found for reference, found in foretold.items()}
    assert compare(names).index[0] == "gold"
    assert -float(foretold["gold"].elpd) / KNOWN == pytest.approx(
        loss["gold"], abs=2 * float(foretold["gold"].se) / KNOWN
    )
