"""Columns without a name, columns of one name, the character NUL, and cells that are objects."""

from pathlib import Path

import pandas as pd
import pytest

from assay.data.ratings import Ratings
from assay.io import read_ratings


def codes(ratings: Ratings) -> list[str]:
    return [getattr(note, "code", "") for note in ratings.accounting.notes]


def csv(folder: Path, text: str) -> Path:
    path = folder / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_without_a_name_are_called_by_their_places(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,,\n1,a,x,1,2\n1,b,y,3,4\n")
    ratings = read_ratings(path, task="single", seconds="column 5")
    assert "nameless-columns" in codes(ratings)
    assert ratings.seconds is not None
    assert ratings.seconds.ravel().tolist() == [2, 4]


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,label\n1,a,x,y\n2,a,y,y\n")
    ratings = read_ratings(path, task="single")
    assert "repeated-columns" in codes(ratings)
    assert ratings.answers[:, 0].tolist() == [0, 1]
    other = read_ratings(path, task="single", labels="label (2)")
    assert set(other.answers[:, 0]) == {1} or other.task.labels[0].classes[0] == "y"


def test_a_column_that_repeats_another_is_left_out(tmp_path: Path) -> None:
    path = csv(tmp_path, "item,rater,label,item\n1,a,x,1\n2,a,y,2\n")
    ratings = read_ratings(path, task="single")
    (note,) = [n for n in ratings.accounting.notes if getattr(n, "code", "") == "repeated-columns"]
    assert "item" in note
    assert len(ratings.items) == 2


def test_questions_of_a_form_may_have_one_title() -> None:
    answers = [["p", "yes", "no", "yes"], ["q", "no", "no", "yes"], ["r", "yes", "no", "no"]]
    form = pd.DataFrame(answers, columns=["Email Address", *["Is it right?"] * 3])
    ratings = read_ratings(form, wide_items="Is it right?*")
    assert len(ratings.items) == 3
    assert len(ratings.answers) == 9


@pytest.mark.parametrize("frame", [True, False])
def test_the_character_nul_is_removed(frame: bool, tmp_path: Path) -> None:
    text = "item,rater,label\n1,a,x\0\n1,b,y\n2,a,x\n"
    source = (
        pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x\0", "y", "x"]})
        if frame else csv(tmp_path, text)
    )  # fmt: skip
    ratings = read_ratings(source, task="single")
    assert ratings.task.labels[0].classes == ("x", "y")
    assert "nul-character" in codes(ratings)


@pytest.mark.parametrize("cells", [["['x' 'y']", "['x']"], ["['x', 'y']", "['x']"]])
def test_printed_lists_are_read_as_lists(cells: list[str]) -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab"), "label": cells * 2})
    assert set(read_ratings(frame).task.label_names) == {"x", "y"}


def test_cells_that_are_objects_are_read_as_those_of_json() -> None:
    label = [{"value": "x"}, {"value": "y"}]
    frame = pd.DataFrame({"item": [1, 1], "rater": list("ab"), "label": label})
    ratings = read_ratings(frame, task="single")
    assert ratings.task.labels[0].classes == ("x", "y")
