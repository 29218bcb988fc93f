"""A column for each rater and question, whatever stands between their names."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings
from assay.io.wide_tables import find_grid, parts_of

ITEMS = 24
QUESTIONS = {"tone": ["calm", "sad", "angry"], "ok": ["yes", "no"]}
ALIKE = {"faithful": ["yes", "no"], "relevant": ["yes", "no"]}


def wide(
    names: str, raters: list[str], questions: dict[str, list[str]], **more: Any
) -> pd.DataFrame:
    """Return a table of known answers: those of the item, but for every seventh."""
    cells = dict(more)
    for k, rater in enumerate(raters):
        for label, classes in questions.items():
            size = len(classes)
            cells[names.format(rater=rater, label=label)] = [
                classes[(n + (n % 7 == k)) % size] for n in range(ITEMS)
            ]
    return pd.DataFrame(cells)


def refused(frame: pd.DataFrame) -> RatingsError:
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    return caught.value


NAMES = {
    "a number of the rater": ("{rater}_{label}", ["annotator_1", "annotator_2"], QUESTIONS),
    "questions first": ("{label}_annotator{rater}", ["1", "2", "3"], ALIKE),
    "criteria say which they are": ("{label}_{rater}", ["ann", "ben"], ALIKE),
    "signs and letters of other languages": ("{rater} - {label}", ["Jörg", "李", "Zoë"], QUESTIONS),
    "points": ("{label}.{rater}", ["gpt", "claude"], {"score": list("1234"), "safe": ["0", "1"]}),
}


@pytest.mark.parametrize("kind", NAMES)
def test_the_refusal_ends_with_the_pattern_that_reads_them(kind: str) -> None:
    names, raters, questions = NAMES[kind]
    frame = wide(names, raters, questions, doc_id=[f"d{n}" for n in range(ITEMS)])
    go_on = refused(frame).go_on
    ratings = read_ratings(frame, **go_on)
    assert set(ratings.task.label_names) == set(questions)
    assert (len(ratings.items), len(ratings.raters)) == (ITEMS, len(raters))
    assert len(ratings.answers) == ITEMS * len(raters)
    for n, label in enumerate(ratings.task.labels):
        classes, asked = label.classes, questions[label.name]
        said = {
            (ratings.items.index[i], ratings.raters.index[r]): classes[a]
            for i, r, a in zip(ratings.item, ratings.rater, ratings.answers[:, n], strict=True)
        }
        for k, rater in enumerate(ratings.raters.index):
            wanted = [asked[(i + (i % 7 == k)) % len(asked)] for i in range(ITEMS)]
            assert [said[f"d{i}", rater] for i in range(ITEMS)] == wanted


def test_pairs_without_an_answer_are_no_ratings_and_remarks_no_labels() -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    frame["ann_remark"] = [f"well, {n}" for n in range(ITEMS)]
    frame["ben_remark"] = ""
    frame.loc[3, ["ben_tone", "ben_ok"]] = ""
    frame.loc[4, "ben_tone"] = ""
    ratings = read_ratings(frame, wide="{rater}_{label}")
    assert len(ratings.answers) == 2 * ITEMS - 1
    assert ratings.task.label_names == ("tone", "ok")
    assert int((ratings.answers[:, 0] < 0).sum()) == 1


def test_one_question_is_read_alone() -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    ratings = read_ratings(frame, wide="{rater}_{label}", labels="ok")
    assert ratings.task.labels[0].classes == ("no", "yes")


def test_questions_of_the_same_values_may_be_meant_the_other_way() -> None:
    frame = wide("{rater}_{label}", ["a", "b"], {"x": ["yes", "no"], "y": ["yes", "no"]})
    error = refused(frame)
    assert error.go_on == {"wide": "{rater}_{label}"}
    assert "{label}_{rater}" in str(error)


@pytest.mark.parametrize(
    "frame",
    [
        wide("rater_{rater}", ["1", "2", "3"], {"x": ["a", "b"]}),
        wide("{label}_{rater}", ["ann", "ben"], {f"q{k}": ["a", "b"] for k in range(10)}),
        wide("{rater}_{label}", ["GPT-4_turbo", "GPT-4_mini"], {"x": ["a", "b"]}),
    ],
)
def test_other_names_are_raters_or_items_as_before(frame: pd.DataFrame) -> None:
    assert find_grid(frame.astype("str"), list(frame.columns)) is None
    assert "{rater}" not in str(refused(frame).go_on)


def test_rows_of_people_have_no_columns_of_raters() -> None:
    frame = wide("{rater} - {label}", ["Reply 1", "Reply 2"], QUESTIONS)
    frame.insert(0, "Email Address", [f"p{n}@x.org" for n in range(ITEMS)])
    assert "{rater}" not in str(refused(frame).go_on)


def test_a_pattern_that_no_column_has_is_refused(tmp_path: Path) -> None:
    frame = wide("{rater}_{label}", ["ann", "ben"], QUESTIONS)
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame, wide="{rater}:{label}")
    assert caught.value.code == "unknown-column"


def test_names_are_parted_where_the_fewest_result() -> None:
    columns = ["a_1_tone", "a_2_tone", "a_1_ok", "a_2_ok", "doc_id"]
    pairs = parts_of(columns, "{rater}_{label}")
    assert list(np.unique([rater for rater, _ in pairs])) == ["a_1", "a_2"]
