"""Words in answers: those for nothing, and decimal commas."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from assay.cli import app
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


SCALED = 40
HALVES = [str(n / 2) for n in range(2, 11)]


def graded(name: str, words: Sequence[object], *, near: bool = True) -> pd.DataFrame:
    """Return grades of 40 items by four raters, who differ by one step, or by chance."""
    rng = np.random.default_rng(3)
    truth = rng.integers(len(words), size=SCALED)
    steps = rng.choice([-1, 0, 0, 1], size=(SCALED, 4))
    other = rng.integers(len(words), size=(SCALED, 4))
    said = np.clip(truth[:, None] + steps, 0, len(words) - 1)
    if not near:
        said = np.where(steps == 0, truth[:, None], other)
    item, rater = np.indices(said.shape)
    values = [words[code] for code in said.ravel()]
    rows = {"item": item.ravel(), "rater": [f"r{n}" for n in rater.ravel()], name: values}
    return pd.DataFrame(rows)


def codes(ratings: Ratings) -> list[str]:
    notes = ratings.accounting.notes
    return [code for note in notes if (code := getattr(note, "code", "")).startswith("number")]


SCALES: dict[str, tuple[pd.DataFrame, int]] = {
    "halves": (graded("grade", HALVES), 9),
    "decimal commas": (graded("Note", [word.replace(".", ",") for word in HALVES]), 9),
    "halves under a general name": (graded("answer", HALVES), 9),
    "stars": (graded("stars", range(1, 6)), 5),
    "three degrees": (graded("severity", range(3)), 3),
    "a name of its own": (graded("fluency", range(1, 4)), 3),
    "steps of 25": (graded("fluency", range(0, 101, 25)), 5),
    "around zero": (graded("tone", range(-2, 3)), 5),
    "raters who differ by little": (graded("label", range(1, 6)), 5),
    "ten points": (graded("answer", range(1, 11)), 10),
}
CODES: dict[str, pd.DataFrame] = {
    "a general name": graded("label", range(4)),
    "raters who differ by anything": graded("genre of it", range(1, 6), near=False),
    "nine for no answer": graded("fluency", [1, 2, 3, 9]),
    "leading zeros": graded("fluency", ["01", "02", "03"]),
    "numbers like those of a catalogue": graded("fluency", [101, 102, 103, 104]),
    "uneven numbers": graded("fluency", [3, 17, 40]),
    "telephone codes": graded("score", [4930, 4940, 4989]),
}


@pytest.mark.parametrize("name", SCALES)
def test_numbers_of_a_scale_have_an_order_and_a_mean(name: str) -> None:
    frame, classes = SCALES[name]
    ratings = read_ratings(frame)
    (label,) = ratings.task.labels
    assert (label.ordered, len(label.classes)) == (True, classes)
    shares = [f"prevalence[{label.name}={one}]" for one in label.classes] if classes <= 5 else []
    assert ratings.task.metrics == (f"mean[{label.name}]", *shares)
    assert codes(ratings) == ["number-scale"]
    assert not read_ratings(frame, ordered=False).task.labels[0].ordered
    assert not read_ratings(frame, ordered=False).task.metrics


@pytest.mark.parametrize("name", CODES)
def test_codes_are_no_scale_unless_the_caller_says_so(name: str) -> None:
    ratings = read_ratings(CODES[name])
    assert not ratings.task.labels[0].ordered
    assert not ratings.task.metrics
    assert codes(ratings) == ["number-codes"]
    told = read_ratings(CODES[name], ordered=True)
    assert told.task.labels[0].ordered
    assert told.task.metrics[0] == f"mean[{told.task.label_names[0]}]"


@pytest.mark.parametrize("words", [[0, 1], [1, 2], ["a", "b", "c"]])
def test_two_numbers_and_words_are_left_alone(words: list[object]) -> None:
    ratings = read_ratings(graded("score", words))
    assert not ratings.task.labels[0].ordered
    assert codes(ratings) == []


def test_a_task_by_name_is_taken_at_its_word() -> None:
    ratings = read_ratings(graded("grade", HALVES), task="single", labels="grade")
    assert not ratings.task.labels[0].ordered
    assert codes(ratings) == []


def test_each_of_several_labels_has_its_own_reading() -> None:
    frame = graded("grade", HALVES).assign(label_code=graded("x", range(4))["x"])
    named = {"grade": "grade", "label_code": "label_code"}
    ratings = read_ratings(frame, labels=named)
    assert [label.ordered for label in ratings.task.labels] == [True, False]
    shares = tuple(f"prevalence[label_code={n}]" for n in range(4))
    assert ratings.task.metrics == ("mean[grade]", *shares)


def test_the_note_names_the_option_that_changes_the_reading(
    tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    graded("grade", HALVES).to_csv("grades.csv", index=False)
    shown = CliRunner().invoke(app, ["check", "grades.csv"]).output
    said = " ".join(shown.split())  # whatever the width
    assert "--unordered [" not in said
    assert "as a scale" in said
    assert "give --unordered" in said
    said = CliRunner().invoke(app, ["check", "grades.csv", "--unordered"]).output
    assert "read as a scale" not in said


def test_ordered_categories_order_the_classes() -> None:
    rows = [(f"t{n}", rater, ("high", "low", "medium")[(n + 2 * k + n * k) % 3])
            for n in range(20) for k, rater in enumerate("abc")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "rater", "severity"])
    kind = pd.CategoricalDtype(["low", "medium", "high", "fatal"], ordered=True)
    ordered = frame.astype({"severity": kind})
    wide = frame.pivot(index="item", columns="rater", values="severity").astype(kind).reset_index()
    for given in ({"source": ordered}, {"source": wide, "wide": ["a", "b", "c"]}):
        ratings = read_ratings(**given)
        label = ratings.task.labels[0]
        assert (label.classes, label.ordered) == (("low", "medium", "high"), True)
        notes = {note.code: str(note) for note in ratings.accounting.notes}
        assert "no answer is fatal" in notes["order-of-categories"]
    assert not read_ratings(ordered, ordered=False).task.labels[0].ordered
    assert read_ratings(ordered, ordered=True).task.labels[0].ordered
    assert read_ratings(frame).task.labels[0].classes == ("low", "medium", "high")
    two = ordered[ordered["severity"] != "medium"]
    assert read_ratings(two).task.labels[0].classes == ("low", "high")
