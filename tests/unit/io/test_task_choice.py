"""Tables whose rows answer a question of an item each, and what is guessed of such tables."""

import pandas as pd
import pytest
from refusals import refusal

from assay._util.errors import RatingsError
from assay.io import read_ratings

ROWS = [
    (f"t{n}", rater, aspect, (3 * n + len(aspect) + (rater == "b")) % 5 + 1)
    for n in range(20) for rater in "abc" for aspect in ("fluency", "meaning", "simplicity")
]  # fmt: skip


@pytest.mark.parametrize(
    "names",
    [("item", "rater", "dimension", "rating"), ("sentence_id", "worker_id", "aspect", "value")],
)
def test_each_question_is_a_label_where_no_task_is_named(names: tuple[str, ...]) -> None:
    ratings = read_ratings(pd.DataFrame(ROWS, columns=names))
    assert ratings.task.label_names == ("fluency", "meaning", "simplicity")
    assert len(ratings.answers) == 60
    assert (ratings.answers >= 0).all()
    assert f"column {names[2]} names" in ratings.accounting.notes[0]


def test_a_question_that_is_the_item_is_no_label() -> None:
    frame = pd.DataFrame(ROWS, columns=["essay", "rater", "question", "rating"])
    frame = frame[frame["essay"] == "t1"].drop(columns="essay")
    many = pd.concat([frame.assign(rater=f"r{n}") for n in range(6)]).drop_duplicates(
        ["rater", "question"]
    )
    assert read_ratings(many).task.name == "single"


def test_the_column_that_is_called_an_identifier_is_offered_as_the_item() -> None:
    names = ["original_sentence_id", "rater", "aspect", "rating"]
    frame = pd.DataFrame(ROWS, columns=names).assign(text="well", simple="good")
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on["item"] in ("original_sentence_id", ["original_sentence_id"])
    assert len(read_ratings(frame, **caught.value.go_on).answers) == 60


def test_marks_of_a_fine_scale_are_no_options_of_one_question() -> None:
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "aspect", "rating"])
    fine = frame.assign(rating=[(7 * n) % 101 for n in range(len(frame))])
    with pytest.raises(RatingsError) as caught:
        read_ratings(fine)
    assert [problem.code for problem in caught.value.problems] == ["too-many-classes"]
    assert caught.value.go_on["score"] == "rating"
    with pytest.raises(RatingsError) as again:
        read_ratings(fine, **caught.value.go_on)
    assert [problem.code for problem in again.value.problems] == ["item-key"]


def test_long_texts_are_refused_as_classes() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2], "rater": list("aba"), "label": ["x" * 600, "y", "z"]})
    with pytest.raises(
        RatingsError, check=refusal("too-many-classes", values=3, most=256, longest=600)
    ) as caught:
        read_ratings(frame)
    assert [problem.code for problem in caught.value.problems] == ["too-many-classes"]


def test_the_winner_of_a_pair_is_the_answer() -> None:
    frame = pd.DataFrame(
        {"item": [n // 2 for n in range(24)], "rater": list("ab") * 12, "model_a": "p",
         "model_b": "q", "winner": ["model_a", "tie", "model_b"] * 8}
    )  # fmt: skip
    assert read_ratings(frame).task.labels[0].name == "winner"


def test_a_judge_that_is_a_list_is_one_rater() -> None:
    frame = pd.DataFrame(
        {"question_id": [n // 2 for n in range(24)],
         "judge": [["gpt-4", "v1"], ["gpt-4", "v2"]] * 12,
         "score": [n % 5 for n in range(24)], "judgment": "well"}
    )  # fmt: skip
    ratings = read_ratings(frame, item="question_id", labels="score")
    assert list(ratings.raters.index) == ["gpt-4/v1", "gpt-4/v2"]
    assert "name-lists" in [getattr(note, "code", "") for note in ratings.accounting.notes]


ASPECTS = ["fluency", "meaning", "simplicity", "style", "tone"]
GRADED = pd.DataFrame(
    [(f"t{n}", rater, aspect, str((n + k + (rater == "b")) % 5 + 1))
     for n in range(20) for rater in "abc" for k, aspect in enumerate(ASPECTS)],
    columns=["item", "rater", "criteria_id", "annotation"],
)  # fmt: skip


def test_questions_that_one_model_cannot_hold_are_left_out_with_a_note() -> None:
    ratings = read_ratings(GRADED)
    assert ratings.task.label_names == tuple(ASPECTS[:4])
    assert len(ratings.answers) == 60
    codes = [getattr(note, "code", "") for note in ratings.accounting.notes]
    assert "labels-left-out" in codes


def test_the_rater_is_found_among_the_rows_of_one_question() -> None:
    frame = GRADED[GRADED["criteria_id"].isin(ASPECTS[:2])]
    frame = frame.rename(columns={"item": "art", "rater": "who"})
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"item": "art", "rater": "who"}
    ratings = read_ratings(frame, item="art", rater="who")
    assert ratings.task.label_names == tuple(ASPECTS[:2])


def test_rows_whose_cell_holds_several_answers_can_be_set_aside() -> None:
    frame = GRADED[GRADED["criteria_id"].isin(ASPECTS[:2])].copy()
    frame.iloc[[3, 9], 3] = "['1', '4']"
    frame.iloc[4, 3] = "[]"
    with pytest.raises(RatingsError) as caught:
        read_ratings(frame)
    assert caught.value.go_on == {"set_aside": True}
    ratings = read_ratings(frame, set_aside=True)
    assert ratings.accounting.set_aside["reason"].tolist() == ["several answers in a cell"] * 2
    assert {label.classes for label in ratings.task.labels} == {tuple("12345")}
    assert int((ratings.answers < 0).sum()) == 3


@pytest.mark.parametrize("said", [{}, {"label": "part", "value": "mark"}, {"label": "dimension"}])
def test_named_columns_of_questions_and_answers_make_the_same_task(said: dict[str, str]) -> None:
    names = ["part", "mark"] if "value" in said else ["dimension", "rating"]
    ratings = read_ratings(pd.DataFrame(ROWS, columns=["item", "rater", *names]), **said)
    assert ratings.task.label_names == ("fluency", "meaning", "simplicity")
    assert (ratings.answers >= 0).all()


def test_rows_that_answer_no_label_are_refused() -> None:
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "dimension", "rating"])
    given = {"task": "single", "label": "dimension", "value": "rating"}
    with pytest.raises(RatingsError, check=refusal("unknown-label")):
        read_ratings(frame, **given)
    with pytest.raises(RatingsError, check=refusal("no-answer-given")):
        read_ratings(frame, **given, set_aside=True)
