"""What a report shows of many scored raters, of other alphabets, and of columns without a role."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay.data.states import MISSING
from assay.display.table import Table
from assay.plots import plot_metrics
from assay.plots.raters import SHOWN_CURVES
from assay.reporting.data import card_section, data_section
from assay.reporting.material import Material
from assay.reporting.metrics import _findings as more_data
from assay.reporting.metrics import _variance_table, _widths_table, budget_section, metrics_section
from assay.reporting.page import Prose, Section, to_svg
from assay.reporting.raters import scores_section

RATERS = SHOWN_CURVES + 2
pytestmark = pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
WORDS = ("A rater whose answers are refused", "In partly answered ratings")


def scored() -> pd.DataFrame:
    """Raters with confidences in per cent, and a column that plays no role."""
    rng = np.random.default_rng(3)
    truth = rng.random(40) < 0.5
    lines = []
    for rater in range(RATERS):
        said = np.where(rng.random(40) < 0.85, truth, ~truth)
        sure = rng.integers(55, 99, 40)
        lines += [
            (n, f"model {rater}", "yes" if said[n] else "no", f"{sure[n]}%", "x") for n in range(40)
        ]
    return pd.DataFrame(lines, columns=["item", "rater", "label", "confidence", "remark"])


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.read_ratings(scored(), task="single")
    return assay.fit(ratings, raters="scored", method="map", draws=20, chains=1, rng=1)


def simulated() -> assay.Ratings:
    return assay.simulate("retrieval", n_items=150, n_raters=4, ratings_per_item=3, rng=1)


def mode_of(ratings: assay.Ratings) -> xr.DataTree:
    return assay.fit(ratings, method="map", draws=10, chains=1, rng=1)


def table_called(section: Section | None, key: str) -> Table:
    assert section is not None
    return next(b for b in section.blocks if isinstance(b, Table) and b.key == key)


def said(section: Section) -> str:
    return " ".join(p for b in section.blocks if isinstance(b, Prose) for p in b.paragraphs)


def test_the_table_of_scores_has_the_curves_of_its_figure(fit: xr.DataTree) -> None:
    table = table_called(scores_section(Material(fit=fit)), "scores")
    heads = {row.cells[0] for row in table.rows if len(row.cells) == 1}
    assert heads == {f"model {n}, label = yes" for n in range(SHOWN_CURVES)}
    assert "All curves: `tables=`." in table.note
    assert table.frame["rater"].nunique() == RATERS


def test_columns_without_a_role_are_called_not_used(fit: xr.DataTree) -> None:
    table = table_called(data_section(Material(fit=fit)), "roles")
    assert ("remark", "not used") in {row.cells[:2] for row in table.rows}
    assert table.frame.set_index("column")["role"]["remark"] == ""


def test_the_card_is_silent_on_what_cannot_have_happened(fit: xr.DataTree) -> None:
    assert not any(words in said(card_section(Material(fit=fit))) for words in WORDS)


def test_the_card_says_what_is_assumed_of_refused_and_of_partial_answers() -> None:
    whole = simulated()
    answers = whole.answers.copy()
    answers[0, 2] = MISSING
    for ratings, partly in ((whole, False), (replace(whole, answers=answers), True)):
        told = said(card_section(Material(fit=mode_of(ratings))))
        assert WORDS[0] in told
        assert (WORDS[1] in told) is partly


def test_the_card_says_whose_prior_each_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[priors]\nmean_other = "Normal(0, 1)"\nsd = "HalfNormal(2)"', encoding="utf-8")
    tree = assay.fit(
        simulated(), priors=[file, {"main": "Normal(0, 1)"}], method="map", draws=10, chains=1,
        rng=1,
    )  # fmt: skip
    table = table_called(card_section(Material(fit=tree)), "priors")
    lines = table.frame.set_index("parameter")
    assert lines["source"].drop(["main", "logit_sd"]).isin(["catalogue", "fixed"]).all()
    assert (lines.loc[["main", "logit_sd"], "source"] == "yours").all()
    assert lines.loc["logit_mean", "name"] == "mean_binary, lean"
    assert lines.loc["logit_offset", ["name", "source"]].tolist() == ["", "fixed"]
    assert "sd = HalfNormal(2)" in table.note
    assert "mean_other" not in table.note  # which these labels have no use for


def test_letters_that_the_font_of_the_drawing_lacks_stay_letters() -> None:
    figure = plot_metrics(mode_of(simulated())).figure
    figure.axes[0].set_xlabel("日本")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "日本" in to_svg(figure, name="x", words="words")


def test_the_intervals_of_a_mode_are_not_said_to_hold_what_is_not_known_of_raters(
    fit: xr.DataTree,
) -> None:
    told = said(metrics_section(Material(fit=fit)))
    assert "but not about raters and prevalence" in told
    assert "(method map; nuts includes both)" in told
    sampled = fit.copy()
    sampled.attrs["method"] = "nuts"
    assert "uncertainty about labels and raters." in said(metrics_section(Material(fit=sampled)))


@pytest.mark.parametrize(("heavy", "told"), [(1.0, 1), (9.0, 0)])
def test_a_gap_to_the_vote_that_design_weights_can_make_is_no_finding(
    heavy: float, told: int
) -> None:
    ratings = simulated()
    items = ratings.items.assign(weight=np.where(np.arange(len(ratings.items)) % 2, heavy, 1.0))
    material = Material(fit=mode_of(replace(ratings, items=items)))
    vars(material)["vote"] = material.vote.assign(value=0.99)
    section = metrics_section(material)
    assert len(section.findings) == told
    assert ("the truth, with design weights." in said(section)) is (told == 0)


@pytest.mark.parametrize(("narrowed", "told"), [(0.999, 0), (0.9, 1)])
def test_data_that_narrow_nothing_are_no_finding(narrowed: float, told: int) -> None:
    widths = pd.DataFrame(
        {"binds": ["clusters"], "width": [1.0], "ten_more_clusters": [narrowed], "metric": ["m"]}
    )
    assert len(more_data(widths)) == told


def test_numbers_of_one_table_have_as_many_decimals_and_no_share_is_minus_zero() -> None:
    line = {"metric": "m", "system": "", "estimand": "population"}
    parts = {"parameters": [-0.001, 0.3], "labels": [0.2, float("nan")], "clusters": [0.801, 0.7]}
    variance = pd.DataFrame([line] * 2).assign(**parts, variance=1.0, mcse=0.02)
    (table,) = [_variance_table(variance, "")]
    assert [row.cells[2:5] for row in table.rows] == [
        ("0%", "20%", "80%"),
        ("30%", "undefined", "70%"),
    ]
    more = {"one_more_rating": 0.15, "ten_more_clusters": 0.1449, "one_more_rater": 0.1521}
    widths = pd.DataFrame([line]).assign(binds="clusters", width=0.162, **more)
    (row,) = _widths_table(widths, 0.95, "").rows
    assert row.cells[1:5] == ("0.162", "0.150", "0.145", "0.152")


def test_of_more_data_second_raters_come_first_where_there_are_none() -> None:
    ratings = assay.simulate("generation", n_items=40, n_raters=1, ratings_per_item=1, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        tree = assay.fit(ratings, raters="hierarchical", method="map", draws=20, chains=1, rng=1)
    section = budget_section(Material(fit=tree))
    assert isinstance(section, Section)
    (finding,) = section.findings
    assert finding.text.startswith("No item has two raters and no truth is known")
    (table,) = [b for b in section.blocks if isinstance(b, Table) and b.key == "more_data"]
    assert set(table.frame["binds"]) == {"overlap"}
    assert {row.cells[2] for row in table.rows} == {row.cells[4] for row in table.rows}
    assert {row.cells[2] for row in table.rows} == {"not identifiable"}
