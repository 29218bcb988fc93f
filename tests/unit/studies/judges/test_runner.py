"""Faults of an endpoint: nothing is lost, nothing is asked twice, no limit is exceeded."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from endpoints import Endpoint, Reply, asked, chat, endpoint, refused
from refusals import refusal

import assay
from assay.studies.judges import runner

GOOD = "[Guess]: yes\n[Confidence]: 0.8"
KEY = "sk-secret-of-the-test-0123456789"
ITEMS = pd.DataFrame(
    {
        "item": [f"q:d{n}" for n in range(12)],
        "query_id": "q",
        "query": "Is there sun?",
        "document_id": [f"d{n}" for n in range(12)],
        "document": [f"Document {n:02}." for n in range(12)],
        "weight": [1.0 + n for n in range(12)],
        "annotator": "Annabel Lee",
    }
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(told: Endpoint, log: Path, **given: Any) -> Any:
    settings = {"model": "m", "prompt": "relevance", "timeout": 5.0} | given
    return assay.ask_model(ITEMS, "relevance", log=log, url=told.url, **settings)


def events(log: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line["event"] == kind]


BROKEN: dict[str, Reply] = {
    "429": refused(429, retry_after="0.02"),
    "500": refused(500),
    "503 in html": Reply(status=503, body=b"<html>", headers={"content-type": "text/html"}),
    "cut in the body": Reply(body=chat(GOOD).body, cut=30),
    "cut before the body": Reply(body=chat(GOOD).body, cut=0),
    "malformed": Reply(body=b'{"choices": [{"mess'),
    "html": Reply(body=b"<html>", headers={"content-type": "text/html"}),
    "no choices": Reply(body=b'{"choices": []}'),
    "null": Reply(body=b"null"),
    "not UTF-8": Reply(body=b'\xff{"choices": []}'),
    "slow": Reply(body=chat(GOOD).body, after=0.6),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_that_passes_is_tried_again(fault: str, tmp_path: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Reply:
        return BROKEN[fault] if number in (0, 1) else chat(GOOD)

    log = tmp_path / "log.jsonl"
    with endpoint(answer) as told:
        found = ask(told, log, timeout=0.3)
    assert found.ratings["item"].tolist() == ITEMS["item"].tolist()
    assert found.ratings["score"].eq(0.8).all()
    assert len(told.bodies) == 14
    assert len(events(log, "failure")) == 2
    assert len(events(log, "answer")) == 12
    assert not found.notes


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_that_stays_ends_the_run_and_a_later_call_goes_on(
    fault: str, tmp_path: Path
) -> None:
    good = {"Document 00.", "Document 01."}

    def answer(number: int, body: dict[str, Any]) -> Reply:
        return chat(GOOD) if any(one in asked(body) for one in good) else BROKEN[fault]

    log = tmp_path / "log.jsonl"
    with (
        endpoint(answer) as told,
        pytest.raises(assay.AssayError, check=refusal("endpoint-failed")),
    ):
        ask(told, log, timeout=0.1, retries=1)
    assert {line["item"] for line in events(log, "answer")} == {"q:d0", "q:d1"}
    # The endpoint of the second call has another address, which is part of a request.
    with endpoint(lambda number, body: chat(GOOD)) as told:
        text = log.read_text()
        assert ask(told, log).ratings["item"].nunique() == 12
    assert log.read_text().startswith(text)


def test_one_request_that_fails_leaves_the_others(tmp_path: Path) -> None:
    def answer(number: int, body: dict[str, Any]) -> Reply:
        return refused(400, "too long") if "Document 03." in asked(body) else chat(GOOD)

    log = tmp_path / "log.jsonl"
    with endpoint(answer) as told:
        found = ask(told, log)
        assert len(told.bodies) == 12  # a status 400 is final
        assert [note.code for note in found.notes] == ["failed-requests"]
        assert len(found.ratings) == 11
        ask(told, log)
        assert len(told.bodies) == 13  # that one alone is asked again


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_refusal_that_all_requests_meet_ends_the_run_at_once(status: int, tmp_path: Path) -> None:
    with (
        endpoint(lambda number, body: refused(status, "who are you?")) as told,
        pytest.raises(assay.AssayError, match="who are you", check=refusal("endpoint-failed")),
    ):
        ask(told, tmp_path / "log.jsonl", concurrency=2)
    assert len(told.bodies) <= 2


def test_a_used_up_account_is_not_tried_again(tmp_path: Path) -> None:
    with (
        endpoint(lambda number, body: refused(429, "pay", "insufficient_quota")) as told,
        pytest.raises(assay.AssayError, check=refusal("endpoint-failed")),
    ):
        ask(told, tmp_path / "log.jsonl", concurrency=1)
    assert len(told.bodies) == 1


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with endpoint(lambda number, body: chat(GOOD)) as told:
        first = ask(told, log)
        again = ask(told, log)
        assert len(told.bodies) == 12
        assert first.ratings.equals(again.ratings)
        assert (again.plan.answered, again.plan.to_send) == (12, 0)
        ask(told, log, temperature=0.5)
        assert len(told.bodies) == 24  # another temperature is another question


def test_equal_texts_are_asked_once(tmp_path: Path) -> None:
    same = ITEMS.assign(document="The same.")
    with endpoint(lambda number, body: chat(GOOD)) as told:
        found = assay.ask_model(
            same, "relevance", model="m", log=tmp_path / "log.jsonl", url=told.url
        )
    assert len(told.bodies) == 1
    assert len(found.ratings) == 12


RUN = """
import sys, pandas, assay
from pathlib import Path
items = pandas.read_json(sys.argv[1], orient="records")
assay.ask_model(items, "relevance", model="m", prompt="relevance", log=sys.argv[2],
                url=sys.argv[3], concurrency=2)
