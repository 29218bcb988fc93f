"""Pairs to rate: the parts of the ranking, exact inclusion probabilities, and bad input."""

import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay.cli.program import app
from assay.studies.diras.retrievers import scores_of_documents
from assay.studies.diras.sampling import _parts

DOCUMENTS = pd.DataFrame(
    {"id": [f"d{n}" for n in range(20)], "text": [f"wind {'sun ' * n}" for n in range(20)]}
)
QUERIES = pd.DataFrame(
    {
        "id": ["q1", "q2", "q3"],
        "text": ["sun", "wind", "sun wind"],
        "topic": ["heat", "air", "heat"],
    }
)


def suns(texts: list[str]) -> Any:
    """Embed texts so that documents with more suns are nearer to a query."""
    return [[text.count("sun") or 1, 10.0 if "wind" in text else 0] for text in texts]


def draw(**given: Any) -> pd.DataFrame:
    return assay.sample_pairs(
        DOCUMENTS, QUERIES, **({"retriever": suns, "per_query": 6, "top": 5} | given)
    )


def test_half_of_the_pairs_of_each_query_is_from_the_top() -> None:
    pairs = draw()
    top = pairs["retriever_rank"] <= 5
    assert (pairs["stratum"] == np.where(top, "top", "rest")).all()
    assert pairs.groupby(["query_id", "stratum"]).size().eq(3).all()
    assert pairs["item"].is_unique
    assert not pairs.duplicated(["query_id", "document_id"]).any()


def test_inclusion_probabilities_are_exact_and_weights_sum_to_all_pairs() -> None:
    pairs = draw()
    by = pairs.groupby("stratum")["inclusion_probability"].agg(["min", "max"])
    assert by.loc["top"].tolist() == [3 / 5] * 2
    assert by.loc["rest"].tolist() == [3 / 15] * 2
    assert math.isclose(pairs["weight"].sum(), 3 * 20)


def test_each_pair_is_drawn_as_often_as_its_inclusion_probability_says() -> None:
    """Four hundred times: each copy of the queries has topics of its own."""
    copies = [QUERIES + f"/{copy}" for copy in range(400)]
    many = pd.concat([c.assign(text=QUERIES["text"]) for c in copies], ignore_index=True)
    drawn = assay.sample_pairs(
        DOCUMENTS, many, retriever=suns, per_query=6, top=5,
        queries_per_stratum=1, query_stratum="topic", rng=1,
    )  # fmt: skip
    pair = drawn["query_id"].str.partition("/")[0] + " " + drawn["document_id"]
    shares = drawn.groupby(pair).size() / 400
    told = drawn.groupby(pair)["inclusion_probability"].first()
    assert set(np.round(told, 10)) == {0.6, 0.2, 0.3, 0.1}
    errors = (shares - told) / np.sqrt(told * (1 - told) / 400)
    assert errors.abs().max() < 4.5  # of 60 pairs
    assert sum(1 / drawn["inclusion_probability"]) == pytest.approx(400 * 60)


@pytest.mark.parametrize(
    ("per_query", "top", "parts"),
    [
        (5, 5, {"top": 3, "rest": 2}),
        (12, 4, {"top": 4, "rest": 8}),
        (18, 16, {"top": 14, "rest": 4}),
        (20, 5, {"top": 5, "rest": 15}),
        (2, 20, {"top": 2}),
        (2, 99, {"top": 2}),
    ],
)
def test_a_part_with_too_few_documents_leaves_pairs_to_the_other(
    per_query: int, top: int, parts: dict[str, int]
) -> None:
    pairs = draw(per_query=per_query, top=top)
    assert pairs[pairs["query_id"] == "q1"].groupby("stratum").size().to_dict() == parts
    assert math.isclose(pairs["weight"].sum(), 60)


def test_a_seed_draws_the_same_pairs_again_and_another_seed_draws_others() -> None:
    assert draw(rng=3).equals(draw(rng=3))
    assert not draw(rng=3).equals(draw(rng=4))


def test_documents_of_equal_score_are_ranked_by_chance() -> None:
    found = {
        draw(retriever=lambda texts: np.ones((len(texts), 2)), rng=seed, per_query=2, top=1)
        .iloc[0]["document_id"]
        for seed in range(30)
    }  # fmt: skip
    assert len(found) > 10


def test_strata_of_queries_stand_in_the_strata_of_pairs() -> None:
    pairs = draw(query_stratum="topic", queries_per_stratum=1)
    assert set(pairs["stratum"]) == {"heat: top", "heat: rest", "air: top", "air: rest"}
    heat = pairs[pairs["topic"] == "heat"]
    assert heat["query_id"].nunique() == 1
    assert heat["inclusion_probability"].max() == 0.5 * 3 / 5


