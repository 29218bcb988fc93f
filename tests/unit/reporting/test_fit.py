"""Sections on the fit: convergence, ratings left out, and gold that the model has not seen."""

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from report_pages import LARGER, rated, table_of, texts

import assay
from assay._util.errors import FitWarning
from assay.data.states import MISSING
from assay.display.table import Table
from assay.fits.view import FitView
from assay.inference.convergence import LOW_ESS
from assay.reporting import report
from assay.reporting.fit import (
    convergence_section,
    gold_section,
    left_out_section,
    left_out_table,
    loo_of,
)
from assay.reporting.material import Material
from assay.reporting.page import Callout, Gap, Section
from assay.reporting.raters import drift_section, scores_section

KNOWN = 20


@pytest.fixture(scope="module")
def ratings() -> assay.Ratings:
    """Twenty items with gold, of which that of one is not what everybody says."""
    every = assay.simulate("single", n_items=60, n_raters=4, classes=["a", "b"], gold=1.0, rng=2)
    truth = every.truth.copy()
    votes = np.zeros((60, 2))
    np.add.at(votes, (every.item, every.answers[:, 0]), 1)
    clear = int(np.flatnonzero(votes.max(axis=1) == votes.sum(axis=1))[0])
    others = [n for n in range(60) if n != clear][KNOWN - 1 :]
    truth[clear, 0] = 1 - votes[clear].argmax()
    truth[others] = MISSING
    return replace(every, truth=truth)


def sampled(ratings: assay.Ratings) -> xr.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # of few draws
        return assay.fit(
            ratings, raters="one_coin", draws=100, tune=200, chains=2, rng=1, progress=False
        )


@pytest.fixture(scope="module")
def fit(ratings: assay.Ratings) -> xr.DataTree:
    return sampled(ratings)


def test_loss_and_the_gold_that_is_foretold_worst(fit, ratings) -> None:
    found = assay.loo_gold(fit)
    section = gold_section(Material(fit=fit))
    assert isinstance(section, Section)
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    frame = table.frame
    assert list(frame.columns) == ["item", "gold", "probability", "pareto_k"]
    assert len(frame) == KNOWN
    assert frame["probability"].is_monotonic_increasing
    assert np.log(frame["probability"]).sum() == pytest.approx(float(found.elpd))
    truth = ratings.truth[ratings.items.index.get_indexer(frame["item"]), 0]
    assert frame["gold"].tolist() == [("a", "b")[code] for code in truth]
    said = ratings.answers[ratings.item == ratings.items.index.get_loc(frame["item"][0]), 0]
    assert (said != truth[0]).all()  # the gold that was made wrong
    words = " ".join(str(block) for block in section.blocks)
    assert f"log loss is {-float(found.elpd) / KNOWN:.3f}" in words


def test_a_score_that_is_not_to_be_believed_is_called_so(fit, monkeypatch) -> None:
    """The rule is that of ``stack_labels``."""

    def callouts(share: float) -> list[Callout]:
        found = assay.loo_gold(fit)
        found.pareto_k = xr.zeros_like(found.pareto_k)
        found.pareto_k[: round(share * KNOWN)] = 0.9
        monkeypatch.setattr("assay.reporting.fit.loo_gold", lambda _: found)
        section = gold_section(Material(fit=fit))
        return [block for block in section.blocks if isinstance(block, Callout)]

    assert callouts(0.1) == []
    (doubt,) = callouts(0.2)
    assert doubt.level == "doubt"
    assert doubt.text.startswith("20% of the items with gold ")
    assert "Pareto k above 0.7" in doubt.text


def test_no_gold_no_section_and_few_draws_or_items_a_gap(fit, ratings) -> None:
    quick = {"method": "map", "draws": 5, "chains": 1, "starts": 1, "rng": 1, "progress": False}
    gap = gold_section(Material(fit=assay.fit(ratings, **quick)))
    assert isinstance(gap, Gap)
    assert gap.enable == "`method='nuts'`"
    short = fit.isel(chain=[0], draw=slice(0, 24))
    short.attrs = fit.attrs
    gap = gold_section(Material(fit=short))
    assert isinstance(gap, Gap)
    assert gap.enable == "at least 25 draws"
    bare = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    assert gold_section(Material(fit=assay.fit(bare, **quick))) is None
    one = replace(ratings, truth=np.where(np.arange(60)[:, None] < 1, 0, MISSING).astype(np.int16))
    gap = gold_section(Material(fit=sampled(one)))
    assert isinstance(gap, Gap)
    assert (gap.code, gap.numbers["items"]) == ("few-known-truth", 1)


def test_loss_is_by_item_where_clusters_are_left_out() -> None:
    ratings = assay.simulate(
        "single", n_items=40, n_raters=3, n_clusters=8, classes=["a", "b"], gold=0.6, rng=3
    )
    fit = sampled(ratings)
    found, known = assay.loo_gold(fit), int(ratings.has_truth.sum())
    section = gold_section(Material(fit=fit))
    assert isinstance(section, Section)
    words = " ".join(str(block) for block in section.blocks)
    assert f"each of {known} items" in words
    assert f"log loss is {-float(found.elpd) / known:.3f}" in words
    assert "cluster is left out" in words
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    frame = table.frame
    assert list(frame.columns) == ["cluster", "items", "probability", "pareto_k"]
    assert frame["items"].sum() == known > len(frame)
    assert (frame["items"] * np.log(frame["probability"])).sum() == pytest.approx(float(found.elpd))


def test_the_page_has_it(fit, tmp_path: Path) -> None:
    report(fit, tmp_path / "report.html", budget=False, tables=tmp_path / "tables")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r'<h3 id="gold">', html)
    assert (tmp_path / "tables" / "gold.csv").exists()


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


def test_a_note_on_the_chains_is_no_warning_below_a_verdict_without_doubt() -> None:
    ratings = assay.simulate("single", n_items=40, n_raters=3, classes=["a", "b"], rng=1)
    fit = assay.fit(ratings, method="laplace", draws=20, chains=2, starts=1, rng=1)
    found = {}
    for level in ("note", "warning"):
        note = {"code": "chains-disagree", "level": level, "numbers": {}, "text": "R-hat is high."}
        fit.attrs = {**fit.attrs, "warnings": json.dumps([note])}
        verdict, told, *_ = convergence_section(Material(fit=fit)).blocks
        assert isinstance(verdict, Callout)
        assert isinstance(told, Callout)
        found[level] = (verdict.word == "No reason for doubt", told.word)
    assert found == {"note": (True, "Note"), "warning": (False, "Warning")}
