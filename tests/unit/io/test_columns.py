"""Exports of labelling tools, flattened as people flatten them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from assay._util.errors import RatingsError
from assay.io import read_ratings

ROWS = 12
"""Of one item each two raters answer."""


def pairs(**columns: object) -> pd.DataFrame:
    """Return two rows an item, by raters Ann and Ben; a column may depend on item and rater."""
    rows = [(i, who) for i in range(ROWS) for who in ("Ann", "Ben")]
    return pd.DataFrame(
        {
            name.replace("__", "."): [
                value(i, who) if callable(value) else value for i, who in rows
            ]
            for name, value in columns.items()
        }
    )


def answer(i: int, who: str) -> str:
    return "toxic" if (i + (who == "Ben" and i % 5 == 0)) % 3 == 0 else "fine"


def error_of(table: pd.DataFrame, **named: object) -> RatingsError:
    with pytest.raises(RatingsError) as error:
        read_ratings(table, task="single", **named)
    return error.value


def refused(table: pd.DataFrame, **named: object) -> str:
    return str(error_of(table, **named))


MTURK = pairs(
    WorkerId=lambda i, who: who,
    HITId=lambda i, who: f"H{i // 4}",
    Input__message_id=lambda i, who: f"m{i}",
    Answer__category=answer,
)
LABEL_STUDIO = pairs(
    **{"annotation.id": lambda i, who: 2 * i + (who == "Ben")},
    annotation__was_cancelled=lambda i, who: i == 3,
    annotation__ground_truth=lambda i, who: i == 4,
    **{"annotation.completed_by.email": lambda i, who: f"{who}@example.org"},
    task__id=lambda i, who: 500 + i,
    choice=answer,
)
PRODIGY = pairs(
    _task_hash=lambda i, who: -i - 1,
    label="TOXIC",
    answer=lambda i, who: "accept" if answer(i, who) == "toxic" else "reject",
    _annotator_id=lambda i, who: who,
    _session_id=lambda i, who: f"set-{who}",
)
ARGILLA = pd.DataFrame(
    {
        "id": range(ROWS),
        "tone.responses": [[answer(i, who) for who in ("Ann", "Ben")] for i in range(ROWS)],
        "tone.responses.users": [["Ann", "Ben"]] * ROWS,
    }
)


def test_names_of_nested_columns_are_recognised_without_where_they_stood() -> None:
    ratings = read_ratings(MTURK, task="single")
    assert ratings.items.index.tolist() == [f"m{i}" for i in range(ROWS)]
    assert ratings.task.labels[0].classes == ("fine", "toxic")
    gold = pd.DataFrame({"message_id": ["m0", "m1"], "category": ["toxic", "fine"]})
    known = read_ratings(MTURK, task="single", truth=gold).truth
    assert known[:3, 0].tolist() == [1, 0, -1]


def test_two_columns_of_one_inner_name_are_not_guessed_between() -> None:
    ratings = read_ratings(LABEL_STUDIO, task="single", labels="choice")
    assert ratings.items.index.tolist() == [str(500 + i) for i in range(ROWS)]
    assert set(ratings.raters.index) == {"Ann@example.org", "Ben@example.org"}


def test_columns_of_yes_and_no_are_no_raters_where_another_column_names_them() -> None:
    error = error_of(LABEL_STUDIO)
    assert "wide" not in str(error)
    assert (error.code, error.go_on) == ("no-answers", {"labels": "choice"})


def test_the_column_that_may_hold_the_answers_is_offered() -> None:
    error = error_of(
        LABEL_STUDIO.drop(columns=["annotation.was_cancelled", "annotation.ground_truth"])
    )
    assert (error.code, error.go_on) == ("no-answers", {"labels": "choice"})


def test_columns_that_end_in_the_labels_names_are_offered() -> None:
    table = pairs(
        answer_id=lambda i, who: i, rater=lambda i, who: who, Q1_helpful=True, Q2_incomplete=False
    )
    with pytest.raises(RatingsError) as error:
        read_ratings(table, task="generation")
    assert "labels={'helpful': 'Q1_helpful', 'incomplete': 'Q2_incomplete'}" in str(error.value)


def test_an_item_is_offered_by_what_stands_in_its_column() -> None:
    table = MTURK.rename(columns={"HITId": "batch", "Input.message_id": "essay"})
    error = error_of(table.rename(columns={"Answer.category": "label"}))
    assert (error.code, error.go_on) == ("no-item", {"item": "essay"})


def test_a_label_that_is_the_same_everywhere_is_not_the_answer() -> None:
    ratings = read_ratings(PRODIGY, task="single", item="_task_hash")
    assert ratings.task.labels[0].classes == ("accept", "reject")
    roles = ratings.accounting.roles.set_index("column")
    assert roles.loc["answer", "evidence"].endswith("label has one value")
    alone = read_ratings(PRODIGY.drop(columns="answer"), task="single", item="_task_hash")
    assert "TOXIC" in alone.task.labels[0].classes


def test_a_session_that_is_another_name_of_the_rater_is_none() -> None:
    assert read_ratings(PRODIGY, task="single", item="_task_hash").sessions == ()
    named = read_ratings(PRODIGY, task="single", item="_task_hash", session="_session_id")
    assert named.sessions == ("set-Ann", "set-Ben")
    days = PRODIGY.assign(_session_id=["1", "2", "2", "1"] * (ROWS // 2))
    assert read_ratings(days, task="single", item="_task_hash").sessions == ("1", "2")


def test_lists_of_one_element_are_the_element() -> None:
    table = MTURK.assign(**{"Answer.category": MTURK["Answer.category"].map(lambda a: [a])})
    table.loc[0, "Answer.category"] = None
    ratings = read_ratings(table, task="single", format="table")
    assert ratings.task.labels[0].classes == ("fine", "toxic")
    assert ratings.abstained.sum() == 1
    assert any("lists of one element" in note for note in ratings.accounting.notes)


@pytest.mark.parametrize("kind", [list, tuple, np.array, "arrow"])
def test_lists_of_raters_and_their_answers_are_taken_apart_together(kind: object) -> None:
    named = {"rater": "tone.responses.users", "labels": "tone.responses"}
    table = ARGILLA
    if callable(kind):
        table = table.assign(**{c: table[c].map(kind) for c in named.values()})
    else:
        table = pa.Table.from_pandas(table).to_pandas(types_mapper=pd.ArrowDtype)
    ratings = read_ratings(table, task="single", **named)
    assert len(ratings.answers) == 2 * ROWS
    assert set(ratings.raters.index) == {"Ann", "Ben"}
    assert ratings.task.labels[0].classes == ("fine", "toxic")
    said = refused(ARGILLA, labels="tone.responses")
    assert "rater='tone.responses.users'" in said


def test_brackets_that_are_no_lists_stay_words() -> None:
    table = MTURK.assign(**{"Answer.category": ["[a]", "[b]"] * ROWS})
    assert read_ratings(table, task="single").task.labels[0].classes == ("[a]", "[b]")


def test_models_that_answer_each_item_once_are_the_raters() -> None:
    rows = [(n, m, "xy"[(n + (n % 5 == k)) % 2], "xy"[n % 2]) for n in range(20)
            for k, m in enumerate(("bert", "roberta", "gpt-4o"))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["id", "model", "prediction", "label"])
    with pytest.raises(RatingsError) as refused:
        read_ratings(table)
    (problem,) = refused.value.problems
    assert problem.go_on == {"rater": "model", "labels": "prediction", "truth": "label"}
