"""Raters who run against the others, by answers or by scores, are told; those who guess are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import assay
from assay.checks.disagreement import (
    check_reversed_classes,
    check_score_directions,
)
from assay.data.ratings import Ratings
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


def opposites(table: pd.DataFrame) -> list[str]:
    report = assay.check(assay.read_ratings(table, task="single"))
    return [str(f) for f in report.findings if f.code == "opposite-raters"]


def table_of(right: list[float], items: int = 60, classes: str = "ab") -> pd.DataFrame:
    """Raters who are right that often; 0 is one who has the classes in the wrong order."""
    rng = np.random.default_rng(3)
    count = len(classes)
    truth = rng.integers(count, size=items)
    answers = [
        np.where(rng.random(items) < share, truth, rng.integers(count, size=items))
        if share
        else count - 1 - truth
        for share in right
    ]
    table = pd.DataFrame({"item": np.tile(np.arange(items), len(right))})
    table["rater"] = np.repeat([f"rater_{k}" for k in range(len(right))], items)
    table["label"] = np.array(list(classes))[np.concatenate(answers)]
    return table


@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_a_rater_with_the_classes_the_wrong_way_round_is_told(classes: str) -> None:
    (found,) = opposites(table_of([1.0, 0.0], classes=classes))
    assert found.startswith("[warning] 1 pair of raters agrees far less often")
    assert "rater_0 and rater_1 on label (agree on 0 of 60 items" in found


def test_each_pair_is_told() -> None:
    (found,) = opposites(table_of([1.0, 1.0, 0.0]))
    assert found.startswith("[warning] 2 pairs ")
    assert "rater_0 and rater_2" in found
    assert "rater_1 and rater_2" in found


@pytest.mark.parametrize("right", [[0.9, 0.9], [0.05, 0.05], [0.9, 0.05]])
def test_raters_who_agree_or_guess_are_left_alone(right: list[float]) -> None:
    assert opposites(table_of(right)) == []


def test_few_items_in_common_tell_nothing() -> None:
    assert opposites(table_of([1.0, 0.0], items=19)) == []
    assert opposites(table_of([1.0, 0.0], items=20)) != []


def crowd(
    rng: np.random.Generator,
    classes: int = 3,
    items: int = 150,
    right: tuple[float, ...] = (0.75, 0.8, 0.85, 0.8),
    reversed_rater: int | None = None,
    bias: float = 0.0,
) -> Ratings:
    """Raters who are right that often, else guess; with a bias, guesses are one class."""
    truth = rng.integers(classes, size=items)
    answers = []
    for rater, share in enumerate(right):
        guess = rng.integers(classes, size=items)
        guess = np.where(rng.random(items) < bias, 0, guess)
        said = np.where(rng.random(items) < share, truth, guess)
        answers.append(classes - 1 - said if rater == reversed_rater else said)
    table = pd.DataFrame({"item": np.tile(np.arange(items), len(right))})
    table["rater"] = np.repeat([f"rater_{k}" for k in range(len(right))], items)
    table["grade"] = np.array(list("abcde"))[np.concatenate(answers)]
    return assay.read_ratings(table)


def test_a_reversed_scale_is_named_with_its_classes() -> None:
    report = assay.check(crowd(np.random.default_rng(1), reversed_rater=2))
    (found,) = [f for f in report.findings if f.code == "exchanged-classes"]
    assert found.level == "warning"
    assert found.numbers == {"raters": 1}
    assert "rater_2 on grade says 'c' where others say 'a' and 'a' where others say 'c'" in str(
        found
    )


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_power_and_false_alarms(classes: int) -> None:
    """Of 15 crowds with a reversed rater most are found; of 30 without, none."""
    rng = np.random.default_rng(classes)
    unequal = (0.15, 0.3, 0.7, 0.85)
    crowds = [crowd(rng, classes, reversed_rater=1) for _ in range(15)]
    found = [check_reversed_classes(one).findings for one in crowds]
    fine = [check_reversed_classes(crowd(rng, classes, right=unequal)) for _ in range(15)]
    fine += [
        check_reversed_classes(crowd(rng, classes, right=unequal, bias=0.9)) for _ in range(15)
    ]
    named = sum(any("rater_1" in str(f) for f in told) for told in found)
    told = sum(bool(part.findings) for part in fine)
    assert named >= 13
    assert told == 0


def test_opposite_pairs_are_not_told_twice() -> None:
    ratings = crowd(np.random.default_rng(4), 2, right=(0.95, 0.95, 0.95), reversed_rater=0)
    codes = [f.code for f in assay.check(ratings).findings]
    assert "opposite-raters" in codes
    assert "exchanged-classes" not in codes


@pytest.mark.parametrize("column", ["rater", "item"])
def test_one_rater_or_one_item_is_no_crowd(column: str) -> None:
    table = pd.DataFrame({"item": range(30), "rater": "a", "grade": list("abc") * 10})
    table = table.rename(columns={"item": "rater", "rater": "item"}) if column == "item" else table
    assert check_reversed_classes(assay.read_ratings(table)).findings == ()
