"""Choices of several in the cells of a table become labels of no and yes."""

from pathlib import Path

import pandas as pd
import pytest

import assay
from assay._util.errors import RatingsError
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
