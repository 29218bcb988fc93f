"""Scores that run against those of others are told; those that only know less are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import assay
from assay.checks.disagreement import check_score_directions
from assay.data.task_files import load_task

BINARY = load_task("single").with_classes({"label": ("no", "yes")})


def ratings_of(strengths: list[float], items: int = 150, answers: int = 0) -> assay.Ratings:
    """Raters whose scores rise with the truth, or fall; the last ``answers`` give answers alone."""
    rng = np.random.default_rng(4)
    truth = rng.random(items) < 0.4
    lines = []
    for j, strength in enumerate(strengths):
        score = 1 / (1 + np.exp(-(strength * (truth - 0.5) + rng.normal(0, 1, items))))
        told = j >= len(strengths) - answers
        lines += [
            (i, f"r{j}", ("yes" if s > 0.5 else "no") if told else "", np.nan if told else s)
            for i, s in enumerate(score)
        ]
    table = pd.DataFrame(lines, columns=["item", "rater", "label", "label_score"])
    return assay.read_ratings(table, task=BINARY)


def said(ratings: assay.Ratings) -> list[str]:
    return [f.text for f in check_score_directions(ratings).findings]


def test_scores_that_run_backwards_are_told_with_their_rank_correlation() -> None:
    ratings = ratings_of([3.0, -3.0])
    (text,) = said(ratings)
    rho = spearmanr(*(ratings.scores[ratings.rater == j, 0] for j in (0, 1)))[0]
    assert f"r0 and r1 on label (rank correlation {rho:.2f} on 150 items)" in text
    (found,) = (f for f in assay.check(ratings).findings if f.code == "opposite-scores")
    assert (found.text, found.level, found.numbers) == (text, "warning", {"pairs": 1})


def test_a_fit_of_such_scores_warns_of_them() -> None:
    ratings = ratings_of([3.0, 3.0, -3.0], items=60)
    options = {"raters": "scored", "method": "map", "draws": 2, "chains": 1, "starts": 1}
    with pytest.warns(assay.FitWarning) as caught:
        assay.fit(ratings, rng=1, progress=False, **options)
    told = {w.message.code: w.message.numbers for w in caught}
    assert told["opposite-scores"] == {"pairs": 2}
    assert "scores-alone" in told


def test_each_pair_is_told_beside_answers_too() -> None:
    (text,) = said(ratings_of([3.0, -3.0, 3.0], answers=1))
    assert "2 pairs" in text
    assert "r1 and r2" in text
    assert "r0 and r2" not in text


@pytest.mark.parametrize(
    "ratings",
    [
        ratings_of([3.0, 0.0, 0.0]),
        ratings_of([3.0, -3.0], items=15),
        ratings_of([3.0, -3.0], answers=2),
    ],
    ids=["guessers", "few items", "answers alone"],
)
def test_others_are_not(ratings: assay.Ratings) -> None:
    assert said(ratings) == []


def test_ties_have_their_mean_rank() -> None:
    """Scores heap; correlations of few items in common are of ranks among all."""
    ratings = ratings_of([3.0, -3.0])
    heaped = pd.DataFrame(
        {"item": ratings.item, "rater": ratings.rater, "label_score": ratings.scores[:, 0].round(1)}
    )
    (text,) = said(assay.read_ratings(heaped, task=BINARY))
    a, b = (heaped.loc[heaped["rater"] == j, "label_score"] for j in (0, 1))
    assert f"{spearmanr(a, b)[0]:.2f} on" in text


def test_scores_of_repeated_ratings_alone_are_not_compared() -> None:
    """What is compared are first ratings: where they have neither score nor answer, nothing is."""
    ratings = ratings_of([3.0, -3.0])
    assert said(replace(ratings, replicate=np.ones_like(ratings.replicate))) == []
