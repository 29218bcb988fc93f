"""Definitions drafted by a model, and embeddings from an endpoint."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from endpoints import Reply, asked, chat, endpoint, refused
from refusals import refusal

import assay
from assay.studies.diras import draft_definitions, embedding_endpoint

QUERIES = pd.DataFrame({"id": ["q1", "q2"], "question": ["Is there sun?", "Is there wind?"]})


def test_drafts_are_kept_beside_the_definitions_that_people_edit(tmp_path: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Reply:
        return chat(" About sun. " if "sun" in asked(body) else "About wind.")

    log = tmp_path / "log.jsonl"
    with endpoint(answer) as told:
        table, plan, notes = draft_definitions(QUERIES, model="m", log=log, url=told.url)
        assert plan.to_send == 2
        assert not notes
        draft_definitions(QUERIES, model="m", log=log, url=told.url)
        assert len(told.bodies) == 2
    assert table["draft"].tolist() == ["About sun.", "About wind."]
    assert table["definition"].tolist() == table["draft"].tolist()
    table.loc[0, "definition"] = "Edited by people."
    items = pd.DataFrame({"item": ["i"], "query_id": ["q1"], "query": "Sun?", "document": "D"})
    found = assay.ask_model(
        items, "relevance", model="m", log=log, prompt="relevance_definition", definitions=table,
        dry_run=True,
    )  # fmt: skip
    assert "Edited by people." in found.plan.first_text()
    assert "About sun." not in found.plan.first_text()


def vectors(number: int, body: dict[str, Any]) -> Reply:
    """Answer with the last text first, as an endpoint may."""
    data = [
        {"object": "embedding", "index": n, "embedding": [float(text.count("sun")), 1.0]}
        for n, text in enumerate(body["input"])
    ]
    return Reply(body=json.dumps({"object": "list", "data": data[::-1]}).encode())


def test_documents_are_ranked_by_embeddings_of_an_endpoint() -> None:
    documents = pd.DataFrame(
        {"id": [f"d{n}" for n in range(9)], "text": ["sun " * n + "." for n in range(9)]}
    )
    with endpoint(vectors) as told:
        embed = embedding_endpoint("m", url=told.url, batch=4)
        pairs = assay.sample_pairs(documents, QUERIES, retriever=embed, per_query=9, top=3)
        assert [len(body["input"]) for body in told.bodies] == [4, 4, 1, 2]
    ranked = pairs[pairs["query_id"] == "q1"].sort_values("retriever_rank")
    scores = [math.cos(math.atan(1) - math.atan2(1, n)) for n in range(9)]
    assert ranked["retriever_score"].tolist() == pytest.approx(sorted(scores, reverse=True))


def test_an_endpoint_without_embeddings_is_an_error_that_says_so() -> None:
    with (
        endpoint(lambda number, body: refused(404, "no such model")) as told,
        pytest.raises(assay.AssayError, match="no such model", check=refusal("endpoint-failed")),
    ):
        embedding_endpoint("m", url=told.url)(["a"])
    with (
        endpoint(lambda number, body: Reply(body=b'{"data": []}')) as told,
        pytest.raises(assay.AssayError, check=refusal("endpoint-failed")),
    ):
        embedding_endpoint("m", url=told.url)(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        refused(404, "no such model"),
        Reply(body=b'{"data": []}'),
        Reply(body=b"<html>"),
        Reply(body=b'{"data": [{"index": 0, "embedding": ["x"]}]}'),
        Reply(body=b'{"data": [{"index": 0, "embedding": null}]}'),
    ],
    ids=["refused", "none", "no JSON", "no numbers", "null"],
)
def test_errors_of_the_endpoint_are_not_taken_for_errors_of_the_retriever(answer: Reply) -> None:
    documents = pd.DataFrame({"id": ["d", "e"], "text": ["sun", "rain"]})
    with endpoint(lambda number, body: answer) as told:
        embed = embedding_endpoint("m", url=told.url)
        with pytest.raises(assay.AssayError, check=refusal("endpoint-failed")):
            assay.sample_pairs(documents, QUERIES, retriever=embed, per_query=2, top=1)


def test_a_missing_extra_of_embeddings_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    documents = pd.DataFrame({"id": ["d", "e"], "text": ["sun", "rain"]})
    with pytest.raises(assay.AssayError, match="llm", check=refusal("extra-not-installed")):
        assay.sample_pairs(
            documents, QUERIES, retriever=embedding_endpoint("m", url="http://localhost:1/v1"),
            per_query=2, top=1,
        )  # fmt: skip


def test_the_key_is_not_in_an_error_of_the_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint repeats it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    with (
        endpoint(lambda number, body: refused(401, "bad sk-very-secret-0123456789")) as told,
        pytest.raises(assay.AssayError, check=refusal("endpoint-failed")) as error,
    ):
        embedding_endpoint("m", url=told.url)(["a"])
    assert told.headers[0]["authorization"].endswith("sk-very-secret-0123456789")
    seen = str(error.value) + repr(error.value.__cause__) + repr(error.value.__context__)
    assert "very-secret" not in seen
