"""A table without a task: its label, and items whose only name is their place in a list."""

from itertools import product

import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import RatingsError


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
