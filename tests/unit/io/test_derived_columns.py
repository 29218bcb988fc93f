"""Columns that are computed from those of raters, and raters who are nearly as good."""

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.derived_columns import derived_columns

WORDS = np.array(["oui", "non", "bof"])
RATERS = ["Uma", "Vik", "Wes"]


def panel(accuracy: list[float], items: int, *, classes: int = 2, seed: int = 0) -> pd.DataFrame:
    """Return the answers of raters with some accuracies."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, classes, items)
    frame = pd.DataFrame({"Satz": [f"s{n}" for n in range(items)]})
    for name, right in zip([*RATERS, "Xia", "Yan", "Zoe"], accuracy, strict=False):
        wrong = (true + rng.integers(1, classes, items)) % classes
        frame[name] = WORDS[np.where(rng.random(items) < right, true, wrong)]
    return frame


def with_majority(frame: pd.DataFrame, name: str = "Stand") -> pd.DataFrame:
    most = [max(sorted(set(row)), key=row.count) for row in frame[RATERS].to_numpy().tolist()]
    return frame.assign(**{name: most})


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["Stand", "Vote", "多数決"])
def test_the_majority_of_the_others_is_found_under_any_name(name: str, classes: int) -> None:
    frame = with_majority(panel([0.75] * 3, 80, classes=classes), name)
    assert list(derived_columns(frame, [*RATERS, name])) == [name]
    with pytest.raises(RatingsError, match=f"{name} is the majority of the others") as caught:
        read_ratings(frame)
    assert caught.value.problems[0].go_on == {"wide": RATERS}


def test_two_computed_columns_are_both_found() -> None:
    frame = with_majority(with_majority(panel([0.75] * 3, 80), "A1"), "A2")
    assert list(derived_columns(frame, [*RATERS, "A1", "A2"])) == ["A1", "A2"]


def test_a_few_rows_that_were_changed_by_hand_do_not_hide_it() -> None:
    frame = with_majority(panel([0.7] * 3, 200))
    frame.loc[[3, 90], "Stand"] = frame.loc[[3, 90], "Stand"].map({"oui": "non", "non": "oui"})
    assert list(derived_columns(frame, [*RATERS, "Stand"])) == ["Stand"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("accuracy", [[0.8] * 3, [0.95] * 3, [0.9] * 5])
def test_a_very_good_rater_is_no_majority(accuracy: list[float], seed: int) -> None:
    frame = panel([*accuracy, 0.97], 300, seed=seed)
    assert not derived_columns(frame, list(frame.columns[1:]))


def test_few_rows_tell_nothing() -> None:
    frame = with_majority(panel([0.8] * 3, 20))
    assert not derived_columns(frame, [*RATERS, "Stand"])


def test_it_is_left_out_of_all_columns_and_kept_if_named() -> None:
    frame = with_majority(panel([0.75] * 3, 80))
    every = read_ratings(frame, wide="*")
    assert every.raters.index.tolist() == RATERS
    said = [note for note in every.accounting.notes if note.code == "derived-column"]
    assert len(said) == 1
    assert "It is left out" in said[0]
    named = read_ratings(frame, wide=[*RATERS, "Stand"])
    assert named.raters.index.tolist() == [*RATERS, "Stand"]
    (note,) = (note for note in named.accounting.notes if note.code == "derived-column")
    assert f"`wide={RATERS!r}`" in note
    assert note.level == "warning"
    truth = read_ratings(frame, wide="*", truth="Stand")
    assert truth.has_truth.all()
    assert not [note for note in truth.accounting.notes if note.code == "derived-column"]
