"""What check says where errors can be learned from known truth, and where from nothing."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks.findings import Check
from assay.io import read_ratings
from assay.reporting.data import data_section
from assay.reporting.material import Material
from assay.reporting.metrics import metrics_section

SIZE = 120


def once(*, raters: int, known: int) -> pd.DataFrame:
    """Each item has one rating; the truth of the first items is known."""
    rng = np.random.default_rng(4)
    truth = rng.random(SIZE) < 0.4
    said = np.where(rng.random(SIZE) < 0.85, truth, ~truth)
    return pd.DataFrame(
        {
            "item": np.arange(SIZE),
            "rater": [f"judge {n % raters}" for n in range(SIZE)],
            "label": np.where(said, "yes", "no"),
            "gold": np.where(np.arange(SIZE) < known, np.where(truth, "yes", "no"), ""),
        }
    )


def checked(*, raters: int, known: int) -> Check:
    return assay.check(read_ratings(once(raters=raters, known=known), task="single", truth="gold"))


def codes(report: Check) -> set[str]:
    return {f.code for f in report.findings}


def numbers(report: Check, code: str) -> dict[str, float]:
    """Return the numbers of the one finding of a code."""
    (found,) = (f for f in report.findings if f.code == code)
    return dict(found.numbers)


@pytest.mark.parametrize("raters", [1, 3])
def test_known_truth_tells_errors_where_no_item_has_two_raters(raters: int) -> None:
    report = checked(raters=raters, known=100)
    assert not report.at_least("problem")
    told = numbers(report, "errors-from-known-truth")
    assert told == {"items": 0, "of": SIZE, "known": 100}
    assert numbers(report, "learnable-reliability")["items"] == 100
    assert ("connected-raters" if raters > 1 else "one-rater-known-truth") in codes(report)


def test_little_known_truth_tells_little() -> None:
    report = checked(raters=3, known=5)
    assert numbers(report, "reliability-from-prior") == {"items": 5, "wanted": 100}
    assert numbers(report, "single-rating-items")["telling"] == 5
    assert "learnable-reliability" not in codes(report)


@pytest.mark.parametrize("size", [300, 3000])
def test_how_many_items_tell_counts_and_not_their_share(size: int) -> None:
    rows = [(n, r) for n in range(size) for r in ("ab" if n < 110 else "a")]
    table = pd.DataFrame(rows, columns=["item", "rater"]).assign(label="no")
    table.loc[table["item"] % 3 == 0, "label"] = "yes"
    report = assay.check(read_ratings(table, task="single"))
    assert "reliability-from-prior" not in codes(report)
    assert numbers(report, "agreement-alone") == {"items": 110}


def test_without_it_nothing_tells_errors() -> None:
    table = once(raters=3, known=0).drop(columns="gold")
    report = assay.check(read_ratings(table, task="single"))
    (problem,) = report.at_least("problem")
    assert (problem.code, problem.numbers) == ("no-shared-items", {"items": 0, "of": SIZE})
    assert numbers(report, "unconnected-raters")["parts"] == 3
    assert "near-duplicates-untold" in codes(report)
    assert "no-near-duplicates" not in codes(report)
    assert numbers(report, "single-rating-items") == {"items": SIZE, "of": SIZE, "share": 1}


def test_one_is_singular() -> None:
    table = once(raters=1, known=0).assign(item=1, rater="one").iloc[:1]
    report = assay.check(read_ratings(table, task="relevance", labels="label"))
    said = "\n".join(f.text for f in report.findings)
    assert "1 rater in one group" in said
    assert "1 cluster (each item is its own)" in said
    assert "no-near-duplicates" not in codes(report)


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_a_report_says_first_what_the_data_cannot_tell() -> None:
    table = once(raters=3, known=0).drop(columns="gold")
    ratings = read_ratings(table, task="single")
    material = Material(fit=assay.fit(ratings, method="map", draws=50, chains=1, rng=1))
    (finding,) = data_section(material).findings
    assert finding.code == "no-shared-items"
    assert finding.text.startswith("0 of 120 items ")
    assert finding.weight > 90
    assert metrics_section(material).findings == ()
