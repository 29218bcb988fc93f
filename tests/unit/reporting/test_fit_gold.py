"""The report on gold that the model has not seen."""

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import assay
from assay._util.errors import FitWarning
from assay.data.states import MISSING
from assay.display.table import Table
from assay.reporting import report
from assay.reporting.fit import gold_section
from assay.reporting.material import Material
from assay.reporting.page import Callout, Gap, Section

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
