"""The order of classes that are words."""

import pandas as pd
import pytest

from assay.io.class_orders import SCALES, known_order
from assay.io.reader import read_ratings


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_has_its_order_whatever_the_order_of_its_words(scale: list[list[str]]) -> None:
    words = [level[-1].capitalize() for level in scale]
    assert known_order(words[::-1]) == tuple(words)


@pytest.mark.parametrize(
    "classes",
    [["agree", "support", "deny"], ["high", "low"], ["1 a", "7 b", "40 c"], ["a", "b", "c"]],
)
def test_other_words_have_none(classes: list[str]) -> None:
    assert known_order(classes) is None


def test_a_note_says_the_order_and_how_to_refuse_it() -> None:
    words = ["Sometimes", "Never", "Often", "Always"]
    frame = pd.DataFrame({"item": [n // 2 for n in range(40)], "rater": list("ab") * 20,
                          "label": [words[n * 7 % 4] for n in range(40)]})  # fmt: skip
    label = read_ratings(frame).task.labels[0]
    assert (label.classes, label.ordered) == (("Never", "Sometimes", "Often", "Always"), True)
    notes = [
        n for n in read_ratings(frame).accounting.notes if getattr(n, "code", "") == "word-scale"
    ]
    assert "ordered=False" in notes[0]
    assert not read_ratings(frame, ordered=False).task.labels[0].ordered


def test_none_of_a_scale_is_an_answer() -> None:
    words = ["none", "some", "all"]
    frame = pd.DataFrame({"item": [n // 2 for n in range(40)], "rater": list("ab") * 20,
                          "label": [words[n * 5 % 3] for n in range(40)]})  # fmt: skip
    codes = [getattr(note, "code", "") for note in read_ratings(frame).accounting.notes]
    assert "words-of-no-answer" not in codes


@pytest.mark.parametrize(
    "classes",
    [["1 - sports", "2 - politics", "3 - other"], ["0: negative", "1: positive", "2: neutral"],
     ["agree", "disagree", "undecided"], ["safe", "unsafe", "unclear"]],
)  # fmt: skip
def test_numbered_categories_and_words_for_no_answer_have_no_order(classes: list[str]) -> None:
    assert known_order(classes) is None


def test_words_of_a_scale_may_have_numbers() -> None:
    words = ["3 - good", "1 - poor", "2 - fair"]
    assert known_order(words) == ("1 - poor", "2 - fair", "3 - good")
