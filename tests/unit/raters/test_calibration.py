"""Curves of scores are Bayes' rule, and are refused without scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refusal
from true_fits import at_the_truth, quick

import assay
from assay._util.errors import FitError


def test_answers_without_scores_have_no_calibration_curve(tmp_path: Path):
    ratings = assay.simulate("single", n_items=20, n_raters=3, classes=["no", "yes"], rng=1)
    fit = quick(ratings, draws=20, raters="scored")
    with pytest.raises(FitError, match="gave answers but", check=refusal("no-scores")):
        assay.rater_calibration(fit)
    page = assay.report(fit, tmp_path / "report.html", budget=False).read_text(encoding="utf-8")
    assert "gave answers but no score" in page


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ({"raters": "scored"}, {}),
        (
            {"raters": "scored + item_difficulty"},
            {"hard_share": 0.4, "difficulty_rate": [[2.5]]},
        ),
        ({"raters": "scored + item_difficulty_continuous"}, {"difficulty_rate": [[1.5]]}),
        ({"raters": "scored", "reference": "gold"}, {"misperceived": [0.4]}),
        ({"raters": "scored + drift"}, {"drift_sd": [[1.5]]}),
    ],
    ids=["plain", "hard items", "difficulty", "perception", "drift"],
)
def test_calibration_curve_is_bayes_rule(spec: dict[str, str], values: dict[str, Any]):
    """At the true parameters the curve is the share of each class among simulated scores."""
    ratings = assay.simulate(
        "relevance",
        **spec,
        n_items=6000,
        n_raters=2,
        ratings_per_item=2,
        sessions=2,
        gold=0.9 if "reference" in spec else 0.0,
        values={name: np.array(value) for name, value in values.items()},
        rng=8,
    )
    few = assay.take_ratings(ratings, np.arange(400))
    fit = at_the_truth(few, **spec)
    curve = assay.rater_calibration(fit)
    mine = ratings.rater == 0
    score, true = ratings.scores[mine, 0], ratings.simulated.truth[ratings.item[mine], 0]
    checked = 0
    rows = curve[curve["rater"] == "rater_1"]
    for line in rows.itertuples():
        here = np.abs(score - line.lowest_score) < 1e-9
        if here.sum() < 400:
            continue
        share = (
            true[here] == ["no", "partially", "yes"].index(rows.loc[line.Index, "class"])
        ).mean()
        error = np.sqrt(max(share * (1 - share), 0.01) / here.sum())
        assert line.mean == pytest.approx(share, abs=4.5 * error)
        checked += 1
    assert checked >= 6


def test_a_bin_that_no_class_gives_has_a_curve():
    """Where likelihood ratios rise steeply, middle bins underflow in every state."""
    ratings = assay.simulate(
        "relevance", raters="scored", n_items=60, n_raters=2, ratings_per_item=2, rng=8
    )
    fit = at_the_truth(ratings, raters="scored")
    fit["posterior"]["rise_mean"] = fit["posterior"]["rise_mean"] + 8.0
    curve = assay.rater_calibration(fit)
    total = curve.groupby(["rater", "bin"])["mean"].sum()
    np.testing.assert_allclose(total, 1.0)


def test_curves_are_refused_without_scores():
    with pytest.raises(FitError, match="raters='scored'", check=refusal("no-scores")):
        assay.rater_calibration(at_the_truth(assay.simulate("single", n_items=20, rng=1)))
