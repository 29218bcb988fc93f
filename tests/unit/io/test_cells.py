import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.task import Label, Task
from assay.io import read_ratings
from assay.io.cells import _as_people_count, _pointed, parse_numbers, point_wanted


def test_names_sort_by_their_numbers() -> None:
    assert sorted(["c10", "C2", "b"], key=_as_people_count) == ["b", "C2", "c10"]


def test_words_and_empty_cells_are_no_numbers() -> None:
    assert (
        repr(parse_numbers(pd.Series(["0.5", "", "high"], dtype="str")))
        == "(array([0.5, nan, nan]), array([ True, False,  True]))"
    )


def test_decimal_commas_become_points_unless_they_may_be_thousands() -> None:
    cells, had_commas = _pointed(pd.Series(["87,5", "", "90"], dtype="str"))
    assert (cells.tolist(), had_commas) == (["87.5", "", "90"], True)
    assert not _pointed(pd.Series(["1,250", "900"], dtype="str"))[1]


def test_the_first_decimal_comma_is_shown_with_a_point() -> None:
    assert point_wanted(["high", "0,5"]) == "write decimal points: 0.5"


@pytest.mark.parametrize("words", [["1", "0", "yes", "no"], ["ja", "nein", "Yes", "No", "unsure"]])
def test_no_and_yes_in_several_spellings_are_refused_with_what_merges_them(
    words: list[str],
) -> None:
    frame = _table(words)
    with pytest.raises(RatingsError, check=refusal("binary-spellings", classes=4)) as caught:
        read_ratings(frame)
    ratings = read_ratings(frame, **caught.value.go_on)
    assert ratings.task.labels[0].classes == ("no", *words[4:], "yes")
    listed = Task(name="own", labels=(Label(name="label", classes=tuple(words)),))
    assert read_ratings(frame, task=listed).task.labels[0].classes == tuple(words)


@pytest.mark.parametrize("words", [["f", "n", "t"], ["yes", "no", "maybe", "1"], ["0", "1", "2"]])
def test_other_words_beside_no_and_yes_are_classes(words: list[str]) -> None:
    assert set(read_ratings(_table(words)).task.labels[0].classes) == set(words)


def test_signs_around_a_word_make_no_other_class() -> None:
    ratings = read_ratings(_table(["Yes.", "no", "YES", "**Yes**", "No", "`no`", "No.", "**N/A**"]))
    assert [name.casefold() for name in ratings.task.labels[0].classes] == ["no", "yes"]
    notes = {note.code: str(note) for note in ratings.accounting.notes}
    assert "**Yes** is Yes" in notes["signs-left-out"]
    task = Task(name="own", labels=(Label(name="label", classes=("no", "yes")),))
    assert read_ratings(_table(["**Yes**", "no."]), task=task).task.labels[0].classes == (
        "no", "yes",
    )  # fmt: skip
    grades = ["A", "A*", "B+", "B", "yes?", "yes"]
    assert set(read_ratings(_table(grades)).task.labels[0].classes) == set(grades)


def _table(words: list[str]) -> pd.DataFrame:
    rows = [(f"t{n}", rater, words[(n + 3 * k + n * k) % len(words)])
            for n in range(20) for k, rater in enumerate("abc")]  # fmt: skip
    return pd.DataFrame(rows, columns=["item", "rater", "label"])
