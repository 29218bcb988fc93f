"""Commands that ask language models: what they say before, what they write, how they end."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from endpoints import chat, endpoint
from typer.testing import CliRunner

import assay
from assay.cli.program import app

GOOD = "[Guess]: yes\n[Confidence]: 0.8"
ITEMS = pd.DataFrame(
    {
        "item": list("abc"),
        "query_id": "q",
        "query": "Sun?",
        "document": ["one", "two", "three"],
        "weight": [1.5, 2.0, 2.5],
        "stratum": ["top", "rest", "rest"],
    }
)


@pytest.fixture
def items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = tmp_path / "pairs.csv"
    ITEMS.to_csv(path, index=False)
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_rate_writes_what_read_ratings_reads(items: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Any:
        return chat("Perhaps." if "three" in body["messages"][-1]["content"] else GOOD)

    with endpoint(answer) as told:
        done = run("diras", "rate", items, "--model", "m", "--url", told.url, "-o", "llm.csv")
    assert done.exit_code == 0, done.output
    assert "columns that are sent: query, document" in done.stderr
    assert "[unparsed-answers]" in done.stderr
    assert "llm.unparsed.csv" in done.stderr
    assert pd.read_csv("llm.unparsed.csv")["text"].tolist() == ["Perhaps."]
    ratings = assay.read_ratings("llm.csv", task="relevance")
    assert ratings.raters.index.tolist() == ["m/relevance"]
    assert ratings.items["weight"].tolist() == [1.5, 2.0]
    assert ratings.scores[:, 0].tolist() == [0.8, 0.8]
    assert Path("pairs.answers.jsonl").is_file()


def test_a_dry_run_shows_what_would_be_sent(items: Path) -> None:
    done = run(
        "judge", items, "--task", "relevance", "--model", "m", "--dry-run", "--max-cost", "1",
        "--prices", "2", "8", "--prompt", "relevance_reason",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "3 to send" in done.stdout
    assert "limit 1" in done.stdout
    assert "Document:\none" in done.stdout
    assert sorted(p.name for p in Path().iterdir()) == ["pairs.csv"]


def test_options_reach_the_request(items: Path) -> None:
    with endpoint(lambda number, body: chat(GOOD)) as told:
        done = run(
            "judge", items, "--task", "relevance", "--model", "m", "--url", told.url, "--json",
            "--slot", "document=stratum", "--option", "top_p=0.5", "--option", "seed=null",
            "--option", "user=me", "--temperature", "0.7", "--max-tokens", "9", "--name", "Judge",
        )  # fmt: skip
    assert done.exit_code == 0, done.output
    body = told.bodies[0]
    assert (body["top_p"], body["user"], body["temperature"]) == (0.5, "me", 0.7)
    assert body["max_tokens"] == 9
    assert "seed" not in body
    ratings = json.loads(done.stdout)["ratings"]
    assert {row["rater"] for row in ratings} == {"Judge"}


def test_messages_name_options(items: Path) -> None:
    words = ["judge", items, "--task", "relevance", "--model", "m"]
    done = run(*words, "--max-cost", "1")
    assert done.exit_code == 2
    assert "--prices" in done.stderr
    done = run(*words, "--slot", "text=document")
    assert "no slot text" in done.stderr
    ITEMS.drop(columns="item").to_csv(items, index=False)
    done = run(*words)
    assert done.exit_code == 1
    assert "--item" in done.stderr


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_sent(items: Path) -> None:
    with endpoint(lambda number, body: chat(GOOD)) as told:
        done = run("diras", "rate", items, "--model", "m", "--url", told.url, "-o", "no/x.csv")
        assert done.exit_code == 1
        done = run("diras", "rate", items, "--model", "m", "--url", told.url, "-o", "x.txt")
        assert done.exit_code == 2
    assert not told.bodies


def test_no_rating_at_all_is_an_error(items: Path) -> None:
    with endpoint(lambda number, body: chat("Hm.")) as told:
        done = run("diras", "rate", items, "--model", "m", "--url", told.url, "-o", "llm.csv")
    assert done.exit_code == 1
    assert "[no-model-ratings]" in done.stderr
    assert len(pd.read_csv("llm.unparsed.csv")) == 3


def test_edited_definitions_are_not_overwritten(items: Path, tmp_path: Path) -> None:
    queries = tmp_path / "queries.csv"
    queries.write_text("id,query\nq,Sun?\n")
    with endpoint(lambda number, body: chat("About sun.")) as told:
        words = ["diras", "define", queries, "--model", "m", "--url", told.url]
        done = run(*words)
        assert done.exit_code == 0, done.output
        assert pd.read_csv("definitions.csv")["draft"].tolist() == ["About sun."]
        done = run(*words)
        assert done.exit_code == 1
        assert "[file-exists]" in done.stderr
        done = run(
            "diras", "rate", items, "--model", "m", "--url", told.url, "--dry-run",
            "--prompt", "relevance_definition", "--definitions", "definitions.csv",
        )  # fmt: skip
    assert "About sun." in done.stdout


@pytest.mark.slow
def test_ctrl_c_says_where_the_answers_are(items: Path, tmp_path: Path) -> None:
    many = pd.concat([ITEMS.assign(item=f"i{n}", document=f"d{n}")[:1] for n in range(60)])
    many.to_csv(items, index=False)
    with endpoint(lambda number, body: replace(chat(GOOD), after=0.1)) as told:
        words = ["diras", "rate", items, "--model", "m", "--url", told.url, "--concurrency", "1"]
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", *map(str, words)], cwd=tmp_path,
            stderr=subprocess.PIPE, text=True,
            # A run in the background ignores the signal, and so would its processes.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(told.bodies) < 3:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "pairs.answers.jsonl has" in said
    assert len(told.bodies) < 60
