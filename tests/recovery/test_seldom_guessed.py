"""A third answer that raters seldom give does not become the class of contested items."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit

import assay
from assay.inference.diagnostics import fit_warnings

ITEMS, RATERS = 350, 8


def fit(number: int) -> tuple[xr.DataTree, float]:
    """People with thresholds who disagree on yes and no, of whom some now and then say unsure."""
    rng = np.random.default_rng([8, number])
    evidence, threshold = rng.normal(-1, 1.5, ITEMS), rng.normal(0, 1.2, RATERS)
    yes = rng.random((ITEMS, RATERS)) < expit(2 * (evidence[:, None] - threshold))
    seldom = rng.uniform(0, 0.08, RATERS) * (np.arange(RATERS) < 5)
    unsure = rng.random((ITEMS, RATERS)) < seldom
    item, rater = (at.ravel() for at in np.indices(yes.shape))
    answer = np.where(unsure, "unsure", np.where(yes, "yes", "no")).ravel()
    frame = pd.DataFrame({"item": item, "rater": [f"r{r}" for r in rater], "label": answer})
    ratings = assay.read_ratings(frame, item="item", rater="rater")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        found = assay.fit(ratings, method="laplace", rng=1, draws=500, chains=2, progress=False)
    return found, float((evidence > 0).mean())


def shares(found: xr.DataTree) -> dict[str, np.ndarray]:
    """The draws of the share of each class."""
    labels = found["labels"]
    states = labels["state"].to_numpy().reshape(-1, ITEMS)
    return {str(c): (states == k).mean(axis=1) for k, c in enumerate(labels["state_name"].values)}


@pytest.mark.usefixtures("departures_unsought")
def test_contested_items_are_not_of_the_class_that_is_seldom_named() -> None:
    held = []
    for number in range(4):
        found, truth = fit(number)
        drawn = shares(found)
        assert drawn["unsure"].mean() < 0.05
        assert np.quantile(drawn["unsure"], 0.025) < 0.01
        assert not [note for note in fit_warnings(found) if note.code == "class-drift"]
        low, high = np.quantile(drawn["yes"], [0.025, 0.975])
        held.append(low <= truth <= high)
    assert sum(held) >= 3
