"""Columns of votes for each class, beside others that look like answers."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.class_columns import vote_columns

ITEMS = 20
THREE = np.random.default_rng(2).multinomial(3, [0.2, 0.3, 0.5], ITEMS)


@pytest.mark.parametrize("number", ["count", "n", "annotators"])
@pytest.mark.parametrize("answer", ["class", "label", "verdict"])
def test_votes_that_sum_to_their_number_are_found_beside_an_answer(
    number: str, answer: str
) -> None:
    frame = pd.DataFrame(THREE, columns=["bleu", "vert", "gris"])
    frame.insert(0, number, THREE.sum(axis=1))
    frame.insert(0, "text_id", range(ITEMS))
    frame[answer] = THREE.argmax(axis=1)
    classes = ["bleu", "vert", "gris"]
    assert vote_columns(frame.astype(str)) == classes
    with pytest.raises(RatingsError, check=refusal("count-table")) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"counts": classes}
    assert len(read_ratings(frame, counts=classes).answers) == 3 * ITEMS


def test_numbers_that_do_not_sum_to_the_count_are_no_votes() -> None:
    frame = pd.DataFrame({"count": 3, "a": THREE[:, 0], "b": THREE[:, 1], "label": "x"})
    assert vote_columns(frame.astype(str)[["count", "a", "b", "label"]]) == []


@pytest.mark.parametrize(("mark", "none"), [("x", ""), ("x", "NA"), ("true", "false"), ("1", "0")])
def test_a_mark_in_one_of_several_columns_is_one_answer(mark: str, none: str) -> None:
    """Words for no answer are no marks."""
    flags = {c: [mark if n % 3 == k else none for n in range(12)] for k, c in enumerate("pqr")}
    ratings = read_ratings(pd.DataFrame({"item": range(12)} | flags), counts=list(flags))
    assert len(ratings.answers) == 12
    assert ratings.task.labels[0].classes == ("p", "q", "r")


def test_a_mark_that_says_no_is_no_vote() -> None:
    flags = {c: ["No" if n % 3 == k else "" for n in range(12)] for k, c in enumerate("pqr")}
    with pytest.raises(RatingsError, check=refusal("no-counts")):
        read_ratings(pd.DataFrame({"item": range(12)} | flags), counts=list(flags))
