"""Choices of several in the cells of a table become labels of no and yes."""

from pathlib import Path

import pandas as pd
import pytest

import assay
from assay._util.errors import RatingsError
from assay.io.option_tables import _without_none
from tests.refusals import refusal
from tests.studies import notes_of

CELLS = ["calm|sad", "calm", "sad", "angry", "", "calm|angry"]


def table(cells: list[object]) -> pd.DataFrame:
    return pd.DataFrame(
        {"item": [n // 2 for n in range(len(cells))], "rater": list("ab") * (len(cells) // 2),
         "label": cells}
    )  # fmt: skip


@pytest.mark.parametrize("sign", ["|", ";", ", ", "\n"])
def test_each_option_is_a_label_and_an_empty_cell_answers_nothing(sign: str) -> None:
    ratings = assay.read_ratings(table([cell.replace("|", sign) for cell in CELLS]))
    assert ratings.task.label_names == ("angry", "calm", "sad")
    assert ratings.answers.tolist() == [
        [0, 1, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0], [-1, -1, -1], [1, 1, 0],
    ]  # fmt: skip
    notes = notes_of(ratings)
    assert "task options is taken" in notes["task-chosen"]
    assert "options-are-labels" in notes


def test_lists_in_cells_and_in_text_are_the_same(tmp_path: Path) -> None:
    lists = [cell.split("|") if cell else [] for cell in CELLS]
    frame = table(lists)
    whole = assay.read_ratings(frame)
    path = tmp_path / "ratings.csv"
    frame.assign(label=frame["label"].map(lambda one: str(one).replace("'", '"'))).to_csv(path)
    text = assay.read_ratings(path)
    assert whole.answers.tolist() == text.answers.tolist()
    assert whole.task == text.task


def test_the_task_that_is_written_out_can_be_named_for_the_columns_of_the_options() -> None:
    frame = table(list(CELLS))
    task = assay.read_ratings(frame).task
    wide = frame["label"].str.get_dummies("|").where(frame["label"].str.len() > 0)
    again = assay.read_ratings(frame.drop(columns="label").join(wide), task=task)
    assert again.answers.tolist() == assay.read_ratings(frame).answers.tolist()


def test_a_task_that_is_named_is_kept_and_the_refusal_says_how_to_go_on() -> None:
    with pytest.raises(RatingsError, check=refusal("multi-select", cells=2)) as caught:
        assay.read_ratings(table(list(CELLS)), task="single")
    assert "leave out `task=`" in str(caught.value)


def test_answers_with_a_sign_in_them_stay_single() -> None:
    cells = ["agree, strongly", "disagree, strongly", "neutral"] * 2
    assert assay.read_ratings(table(cells)).task.name == "single"


def test_options_beside_other_questions_are_labels_and_an_open_cell_chooses_none() -> None:
    frame = table(list(CELLS)).assign(kind=["new", "old"] * 3)
    ratings = assay.read_ratings(frame, labels={"kind": "kind", "label": "label"})
    assert ratings.task.label_names == ("kind", "angry", "calm", "sad")
    assert ratings.answers[4].tolist() == [0, 0, 0, 0]
    assert notes_of(ratings)["nothing-chosen"].startswith("1 rating chooses none")


def test_none_of_these_is_no_option_unless_it_stands_beside_one() -> None:
    cells = ["calm|sad", "None of these", "sad", "calm", "", "calm|sad"]
    ratings = assay.read_ratings(table(cells))
    assert ratings.task.label_names == ("calm", "sad")
    assert ratings.answers[[1, 4]].tolist() == [[0, 0], [-1, -1]]
    mixed = assay.read_ratings(table([*cells[:5], "None of these|sad"]))
    assert "None of these" in mixed.task.label_names


def test_a_form_of_several_choices_has_a_label_for_each_option() -> None:
    rows = [["a", "x|y", "y"], ["b", "x", "None of the above"], ["c", "y", "x|y"]]
    form = pd.DataFrame(rows, columns=["Email", "Question 1", "Question 2"])
    ratings = assay.read_ratings(form, wide_items=["Question 1", "Question 2"])
    assert ratings.task.label_names == ("x", "y")
    assert len(ratings.items) == 2
    assert len(ratings.answers) == 6


def test_a_saved_task_of_options_reads_the_table_that_it_came_from(tmp_path: Path) -> None:
    frame = table(list(CELLS))
    first = assay.read_ratings(frame)
    again = assay.read_ratings(frame, task=first.task)
    assert again.answers.tolist() == first.answers.tolist()


def test_none_of_these_chooses_nothing() -> None:
    assert _without_none(
        {"calm|sad": ["calm", "sad"], "none of these": ["none of these"], "": []}
    ) == {"calm|sad": ["calm", "sad"], "none of these": []}
