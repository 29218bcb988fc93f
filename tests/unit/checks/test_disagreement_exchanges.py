"""Raters who use classes the wrong way round are named; poor and biased ones are not."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.checks.disagreement import check_exchanged_classes, check_opposites
from assay.data.ratings import Ratings


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
    found = [
        (*check_exchanged_classes(one).findings, *check_opposites(one).findings) for one in crowds
    ]
    fine = [check_exchanged_classes(crowd(rng, classes, right=unequal)) for _ in range(15)]
    fine += [
        check_exchanged_classes(crowd(rng, classes, right=unequal, bias=0.9)) for _ in range(15)
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
    assert check_exchanged_classes(assay.read_ratings(table)).findings == ()
