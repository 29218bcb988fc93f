"""Systems compared: the best, the clear contrasts, and where other approaches differ."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from report_pages import rated, table_of

import assay
from assay.comparison import SideBySide, compare, compare_draws
from assay.comparison.multiplicity import without_mirrors
from assay.display.table import Table
from assay.reporting import report
from assay.reporting.comparisons import (
    CLEAR,
    _best,
    _clear,
    _turned,
    approaches_section,
    comparison_section,
)
from assay.reporting.front import _metrics_table
from assay.reporting.material import Material
from assay.reporting.metrics import metrics_section
from assay.reporting.page import Gap, Section


def test_people_alone_are_shown_where_no_systems_are_compared(tmp_path: Path) -> None:
    ratings = assay.read_ratings(rated().drop(columns=["score", "session"]), task="single")
    fit = assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1, progress=False)
    assert isinstance(comparison_section(Material(fit=fit)), Gap)
    found = comparison_section(Material(fit=fit, human=("people",)))
    assert isinstance(found, Section)
    shown = table_of(found, "side_by_side")
    assert shown.columns == ("System or contrast", "naive", "corrected", "human-only")
    assert [row.cells[0] for row in shown.rows if not row.is_heading] == ["all items"]
    assert [gap.what for gap in found.gaps] == ["Comparison of systems"]
    page = report(fit, tmp_path / "report.html", human="people", budget=False)
    assert '<h2 id="sides">Human ratings alone</h2>' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("defined", [[True, False], [False, False], [True, True]])
def test_a_vote_that_is_undefined_concludes_nothing(defined: list[bool]) -> None:
    """Where the vote calls all items flagged, the share of the attributable has no denominator."""
    lines = [
        {
            "metric": metric, "quantity": "A - B", "a": "A", "b": "B", "approach": approach,
            "mean": mean, "lower": mean - 0.1, "upper": mean + 0.1, "level": 0.95,
            "estimand": "population", "reference": "consensus of all raters", "basis": "of all",
            "doubt": "",
        }
        for metric, known in zip(("flag_rate", "attributable_rate"), defined, strict=True)
        for approach, mean in (("naive", 0.0 if known else np.nan), ("corrected", 0.3))
    ]  # fmt: skip
    table = pd.DataFrame(lines)
    turned = _turned(table, SideBySide(table=table).sentences())
    named = ["flag_rate", "attributable_rate"]
    assert {one.text.split(",")[0] for one in turned} == {
        name for name, known in zip(named, defined, strict=True) if known
    }


@pytest.mark.parametrize(("naive", "first"), [(0.09, False), (0.0, True)])
def test_an_interval_that_ends_beside_0_by_a_hair_is_no_first_finding(
    naive: float, first: bool
) -> None:
    lines = [
        {
            "metric": "flag_rate", "quantity": "A - B", "a": "A", "b": "B", "approach": approach,
            "mean": mean, "lower": mean - 0.1, "upper": mean + 0.1, "level": 0.95,
            "estimand": "population", "reference": "consensus of all raters", "basis": "of all",
            "doubt": "",
        }
        for approach, mean in (("naive", naive), ("corrected", 0.11))
    ]  # fmt: skip
    table = pd.DataFrame(lines)
    (found,) = _turned(table, SideBySide(table=table).sentences())
    assert (found.weight > CLEAR) is first


def test_two_classes_are_one_finding_and_neither_is_better(plain: xr.DataTree) -> None:
    pairs = compare(plain, metric=["prevalence[label=no]", "prevalence[label=yes]"]).pairs
    first, second = pairs["difference"]
    assert first == pytest.approx(-second)
    assert len(without_mirrors(pairs, "difference")) == 1
    clear = pairs.assign(difference_lower=pairs["difference"].abs() / 2)
    (finding,) = _clear(clear, {})
    assert "better is" not in finding.text
    assert "more of" not in finding.text
    found = comparison_section(Material(fit=plain))
    assert isinstance(found, Section)
    shown = table_of(found, "comparisons")
    assert {row.cells[-1] for row in shown.rows if not row.is_heading} == {"neither"}
    assert set(shown.frame["better"]) == {"neither"}
    assert "the task does not say" in shown.note


def test_only_metrics_with_a_direction_have_a_best_system() -> None:
    draws = np.random.default_rng(1).random((1, 50, 3))
    data = xr.Dataset(
        {name: (("chain", "draw", "system"), draws, {"estimand": "finite"}) for name in ("m", "n")},
        {"system": list("ABC")},
        {"reference": "consensus of all raters"},
    )
    systems = compare_draws(data, {"m": "neither", "n": "lower"}).systems
    (shown,) = _best(systems, {"n": "n"})
    assert isinstance(shown, Table)
    assert [row.cells[0] for row in shown.rows] == ["n (better is lower)", "A", "B", "C"]
    assert len(shown.frame) == 6
    assert _best(systems[systems["metric"] == "m"], {}) == []


def test_a_ratio_says_in_how_many_draws_there_is_none(plain: xr.DataTree) -> None:
    draws = np.full((2, 10, 2), 0.5)
    draws[:, :9, 1] = 0.0  # nine draws of ten have nothing to divide by
    attrs = {"reference": "gold", "n_items_unrated": 3, "n_panels_dropped": 0}
    data = xr.Dataset(
        {"m": (("chain", "draw", "system"), draws, {"estimand": "finite"})},
        {"system": ["A", "B"]},
        attrs,
    )
    material = Material(fit=plain)
    vars(material)["comparison"] = compare_draws(data, {"m": "higher"})
    found = comparison_section(material)
    assert isinstance(found, Section)
    table = table_of(found, "comparisons")
    assert any("[undefined in 90.0%]" in cell for row in table.rows for cell in row.cells)
    assert "3 items have no rating" in table.note


@pytest.mark.parametrize("raters", [2, 3])
def test_the_number_of_ties_stands_beside_the_majority_vote(raters: int) -> None:
    rng = np.random.default_rng(3)
    rows = [
        (f"i{n}{s}", f"q{n}", s, f"r{r}", "yn"[int(rng.random() < 0.5)])
        for n in range(30) for s in "AB" for r in range(raters)
    ]  # fmt: skip
    names = ["item", "query", "system", "rater", "good"]
    frame = pd.DataFrame(rows, columns=names)
    ties = int((frame.groupby("item")["good"].nunique() == 2).sum()) if raters == 2 else 0
    said = f"is tied on {ties} of 60 items" if ties else "tied"
    fit = assay.fit(assay.read_ratings(frame), method="map", draws=20, chains=1, starts=1, rng=1)
    material = Material(fit=fit, budget=False)
    other = approaches_section(material)
    assert other is not None
    notes = [table_of(metrics_section(material), "metrics").note,
             table_of(other, "side_by_side").note]  # fmt: skip
    one = assay.read_ratings(frame.drop(columns="system"))
    alone = Material(fit=assay.fit(one, method="map", draws=20, chains=1, starts=1, rng=1))
    notes.append(_metrics_table(alone).note)
    assert [said in note for note in notes] == [ties > 0] * 3
