"""Which column is the item: by name and cells, asked for if two could be, or a place in a list."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
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


def refused(table: pd.DataFrame, **arguments: Any) -> str:
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
    said = refused(once)
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
    said = refused(table)
    assert "the item may be the question, or the output of each system for it" in said
    assert "item=['question', 'system']" in said
    once = refused(table.groupby(["question", "system"]).sample(1, random_state=1))
    assert "item=['question', 'system']" in once
    ratings = read(table, item=["question", "system"])
    assert (len(ratings.items), ratings.items["cluster"].nunique()) == (12, 6)
    assert ratings.systems == ["A", "B"]


def test_a_repeated_item_is_told_with_its_column_and_with_what_else_it_could_be() -> None:
    table = study(answer_id="Antwort", question="doc").drop(columns="system")
    assert "`item='Antwort'` if it is part of what is rated" in refused(table)
    few = (table["doc"] == "q0") & (table["rater"] == "a")
    said = refused(table[few | ~table.duplicated(["doc", "rater"])])
    assert "the item was taken from doc: its name is recognised" in said
    assert "; with `item='Antwort'" in said
    assert 'replicate="row"' in said


def test_a_document_under_several_queries_is_offered_with_its_query() -> None:
    table = study(answer_id="pair", question="query_id", system="doc_id").drop(columns="pair")
    assert "with `item=['query_id', 'doc_id']`" in refused(table)


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
    said = refused(study(answer_id="Antwort", question="doc"), item=given)
    assert "item=" in said


def test_a_problem_that_happens_to_mention_a_role_does_not_stand_for_one() -> None:
    table = study(answer_id="Antwort").drop(columns="question")
    with pytest.raises(RatingsError) as caught:
        read(table, system="item=B")
    roles = [problem.role for problem in caught.value.problems]
    assert roles == ["system", "item"]


def table(names: dict[str, str], places=range(1, 6)) -> pd.DataFrame:
    """Ratings of two systems' lists for six queries, by two raters."""
    lines = [
        (f"q{q}", s, k, r, ("yes", "no")[(q * k + (s == "B") + (r == "y") * (k % 3 == 0)) % 2])
        for q, s, k, r in product(range(6), "AB", places, "xy")
    ]
    columns = ["query", "system", "rank", "rater", "relevant"]
    return pd.DataFrame(lines, columns=[names.get(c, c) for c in columns])


@pytest.mark.parametrize(
    ("names", "places", "label"),
    [
        ({}, range(1, 6), "relevant"),
        ({"rank": "chunk", "system": "model"}, range(1, 6), "relevant"),
        ({"rank": "chunk"}, range(5), "relevant"),
        ({"query": "question"}, range(1, 6), "relevant"),
        (
            {"query": "Frage", "system": "Modell", "rank": "Rang", "rater": "Bewerter",
             "relevant": "Bewertung"},
            range(1, 6), "Bewertung",
        ),
    ],
)  # fmt: skip
def test_places_of_lists_name_items_without_an_option(names, places, label):
    ratings = assay.read_ratings(table(names, places))
    assert len(ratings.items) == 60
    assert ratings.items["cluster"].nunique() == 6
    assert ratings.systems == ["A", "B"]
    assert sorted(set(ratings.panels["rank"])) == [1, 2, 3, 4, 5]
    assert ratings.task.label_names == (label,)
    assert ratings.task.metrics[0] == f"precision_at_k[{label}]"
    assert any("together name the item" in note for note in ratings.accounting.notes)


def test_documents_with_names_are_asked_about():
    with pytest.raises(
        RatingsError, match=r"`item=\['query', 'system', 'doc_id'\]`", check=refusal("item-key")
    ):
        assay.read_ratings(table({"rank": "doc_id"}, [17, 4, 123]))


def test_a_named_item_stays_as_it_is():
    frame = table({}).assign(item=lambda f: f["query"] + f["system"] + f["rank"].astype(str))
    ratings = assay.read_ratings(frame)
    assert ratings.items.index[0] == "q0A1"
    assert not any("together name" in note for note in ratings.accounting.notes)


