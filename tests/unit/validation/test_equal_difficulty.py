"""Both numbers stand where a layer of difficulty moves a metric out of its interval without it."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.reporting.material import Material
from assay.reporting.metrics import metrics_section
from assay.validation.equal_difficulty import (
    CODE,
    difficulty_sentence,
    held_against_equal_difficulty,
)

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
CONTESTED = {"good": [0, 0, 80, 0, 0, 120], "bad": [120, 0, 2, 2, 0, 20]}
CLEAR = {"good": [20, 2, 0, 0, 8, 90], "bad": [90, 8, 0, 0, 2, 20]}
RATERS = 5


def fit_of(
    counts: dict[str, list[int]], truth: pd.DataFrame | None = None, **options: object
) -> xr.DataTree:
    """Fit outputs of which so many have 0, 1, ... 5 votes, in slots that are shuffled."""
    rng = np.random.default_rng(1)
    rows = []
    for system, of_votes in counts.items():
        votes = np.repeat(np.arange(RATERS + 1), of_votes)
        for n, yes in enumerate(votes):
            said = rng.permutation(RATERS) < yes
            rows += [
                {"item": f"{system} {n}", "system": system, "rater": f"slot {j}",
                 "label": "yes" if vote else "no"}
                for j, vote in enumerate(said)
            ]  # fmt: skip
    ratings = assay.read_ratings(pd.DataFrame(rows), task="single", truth=truth)
    arguments = {"method": "laplace", "draws": 200, "chains": 2, "rng": 1, "progress": False}
    return assay.fit(ratings, **{**arguments, **options})


def found_in(fit: xr.DataTree) -> pd.DataFrame:
    return held_against_equal_difficulty(fit, assay.summarize(assay.metrics(fit)))


@pytest.fixture(scope="module")
def contested() -> xr.DataTree:
    return fit_of(CONTESTED)


def test_votes_that_do_not_settle_a_share_are_told(contested: xr.DataTree) -> None:
    """The majority says yes of 120 in 200; items of which two of five do are nearly undecided."""
    found = found_in(contested)
    line = found[found["system"] == "good"].iloc[0]
    assert line["mean"] > 0.7
    assert line["mean_equal_difficulty"] == pytest.approx(120 / 200, abs=0.03)
    assert set(found["code"]) == {CODE}
    text = difficulty_sentence(found)
    for name in ("mean", "mean_equal_difficulty"):
        assert f"{found.loc[0, name]:.2f}" in text
    assert CODE not in text  # which is for programs


def test_nothing_is_told_where_both_agree() -> None:
    assert found_in(fit_of(CLEAR)).empty


def test_nothing_is_told_without_a_difficulty_or_with_known_truth() -> None:
    few = {name: [n // 8 for n in counts] for name, counts in CONTESTED.items()}
    assert found_in(fit_of(few, method="map", raters="hierarchical")).empty
    truth = pd.DataFrame({"item": ["good 0"], "label": ["no"]})
    assert found_in(fit_of(few, truth, method="map")).empty


def test_both_numbers_are_a_finding_and_in_the_json(contested: xr.DataTree, tmp_path) -> None:
    section = metrics_section(Material(fit=contested))
    first = max(section.findings, key=lambda f: f.weight)
    assert first.text == difficulty_sentence(Material(fit=contested).equal_difficulty)
    assert "1 more number." in first.text
    assay.save(contested, tmp_path / "fit.nc")
    run = CliRunner().invoke(app, ["metrics", str(tmp_path / "fit.nc"), "--json"])
    told = json.loads(run.stdout)
    assert told["equal_difficulty"][0]["code"] == CODE
    assert CODE in run.stderr
