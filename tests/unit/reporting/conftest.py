"""Fits that several files of tests on the report share."""

import warnings
from typing import Any

import pytest
import xarray as xr
from report_pages import LARGER, rated, scored

import assay
from assay._util.errors import FitWarning

SHORT: Any = {"draws": 60, "tune": 100, "chains": 2, "rng": 1, "progress": False}


@pytest.fixture(scope="session")
def drifting() -> xr.DataTree:
    table = rated(size=LARGER)
    ratings = assay.read_ratings(table, task="single", score="score", session="session")
    recipes = {"people": "hierarchical + drift", "model": "scored"}
    with pytest.warns(FitWarning):  # of so few draws
        return assay.fit(ratings, raters=recipes, **SHORT)


@pytest.fixture(scope="session")
def plain() -> xr.DataTree:
    ratings = assay.read_ratings(
        rated(systems=True).drop(columns=["score", "session"]), task="single"
    )
    return assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1, progress=False)


@pytest.fixture(scope="session")
def scored_fit() -> xr.DataTree:
    ratings = assay.read_ratings(scored(), task="single")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return assay.fit(ratings, raters="scored", method="map", draws=20, chains=1, rng=1)
