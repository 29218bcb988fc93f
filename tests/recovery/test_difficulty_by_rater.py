"""Raters on whom difficulty weighs unequally: how much on each is found."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from quick_fits import without_departures

import assay
from assay._util.errors import FitWarning

ITEMS = 600
HARD_SHARE = 0.4
LOADINGS = np.array([0.1, 0.2, 0.4, 0.6, 0.9, 1.3, 2.0, 3.0])
EASY = 0.95


@pytest.fixture(scope="module")
def crowd() -> tuple[np.ndarray, pd.DataFrame]:
    """Truth, and the answers of eight raters to all items."""
    rng = np.random.default_rng(5)
    truth = rng.random(ITEMS) < 0.5  # of hard items as of easy ones
    difficulty = rng.beta(HARD_SHARE / 2, (1 - HARD_SHARE) / 2, ITEMS)
    seen = 1 - difficulty[:, None] * (1 - np.exp(-LOADINGS))
    right = seen * EASY + (1 - seen) / 2
    said = np.where(rng.random(right.shape) < right, truth[:, None], ~truth[:, None])
    rows = [
        (f"{i:03d}", f"rater_{j}", ("no", "yes")[int(said[i, j])])
        for i in range(ITEMS)
        for j in range(len(LOADINGS))
    ]
    return truth, pd.DataFrame(rows, columns=["item", "rater", "label"])


def fit_of(table: pd.DataFrame, raters: str) -> xr.DataTree:
    ratings = assay.read_ratings(table, task="single")
    with warnings.catch_warnings(), without_departures():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, raters=raters, draws=300, tune=300, chains=2, rng=1, progress=False
        )


@pytest.fixture(scope="module")
def fit(crowd: tuple[np.ndarray, pd.DataFrame]) -> xr.DataTree:
    return fit_of(crowd[1], "hierarchical + item_difficulty_by_rater")


def test_the_loading_of_each_rater(fit: xr.DataTree) -> None:
    posterior = fit["posterior"].isel(label_name=0, group=0)
    sd, offset = posterior["difficulty_rate_sd"], posterior["difficulty_rate_offset"]
    found = posterior["difficulty_rate"] * np.exp(sd * offset)
    found = found.sel(rater=[f"rater_{j}" for j in range(len(LOADINGS))])
    low, middle, high = found.quantile([0.025, 0.5, 0.975], dim=["chain", "draw"])
    assert np.corrcoef(np.log(middle), np.log(LOADINGS))[0, 1] > 0.85
    assert ((low < LOADINGS) & (high > LOADINGS)).sum() >= len(LOADINGS) - 1


def test_labels_are_better_than_with_one_loading(
    crowd: tuple[np.ndarray, pd.DataFrame], fit: xr.DataTree
) -> None:
    truth, table = crowd
    loss = {}
    for name in ("by_rater", "continuous"):
        one = fit if name == "by_rater" else fit_of(table, f"item_difficulty_{name}")
        chance = assay.label_probabilities(one).isel(label=0, **{"class": 1})
        chance = chance.sortby("item").to_numpy()
        loss[name] = -np.log(np.where(truth, chance, 1 - chance)).mean()
    assert loss["by_rater"] < loss["continuous"] - 0.01