"""


def test_a_killed_run_goes_on_without_asking_twice(tmp_path: Path) -> None:
    log, items = tmp_path / "log.jsonl", tmp_path / "items.json"
    ITEMS.to_json(items, orient="records")
    with endpoint(lambda number, body: replace(chat(GOOD), after=0.1)) as told:
        process = subprocess.Popen([sys.executable, "-c", RUN, items, log, told.url])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(told.bodies) < 8:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = {line["key"] for line in _readable(log) if line["event"] == "answer"}
        sent = len(told.bodies)
        assert 6 <= len(before) < 12
        with log.open("a") as file:
            file.write('{"event": "answer", "key": "cut o')  # a line that the kill cut off
        found = ask(told, log)
        assert found.ratings["item"].nunique() == 12
        assert len(told.bodies) - sent == 12 - len(before)
    # Every request with a known answer was answered once.
    answers = [line["key"] for line in _readable(log) if line["event"] == "answer"]
    assert len(answers) == len(set(answers)) == 12
    assert [note.code for note in found.notes] == ["log-damaged"]


def _readable(log: Path) -> list[dict[str, Any]]:
    found = []
    for line in log.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def test_no_second_run_writes_to_a_log(tmp_path: Path) -> None:
    from assay.studies.judges.log import opened

    log = tmp_path / "log.jsonl"
    with (
        opened(log),
        endpoint(lambda number, body: chat(GOOD)) as told,
        pytest.raises(assay.AssayError, check=refusal("log-in-use")),
    ):
        ask(told, log)
    assert not told.bodies


def test_a_file_that_is_no_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "ratings.csv"
    log.write_text("item,label\na,yes\n")
    with (
        endpoint(lambda number, body: chat(GOOD)) as told,
        pytest.raises(assay.AssayError, check=refusal("log-file")),
    ):
        ask(told, log)
    assert log.read_text() == "item,label\na,yes\n"


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("usage", [(50, 10), None])
def test_no_request_is_sent_that_could_exceed_the_budget(
    concurrency: int, usage: tuple[int, int] | None, tmp_path: Path
) -> None:
    """What the endpoint counts, or without that the bound of each request, stays within."""
    log, prices, max_cost = tmp_path / "log.jsonl", (100.0, 1000.0), 0.2

    def answer(number: int, body: dict[str, Any]) -> Reply:
        return refused(500) if number == 0 else chat(GOOD, tokens=usage)

    with endpoint(answer) as told:
        found = ask(told, log, max_cost=max_cost, prices=prices, concurrency=concurrency)
        bound = max(sum(b * p for b, p in zip(r["bound"], prices, strict=True)) / 1e6
                    for r in events(log, "request"))  # fmt: skip
        sent = len(told.bodies)
        assert [note.code for note in found.notes] == ["budget-reached"]
        cost = bound if usage is None else (50 * 100 + 10 * 1000) / 1e6
        answered = len(events(log, "answer"))
        assert answered * cost <= max_cost < answered * cost + bound
        assert len(found.ratings) == answered == sent - 1
        ask(told, log, max_cost=max_cost, prices=prices, concurrency=concurrency)
        assert len(told.bodies) == sent  # the budget is that of the log
        more = ask(told, log, max_cost=100.0, prices=prices)
        assert len(more.ratings) == 12


def test_requests_that_may_have_been_paid_for_count_in_full(tmp_path: Path) -> None:
    """Answers that were cut off, and requests that a kill left without an answer."""
    log = tmp_path / "log.jsonl"
    cut = Reply(body=chat(GOOD).body, cut=20)
    with endpoint(lambda number, body: cut if number == 0 else chat(GOOD, tokens=(0, 0))) as told:
        found = ask(told, log, max_cost=9.0, prices=(100.0, 1000.0), concurrency=1)
        bound = events(log, "request")[0]["bound"]
        plan = ask(told, log, max_cost=9.0, prices=(100.0, 1000.0), dry_run=True).plan
    assert len(found.ratings) == 12
    assert plan.spent == pytest.approx((bound[0] * 100 + bound[1] * 1000) / 1e6)


def test_requests_are_no_more_at_a_time_and_a_minute_than_allowed(tmp_path: Path) -> None:
    slow = chat(GOOD)
    with endpoint(lambda number, body: replace(slow, after=0.1)) as told:
        ask(told, tmp_path / "a.jsonl", concurrency=3)
        assert told.most_at_a_time == 3
    with endpoint(lambda number, body: slow) as told:
        ask(told, tmp_path / "b.jsonl", concurrency=8, requests_per_minute=1200)
        gaps = [b - a for a, b in zip(told.times, told.times[1:], strict=False)]
        assert told.times[-1] - told.times[0] > 11 * 0.05 * 0.9
        assert min(gaps) > 0.01


def test_a_dry_run_sends_nothing_and_needs_neither_key_nor_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setitem(sys.modules, "openai", None)
    log = tmp_path / "log.jsonl"
    found = assay.ask_model(
        ITEMS, "relevance", model="m", log=log, dry_run=True, max_cost=1.0, prices=(1, 2)
    )
    assert not log.exists()
    assert found.plan.to_send == 12
    assert set(found.plan.sent.values()) == {"query", "document"}
    assert "Is there sun?" in found.plan.first_text()
    assert found.ratings.empty
    missing = refusal("extra-not-installed")
    with pytest.raises(assay.AssayError, match=r"assay\[llm\]", check=missing):
        assay.ask_model(ITEMS, "relevance", model="m", log=log)
    assert not log.exists()


def test_a_missing_key_is_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    log = tmp_path / "log.jsonl"
    with pytest.raises(assay.AssayError, match="OTHER_KEY", check=refusal("endpoint-key")):
        assay.ask_model(
            ITEMS, "relevance", model="m", log=log, url="https://example.org/v1",
            key_variable="OTHER_KEY",
        )  # fmt: skip
    assert not log.exists()
    with endpoint(lambda number, body: chat(GOOD)) as told:  # of this machine: none is needed
        assert len(ask(told, log).ratings) == 12


def test_the_key_and_names_of_raters_are_nowhere(tmp_path: Path) -> None:
    """The endpoint repeats the key in all that it answers, as some do in errors."""

    def answer(number: int, body: dict[str, Any]) -> Reply:
        if number < 2:
            return refused(500, f"wrong key {KEY}, Bearer {KEY}")
        if number == 2:
            return Reply(body=f"<html>{KEY}".encode(), headers={"content-type": "text/html"})
        return chat(f"{GOOD}\n{KEY}") if number < 9 else refused(401, f"bad key {KEY}")

    log = tmp_path / "log.jsonl"
    with endpoint(answer) as told, pytest.raises(assay.AssayError) as error:
        ask(told, log, concurrency=1)
    assert told.headers[0]["authorization"] == f"Bearer {KEY}"
    seen = log.read_text() + str(error.value)
    seen += repr(error.value.__cause__) + repr(error.value.__context__)
    assert KEY not in seen
    assert KEY[:12] not in seen
    sent = json.dumps([told.bodies, told.headers])
    assert "Annabel" not in sent
    assert "annotator" not in sent


def test_columns_of_raters_are_refused_in_slots(tmp_path: Path) -> None:
    with pytest.raises(assay.AssayError, match="never sent", check=refusal("texts-column")):
        assay.ask_model(
            ITEMS, "relevance", model="m", log=tmp_path / "l", slots={"document": "annotator"}
        )


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"url": "https://me:secret@example.org/v1"}, "endpoint-url"),
        ({"url": "https://example.org/v1?key=secret"}, "endpoint-url"),
        ({"url": "example.org"}, "endpoint-url"),
        ({"max_cost": 1.0}, "budget-prices"),
        ({"max_cost": 1.0, "prices": (1.0,)}, "budget-prices"),
        ({"max_cost": -1.0, "prices": (1.0, 2.0)}, "argument-number"),
        ({"concurrency": 0}, "argument-count"),
        ({"retries": -1}, "argument-count"),
        ({"timeout": 0}, "argument-number"),
        ({"requests_per_minute": 0}, "argument-number"),
        ({"confidence": "logits"}, "argument-choice"),
        ({"options": {"messages": []}}, "argument-names"),
        ({"prompt": "relevanz"}, "unknown-prompt"),
        ({"prompt": "definition_draft"}, "prompt-unfit"),
        ({"prompt": "ais"}, "prompt-unfit"),
        ({"prompt": "relevance_list", "window": 2, "step": 2}, "argument-count"),
    ],
)
def test_arguments_that_do_not_suit_are_refused(
    given: dict[str, Any], code: str, tmp_path: Path
) -> None:
    settings = {"model": "m", "log": tmp_path / "log.jsonl"} | given
    with pytest.raises(assay.AssayError, check=refusal(code)) as error:
        assay.ask_model(ITEMS, "relevance", **settings)
    assert "secret" not in str(error.value)


def test_the_log_has_what_it_takes_to_repeat_a_run(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with endpoint(lambda number, body: chat(GOOD)) as told:
        ask(told, log, temperature=0.3, seed=7, options={"top_p": 0.9, "seed": None})
    (run,) = events(log, "run")
    assert run["model"] == "m"
    assert run["temperature"] == 0.3
    assert run["seed"] == 7
    assert len(run["prompt_sha256"]) == 64
    bodies = [line["body"] for line in events(log, "request")]
    assert sorted(map(asked, bodies)) == sorted(map(asked, told.bodies))
    assert all(body["top_p"] == 0.9 and "seed" not in body for body in told.bodies)


async def _inside(told: Endpoint, log: Path) -> Any:
    return ask(told, log)


def test_it_runs_where_an_event_loop_runs_as_in_notebooks(tmp_path: Path) -> None:
    import asyncio

    with endpoint(lambda number, body: chat(GOOD)) as told:
        found = asyncio.run(_inside(told, tmp_path / "log.jsonl"))
    assert len(found.ratings) == 12
