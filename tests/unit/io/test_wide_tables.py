"""Wide tables: columns of raters, of classes, of criteria."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.data.task import Label
from assay.io import read_ratings
from assay.io.wide_tables import _called_alike, answer_columns, names_people, vote_columns


def test_columns_of_classes_are_found() -> None:
    frame = pd.DataFrame({"case": ["1", "2"], "Ann": ["yes", "no"], "Ben": ["no", ""]})
    assert answer_columns(frame, Label(name="ill")) == ["Ann", "Ben"]


def test_names_may_differ_in_one_number() -> None:
    assert [_called_alike(name, ["1_Q1", "2_Q1"]) for name in ("30_Q1", "3_Q2", "note")] == [
        True,
        False,
        False,
    ]


def test_columns_of_people_are_known_by_name() -> None:
    assert [
        names_people(name) for name in ("Email Address", "tone.responses.users", "subject")
    ] == [True, True, False]


def test_columns_of_steady_sums_are_votes() -> None:
    frame = pd.DataFrame({"unit": ["1", "2", "3"], "a": ["3", "0", "2"], "b": ["0", "3", "1"]})
    assert vote_columns(frame) == ["a", "b"]


def test_rows_without_a_name_are_told_which_columns_name_them() -> None:
    frame = pd.DataFrame({"url": list("aabbcc"), "part": list("xyxyxy"), "Ann": list("pqpqpp"),
                          "Ben": list("ppqqpq")})  # fmt: skip
    ratings = read_ratings(frame, wide=["Ann", "Ben"])
    said = next(note for note in ratings.accounting.notes if "called by its number" in note)
    assert said.endswith("; `item=['url', 'part']` names them")
    named = read_ratings(frame, wide=["Ann", "Ben"], item=["url", "part"])
    assert named.items.index.tolist() == ["a/x", "a/y", "b/x", "b/y", "c/x", "c/y"]
    alike = frame.assign(part="x")
    notes = read_ratings(alike, wide=["Ann", "Ben"]).accounting.notes
    assert any(note.endswith("called by its number") for note in notes)


@pytest.mark.parametrize(("item", "part"), [("Case", "Version"), ("question_id", "model")])
def test_raters_of_outputs_of_several_systems_are_no_labels(item: str, part: str) -> None:
    frame = pd.DataFrame({item: list("aabbccdd"), part: ["old", "new"] * 4})
    frame = frame.assign(**{"Dr. Ann": list("yynynnyn"), "Ben": list("ynnynnyy")})
    with pytest.raises(RatingsError, check=refusal("wide-table", columns=2)) as caught:
        read_ratings(frame)
    assert caught.value.go_on["wide"] == ["Dr. Ann", "Ben"]
    ratings = read_ratings(frame, wide=["Dr. Ann", "Ben"], item=[item, part], system=part)
    assert (len(ratings.items), ratings.systems) == (8, ["new", "old"])


def test_rows_of_a_rater_and_a_system_are_ratings() -> None:
    frame = pd.DataFrame({"item": list("aabbccdd"), "model": ["old", "new"] * 4})
    frame = frame.assign(polite=list("yynynnyn"), rude=list("ynnynnyy"), rater=list("rsrsrsrs"))
    with pytest.raises(RatingsError, check=refusal("no-answers")):
        read_ratings(frame)


ITEMS = 40


DRAWN = np.random.default_rng(1).random((ITEMS, 3))


FLAGS = {name: DRAWN[:, n] < 0.7 for n, name in enumerate(("faithful", "relevant", "complete"))}


GRADES = {f"{name}ness": (DRAWN[:, n] * 5).astype(int) + 1 for n, name in enumerate(("clear", "u"))}


WORDS = {
    "helpfulness": np.where(FLAGS["faithful"], "good", "bad"),
    "safety": np.where(FLAGS["relevant"], "safe", "unsafe"),
}


KINDS: Mapping[str, Mapping[str, object]] = {
    "no and yes": FLAGS, "grades": GRADES, "words that differ": WORDS,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_criteria_are_labels_and_no_raters(kind: str) -> None:
    texts = {"id": range(ITEMS), "answer": [f"It is {n}." for n in range(ITEMS)]}
    frame = pd.DataFrame({**texts, **KINDS[kind]})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"labels": {c: c for c in KINDS[kind]}, "rater": "row"}
    ratings = read_ratings(frame, **caught.value.go_on)
    assert ratings.task.label_names == tuple(KINDS[kind])
    assert (len(ratings.items), len(ratings.raters), len(ratings.answers)) == (ITEMS, 1, ITEMS)


def test_names_of_raters_are_still_raters() -> None:
    frame = pd.DataFrame(
        {"id": range(ITEMS), **dict(zip(("Ann", "Bob", "Cy"), FLAGS.values(), strict=True))}
    )
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"wide": ["Ann", "Bob", "Cy"]}


@pytest.mark.parametrize("text", ["question", "output"])
def test_rows_with_equal_texts_are_items_of_their_own(text: str) -> None:
    texts = ["I do not know."] * 5 + [f"It is {n}." for n in range(5, ITEMS)]
    frame = pd.DataFrame({"id": range(ITEMS), text: texts, **FLAGS})
    ratings = read_ratings(frame, labels={c: c for c in FLAGS}, rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (ITEMS, 1)


def test_votes_on_equal_texts_are_of_one_item() -> None:
    frame = pd.DataFrame({"id": range(ITEMS), "text_id": [n // 4 for n in range(ITEMS)]})
    ratings = read_ratings(frame.assign(label=FLAGS["faithful"]), rater="row")
    assert (len(ratings.items), len(ratings.raters)) == (10, 4)