def test_one_label_has_the_name_of_its_column():
    frame = table({}).assign(item=lambda f: f["query"] + f["system"] + f["rank"].astype(str))
    frame = frame[["item", "rater", "relevant"]]
    named = assay.read_ratings(frame)
    assert named.task.classes == {"relevant": ("no", "yes")}
    assert named.task.metrics == ()
    usual = assay.read_ratings(frame.rename(columns={"relevant": "rating"}))
    assert usual.task.label_names == ("rating",)
    with pytest.raises(RatingsError, match="no column holds answers", check=refusal("no-answers")):
        assay.read_ratings(frame.assign(fluent=frame["relevant"][::-1].to_numpy()))


def test_columns_that_are_named_are_no_answers():
    frame = table({"rater": "said_by", "system": "bot"})
    ratings = assay.read_ratings(frame, rater="said_by", system="bot")
    assert ratings.task.label_names == ("relevant",)
    both = frame.assign(fluent=frame["relevant"][::-1].to_numpy())
    roles = {"rater": "said_by", "system": "bot"}
    assert assay.read_ratings(both, labels="fluent", **roles).task.label_names == ("fluent",)
    named = assay.read_ratings(both, labels={"label": "fluent"}, **roles)
    assert named.task.label_names == ("label",)
    several = assay.read_ratings(both, labels={"a": "relevant", "b": "fluent"}, **roles)
    assert several.task.classes == {"a": ("no", "yes"), "b": ("no", "yes")}


def test_an_answer_that_is_rated_is_no_label():
    frame = table({}).assign(answer=lambda f: "text of " + f["query"] + f["system"])
    frame["answer"] += frame["rank"].astype(str)
    assert assay.read_ratings(frame).task.label_names == ("relevant",)
    topics = frame.drop(columns=["relevant", "answer"]).assign(label=lambda f: f["rank"] * 7 % 40)
    assert assay.read_ratings(topics).task.label_names == ("label",)


ITEMS, RATERS = 60, 3


def kinds_table(**columns: object) -> pd.DataFrame:
    item = np.repeat(np.arange(ITEMS), RATERS)
    return pd.DataFrame({
        "item": item, "rater": np.tile(list("abc"), ITEMS),
        "label": np.where((item + np.tile([0, 0, 1], ITEMS)) % 2 == 0, "yes", "no"),
        **{name: np.asarray(cells)[item] for name, cells in columns.items()},
    })  # fmt: skip


def kinds(frame: pd.DataFrame) -> list[str]:
    ratings = assay.read_ratings(frame, task="single")
    return [name for name in ratings.items.columns if name in frame.columns]


def test_a_column_of_languages_is_kept() -> None:
    language = np.where(np.arange(ITEMS) < 25, "de", "en")
    frame = kinds_table(language=language)
    ratings = assay.read_ratings(frame, task="single")
    assert ratings.items["language"].tolist() == language.tolist()


def test_an_item_without_a_cell_has_no_kind() -> None:
    language = np.where(np.arange(ITEMS) < 25, "de", "en").astype(object)
    language[3] = ""
    ratings = assay.read_ratings(kinds_table(language=language), task="single")
    assert ratings.items["language"].tolist() == language.tolist()


@pytest.mark.parametrize(
    "cells",
    [
        np.repeat("en", ITEMS),
        np.arange(ITEMS).astype(str),
        np.where(np.arange(ITEMS) < 5, "de", "en"),
        np.where(np.arange(ITEMS) % 2 == 0, "yes", "no"),
    ],
    ids=["one value", "many values", "a rare kind", "words of an answer"],
)
def test_other_columns_are_not(cells: np.ndarray) -> None:
    assert kinds(kinds_table(note=cells)) == []


def test_a_column_that_differs_within_an_item_is_not() -> None:
    frame = kinds_table()
    frame["device"] = np.tile(["phone", "desk", "desk"], ITEMS)
    assert kinds(frame) == []


def test_of_two_names_for_one_division_the_first_is_kept() -> None:
    half = np.arange(ITEMS) < 30
    frame = kinds_table(language=np.where(half, "de", "en"), country=np.where(half, "DE", "UK"))
    assert kinds(frame) == ["language"]


def test_the_systems_are_no_kinds() -> None:
    system = np.where(np.arange(ITEMS) < 30, "A", "B")
    frame = kinds_table(system=system, model_family=np.where(system == "A", "x", "y"))
    ratings = assay.read_ratings(frame, task="single", system="system")
    assert "model_family" not in ratings.items.columns