def test_bm25_scores_are_those_of_the_formula() -> None:
    texts = ["sun sun wind", "wind", "coal oil gas", "sun coal"]
    (found,) = scores_of_documents(texts, ["sun coal"], "bm25")
    words = [text.split() for text in texts]
    mean = sum(map(len, words)) / 4
    expected = []
    for document in words:
        total = 0.0
        for word in ("sun", "coal"):
            held = sum(word in other for other in words)
            count = document.count(word)
            inverse = math.log(1 + (4 - held + 0.5) / (held + 0.5))
            total += inverse * count / (count + 1.5 * (0.25 + 0.75 * len(document) / mean))
        expected.append(total)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_query_without_any_word_of_the_documents_ranks_them_by_chance() -> None:
    none, nothing = scores_of_documents(["sun wind", "coal"], ["zebra", "?"], "bm25")
    assert none.tolist() == nothing.tolist() == [0, 0]


def test_tables_are_read_in_any_format(tmp_path: Path) -> None:
    documents, queries = tmp_path / "d.jsonl", tmp_path / "q.parquet"
    DOCUMENTS.rename(columns={"text": "paragraph", "id": "paragraph_id"}).to_json(
        documents, orient="records", lines=True
    )
    QUERIES.rename(columns={"text": "question"}).to_parquet(queries)
    again = assay.sample_pairs(documents, queries, retriever=suns, per_query=6, top=5)
    assert again.equals(draw())


def test_rated_pairs_are_read_with_item_cluster_weight_and_stratum() -> None:
    pairs = draw().assign(rater="Ann", relevance="yes")
    ratings = assay.read_ratings(pairs, task="relevance")
    assert ratings.accounting.rows_used == len(pairs)
    items = ratings.items
    assert items.index.tolist() == pairs["item"].tolist()
    assert items["cluster"].tolist() == pairs["query_id"].tolist()
    assert items["stratum"].tolist() == pairs["stratum"].tolist()
    np.testing.assert_allclose(items["weight"], pairs["weight"])
    assert np.isnan(ratings.scores).all()


def test_ids_with_the_usual_separator_give_names_that_are_unique() -> None:
    documents = DOCUMENTS.assign(id=[f"a:{n}" for n in range(20)])
    pairs = assay.sample_pairs(documents, QUERIES, retriever=suns, per_query=4, top=2)
    assert pairs["item"].str.count(r"\|").eq(1).all()


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        (DOCUMENTS.drop(columns="id"), "texts-column"),
        (DOCUMENTS.rename(columns={"text": "prose"}), "texts-column"),
        (DOCUMENTS.assign(text=["", *DOCUMENTS["text"][1:]]), "texts-empty"),
        (DOCUMENTS.assign(id="d"), "texts-repeated"),
        (DOCUMENTS.iloc[:0], "empty-file"),
    ],
)
def test_documents_that_cannot_be_used_are_refused(documents: pd.DataFrame, code: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        assay.sample_pairs(documents, QUERIES, retriever=suns, per_query=2)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"per_query": 21}, "pairs-size"),
        ({"per_query": 1}, "argument-count"),
        ({"query_stratum": "topic", "queries_per_stratum": 2}, "pairs-size"),
        ({"query_stratum": "subject"}, "texts-column"),
        ({"document_id": "number"}, "texts-column"),
        ({"retriever": "bm26"}, "argument-choice"),
        ({"retriever": lambda texts: [1.0] * len(texts)}, "embedding-shape"),
        ({"retriever": lambda texts: np.ones((1, 2))}, "embedding-shape"),
        ({"retriever": lambda texts: np.full((len(texts), 2), np.nan)}, "embedding-shape"),
        ({"retriever": lambda texts: np.ones((len(texts), len(texts)))}, "embedding-shape"),
        ({"retriever": lambda texts: None}, "embedding-shape"),
    ],
)
def test_arguments_that_do_not_suit_are_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        draw(**given)


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(
        assay.AssayError, match=r"assay\[diras\]", check=refusal("extra-not-installed")
    ):
        draw(retriever="bm25")


def test_the_command_writes_the_pairs_and_counts_strata(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    documents, queries, output = (tmp_path / name for name in ("d.csv", "q.csv", "pairs.csv"))
    DOCUMENTS.to_csv(documents, index=False)
    QUERIES.to_csv(queries, index=False)
    given = [str(documents), str(queries), "-o", str(output), "--per-query", "6", "--top", "5"]
    done = CliRunner().invoke(app, ["diras", "sample", *given])
    assert done.exit_code == 0, done.output
    pairs = pd.read_csv(output)
    assert len(pairs) == 18
    assert math.isclose(pairs["weight"].sum(), 60)
    assert "rest" in done.output
    done = CliRunner().invoke(app, ["diras", "sample", *given, "--per-query", "60"])
    assert done.exit_code == 2
    assert "--per-query" in done.output


def test_ranks_follow_scores() -> None:
    for _, of in draw().groupby("query_id"):
        assert all(a >= b for a, b in pairwise(of["retriever_score"]))


def test_pairs_are_divided_between_the_top_and_the_rest() -> None:
    assert [part.drawn for part in _parts(100, per_query=5, top=20)] == [3, 2]
    assert [part.drawn for part in _parts(100, per_query=60, top=20)] == [20, 40]
