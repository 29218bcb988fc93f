"""Who is right more often than whom: joint draws, ties, and fits that cannot tell."""

import warnings

import numpy as np
import pytest
import xarray as xr
from refusals import refusal

import assay
from assay._util.errors import FitError, FitWarning, ModelError
from assay.fits.datatree import posterior_dataset
from assay.fits.view import FitView
from assay.raters.reliability import class_shares, compare_raters, rater_accuracy, rater_reliability

DRAWS = 200


def drawn(task: str, **options: object) -> xr.DataTree:
    words = {"classes": ["a", "b"]} if task == "single" else {}
    ratings = assay.simulate(task, n_items=60, n_raters=4, ratings_per_item=3, rng=1, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = {"method": "laplace", "draws": DRAWS // 2, "chains": 2, "starts": 1, "rng": 1}
        return assay.fit(ratings, **plain | options)


@pytest.fixture(scope="module")
def retrieval() -> xr.DataTree:
    return drawn("retrieval")


def chances(fit: xr.DataTree, rater: str, label: str, kind: str) -> list[float]:
    """The chance of a right answer in each draw, by the sum over classes."""
    table = rater_reliability(fit, kind=kind).sel(rater=rater, label=label)
    shares = class_shares(fit).sel(label=label)
    terms = [
        shares.sel(true_class=k) * table.sel(true_class=k, reported_class=k) for k in ("no", "yes")
    ]
    return (terms[0] + terms[1]).to_numpy().ravel().tolist()


@pytest.mark.parametrize("kind", ["recorded", "raw"])
def test_probabilities_are_counts_of_joint_draws(retrieval: xr.DataTree, kind: str) -> None:
    found = compare_raters(retrieval, kind=kind)
    assert found.dims == ("rater", "other", "label")
    assert found.attrs["kind"] == kind
    for label in found["label"].values:
        right = {r: chances(retrieval, r, label, kind) for r in found["rater"].values}
        for a, of_a in right.items():
            for b, of_b in right.items():
                count = sum(x > y for x, y in zip(of_a, of_b, strict=True)) + (a == b) * DRAWS / 2
                stated = float(found.sel(rater=a, other=b, label=label))
                assert stated == pytest.approx(count / DRAWS, abs=1e-12)


def test_two_raters_whose_intervals_overlap_can_leave_no_doubt() -> None:
    """The draws of both go up and down together, and one is always ahead by a hundredth."""
    fit = drawn("single", raters="dawid_skene")
    values = FitView.of(fit).draws
    level = np.random.default_rng(1).uniform(0.6, 0.9, DRAWS)
    right = np.stack([level, level + 0.01, level[::-1], level], axis=1)[:, :, None]
    values["confusion_2"] = np.stack(
        [np.concatenate([right, 1 - right], 2), np.concatenate([1 - right, right], 2)], axis=2
    )
    fit["posterior"] = xr.DataTree(posterior_dataset(FitView.of(fit).structure, values, 2))
    np.testing.assert_allclose(
        rater_accuracy(fit).to_numpy().reshape(DRAWS, 4), right[..., 0], atol=1e-12
    )
    found = compare_raters(fit).isel(label=0).to_numpy()
    assert (found[1, 0], found[0, 1]) == (1.0, 0.0)
    assert 0.3 < found[1, 2] < 0.7
    assert found[0, 3] == 0.5  # a tie in every draw
    np.testing.assert_allclose(found + found.T, 1.0)
    np.testing.assert_array_equal(np.diag(found), 0.5)


@pytest.mark.parametrize("method", ["map", "em"])
def test_a_mode_cannot_tell_who_is_better(method: str) -> None:
    fit = drawn("single", raters="dawid_skene", method=method, draws=4)
    with pytest.raises(FitError, check=refusal("mode-alone")):
        compare_raters(fit)


def test_an_unknown_kind_is_refused(retrieval: xr.DataTree) -> None:
    with pytest.raises(
        ModelError, match="`kind='row'`; did you mean raw", check=refusal("argument-choice")
    ):
        compare_raters(retrieval, kind="row")
