"""Classes that may not be what their names say, and modes of hardly any evidence, are marked."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from crowds import lenient_crowd

import assay
from assay import reporting
from assay.data.task import Label
from assay.display import result_tables
from assay.display.frames import accuracy_frame, reliability_frame
from assay.display.notes import names_said
from assay.display.rater_tables import rater_tables
from assay.display.terminal import make_console
from assay.fits.datatree import ratings_of
from assay.inference.assumptions import WHICH_CLASS
from assay.inference.class_drift import label_sums
from assay.inference.diagnostics import fit_warnings
from assay.inference.label_doubts import (
    LabelDoubt,
    doubts_json,
    find_doubts,
    label_doubts,
    mode_doubts,
)
from assay.inference.modes import Mode, reported_weight
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure
from assay.raters.reliability import compare_raters
from assay.raters.spammers import rater_spammers
from assay.reporting.comparisons import comparison_section
from assay.reporting.material import Material
from assay.reporting.page import Section
from assay.reporting.rater_feedback import talks

DRIFT = LabelDoubt(
    code="class-drift", label="label", classes=("b",), mark="class drift: 'b' is 40% of the items"
)


THREE = assay.Task(name="three", labels=(Label(name="grade", classes=("a", "b", "c")),))


def fit_quietly(ratings: assay.Ratings, **options: Any) -> xr.DataTree:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        return assay.fit(ratings, draws=40, chains=1, progress=False, rng=1, **options)


def text_of(*parts: Any, width: int = 200) -> str:
    console = make_console()
    console.width = width
    with console.capture() as caught:
        for part in parts:
            console.print(part)
    return caught.get()


def answers_of(truth: str | None = None, known: int = 0) -> Structure:
    """A hundred items; three raters say a, but c of the last six."""
    said = np.repeat(["a"] * 94 + ["c"] * 6, 3)
    table = pd.DataFrame({"item": np.repeat(np.arange(100), 3), "rater": list("xyz") * 100})
    table["grade"] = said
    table["gold"] = np.where(table["item"] >= 100 - known, truth or "", "")
    ratings = assay.read_ratings(table, task=THREE, truth={"grade": "gold"} if known else None)
    return build_structure(ratings, make_spec("pooled", "dirichlet"))


def doubts_of(structure: Structure, *shares: float) -> list[LabelDoubt]:
    """Doubts if the last items, in such shares, are b and c by the fit, and the others a."""
    probabilities = np.zeros((100, 3))
    b, c = (round(100 * share) for share in shares)
    probabilities[: 100 - b - c, 0] = probabilities[100 - b - c : 100 - c, 1] = 1
    probabilities[100 - c :, 2] = 1
    return find_doubts(structure, label_sums(structure, probabilities))


def test_a_class_much_more_common_than_its_name_has_drifted() -> None:
    (doubt,) = (d for d in doubts_of(answers_of(), 0.0, 0.3) if d.code == "class-drift")
    assert (doubt.label, doubt.classes) == ("grade", ("c",))
    assert re.match(r"class drift: 'c' \(grade\) is 30% .* 6% ", doubt.mark)
    assert "Raters call these items 'a' more often (80%) than 'c' (20%)" in doubt.warning
    assert "give the truth of 30 of these items (`truth=`)" in doubt.warning


def test_a_class_as_common_as_its_name_has_not_drifted() -> None:
    assert not [d for d in doubts_of(answers_of(), 0.0, 0.1) if d.code == "class-drift"]


def test_a_class_whose_truth_is_known_for_ten_items_is_not_doubted() -> None:
    known = answers_of("c", known=12)
    assert not [d for d in doubts_of(known, 0.0, 0.3) if d.code == "class-drift"]


def test_a_class_without_an_item_is_known_by_the_prior_alone() -> None:
    (doubt,) = doubts_of(answers_of(), 0.0, 0.06)
    assert (doubt.code, doubt.classes, doubt.warning) == ("prior-confusions", ("b",), "")
    assert doubt.mark.startswith("prior alone: 0.0 items are 'b' (grade) by this fit")


def lenient(known: int = 0) -> assay.Ratings:
    """Ratings of the crowd that misses most items of a class, with some known truth."""
    table, truth = lenient_crowd()
    told = np.where(truth, "off", "relevant")[table["item"]]
    table["gold"] = np.where(table["item"] < known, told, "")
    return assay.read_ratings(table, task="single", truth="gold" if known else None)


def test_a_class_that_many_say_and_hardly_an_item_has_is_empty_until_some_truth_is_known() -> None:
    fit = fit_quietly(lenient(), raters="dawid_skene", method="map")
    (doubt,) = label_doubts(fit)
    assert (doubt.code, doubt.classes) == ("empty-class", ("off",))
    assert doubt.warning in fit_warnings(fit)
    assert assay.check_claim(fit, "prevalence[label=off] < 0.2").verdict == "undecided"
    told = fit_quietly(lenient(known=20), raters="dawid_skene", method="map")
    assert label_doubts(told) == ()
    assert assay.label_probabilities(told).sel(label="label", **{"class": "off"}).mean() > 0.4


@pytest.mark.slow
def test_where_the_model_is_right_no_class_is_said_to_have_drifted() -> None:
    found = []
    for seed in range(15):
        for task, family in (("single", "ability_bias"), ("generation", "hierarchical")):
            ratings = assay.simulate(task, raters=family, n_items=120, n_raters=8, rng=seed)
            fit = fit_quietly(ratings, raters=family, method="map")
            found += [d.code for d in label_doubts(fit) if d.code != "prior-confusions"]
    assert "class-drift" not in found
    assert len(found) <= 3  # of 30 sets with 90 labels


@pytest.fixture(scope="module")
def doubted() -> xr.DataTree:
    """Return a fit of two systems with a doubt about its label."""
    ratings = assay.simulate(
        "single", classes=["a", "b"], n_items=80, n_raters=4, n_systems=2, n_clusters=40, rng=3
    )
    fit = fit_quietly(ratings, method="laplace", raters="hierarchical")
    assert label_doubts(fit) == ()
    fit.attrs["label_doubts"] = doubts_json([DRIFT])
    return fit


def test_metrics_and_comparisons_are_marked_at_the_number(doubted: xr.DataTree) -> None:
    table = assay.summarize(assay.metrics(doubted))
    assert set(table["doubt"]) == {DRIFT.mark}
    shown = text_of(result_tables.metrics_table({"population": table}))
    assert shown.count(")*") == len(table)
    assert f"* {DRIFT.mark}" in shown
    found = assay.compare(doubted)
    assert set(found.pairs["doubt"]) == set(found.systems["doubt"]) == {DRIFT.mark}
    assert f"* {DRIFT.mark}" in text_of(*result_tables.comparison_tables(found))
    assert all(f"No conclusion rests on it: {DRIFT.mark}." in s for s in found.sentences())
    assert not any(" is higher than " in s for s in found.sentences())


@pytest.mark.parametrize("bound", ["> -1", "< -1"])
def test_no_claim_is_decided_by_a_class_in_doubt(doubted: xr.DataTree, bound: str) -> None:
    result = assay.check_claim(doubted, f"prevalence[label=b] of system_1 {bound}")
    assert (result.verdict, result.doubt) == ("undecided", DRIFT.mark)
    assert result.sentence.endswith(f"No conclusion rests on it: {DRIFT.mark}.")


def test_raters_are_ordered_by_agreement_where_a_class_is_in_doubt(doubted: xr.DataTree) -> None:
    frame, accuracy = reliability_frame(doubted), accuracy_frame(doubted)
    assert set(frame["doubt"]) == set(accuracy["doubt"]) == {DRIFT.mark}
    shown = text_of(*rater_tables(frame, accuracy, ratings_of(doubted).task)).splitlines()
    order = [line.split()[0] for line in shown if line.startswith("  rater_")]
    raw = assay.rater_agreement(ratings_of(doubted)).sort_values("agreement")
    assert order == raw["rater"].tolist()
    assert sum(line.count(")*") for line in shown) == 2 * len(order)
    assert f"* {DRIFT.mark}" in "\n".join(shown)


def test_nobody_is_named_on_a_class_in_doubt(doubted: xr.DataTree) -> None:
    kinds = rater_spammers(doubted)
    assert set(kinds["behaviour"]) == set(kinds["given_mode"]) == {""}
    assert set(kinds["doubt"]) == {DRIFT.mark}
    assert talks(doubted, ratings_of(doubted)) == []
    better = compare_raters(doubted)
    assert bool(better.isnull().all())
    assert better["doubt"].to_numpy().tolist() == [DRIFT.mark]


def test_the_report_marks_what_rests_on_a_class_in_doubt(
    doubted: xr.DataTree, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    claims = ["system_1 > system_2 on prevalence[label=b]"]
    reporting.report(doubted, page, claims=claims, budget=False)
    text = page.read_text(encoding="utf-8")
    assert text.count(f"* {DRIFT.mark.replace(chr(39), '&#39;')}.") >= 3
    assert "Agreement: mean share of the other raters" in text
    assert "No conclusion rests on it" in text


def test_a_label_behind_a_gate_in_doubt_is_doubted_too() -> None:
    fit = fit_quietly(assay.simulate("ais", n_items=40, n_raters=3, rng=1), method="map")
    doubt = LabelDoubt(code="empty-class", label="interpretable", classes=("no",), mark="empty")
    fit.attrs["label_doubts"] = doubts_json([doubt])
    draws = assay.metrics(fit)
    assert {name: m.attrs["doubt"] for name, m in draws.data_vars.items()}["flag_rate"] == ""
    assert sum(m.attrs["doubt"] == "empty" for m in draws.data_vars.values()) == 2


def scored(known: int = 0) -> assay.Ratings:
    """Scores of two systems that lie around 0.35 and 0.55, and of a third around 0.95."""
    rng = np.random.default_rng(2)
    centre = np.repeat([0.35, 0.55, 0.95], 40)
    table = pd.DataFrame({"item": np.repeat(np.arange(120), 3), "rater": list("abc") * 120})
    table["system"] = np.repeat(["one", "two", "three"], 120)
    table["score"] = np.clip(np.repeat(centre, 3) + 0.07 * rng.standard_normal(360), 0, 1)
    table["gold"] = np.where(table["item"] % 6 < (known > 0), "yes", "")
    task = assay.Task(name="good", labels=(Label(name="good", classes=("no", "yes")),))
    truth = {"good": "gold"} if known else None
    return assay.read_ratings(table, task=task, score={"good": "score"}, truth=truth)


def test_scores_alone_are_no_anchor() -> None:
    ratings = scored()
    (said,) = (f for f in assay.check(ratings).findings if f.code == "scores-alone")
    assert (said.level, said.topic) == ("warning", "scores")
    fit = fit_quietly(ratings, raters="scored", method="map")
    (doubt,) = label_doubts(fit)
    assert doubt.code == "scores-alone"
    cut = float(doubt.mark.split("about ")[1].split()[0])
    assert 0.4 < cut < 0.9
    assert doubt.warning in fit_warnings(fit)
    claim = "three > one on prevalence[good=yes]"
    assert assay.check_claim(fit, claim).verdict == "undecided"
    assert set(assay.summarize(assay.metrics(fit))["doubt"]) == {doubt.mark}


def test_known_truth_is_an_anchor_of_scores() -> None:
    ratings = scored(known=20)
    assert not [f for f in assay.check(ratings).findings if f.code == "scores-alone"]
    assert label_doubts(fit_quietly(ratings, raters="scored", method="map")) == ()


def test_what_classes_are_named_by_is_an_assumption_where_no_truth_is_known() -> None:
    ratings = assay.simulate("single", classes=["a", "b"], n_items=40, n_raters=5, rng=2)
    said = names_said(fit_quietly(ratings, method="map"))
    assert said.startswith(f"{WHICH_CLASS} depends on the prior that raters are mostly right")
    known = assay.simulate("single", classes=["a", "b"], n_items=40, n_raters=5, gold=0.5, rng=2)
    assert names_said(fit_quietly(known, method="map")) == ""
    # The rules of this task hold its classes apart: no label can be mirrored.
    retrieval = assay.simulate("retrieval", n_items=30, n_raters=3, rng=2)
    assert names_said(fit_quietly(retrieval, method="map")) == ""


def test_doubts_are_values_that_a_file_keeps(doubted: xr.DataTree, tmp_path: Path) -> None:
    assay.save(doubted, tmp_path / "fit.nc")
    assert label_doubts(assay.load(tmp_path / "fit.nc")) == (DRIFT,)
    assert json.loads(doubts_json([DRIFT]))[0]["code"] == "class-drift"
    assert str(DRIFT) == f"class-drift: {DRIFT.mark}"


MODE = Mode(x=np.zeros(1), height=0.0, precision=None, evidence=0.0, accuracy=0.8, chance=0.5)


HEAVIER = replace(MODE, weight=1.0, misnamed=True)


@pytest.mark.parametrize(
    ("first", "other", "weight"),
    [
        ({"weight": 1.0}, None, 1.0),
        ({"weight": 1e-9}, {"weight": 1.0, "misnamed": True}, 1e-9),
        ({"weight": 0.4}, {"weight": 0.6, "misnamed": True}, 0.4),
        # Draws that lie in the heavier mode are part of the result.
        ({"weight": 1e-9, "visited": 0.1}, {"weight": 1.0, "visited": 0.9}, 1.0),
        ({"weight": 1.0, "evidence": np.nan}, None, 1.0),
    ],
)
def test_the_weight_of_the_result_counts_modes_of_any_name(
    first: dict, other: dict | None, weight: float
) -> None:
    modes = [replace(MODE, **first), *([replace(MODE, **other)] if other else [])]
    assert reported_weight(modes) == pytest.approx(weight)


@pytest.fixture(scope="module")
def plain() -> xr.DataTree:
    ratings = assay.simulate("generation", n_items=80, n_systems=2, n_clusters=40, rng=1)
    return assay.fit(
        ratings, raters="hierarchical", method="map", draws=60, chains=1, starts=1, rng=1,
        progress=False,
    )  # fmt: skip


@pytest.mark.parametrize(("weight", "doubtful"), [(1e-6, True), (0.3, False)])
def test_comparisons_of_a_mode_without_weight_are_no_conclusions(
    plain: xr.DataTree, weight: float, doubtful: bool
) -> None:
    """As if the reported mode had that weight, by the evidence."""
    ratings = assay.simulate("generation", n_items=80, n_systems=2, n_clusters=40, rng=1)
    structure = build_structure(ratings, make_spec("pooled"))
    doubts = mode_doubts(structure, [replace(MODE, weight=weight), HEAVIER])
    assert {doubt.code for doubt in doubts} == ({"mode-weight"} if doubtful else set())
    assert len(doubts) == (5 if doubtful else 0)
    fit = plain.copy(deep=True)
    fit.attrs["label_doubts"] = doubts_json(doubts)
    mark = "the reported mode has a weight below 1%"
    found = assay.compare(fit)
    assert found.pairs["doubt"].str.contains(mark, regex=False).all() == doubtful
    assert not any("is higher than" in text for text in found.sentences()) or not doubtful
    for claim in ("helpfulness_rate of system_1 < 1.1", "helpfulness_rate of system_1 > 1.1"):
        result = assay.check_claim(fit, claim)
        assert (result.verdict == "undecided") == doubtful
        assert (mark in result.sentence) == doubtful
        assert result.sentence.count(mark) == doubtful
    section = comparison_section(Material(fit=fit))
    assert isinstance(section, Section)
    if doubtful:
        assert section.findings == ()


def test_a_fit_carries_the_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.inference.label_doubts.reported_weight", lambda modes: 1e-3)
    ratings = assay.simulate("single", n_items=30, n_raters=3, rng=1)
    fit = assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1, progress=False)
    assert {doubt.code for doubt in label_doubts(fit)} == {"mode-weight"}
    assert (assay.summarize(assay.metrics(fit))["doubt"] != "").all()
