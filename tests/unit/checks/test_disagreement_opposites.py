"""Raters who agree less than by chance are told; those who agree, or guess, are not."""

import numpy as np
import pandas as pd
import pytest

import assay


def said(table: pd.DataFrame) -> list[str]:
    report = assay.check(assay.read_ratings(table, task="single"))
    return [str(f) for f in report.findings if f.code == "opposite-raters"]


def ratings_of(right: list[float], items: int = 60, classes: str = "ab") -> pd.DataFrame:
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
    (found,) = said(ratings_of([1.0, 0.0], classes=classes))
    assert found.startswith("[warning] 1 pair of raters agrees far less often")
    assert "rater_0 and rater_1 on label (agree on 0 of 60 items" in found


def test_each_pair_is_told() -> None:
    (found,) = said(ratings_of([1.0, 1.0, 0.0]))
    assert found.startswith("[warning] 2 pairs ")
    assert "rater_0 and rater_2" in found
    assert "rater_1 and rater_2" in found


@pytest.mark.parametrize("right", [[0.9, 0.9], [0.05, 0.05], [0.9, 0.05]])
def test_raters_who_agree_or_guess_are_left_alone(right: list[float]) -> None:
    assert said(ratings_of(right)) == []


def test_few_items_in_common_tell_nothing() -> None:
    assert said(ratings_of([1.0, 0.0], items=19)) == []
    assert said(ratings_of([1.0, 0.0], items=20)) != []
