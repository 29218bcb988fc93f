"""Raters who lean to one answer whatever is true: found, and classes keep their names."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning

CLASSES = tuple("abcd")
ITEMS, RATERS, EACH, LEANING, LEAN = 300, 40, 5, 12, 2.5


@pytest.fixture(scope="module")
def crowd() -> tuple[np.ndarray, pd.DataFrame]:
    """Truth, and ratings of which a third is by raters who lean to *d*."""
    rng = np.random.default_rng(11)
    truth = rng.choice(4, ITEMS, p=(0.4, 0.3, 0.2, 0.1))
    logits = 2.0 * np.eye(4) + np.zeros((RATERS, 4, 4))
    logits[:LEANING, :, 3] += LEAN
    chance = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    rows = [
        (f"{item:03d}", f"{rater:02d}", CLASSES[rng.choice(4, p=chance[rater, k])])
        for item, k in enumerate(truth)
        for rater in rng.choice(RATERS, EACH, replace=False)
    ]
    return truth, pd.DataFrame(rows, columns=["item", "rater", "label"])


@pytest.fixture(scope="module")
def fit(crowd: tuple[np.ndarray, pd.DataFrame]) -> xr.DataTree:
    ratings = assay.read_ratings(crowd[1], task="single")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, raters="ability_bias", draws=150, tune=150, chains=2, rng=1, progress=False
        )


def test_labels_are_right_where_a_third_of_the_answers_leans(
    crowd: tuple[np.ndarray, pd.DataFrame], fit: xr.DataTree
) -> None:
    truth, table = crowd
    found = assay.label_probabilities(fit)
    order = np.argsort(found["item"].to_numpy().astype(int))
    ours = found.to_numpy()[order, 0].argmax(axis=1)
    vote = pd.crosstab(table["item"], table["label"]).to_numpy().argmax(axis=1)
    assert (ours == truth).mean() > (vote == truth).mean() + 0.03
    assert (ours == truth).mean() > 0.85


def test_who_leans_and_by_how_much(fit: xr.DataTree) -> None:
    """Beside the other raters' lean, since a lean of all is no lean of anybody."""
    posterior = fit["posterior"]
    bias = posterior["bias_sd"].isel(group=0, long_label=0) * posterior["bias_offset"]
    to_d = bias.isel(long_answer=3) - bias.isel(long_answer=slice(0, 3)).mean("long_answer")
    leans = to_d["rater"].to_numpy().astype(int) < LEANING
    middle = to_d.mean(("chain", "draw")).to_numpy()
    assert middle[leans].min() > middle[~leans].max()
    more = to_d.isel(rater=leans) - to_d.isel(rater=~leans).mean("rater")
    low, high = more.quantile([0.025, 0.975], ("chain", "draw")).to_numpy()
    assert ((low < LEAN) & (high > LEAN)).sum() >= 10  # of twelve; fewer have a chance of 2 %
