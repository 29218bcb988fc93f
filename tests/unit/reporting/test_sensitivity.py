"""Sections on assumptions: refits, and how far abstentions move each metric."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from report_pages import rated, table_of, texts

import assay
from assay.display.table import Table
from assay.fits.view import FitView
from assay.reporting import report
from assay.reporting.material import Material
from assay.reporting.page import Section
from assay.reporting.sensitivity import abstaining_section, stability_section


@pytest.fixture(scope="module")
def stable_page(plain: xr.DataTree, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("stability")
    path = report(
        plain, folder / "report.html", stability=True, budget=False, tables=folder / "tables"
    )
    refits = pd.read_csv(folder / "tables" / "stability.csv")
    kinds = refits.drop_duplicates("variant")["kind"].value_counts()
    assert kinds.to_dict() == {"prior": 4, "rater": 3, "none": 1, "dependence": 1}
    assert refits["difference"].notna().all()
    return path.read_text(encoding="utf-8")


class TestStability:
    """The whole path: a fit, its refits, and what the page says of them."""

    @pytest.mark.slow
    def test_the_page_tells_what_refits_do(self, stable_page: str) -> None:
        assert '<h3 id="stability">Stability</h3>' in stable_page
        assert "The model was refitted in 8 ways, each with 2 chains of 500 draws" in stable_page
        assert "Metric, B − A" in stable_page
        assert "Each metric as fitted, and under other assumptions" in stable_page
        assert "prevalence[label=yes]" in stable_page
        assert "refits too" in stable_page

    def test_it_is_no_longer_among_what_could_not_run(self, stable_page: str) -> None:
        assert "stability=True" not in stable_page

    def line(self, **numbers: Any) -> dict[str, Any]:
        return {
            "kind": "rater", "variant": "without r", "metric": "m", "a": "A", "b": "B",
            "estimand": "population", "difference": 0.1, "difference_lower": 0.02,
            "difference_upper": 0.2, "p_greater": 0.99, "level": 0.95, "changes": "none",
            "basis": "2 chains of 500 draws", "warnings": "", **numbers,
        }  # fmt: skip

    def of_system(self, line: dict[str, Any]) -> dict[str, Any]:
        numbers = {"mean": 0.5, "lower": 0.4, "upper": 0.6}
        missing = {"mean": np.nan, "changes": line["changes"]} if "could" in line["changes"] else {}
        about = {key: line[key] for key in ("kind", "variant", "metric", "basis", "warnings")}
        same = {"system": "A", "estimand": "population", "level": 0.95, "changes": "none"}
        return {**about, **same, **numbers, **missing}

    def section(
        self, lines: list[dict[str, Any]], fit: xr.DataTree, patch: pytest.MonkeyPatch
    ) -> Section:
        patch.setattr(Material, "refits", pd.DataFrame(lines))
        patch.setattr(Material, "refitted_metrics", pd.DataFrame(map(self.of_system, lines)))
        found = stability_section(Material(fit=fit, stability=True))
        assert isinstance(found, Section)
        return found

    def test_the_refit_that_moves_most_and_those_that_warn_are_named(
        self, plain: xr.DataTree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = [
            self.line(kind="none", variant="as fitted", changes=""),
            self.line(difference=0.12, warnings="few draws"),
            self.line(variant="without q", difference=0.03, difference_lower=0.01),
        ]
        said = texts(self.section(lines, plain, monkeypatch))
        assert "without q (-0.07)" in said
        assert "0.03 to 0.12" in said
        assert "A is higher; in 2 of 2 refits too" in said
        assert "1 of 2 refits came with a warning (without r)" in said
        assert "1 of 1 contrast has a clear sign; no refit changes it" in said
        assert "stability_moves" not in [
            b.key for b in self.section(lines, plain, monkeypatch).blocks if isinstance(b, Table)
        ]

    def test_warnings_of_the_design_are_not_laid_to_few_draws(
        self, plain: xr.DataTree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sampled = plain.copy()
        sampled.attrs["method"] = "nuts"
        rough = "The effective sample size is as low as 9 (main); below 400 ..."
        lines = [
            self.line(kind="none", variant="as fitted", changes=""),
            self.line(warnings="its sign can turn"),
            self.line(variant="without q", warnings=f"its sign can turn {rough}"),
        ]
        said = texts(self.section(lines, sampled, monkeypatch))
        assert "2 of 2 refits came with a warning: with so few draws, the ends of 1 of" in said
        said = texts(self.section(lines[:2], sampled, monkeypatch))
        assert "1 of 1 refits came with a warning. For the texts" in said

    def test_a_change_is_shown_and_counted(
        self, plain: xr.DataTree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        change = "changes: open (was: A is higher)"
        lines = [
            self.line(kind="none", variant="as fitted", changes=""),
            self.line(difference_lower=-0.01, changes=change),
            self.line(variant="repair", difference=np.nan, changes="could not run: no rule"),
        ]
        found = self.section(lines, plain, monkeypatch)
        assert "A is higher; in 0 of 1 refits too" in texts(found)
        moves = table_of(found, "stability_moves")
        assert [row.cells for row in moves.rows][1] == (
            "without r", "0.10 (-0.01 to 0.20)", change,
        )  # fmt: skip
        assert len(table_of(found, "stability").frame) == 3
        assert [gap.why for gap in found.gaps] == ["no rule"]

    def test_where_nothing_is_concluded_nothing_is_called_stable(
        self, plain: xr.DataTree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = [
            self.line(kind="none", variant="as fitted", changes="", difference_lower=-0.1),
            self.line(difference_lower=-0.2),
        ]
        said = texts(self.section(lines, plain, monkeypatch))
        assert "None of 1 contrast has a clear sign" in said
        assert "Stable" not in said


class TestStabilityOfMetrics:
    """Numbers rest on assumptions too, where no systems are compared as well."""

    def line(self, **numbers: Any) -> dict[str, Any]:
        return {
            "kind": "rater", "variant": "without r", "metric": "m", "system": "", "mean": 0.5,
            "estimand": "population", "lower": 0.4, "upper": 0.6, "level": 0.95, "changes": "none",
            "basis": "2 chains of 500 draws", "warnings": "", **numbers,
        }  # fmt: skip

    def section(self, lines: list[dict[str, Any]], patch: pytest.MonkeyPatch) -> Section:
        patch.setattr(Material, "refits", None)
        patch.setattr(Material, "refitted_metrics", pd.DataFrame(lines))
        fit = xr.DataTree()
        fit.attrs |= {"method": "nuts", "reference": "consensus of all raters"}
        material = Material(fit=fit, stability=True)
        vars(material)["_named"] = FitView(fit), {}  # it has no ratings
        found = stability_section(material)
        assert isinstance(found, Section)
        return found

    def test_the_other_kernel_has_a_column(self, monkeypatch: pytest.MonkeyPatch) -> None:
        name = "blocked answers resolved by repair"
        lines = [
            self.line(kind="none", variant="as fitted", changes=""),
            self.line(mean=0.47),
            self.line(kind="kernel", variant=name, mean=0.52, lower=0.42, upper=0.61),
        ]
        found = self.section(lines, monkeypatch)
        shown = table_of(found, "stability_metrics")
        assert shown.columns[2] == "Blocked answers resolved by repair"
        assert [row.cells for row in shown.rows] == [
            ("m", "0.50 (0.40 to 0.60)", "0.52 (0.42 to 0.61)", "0.47 to 0.52",
             "without r (-0.03)"),
        ]  # fmt: skip
        assert found.findings == ()
        assert len(shown.frame) == 3

    def test_a_number_that_leaves_its_interval_is_a_finding(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        change = "changes: the estimate leaves the interval (+3.0 SD)"
        lines = [
            self.line(kind="none", variant="as fitted", changes="", system="A"),
            self.line(kind="none", variant="as fitted", changes="", system="B"),
            self.line(mean=0.65, changes=change, system="A"),
            self.line(system="B"),
        ]
        found = self.section(lines, monkeypatch)
        assert "m of A, without r: 0.65 (+3.0 SD)" in texts(found)
        (finding,) = found.findings
        assert finding.code == "number-on-assumption"
        assert "m of A, without r" in finding.text
        shown = table_of(found, "stability_metrics")
        assert [row.cells[0] for row in shown.rows] == ["m", "A", "B"]


def test_how_far_abstentions_move_each_metric(
    plain: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert abstaining_section(Material(fit=plain)) is None
    rows = rated(systems=True).drop(columns=["score", "session"])
    rows.loc[(rows["label"] == "yes") & (rows["item"] % 3 == 0), "label"] = None
    ratings = assay.read_ratings(rows, task="single")
    fit = assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1, progress=False)
    found = abstaining_section(Material(fit=fit))
    assert isinstance(found, Section)
    assert f"{ratings.abstained.sum()} of {len(rows)} ratings are abstentions" in texts(found)
    shown = table_of(found, "abstaining")
    cells = [row.cells for row in shown.rows if not row.is_heading]
    assert all(cell[2].endswith(("odds ÷ 4 for label", "the same")) for cell in cells)
    assert all(cell[3].endswith("odds × 4 for label") for cell in cells)
    assert set(shown.frame["odds_ratio"]) == {0.25, 1.0, 4.0}
    # Numbers from fewer draws may differ from those of other tables, which the section says.
    assert "draws" not in texts(found)
    for module in ("material", "sensitivity"):
        monkeypatch.setattr(f"assay.reporting.{module}.ABSTENTION_DRAWS", 30)
    few = abstaining_section(Material(fit=fit))
    assert isinstance(few, Section)
    assert "about 30 of the 80 draws" in texts(few)
