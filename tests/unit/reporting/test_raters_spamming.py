"""Raters who answer without looking, in the report of a fit with mace."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay.fits.view import FitView
from assay.reporting.material import Material
from assay.reporting.raters import (
    rater_tables_section,
    raters_section,
    spamming_findings,
    spamming_frame,
)

SPAM = np.array([0.05, 0.1, 0.95, 0.1, 0.9, 0.05])


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    """Two of six raters spam, and say the first class."""
    strategy = np.tile([0.9, 0.05, 0.05], (len(SPAM), 1))
    ratings = assay.simulate(
        "single", raters="mace", values={"spamming": SPAM, "strategy_label": strategy},
        n_items=150, n_raters=len(SPAM), rng=3,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # few draws, of an approximation
        return assay.fit(ratings, raters="mace", method="laplace", draws=200, starts=2, rng=1)


def test_shares_are_those_of_the_parameter(fit: xr.DataTree) -> None:
    frame = spamming_frame(FitView.of(fit), 0.9)
    assert frame["mean"].is_monotonic_decreasing
    for _, line in frame.iterrows():
        draws = fit["posterior"]["spamming"].sel(rater=line["rater"]).to_numpy().ravel()
        assert line["mean"] == pytest.approx(draws.mean())
        assert [line["lower"], line["upper"]] == pytest.approx(np.quantile(draws, [0.05, 0.95]))


def test_spammers_are_a_finding_and_a_table(fit: xr.DataTree) -> None:
    section = raters_section(Material(fit=fit))
    names = list(fit["posterior"]["rater"].to_numpy()[SPAM > 0.5])
    assert section.findings[0].code == "spamming-raters"
    first = section.findings[0].text
    assert " 2 of 6 raters " in first
    assert all(name in first for name in names)
    assert first in str(section.blocks)
    every = rater_tables_section(Material(fit=fit)).blocks
    tables = [block for block in every if getattr(block, "key", "") == "spamming"]
    assert len(tables) == 1


def test_other_families_have_none(tmp_path: Path) -> None:
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=1)
    other = assay.fit(ratings, method="map", draws=10, chains=1, starts=1, rng=1)
    frame = spamming_frame(FitView.of(other), 0.95)
    assert frame.empty
    assert spamming_findings(frame) == ()
    said = assay.report(other, tmp_path / "r.html", budget=False).read_text(encoding="utf-8")
    assert "Share of spam" not in said


def test_the_parameter_of_one_group_counts() -> None:
    ratings = assay.simulate(
        "single", raters={"a": "mace", "b": "hierarchical"}, groups={"a": 2, "b": 2}, n_items=30,
        n_raters=4, rng=1,
    )  # fmt: skip
    mixed = assay.fit(
        ratings, raters={"a": "mace", "b": "hierarchical"}, method="map", draws=5, chains=1,
        starts=1, rng=1,
    )  # fmt: skip
    frame = spamming_frame(FitView.of(mixed), 0.95)
    assert set(frame["rater"]) == set(ratings.raters.index[ratings.raters["group"] == "a"])
