"""From documents to ranked systems with real models on this machine: sample, rate, infer, rank."""

from pathlib import Path

import pandas as pd
import pytest
from small_models import EMBEDDINGS, LANGUAGE_MODEL, embeddings, language_model, missing
from typer.testing import CliRunner

import assay
from assay.cli.program import app
from assay.data.ratings import RETRIEVER_SCORE
from assay.studies.diras import rank_documents

TEXTS = [
    "In 2023 the company bought solar power for all of its offices.",
    "Scope 1 emissions fell by a tenth, since two boilers were replaced.",
    "The board met six times and approved the annual report.",
    "By 2030 all power is to come from wind and solar plants.",
    "Staff can take part in a language course at no cost.",
    "Emissions of suppliers are not known for most products.",
    "A new office in Oslo opened in May.",
    "The power consumption of data centres rose by a fifth.",
]
QUERIES = {"q1": "Which share of its power is renewable?", "q2": "How large are the emissions?"}
RELEVANT = {"q1": {"d1", "d4"}, "q2": {"d2", "d6"}}
PROMPT = '''
system = "Judge whether each document answers its query."
user = """
{answer_format}

Query: How many people work for the company?
Document: At the end of the year 412 people were employed.
[Guess]: yes
[Confidence]: 0.95

Query: How many people work for the company?
Document: The canteen was painted in spring.
[Guess]: no
[Confidence]: 0.97

Query: {query}
Document: {document}
"""
[slots]
query = ["query"]
document = ["document"]
[classes]
relevance = ["no", "yes"]
'''
"""With examples, since the model was not tuned to follow instructions."""


def needs(names: tuple[str, ...]) -> pytest.MarkDecorator:
    absent = missing(names)
    reason = f"not installed: {', '.join(absent)} (tests/small_models.py says how)"
    return pytest.mark.skipif(bool(absent), reason=reason)


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ids = [f"d{n}" for n in range(1, len(TEXTS) + 1)]
    pd.DataFrame({"id": ids, "text": TEXTS}).to_csv("documents.csv", index=False)
    pd.DataFrame({"id": list(QUERIES), "query": list(QUERIES.values())}).to_csv(
        "queries.csv", index=False
    )
    Path("examples.toml").write_text(PROMPT)
    return tmp_path


def people(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings of two people, who differ on one pair."""
    yes = [d in RELEVANT[q] for q, d in zip(pairs["query_id"], pairs["document_id"], strict=True)]
    rated = pairs.drop(columns=["query", "document"]).assign(
        relevance=["yes" if one else "no" for one in yes], group="people"
    )
    other = rated.assign(rater="ben")
    other.loc[other["item"] == "q2:d6", "relevance"] = "partially"
    return pd.concat([rated.assign(rater="ann"), other])


@pytest.mark.slow
@needs(EMBEDDINGS)
def test_a_dense_retriever_ranks_documents(folder: Path) -> None:
    """MiniLM finds the documents on power although a word of the query may be missing."""
    pairs = assay.sample_pairs(
        "documents.csv", "queries.csv", retriever=embeddings(), per_query=8, top=3
    )
    first = pairs[pairs["retriever_rank"] <= 2].groupby("query_id")["document_id"].apply(set)
    assert first.to_dict() == RELEVANT
    assert pairs[RETRIEVER_SCORE].max() > 1


@pytest.mark.slow
@needs((*LANGUAGE_MODEL, *EMBEDDINGS, "bm25s", "openai"))
def test_sample_rate_infer_rank_with_a_real_model(folder: Path) -> None:
    """Every pair is rated or kept as unparsed, nothing is asked twice, and systems are ranked."""
    given = ("documents.csv", "queries.csv", "--per-query", 6, "--top", 3)
    run("diras", "sample", *given, "-o", "pairs.csv", "--pool", "pool.csv")
    pairs = pd.read_csv("pairs.csv")
    with language_model(folder) as url:
        rate = (
            "diras", "rate", "pairs.csv", "--model", "gemma", "--url", url, "--prompt",
            "examples.toml", "--confidence", "token", "--max-tokens", 20, "-o", "llm.csv",
        )  # fmt: skip
        assert "12 to send" in run(*rate)
        assert "the log has 12, 0 to send" in run(*rate)
    judged = pd.read_csv("llm.csv")
    unparsed = Path("llm.unparsed.csv")
    left = pd.read_csv(unparsed)["item"].tolist() if unparsed.exists() else []
    assert sorted([*judged["item"], *left]) == sorted(pairs["item"])
    assert judged["score"].between(0, 1).all()
    people(pairs).to_csv("people.csv", index=False)
    run("fit", "people.csv", "llm.csv", "--task", "relevance", "-o", "fit.nc", "--method", "map")
    for name, retriever in {"bm25": "bm25", "minilm": embeddings()}.items():
        found = rank_documents("documents.csv", "queries.csv", retriever=retriever, top=8)
        found.assign(q0="Q0", tag=name)[
            ["query_id", "q0", "document_id", "rank", "score", "tag"]
        ].to_csv(f"{name}.trec", sep=" ", header=False, index=False)
    ranked = run(
        "diras", "rank", "fit.nc", "bm25.trec", "minilm.trec", "--pairs", "pairs.csv", "--pool",
        "pool.csv", "--k", 3, "--positive", "partially", "--json",
    )  # fmt: skip
    assert '{"run":"minilm","metric":"recall_at_3"' in ranked
