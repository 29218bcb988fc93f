"""Mixtures of fits, weighted by gold that is left out."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning
from assay.validation import loo


def sampled(ratings: assay.Ratings, raters: str) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, raters=raters, draws=100, tune=200, chains=2, rng=1, progress=False
        )


@pytest.fixture(scope="module")
def ratings() -> assay.Ratings:
    return assay.simulate("ais", n_items=60, n_raters=4, gold=0.6, rng=2)


@pytest.fixture(scope="module")
def fits(ratings: assay.Ratings) -> dict[str, xr.DataTree]:
    return {raters: sampled(ratings, raters) for raters in ("one_coin", "hierarchical", "pooled")}


def scored(monkeypatch: pytest.MonkeyPatch, chances: list[list[float]], high: list[float]) -> None:
    """Let the fits foretell the gold with given chances, with a given share of high Pareto k."""
    from arviz_stats.utils import ELPDData

    made = iter(
        ELPDData(
            elpd=float(np.log(p).sum()), se=1.0, p=1.0, n_samples=100, n_data_points=len(p),
            scale="log", warning=False, good_k=0.7,
            elpd_i=xr.DataArray(np.log(p), dims="item"),
            pareto_k=xr.DataArray(1.0 * (np.arange(len(p)) < share * len(p)), dims="item"),
        )
        for p, share in zip(chances, high, strict=True)
    )  # fmt: skip
    monkeypatch.setattr(loo, "loo_gold", lambda fit: next(made))


def test_weights_make_the_gold_likeliest(fits, monkeypatch) -> None:
    chances = [[0.9, 0.8, 0.3, 0.7], [0.5, 0.4, 0.9, 0.8], [0.4, 0.3, 0.2, 0.1]]
    scored(monkeypatch, chances, [0, 0, 0])
    found = assay.stack_labels(fits)
    grid = np.linspace(0, 1, 2001)[:, None]
    score = np.log(grid * chances[0] + (1 - grid) * chances[1]).sum(axis=1)
    best = float(grid[score.argmax(), 0])
    assert found["weight"].to_numpy() == pytest.approx([best, 1 - best, 0], abs=2e-3)
    assert not found["probability"].attrs  # of whom the truth is, each model says its own
    of_each = [assay.label_probabilities(fit) for fit in fits.values()]
    expected = sum(float(w) * one for w, one in zip(found["weight"], of_each, strict=True))
    xr.testing.assert_allclose(found["probability"], expected, atol=1e-12)
    assert list(found["model"].to_numpy()) == list(fits)


def test_a_score_that_is_not_to_be_believed_has_no_weight(fits, monkeypatch) -> None:
    chances = [[0.5] * 10, [0.6] * 10, [0.99] * 10]
    scored(monkeypatch, chances, [0, 0.1, 0.2])
    with pytest.warns(FitWarning, match=r"\[gold-decides\]$"):
        found = assay.stack_labels(fits)
    assert found["weight"].to_numpy() == pytest.approx([0, 1, 0], abs=1e-6)
    assert found["high_k"].to_numpy() == pytest.approx([0, 0.1, 0.2])
    scored(monkeypatch, chances, [0.2, 0.2, 0.2])
    with pytest.warns(FitWarning, match="The weights are unreliable"):
        assert float(assay.stack_labels(fits)["weight"][2]) == pytest.approx(1, abs=1e-6)


def test_real_scores(fits) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # Pareto k of so few draws is near its limit
        found = assay.stack_labels(fits)
    assert float(found["weight"].sum()) == pytest.approx(1)
    for name, fit in fits.items():
        assert float(found["elpd"].sel(model=name)) == float(assay.loo_gold(fit).elpd)


def test_fits_of_other_data_are_refused(ratings, fits) -> None:
    with pytest.raises(FitError, check=refusal("too-few-fits")):
        assay.stack_labels({"one": fits["one_coin"]})
    truth = ratings.truth.copy()
    truth[np.flatnonzero(ratings.has_truth)[0]] = -1
    other = sampled(replace(ratings, truth=truth), "one_coin")
    with pytest.raises(FitError, check=refusal("unlike-fits")):
        assay.stack_labels({"one": fits["one_coin"], "other": other})
    with pytest.raises(FitError):
        assay.stack_labels({"one": fits["one_coin"], "other": xr.DataTree()})
