"""Words in answers: those for nothing, and decimal commas."""

from pathlib import Path

import pandas as pd
import pytest

from assay.data.ratings import Ratings
from assay.io import read_ratings
from assay.io.answer_words import with_words

ITEMS = [n // 2 for n in range(12)]


def read(words: list[str], **named: object) -> Ratings:
    frame = pd.DataFrame({"item": ITEMS, "rater": list("ab") * 6, "label": words * 4})
    return read_ratings(frame.assign(gold=frame["label"]), **named)  # type: ignore[arg-type]


def test_grades_are_numbers_in_answers_and_in_the_truth() -> None:
    ratings = read(["1,0", "1,5", "2,0"])
    assert ratings.task.labels[0].classes == ("1", "1.5", "2")
    notes = [note for note in ratings.accounting.notes if "decimal commas" in note]
    assert [getattr(note, "code", "") for note in notes] == ["decimal-commas"]
    frame = pd.DataFrame({"item": [0, 1], "rater": "a", "label": ["1,0", "1,5"]})
    known = read_ratings(frame.assign(gold=["1,5", "1,5"]), truth="gold")
    assert known.truth is not None
    assert known.truth[:, 0].tolist() == [1, 1]


def test_a_task_of_numbers_reads_decimal_commas(tmp_path: Path) -> None:
    task = tmp_path / "grades.toml"
    task.write_text('labels = [{name = "label", classes = ["1", "1.5", "2"], ordered = true}]')
    assert set(read(["1,0", "1,5", "2,0"], task=task).answers[:, 0]) == {0, 1, 2}


@pytest.mark.parametrize("words", [["1,2", "3", "2,3"], ["1,0", "x", "2"]])
def test_what_may_be_options_or_words_stays(words: list[str]) -> None:
    assert words[0] in read(words, task="single").task.labels[0].classes


def test_the_first_meaning_of_a_word_holds() -> None:
    assert with_words({"a": {"x": "y"}}, {"a": {"x": "", "z": ""}}) == {"a": {"x": "y", "z": ""}}
