"""Which column is the item: by its name and its cells, and asked for where two could be it."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay._util.errors import RatingsError
from assay.data.ratings import Ratings
from assay.io import read_ratings
from assay.io.names import RECOGNISED

QUESTIONS = range(6)


def study(**renamed: str) -> pd.DataFrame:
    """Two systems answer six questions; three raters judge every answer, now so, now so."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        [
            {"answer_id": f"{q}-{s}", "question": f"q{q}", "system": s, "rater": r}
            for q, s, r in product(QUESTIONS, "AB", "abc")
        ]
    )
    answers = rng.choice(["no", "yes"], len(table))
    return table.assign(label=answers).rename(columns=renamed)


def read(table: pd.DataFrame, **arguments: Any) -> Ratings:
    return read_ratings(table, task="single", **arguments)


def roles(ratings: Ratings) -> dict[str, str]:
    table = ratings.accounting.roles
    return dict(zip(table["column"], table["role"], strict=True))


def refusal(table: pd.DataFrame, **arguments: Any) -> str:
    with pytest.raises(RatingsError) as caught:
        read(table, **arguments)
    assert len(caught.value.problems) == 1
    return str(caught.value)


@pytest.mark.parametrize("name", RECOGNISED["item"])
def test_each_name_is_recognised(name: str) -> None:
    table = study(answer_id=name).drop(columns=[] if name == "question" else "question")
    if name == "question":
        table = table.iloc[:, [0, 2, 3, 4]]
    assert len(read(table, system="").items) == 12


@pytest.mark.parametrize("name", ["HITId", "Answer ID", "doc-id", "Record.ID"])
def test_names_are_recognised_as_they_are_written(name: str) -> None:
    table = study(answer_id=name).drop(columns="question")
    assert roles(read(table))[name] == "item"


def test_the_column_that_raters_do_not_repeat_is_the_item_and_the_question_the_cluster() -> None:
    ratings = read(study())
    assert roles(ratings)["answer_id"] == "item"
    assert roles(ratings)["question"] == "cluster"
    assert (len(ratings.items), ratings.items["cluster"].nunique()) == (12, 6)
    line = ratings.accounting.roles.set_index("column").loc["answer_id"]
    assert "one question more than once, but no answer_id" in line["evidence"]
    assert line["alternatives"] == "question"


def test_two_columns_that_could_both_be_it_are_asked_about() -> None:
    once = study().groupby("answer_id").head(1).drop(columns="system")
    once = once.assign(rater=[f"r{n}" for n in range(len(once))])
    said = refusal(once)
    assert "2 columns could be the item: question (6 values), answer_id (12 values)" in said
    assert "name it: `item='question'` or `item='answer_id'`" in said
    assert len(read(once, item="answer_id").items) == 12
    assert len(read(once, item="question").items) == 6


def test_columns_that_say_the_same_are_one() -> None:
    table = study().drop(columns="question")
    table["task_id"] = table["answer_id"].str.replace("-", ":")
    assert roles(read(table))["task_id"] == "item"


def test_numbers_of_rows_are_no_items() -> None:
    table = study().query("system == 'A'").drop(columns=["answer_id", "system"])
    table["id"] = range(len(table))
    assert roles(read(table))["question"] == "item"


def test_a_column_called_item_wins() -> None:
    table = study(answer_id="item")
    assert roles(read(table))["item"] == "item"


def test_a_question_that_several_systems_answer_may_be_two_items() -> None:
    table = study().drop(columns="answer_id")
    said = refusal(table)
    assert "the item may be the question, or the output of each system for it" in said
    assert "item=['question', 'system']" in said
    once = refusal(table.groupby(["question", "system"]).sample(1, random_state=1))
    assert "item=['question', 'system']" in once
    ratings = read(table, item=["question", "system"])
    assert (len(ratings.items), ratings.items["cluster"].nunique()) == (12, 6)
    assert ratings.systems == ["A", "B"]


def test_a_repeated_item_is_told_with_its_column_and_with_what_else_it_could_be() -> None:
    table = study(answer_id="Antwort", question="doc").drop(columns="system")
    assert "`item='Antwort'` if it is part of what is rated" in refusal(table)
    few = (table["doc"] == "q0") & (table["rater"] == "a")
    said = refusal(table[few | ~table.duplicated(["doc", "rater"])])
    assert "the item was taken from doc: its name is recognised" in said
    assert "; with `item='Antwort'" in said
    assert 'replicate="row"' in said


def test_a_document_under_several_queries_is_offered_with_its_query() -> None:
    table = study(answer_id="pair", question="query_id", system="doc_id").drop(columns="pair")
    assert "with `item=['query_id', 'doc_id']`" in refusal(table)


def test_what_is_asked_is_a_cluster_only_if_it_says_something() -> None:
    table = study().drop(columns=["question", "system"])
    assert roles(read(table.assign(prompt="Is it good?")))["prompt"] == ""
    several = table.assign(prompt=[f"p{n}" for n in range(len(table))])
    assert roles(read(several))["prompt"] == ""


def test_columns_that_have_another_role_by_argument_are_no_candidates() -> None:
    assert roles(read(study(), cluster="question"))["question"] == "cluster"
    assert roles(read(study().drop(columns="system"), stratum="question"))["question"] == "stratum"


def test_rows_that_answer_one_label_each_do_not_repeat_the_item() -> None:
    rows = [
        {"doc": d, "chunk": c, "rater": r, "question": q, "answer": "no"}
        for d, c, r, q in product("xy", "12", "ab", ["helpful", "incomplete"])
    ]
    table = pd.DataFrame(rows)
    table["chunk"] = table["doc"] + table["chunk"]
    ratings = read_ratings(table, task="generation")
    assert roles(ratings)["chunk"] == "item"
    assert len(ratings.items) == 4


@pytest.mark.parametrize("given", ["itme", 3, ["doc", "itme"]])
def test_an_argument_that_names_no_item_is_one_problem(given: Any) -> None:
    said = refusal(study(answer_id="Antwort", question="doc"), item=given)
    assert "item=" in said


def test_a_problem_that_happens_to_mention_a_role_does_not_stand_for_one() -> None:
    table = study(answer_id="Antwort").drop(columns="question")
    with pytest.raises(RatingsError) as caught:
        read(table, system="item=B")
    roles = [problem.role for problem in caught.value.problems]
    assert roles == ["system", "item"]
