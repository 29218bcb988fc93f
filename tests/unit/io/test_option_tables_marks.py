"""Multiple choices with a column for each option, which holds a mark or nothing."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from assay._util.errors import RatingsError
from assay.cli import app
from assay.data.ratings import Ratings
from assay.io import read_ratings

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
