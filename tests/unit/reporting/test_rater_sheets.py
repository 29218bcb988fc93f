"""Rater sheets: who meets a threshold, what each rater gets wrong, and under which name."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay._util.errors import ArgumentError
from assay.cli import app
from assay.reporting.pseudonyms import with_pseudonyms
from assay.reporting.rater_feedback import costliest_errors
from assay.reporting.rater_sheets import rater_decisions

pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
GOOD, POOR = ("anna", "bo", "dora"), "chris"


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    rng = np.random.default_rng(5)
    rows = []
    for n in range(150):
        truth = rng.random() < 0.4
        for rater in (*GOOD, POOR):
            right = (0.5 if truth else 0.9) if rater == POOR else 0.95
            said = truth if rng.random() < right else not truth
            rows.append((f"t{n}", rater, ("no", "yes")[said], 5.0 + 20 * (rater == POOR)))
    table = pd.DataFrame(rows, columns=["item", "rater", "urgent", "seconds"])
    ratings = assay.read_ratings(table, labels="urgent", seconds="seconds")
    return assay.fit(ratings, method="laplace", draws=200, chains=2, starts=1, rng=1)


def test_who_is_below_and_who_meets_the_threshold(fit: xr.DataTree) -> None:
    table = rater_decisions(fit, threshold=0.85)
    assert table["rater"].iloc[0] == POOR
    by = table.set_index("rater")
    assert by.loc[POOR, "decision"] == "below"
    assert set(by.loc[list(GOOD), "decision"]) == {"meets it"}
    assert by.loc[POOR, "p_worse"] > 0.95
    assert (by["n"] == 150).all()
    assert set(rater_decisions(fit, threshold=0.999)["decision"]) <= {"below", "undecided"}


def test_probabilities_are_those_of_the_draws(fit: xr.DataTree) -> None:
    from assay.raters.reliability import rater_accuracy

    draws = rater_accuracy(fit).isel(label=0).stack(s=("chain", "draw"))
    table = assay.rater_standing(fit, threshold=0.9).set_index("rater")
    for rater in draws["rater"].to_numpy():
        mine = draws.sel(rater=rater)
        assert table.loc[rater, "p_below"] == pytest.approx(float((mine < 0.9).mean()))
        worse = (mine < draws.median("rater") - 1e-12).mean()
        assert table.loc[rater, "p_worse"] == pytest.approx(float(worse))


def test_a_mode_alone_decides_nothing() -> None:
    ratings = assay.simulate("single", n_items=60, n_raters=4, rng=1)
    tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    table = rater_decisions(tree, threshold=0.5)
    assert table["p_below"].isna().all()
    assert set(table["decision"]) == {"undecided"}


def test_the_costliest_error_is_named_with_items_to_look_at(fit: xr.DataTree) -> None:
    first = costliest_errors(fit, _ratings(fit))
    line = first[first["rater"] == POOR].iloc[0]
    assert (line["true_class"], line["reported_class"]) == ("yes", "no")
    assert line["wrong"] == pytest.approx(30, abs=15)
    assert line["items"].startswith("t")
    assert first.groupby("rater").size().max() <= 3


def _ratings(fit: xr.DataTree) -> assay.Ratings:
    from assay.fits.datatree import ratings_of

    return ratings_of(fit)


def test_each_rater_has_a_sheet_with_the_effect_of_leaving_them_out(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    path = assay.rater_sheets(fit, tmp_path / "sheets.html", threshold=0.85)
    html = path.read_text(encoding="utf-8")
    assert html.count('<section class="sheet"') == 4
    assert f"Metrics without {POOR}" in html
    assert "Median time: 25 s (others 5 s)." in html
    assert "4 raters: 1 is below, 3 meet it, and 0 are undecided." in html
    assert "<script" not in html


def test_pseudonyms_leave_no_name_and_the_key_brings_them_back(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    key = tmp_path / "key.csv"
    path = assay.rater_sheets(
        fit, tmp_path / "sheets.html", threshold=0.85, refit=False, pseudonyms=key
    )
    html = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(anna|bo|dora|chris)\b", html)
    known = pd.read_csv(key).set_index("rater")["pseudonym"]
    assert set(known.index) == {*GOOD, POOR}
    assert f"Rater {known[POOR]}" in html
    before = key.read_text()
    report = assay.report(fit, tmp_path / "r.html", budget=False, pseudonyms=key)
    assert key.read_text() == before
    assert not re.search(r"\b(anna|dora|chris)\b", report.read_text(encoding="utf-8"))


def test_pseudonyms_change_no_number_and_not_the_fit(fit: xr.DataTree, tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    other = with_pseudonyms(fit, key)
    assert set(map(str, fit["constant_data"]["rater"].to_numpy())) == {*GOOD, POOR}
    known = pd.read_csv(key).set_index("rater")["pseudonym"]
    mine = rater_decisions(fit).assign(rater=lambda t: t["rater"].map(known))
    pd.testing.assert_frame_equal(mine, rater_decisions(other))


def test_a_key_that_is_none_is_refused_and_names_in_notes_are_replaced(
    fit: xr.DataTree, tmp_path: Path
) -> None:
    key = tmp_path / "key.csv"
    key.write_text("a,b\n1,2\n")
    with pytest.raises(ArgumentError, check=refusal("key-file")):
        with_pseudonyms(fit, key)
    tree = fit.copy()
    tree.attrs = {**fit.attrs, "warnings": '["chris answers alone."]'}
    found = with_pseudonyms(tree, tmp_path / "new.csv")
    assert "chris" not in found.attrs["warnings"]


def test_the_command_writes_sheets_and_says_who_is_below(fit: xr.DataTree, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assay.save(fit, tmp_path / "fit.nc")
    typed = ["sheets", str(tmp_path / "fit.nc"), "-o", str(tmp_path / "s.html"), "--no-refit"]
    done = CliRunner().invoke(app, [*typed, "--threshold", "0.85"])
    assert done.exit_code == 0, done.output
    assert f"below: {POOR}" in done.output
    assert (tmp_path / "s.html").exists()
