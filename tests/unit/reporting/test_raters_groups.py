"""What the report says of raters who err together, and of those who rate an item again."""

import warnings
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay._util.text import intervals
from assay.display.frames import worth_frame
from assay.display.table import Table
from assay.raters import dependence
from assay.reporting.agreement import agreement_section
from assay.reporting.material import Material
from assay.reporting.raters import rater_tables_section


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
