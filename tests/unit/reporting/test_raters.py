"""What the report says of raters: drift, scores, groups that err together, repeats, spammers."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from report_pages import (
    SCORED_RATERS,
    rated,
    table_of,
    texts,
)

import assay
from assay._util.errors import FitWarning
from assay._util.text import intervals
from assay.display.frames import worth_frame
from assay.display.table import Table
from assay.fits.view import FitView
from assay.plots.raters import SHOWN_CURVES
from assay.raters import dependence
from assay.reporting.agreement import agreement_section
from assay.reporting.material import Material
from assay.reporting.provenance import limits_section
from assay.reporting.raters import (
    drift_section,
    rater_tables_section,
    raters_section,
    scores_section,
    spamming_findings,
    spamming_frame,
)


def fit_of(raters: str, reference: str | None = None, **design: Any) -> xr.DataTree:
    design = {"n_items": 60, "groups": {"llm": 3, "person": 2}, "ratings_per_item": 5} | design
    ratings = assay.simulate("single", raters=raters, reference=reference, rng=3, **design)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # few draws, of an approximation
        return assay.fit(
            ratings, raters=raters, reference=reference, method="laplace", draws=50, chains=1,
            starts=1, rng=1,
        )  # fmt: skip


def tables(section: Any) -> dict[str, Table]:
    return {block.key: block for block in section.blocks if isinstance(block, Table)}


@pytest.fixture(scope="module")
def layered() -> xr.DataTree:
    return fit_of("hierarchical", "person")


def test_a_group_with_a_layer_is_worth_less_than_its_raters(layered: xr.DataTree) -> None:
    shown = tables(rater_tables_section(Material(fit=layered, level=0.9)))
    draws = assay.summarize(assay.effective_number_of_raters(layered), level=0.9).set_index("group")
    worth = shown["worth"].frame.set_index("group")
    assert list(worth.index) == ["llm"]  # the truth is what the people say
    for name in ("mean", "lower", "upper"):
        assert worth.loc["llm", name] == draws.loc["llm", name]
    assert float(worth.loc["llm", "upper"]) < 3
    told = intervals(worth.reset_index())[0]
    assert [row.cells for row in shown["worth"].rows] == [("llm", "3", told)]
    assert "consensus of person" in shown["worth"].note


def test_draws_are_looked_at_in_stretches(
    layered: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = assay.effective_number_of_raters(layered)
    monkeypatch.setattr(dependence, "AT_ONCE", 7)
    xr.testing.assert_allclose(assay.effective_number_of_raters(layered), whole, rtol=1e-12)


def test_how_often_it_misperceives_items_and_who_says_so(layered: xr.DataTree) -> None:
    material = Material(fit=layered)
    pd.testing.assert_frame_equal(material.misperceived, assay.group_misperception(layered))
    little = "mostly the prior"
    for share, words in ((0.2, "the data"), (0.7, little), (0.9, "the prior alone")):
        material.__dict__["misperceived"] = material.misperceived.assign(prior_share=share)
        (row,) = tables(rater_tables_section(material))["misperceived"].rows
        assert row.cells[-1] == words


def test_what_single_raters_misperceive_is_told_where_no_group_has_two() -> None:
    """Each stands for its group: nobody errs together, and a layer says what the group misses."""
    design = {"groups": {"llm": 1, "person": 2}, "ratings_per_item": 3}
    material = Material(fit=fit_of("hierarchical", "person", **design))
    assert material.worth.empty
    shown = tables(rater_tables_section(material))
    assert "worth" not in shown
    assert [row.cells[0] for row in shown["misperceived"].rows] == ["llm"]


def test_hard_items_make_every_group_worth_less() -> None:
    design = {"groups": {"llm": 3, "person": 1}, "ratings_per_item": 4}
    fit = fit_of("hierarchical + item_difficulty", **design)
    shown = tables(rater_tables_section(Material(fit=fit)))
    assert list(shown["worth"].frame["group"]) == ["llm"]  # one person is one
    assert "misperceived" not in shown


def test_nothing_is_said_where_all_err_independently() -> None:
    fit = fit_of("hierarchical", n_items=30)
    assert worth_frame(fit).empty
    assert not {"worth", "misperceived"} & set(tables(rater_tables_section(Material(fit=fit))))


def test_how_often_a_rating_is_repeated_stands_below_what_was_seen() -> None:
    fit = fit_of("hierarchical", replicates=2, n_items=40)
    material = Material(fit=fit)
    table = assay.rater_consistency(fit)
    note = tables(agreement_section(material))["intra_rater"].note
    for _, line in table.iterrows():
        assert f"{line['consistency']:.2f} (" in note
        assert line["rater"] in note


def test_replicates_taken_for_independent_have_no_such_number() -> None:
    ratings = assay.simulate("single", n_items=40, replicates=2, ratings_per_item=3, rng=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings, raters="hierarchical", replicates="independent", method="map", draws=20, rng=1
        )
    assert tables(agreement_section(Material(fit=fit)))["intra_rater"].note == ""


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


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_table_of_scores_has_the_curves_of_its_figure(scored_fit: xr.DataTree) -> None:
    table = table_of(scores_section(Material(fit=scored_fit)), "scores")
    heads = {row.cells[0] for row in table.rows if len(row.cells) == 1}
    assert heads == {f"model {n}, label = yes" for n in range(SHOWN_CURVES)}
    assert "All curves: `tables=`." in table.note
    assert table.frame["rater"].nunique() == SCORED_RATERS


def test_drift_names_who_got_worse(drifting: xr.DataTree) -> None:
    found = drift_section(Material(fit=drifting))
    assert found is not None
    frame = table_of(found, "drift").frame.set_index("rater")
    assert set(frame.index) == {"ann", "bob"}
    assert frame.loc["bob", "change"] < -0.1
    assert "bob on label got worse" in texts(found)
    assert "Kind raw" in texts(found)
    assert [f.section for f in found.findings] == ["drift"]
    assert "bob got worse at label from s1 to s3" in found.findings[0].text


def test_scores_are_read_against_the_truth(drifting: xr.DataTree) -> None:
    material = Material(fit=drifting)
    found = scores_section(material)
    assert found is not None
    table = table_of(found, "scores")
    assert len(table.frame) == 2 * sum(not row.is_heading for row in table.rows)
    yes = table.frame.query("`class` == 'yes'").sort_values("bin")
    assert yes["mean"].iloc[0] < 0.3 < 0.7 < yes["mean"].iloc[-1]
    assert "llm, label = yes" in texts(found)
    assert "label = no" not in texts(found)


def test_a_group_that_is_called_like_a_part_of_the_model_is_none() -> None:
    table = rated().replace({"group": {"people": "drift", "model": "scored by perception"}})
    ratings = assay.read_ratings(table.drop(columns=["score", "session"]), task="single")
    recipes = dict.fromkeys(["drift", "scored by perception"], "pooled")
    fit = assay.fit(ratings, raters=recipes, method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    assert material.view.spec.rater_parts == ("pooled",)
    assert drift_section(material) is None
    assert scores_section(material) is None
    assert "Raters are assumed to err independently" in texts(limits_section(material))
