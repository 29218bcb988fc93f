"""Difficulty that weighs on one true class more than on the other: both loadings are found."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning

ITEMS = 400
HARD_SHARE = 0.4
OF_CLASSES = np.array([0.2, 2.0])
OF_RATERS = np.exp([-0.6, -0.4, -0.2, 0.0, 0.0, 0.2, 0.4, 0.6])
LOADINGS = OF_RATERS[:, None] * OF_CLASSES
EASY = 0.95
KNOWN = 80
Crowd = tuple[np.ndarray, pd.DataFrame, pd.DataFrame]


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    """Truth, the answers of eight raters to all items, and the truth of some that is told."""
    rng = np.random.default_rng(11)
    truth = (rng.random(ITEMS) < 0.5).astype(int)
    difficulty = rng.beta(HARD_SHARE / 2, (1 - HARD_SHARE) / 2, ITEMS)
    seen = 1 - difficulty[:, None] * (1 - np.exp(-LOADINGS[:, truth].T))
    right = rng.random(seen.shape) < seen * EASY + (1 - seen) / 2
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    rows = [
        (f"{i:03d}", f"rater_{j}", ("no", "yes")[said[i, j]])
        for i in range(ITEMS)
        for j in range(len(LOADINGS))
    ]
    told = [(f"{i:03d}", ("no", "yes")[truth[i]]) for i in range(KNOWN)]
    return (
        truth,
        pd.DataFrame(rows, columns=["item", "rater", "label"]),
        pd.DataFrame(told, columns=["item", "label"]),
    )


def fit_of(crowd: Crowd, by: str) -> xr.DataTree:
    ratings = assay.read_ratings(crowd[1], task="single", truth=crowd[2])
    raters = f"hierarchical + item_difficulty_by_{by}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, raters=raters, draws=300, tune=300, chains=2, rng=1, progress=False
        )


@pytest.fixture(scope="module")
def fit(crowd: Crowd) -> xr.DataTree:
    return fit_of(crowd, "class")


def test_the_loadings_of_both_classes(fit: xr.DataTree) -> None:
    found = fit["posterior"]["difficulty_rate"].isel(group=0)
    found = found.sel(row=["label=no", "label=yes"])
    low, high = found.quantile([0.025, 0.975], dim=["chain", "draw"])
    assert ((low < OF_CLASSES) & (high > OF_CLASSES)).all()
    assert high[0] < low[1]


def test_the_loadings_of_each_rater(fit: xr.DataTree) -> None:
    found = assay.rater_difficulty(fit).isel(label=0)
    found = found.sel(rater=[f"rater_{j}" for j in range(len(LOADINGS))], true_class=["no", "yes"])
    low, high = found.quantile([0.025, 0.975], dim=["chain", "draw"])
    assert ((low < LOADINGS) & (high > LOADINGS)).sum() >= LOADINGS.size - 2


def test_labels_are_better_than_with_one_loading(crowd: Crowd, fit: xr.DataTree) -> None:
    truth, loss = crowd[0], {}
    for by in ("class", "rater"):
        one = fit if by == "class" else fit_of(crowd, by)
        chance = assay.label_probabilities(one).isel(label=0, **{"class": 1})
        chance = chance.sortby("item").to_numpy()
        loss[by] = -np.log(np.where(truth, chance, 1 - chance)).mean()
    assert loss["class"] < loss["rater"] - 0.01
