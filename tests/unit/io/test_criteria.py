"""Judgments with a column for each criterion and no column of raters."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings

ITEMS = 40
DRAWN = np.random.default_rng(1).random((ITEMS, 3))
FLAGS = {name: DRAWN[:, n] < 0.7 for n, name in enumerate(("faithful", "relevant", "complete"))}
GRADES = {f"{name}ness": (DRAWN[:, n] * 5).astype(int) + 1 for n, name in enumerate(("clear", "u"))}
WORDS = {
    "helpfulness": np.where(FLAGS["faithful"], "good", "bad"),
    "safety": np.where(FLAGS["relevant"], "safe", "unsafe"),
}
KINDS: Mapping[str, Mapping[str, object]] = {
    "no and yes": FLAGS, "grades": GRADES, "words that differ": WORDS,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_criteria_are_labels_and_no_raters(kind: str) -> None:
    texts = {"id": range(ITEMS), "answer": [f"It is {n}." for n in range(ITEMS)]}
    frame = pd.DataFrame({**texts, **KINDS[kind]})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"labels": {c: c for c in KINDS[kind]}, "rater": "row"}
    ratings = read_ratings(frame, **caught.value.go_on)
    assert ratings.task.label_names == tuple(KINDS[kind])
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (ITEMS, 1, ITEMS)


def test_names_of_raters_are_still_raters() -> None:
    frame = pd.DataFrame(
        {"id": range(ITEMS), **dict(zip(("Ann", "Bob", "Cy"), FLAGS.values(), strict=True))}
    )
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"wide": ["Ann", "Bob", "Cy"]}


@pytest.mark.parametrize("text", ["question", "output"])
def test_rows_with_equal_texts_are_items_of_their_own(text: str) -> None:
    texts = ["I do not know."] * 5 + [f"It is {n}." for n in range(5, ITEMS)]
    frame = pd.DataFrame({"id": range(ITEMS), text: texts, **FLAGS})
    ratings = read_ratings(frame, labels={c: c for c in FLAGS}, rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (ITEMS, 1)


def test_votes_on_equal_texts_are_of_one_item() -> None:
    frame = pd.DataFrame({"id": range(ITEMS), "text_id": [n // 4 for n in range(ITEMS)]})
    ratings = read_ratings(frame.assign(label=FLAGS["faithful"]), rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (10, 4)
