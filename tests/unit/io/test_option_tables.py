"""Multiple choices, in cells or in columns of marks: a label of no and yes for each option."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import assay
from assay._util.errors import RatingsError
from assay.cli import app
from assay.data.ratings import Ratings
from assay.io import read_ratings
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


OPTIONS = ["Too long", "Wrong facts", "Rude tone"]


CHOSEN = [(0,), (0, 1), (2,), (1, 2), (), (1,)]


def form(mark: str, names: list[str] = OPTIONS) -> pd.DataFrame:
    """Return 12 items by 3 raters; an empty mark stands for the name of the option."""
    rows = [CHOSEN[(n // 3 + (n % 5 == 0)) % len(CHOSEN)] for n in range(36)]
    cells = {
        name: [(mark or option) if k in chosen else "" for chosen in rows]
        for k, (name, option) in enumerate(zip(names, OPTIONS, strict=True))
    }
    return pd.DataFrame({"item": [n // 3 for n in range(36)], "rater": list("abc") * 12, **cells})


def said(ratings: Ratings) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in ratings.answers]


@pytest.mark.parametrize("mark", ["Y", "x", "1", "Ja", "checked", ""])
@pytest.mark.parametrize("names", [OPTIONS, ["q[1]", "q[2]", "q[3]"]])
def test_a_mark_is_yes_and_an_empty_cell_beside_it_no(mark: str, names: list[str]) -> None:
    frame = form(mark, names)
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    ratings = read_ratings(frame, **caught.value.go_on)
    assert ratings.task.label_names == tuple(names)
    marked = frame[names].ne("").to_numpy()
    for row, own in zip(said(ratings), marked, strict=True):
        assert row == (tuple(map(int, own)) if own.any() else (-1, -1, -1))


def test_a_row_without_a_mark_is_none_of_them_if_the_caller_says_so() -> None:
    frame = form("Y")
    silent = int((frame[OPTIONS] == "").all(axis=1).sum())
    labels = {name: name for name in OPTIONS}
    ratings = read_ratings(frame, labels=labels)
    note = next(n for n in ratings.accounting.notes if getattr(n, "code", "") == "no-option-chosen")
    assert note.numbers == {"ratings": silent}
    ratings = read_ratings(frame, labels=labels, classes={name: {"": "no"} for name in OPTIONS})
    assert not ratings.abstained.any()
    assert said(ratings).count((0, 0, 0)) == silent
    assert "no-option-chosen" not in [getattr(n, "code", "") for n in ratings.accounting.notes]


def test_the_note_shows_options_that_can_be_typed(tmp_path: pytest.TempPathFactory) -> None:
    path = f"{tmp_path}/form.csv"
    form("Y").to_csv(path, index=False)
    named = [word for name in OPTIONS for word in ("--labels", name)]
    told = CliRunner().invoke(app, ["check", path, *named], env={"COLUMNS": "400"})
    assert "--word 'Too long:=no' --word 'Wrong facts:=no'" in told.output
    words = [word for name in OPTIONS for word in ("--word", f"{name}:=no")]
    done = CliRunner().invoke(app, ["check", path, *named, *words], env={"COLUMNS": "400"})
    assert done.exit_code == 0
    assert "choose no option" not in done.output


def test_empty_cells_of_options_in_one_column_are_told_too() -> None:
    frame = form("Y")
    joined = ["; ".join(o for o in OPTIONS if row[o]) for _, row in frame.iterrows()]
    ratings = read_ratings(frame[["item", "rater"]].assign(problem=joined))
    codes = [getattr(note, "code", "") for note in ratings.accounting.notes]
    assert "no-option-chosen" in codes
    words = {name: {"": "no"} for name in OPTIONS}
    ratings = read_ratings(frame[["item", "rater"]].assign(problem=joined), classes=words)
    assert not ratings.abstained.any()


def test_the_column_of_all_choices_is_left_out_beside_those_of_the_options() -> None:
    frame = form("1").replace({"": "0"})
    frame.columns = pd.Index(["item", "rater", *(f"problem/{name}" for name in OPTIONS)])
    chosen = [
        " ".join(o for o in OPTIONS if row[f"problem/{o}"] == "1") for _, row in frame.iterrows()
    ]
    frame["problem"] = chosen
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert sorted(caught.value.go_on["labels"]) == sorted(f"problem/{name}" for name in OPTIONS)


def test_a_column_of_choices_that_no_label_comes_from_is_left_alone(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": list("abab"),
                          "mood": ["calm|sad", "calm", "sad", "calm"],
                          "other": ["x|y", "x", "y", ""]})  # fmt: skip
    task = tmp_path / "moods.toml"
    task.write_text('labels = [{name = "calm"}, {name = "sad"}]', encoding="utf-8")
    ratings = read_ratings(frame, task=task)
    assert ratings.task.label_names == ("calm", "sad")
    assert ratings.answers.tolist() == [[1, 1], [1, 0], [0, 1], [1, 0]]
