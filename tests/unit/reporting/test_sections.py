"""Sections of the report that stand there only if the fit has what they are about."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay.checks import Check
from assay.checks.double_sampling import RECIPE
from assay.checks.findings import Proposal
from assay.comparison import SideBySide, compare, compare_draws
from assay.comparison.multiplicity import without_mirrors
from assay.data.states import MISSING
from assay.data.task import Label
from assay.display.table import Table
from assay.fits.view import FitView
from assay.inference.convergence import LOW_ESS
from assay.reporting import report
from assay.reporting.comparisons import (
    CLEAR,
    _best,
    _clear,
    _turned,
    comparison_section,
)
from assay.reporting.data import asked_section, card_section, data_section
from assay.reporting.fit import convergence_section, left_out_section, left_out_table, loo_of
from assay.reporting.material import Material
from assay.reporting.page import Bullets, Callout, Gap, Section
from assay.reporting.provenance import limits_section
from assay.reporting.raters import drift_section, scores_section
from assay.reporting.sensitivity import abstaining_section, stability_section

SIZE = 60
LARGER = 180
"""Enough to tell who got worse."""
SHORT: Any = {"draws": 60, "tune": 100, "chains": 2, "rng": 1, "progress": False}


def rated(*, systems: bool = False, size: int = SIZE) -> pd.DataFrame:
    """Two people, of whom one gets worse from session to session, and a model that gives scores."""
    rng = np.random.default_rng(2)
    truth = rng.random(size) < 0.5
    session = np.arange(size) * 3 // size
    lines = []
    for rater, accuracy in (("ann", [0.9, 0.9, 0.9]), ("bob", [1.0, 0.6, 0.4])):
        right = rng.random(size) < np.array(accuracy)[session]
        said = np.where(right, truth, ~truth)
        lines += [(n, rater, "people", said[n], np.nan) for n in range(size)]
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth, 2.0, -2.0), 1.5)))
    lines += [(n, "llm", "model", score[n] > 0.5, score[n].round(2)) for n in range(size)]
    table = pd.DataFrame(lines, columns=["item", "rater", "group", "label", "score"])
    table["label"] = np.where(table["label"], "yes", "no")
    table["session"] = "s" + pd.Series(session + 1).astype(str).to_numpy()[table["item"]]
    if systems:
        table["system"] = np.where(table["item"] % 2, "A", "B")
    return table


@pytest.fixture(scope="module")
def drifting() -> xr.DataTree:
    table = rated(size=LARGER)
    ratings = assay.read_ratings(table, task="single", score="score", session="session")
    recipes = {"people": "hierarchical + drift", "model": "scored"}
    with pytest.warns(FitWarning):  # of so few draws
        return assay.fit(ratings, raters=recipes, **SHORT)


@pytest.fixture(scope="module")
def plain() -> xr.DataTree:
    ratings = assay.read_ratings(
        rated(systems=True).drop(columns=["score", "session"]), task="single"
    )
    return assay.fit(ratings, method="map", draws=40, chains=2, starts=1, rng=1, progress=False)


def texts(one: Section) -> str:
    """All words of a section."""
    said = []
    for block in one.blocks:
        said += [str(getattr(block, name, "")) for name in ("text", "word", "caption", "note")]
        said += [*getattr(block, "paragraphs", ()), *getattr(block, "items", ())]
        said += [cell for row in getattr(block, "rows", ()) for cell in row.cells]
    return " ".join(said)


def table_of(one: Section, key: str) -> Table:
    return next(b for b in one.blocks if isinstance(b, Table) and b.key == key)


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


def test_a_score_without_an_answer_is_a_rating_of_its_item() -> None:
    table = rated().query("rater == 'llm'").drop(columns=["session", "group"]).assign(label="")
    ratings = assay.read_ratings(table, task="single", score="score")
    with pytest.warns(assay.FitWarning, match=r"\[scores-alone\]$"):
        fit = assay.fit(ratings, raters="scored", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    assert f"{SIZE} items have one rating." in texts(data_section(material))
    assert "missing at random" not in texts(limits_section(material))


def test_truth_that_is_known_is_not_asked_for() -> None:
    told = []
    for gold in (0.0, 0.2):
        ratings = assay.simulate("single", n_items=30, n_raters=3, gold=gold, rng=1)
        material = Material(
            fit=assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1)
        )
        known = int((ratings.truth != MISSING).any(axis=1).sum())
        assert material.n_known == known
        limits = texts(limits_section(material))
        told.append("Known truth of some items would reveal it." in limits)
        assert (f"The truth of {known} of 30 items is known." in limits) is (known > 0)
        assert (f"known truth of some items: {known} items." in texts(asked_section(material))) is (
            known > 0
        )
    assert told == [True, False]


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        ("hierarchical + item_difficulty", "err together only on items that are hard for all"),
        ("hierarchical", "Raters are assumed to err independently, given the truth."),
    ],
)
def test_what_the_model_takes_for_independent_is_said(raters: str, said: str) -> None:
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=1)
    fit = assay.fit(ratings, raters=raters, method="map", draws=5, chains=1, starts=1, rng=1)
    assert said in texts(limits_section(Material(fit=fit)))


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_findings_that_lean_on_the_prior_are_limits_whatever_their_words() -> None:
    ratings = assay.simulate("single", n_items=15, n_raters=3, ratings_per_item=2, rng=1)
    fit = assay.fit(ratings, raters="pooled", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    limits = texts(limits_section(material))
    findings = material.data_check.at_least("note")
    leaning = [finding for finding in findings if finding.leans]
    assert len(leaning) == 4
    assert {f.text for f in findings if f"the prior: {f.text}." in limits} == {
        finding.text for finding in leaning
    }


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_reference_brings_a_layer_and_its_truth_is_told_once() -> None:
    rng = np.random.default_rng(1)
    said = rng.choice(["no", "yes"], (40, 3), p=[0.6, 0.4])
    table = pd.DataFrame(said, columns=["ann", "ben", "gpt-4"]).rename_axis("item").reset_index()
    long = table.melt("item", var_name="rater", value_name="label")
    long["group"] = np.where(long["rater"] == "gpt-4", "llm", "person")
    ratings = assay.read_ratings(long, task="single")
    fit = assay.fit(ratings, reference="person", method="map", draws=5, chains=1, starts=1, rng=1)
    material = Material(fit=fit)
    limits = texts(limits_section(material))
    assert limits.count("truth is defined") == 1
    assert "by definition" not in limits
    assert "err together only" not in limits
    card = card_section(material)
    assert "Perception: A layer: what an item looks like to a group" in texts(card)
    assert any("misperceived" in name for name in table_of(card, "priors").frame["parameter"])


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_missing_label_is_told_among_what_is_assumed() -> None:
    ratings = assay.simulate("retrieval", n_items=30, n_raters=3, rng=1)
    answers = ratings.answers.copy()
    answers[0, 2] = MISSING
    said = []
    for one in (ratings, replace(ratings, answers=answers)):
        fit = assay.fit(one, method="map", draws=5, chains=1, starts=1, rng=1)
        said.append("missing at random" in texts(limits_section(Material(fit=fit))))
    assert said == [False, True]


def test_leave_one_out_is_that_of_arviz(drifting: xr.DataTree) -> None:
    import warnings

    from arviz_stats.loo import loo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected: Any = loo(drifting, pointwise=True)  # type: ignore[no-untyped-call]
    found = left_out_section(Material(fit=drifting))
    assert isinstance(found, Section)
    assert f"{expected.elpd:.1f} (standard error {expected.se:.1f})" in texts(found)
    frame = table_of(found, "loo").frame
    assert frame["pareto_k"].is_monotonic_decreasing
    assert len(frame) == LARGER
    assert frame["elpd"].sum() == pytest.approx(expected.elpd)


def test_too_few_draws_for_leave_one_out_are_a_gap(drifting: xr.DataTree) -> None:
    short = drifting.isel(chain=[0], draw=slice(0, 24))
    short.attrs = drifting.attrs
    gap = left_out_section(Material(fit=short))
    assert isinstance(gap, Gap)
    assert "24 draws" in gap.why
    assert gap.enable == "at least 25 draws"
    enough = drifting.isel(chain=[0], draw=slice(0, 25))
    enough.attrs = drifting.attrs
    assert isinstance(left_out_section(Material(fit=enough)), Section)


def test_influential_items_are_counted(drifting: xr.DataTree) -> None:
    loo = loo_of(FitView.of(drifting))
    loo.good_k = float(loo.pareto_k.max()) - 1e-6
    from assay.reporting.fit import _verdict

    verdict = _verdict(left_out_table(loo), "item", float(loo.good_k))
    assert verdict.word == "Influential"
    count = int((loo.pareto_k > loo.good_k).sum())  # items whose ratings are alike share their k
    assert count >= 1
    assert verdict.text.startswith(f"{count} of {LARGER} item")


def test_fits_without_them_have_no_such_sections(plain: xr.DataTree) -> None:
    material = Material(fit=plain)
    assert drift_section(material) is None
    assert scores_section(material) is None
    gap = left_out_section(material)
    assert isinstance(gap, Gap)
    assert gap.enable == "`method='nuts'`"


def test_the_page_has_the_sections_and_their_tables(drifting: xr.DataTree, tmp_path: Path) -> None:
    path = report(drifting, tmp_path / "report.html", budget=False, tables=tmp_path / "tables")
    html = path.read_text(encoding="utf-8")
    for key in ("drift", "scores", "loo"):
        assert f'<h3 id="{key}">' in html
        assert (tmp_path / "tables" / f"{key}.csv").exists()


def told_in_other_words(fit: xr.DataTree, monkeypatch: pytest.MonkeyPatch) -> set[str | None]:
    """Which proposals of the check a report tells, were each written as its own name alone."""

    def reworded(ratings: assay.Ratings) -> Check:
        found = assay.check(ratings)
        named = [replace(f, text=f"<{f.proposes}>", level="note") for f in found.findings]
        return replace(found, findings=tuple(named))

    monkeypatch.setattr("assay.reporting.material.check", reworded)
    section = texts(data_section(Material(fit=fit)))
    return {name for name in (None, *get_args(Proposal)) if f"<{name}>" in section}


@pytest.mark.parametrize("reference", [None, "groups"])
def test_who_fitted_with_a_reference_is_not_told_to(
    reference: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"a": 2, "b": 2, "c": 2}
    ratings = assay.simulate("single", n_items=40, groups=groups, ratings_per_item=6, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(
            ratings, raters="hierarchical", reference=reference, method="map", draws=2, chains=1,
            starts=1, rng=1,
        )  # fmt: skip
    said = "all raters count as independent" in texts(data_section(Material(fit=fit)))
    assert said == (reference is None)
    assert told_in_other_words(fit, monkeypatch) == {None, *["reference"] * said}


@pytest.mark.parametrize("raters", ["pooled", "ordinal"])
def test_who_fitted_with_a_family_for_orders_is_not_told_of_it(
    raters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grades = assay.Task(
        name="grades", labels=(Label(name="grade", classes=("a", "b", "c"), ordered=True),)
    )
    ratings = assay.simulate(grades, n_items=20, n_raters=3, ratings_per_item=3, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, raters=raters, method="map", draws=2, chains=1, starts=1, rng=1)
    said = "the classes of grade are ordered" in texts(data_section(Material(fit=fit)))
    assert said == (raters == "pooled")
    assert told_in_other_words(fit, monkeypatch) == {None, *["order"] * said}


def test_the_data_section_says_a_thing_once(plain: xr.DataTree) -> None:
    found = data_section(Material(fit=plain))
    listed = [item for b in found.blocks if isinstance(b, Bullets) for item in b.items]
    assert not [item for item in listed if "rows read" in item or "answered by two" in item]
    assert texts(found).count("180 ratings of 60 items") == 1


class TestBiasBySystem:
    def fit(self, **options: Any) -> xr.DataTree:
        table = rated(systems=True)
        sample = (table["group"] == "model") | (table["item"] < 24)
        ratings = assay.read_ratings(
            table[sample].drop(columns=["score", "session"]), task="single"
        )
        return assay.fit(
            ratings, method="map", draws=20, chains=1, starts=1, rng=1, progress=False, **options
        )

    def test_a_fit_that_leaves_it_out_is_told_so_first(self) -> None:
        with pytest.warns(FitWarning, match=r"\[double-sampling\]$"):
            fit = self.fit()
        # Once: the fit's own warning is no finding beside that of the data.
        told = convergence_section(Material(fit=fit)).findings
        assert "double-sampling" not in [finding.code for finding in told]
        found = data_section(Material(fit=fit))
        warned = [b.text for b in found.blocks if isinstance(b, Callout) and b.word == "warning"]
        assert any(text.startswith("All items of A, B were rated by model") for text in warned)
        (finding,) = found.findings
        assert (finding.code, finding.section) == ("double-sampling", "data")

    def test_a_fit_that_has_it_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        recipes = {"model": RECIPE, "people": "hierarchical"}
        fit = self.fit(raters=recipes, prevalence="dirichlet")
        found = data_section(Material(fit=fit))
        assert found.findings == ()
        assert RECIPE not in texts(found)
        assert told_in_other_words(fit, monkeypatch) == {None}


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


def test_a_mode_alone_is_what_was_asked_for_and_its_intervals_are_too_narrow() -> None:
    ratings = assay.read_ratings(rated().drop(columns=["score", "session"]), task="single")
    fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1, progress=False)
    (finding,) = convergence_section(Material(fit=fit)).findings
    assert finding.code == "mode-alone"
    fit.attrs["warnings"] = json.dumps(["Stopped early."])
    (finding,) = convergence_section(Material(fit=fit)).findings
    assert finding.text == "Do not rely on this fit yet: Stopped early."


def test_rough_ends_of_intervals_are_no_reason_to_distrust_a_fit() -> None:
    ratings = assay.read_ratings(rated().drop(columns=["score", "session"]), task="single")
    fit = assay.fit(ratings, method="map", draws=20, chains=2, starts=1, rng=1, progress=False)
    text = f"{LOW_ESS} 340 (share); below 400 the ends of intervals are imprecise."
    fit.attrs["warnings"] = json.dumps([text])
    for least, lead in ((340.0, ""), (34.0, "Do not rely on this fit yet: ")):
        fit.attrs["diagnostics"] = json.dumps({"ess_results": least})
        (finding,) = convergence_section(Material(fit=fit)).findings
        assert finding.text == f"{lead}{text}"


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


def test_how_far_abstentions_move_each_metric(plain: xr.DataTree) -> None:
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


def test_a_mirror_is_an_earlier_contrast_with_the_sign_turned() -> None:
    values = [0.1, 0.1, -0.1, 0.0, 0.0, np.nan, np.nan]
    lines = pd.DataFrame({"a": "A", "b": "B", "difference": values})
    assert list(without_mirrors(lines, "difference").index) == [0, 1, 3, 4, 5, 6]
    assert len(without_mirrors(lines.assign(b=list("BCDEFGH")), "difference")) == 7


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
    (finding,) = _clear(clear)
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


def test_one_chain_is_no_proof_that_chains_agree() -> None:
    ratings = assay.read_ratings(rated().drop(columns=["score", "session"]), task="single")
    fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1, progress=False)
    fit.attrs["method"], fit.attrs["warnings"] = "nuts", "[]"
    numbers = {"r_hat_max": None, "ess_min": 500.0, "divergences": 0}
    fit.attrs["diagnostics"] = json.dumps(numbers)
    said = texts(convergence_section(Material(fit=fit)))
    assert "1 chain of 20 draws: largest R-hat undefined" in said
    assert "Convergence cannot be checked with one chain" in said
    assert "No reason for doubt" not in said
