"""Sections on metrics: intervals, gaps to the vote, sources of uncertainty, and more data."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from report_pages import mode_of, prose_of, simulated

import assay
from assay.display.table import Table
from assay.reporting.material import Material
from assay.reporting.metrics import _findings as more_data
from assay.reporting.metrics import _variance_table, _widths_table, budget_section, metrics_section
from assay.reporting.page import Section


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_the_intervals_of_a_mode_are_not_said_to_hold_what_is_not_known_of_raters(
    scored_fit: xr.DataTree,
) -> None:
    told = prose_of(metrics_section(Material(fit=scored_fit)))
    assert "but not about raters and prevalence" in told
    assert "(method map; nuts includes both)" in told
    sampled = scored_fit.copy()
    sampled.attrs["method"] = "nuts"
    assert "uncertainty about labels and raters." in prose_of(
        metrics_section(Material(fit=sampled))
    )


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
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
    assert ("the truth, with design weights." in prose_of(section)) is (told == 0)


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
@pytest.mark.parametrize(("narrowed", "told"), [(0.999, 0), (0.9, 1)])
def test_data_that_narrow_nothing_are_no_finding(narrowed: float, told: int) -> None:
    widths = pd.DataFrame(
        {"binds": ["clusters"], "width": [1.0], "ten_more_clusters": [narrowed], "metric": ["m"]}
    )
    assert len(more_data(widths)) == told


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_numbers_of_one_table_have_as_many_decimals_and_no_share_is_minus_zero() -> None:
    line = {"metric": "m", "system": "", "estimand": "population"}
    parts = {"parameters": [-0.001, 0.3], "labels": [0.2, float("nan")], "clusters": [0.801, 0.7]}
    variance = pd.DataFrame([line] * 2).assign(**parts, variance=1.0, mcse=0.02)
    (table,) = [_variance_table(variance, "", {})]
    assert [row.cells[2:5] for row in table.rows] == [
        ("0%", "20%", "80%"),
        ("30%", "undefined", "70%"),
    ]
    more = {"one_more_rating": 0.15, "ten_more_clusters": 0.1449, "one_more_rater": 0.1521}
    widths = pd.DataFrame([line]).assign(binds="clusters", width=0.162, **more)
    (row,) = _widths_table(widths, 0.95, "", {}).rows
    assert row.cells[1:5] == ("0.162", "0.150", "0.145", "0.152")


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
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
