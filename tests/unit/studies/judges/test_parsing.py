"""What answers say: classes, confidences, token probabilities. Nothing is guessed."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from endpoints import Reply, chat, endpoint

import assay
from assay.data.task import Label, Task
from assay.studies.judges.outcome import read_answer
from assay.studies.judges.parsing import parse_answer, parse_order
from assay.studies.judges.prompts import Prompt, load_prompt
from assay.studies.judges.questions import answer_format
from assay.studies.judges.token_probabilities import class_probabilities

RELEVANCE = assay.load_task("relevance")
PROMPT = load_prompt("relevance_reason", RELEVANCE)
AIS = assay.load_task("ais")


def guess(text: str, **given: Any) -> tuple[str, float | None, str]:
    (found,) = parse_answer(text, RELEVANCE, PROMPT, **given).guesses
    return found.word, found.confidence, found.problem


@pytest.mark.parametrize(
    ("text", "word", "confidence"),
    [
        ("[Reason]: x\n[Guess]: yes\n[Confidence]: 0.8", "yes", 0.8),
        ("guess: No.\nconfidence: .25", "no", 0.25),
        ("**[Guess]:** Yes\n**[Confidence]:** 1", "yes", 1.0),
        ("- Guess: **yes**\n- Confidence: **85 %**", "yes", 0.85),
        ("[Guess]: <yes>\r\n[Confidence]: <0.50>\r\n", "yes", 0.5),
        ("[Guess]: yes\n[Guess]: Yes", "yes", None),
        ("[Guess]: yes\n[Confidence]: high", "yes", None),
        ("[Guess]: yes\n[Confidence]: 85", "yes", None),
        ("[Guess]: yes\n[Confidence]: 1.2", "yes", None),
        ("[Guess]: yes\n[Confidence]: 0.8\n[Confidence]: 0.9", "yes", None),
    ],
)
def test_lines_that_were_asked_for_are_read(text: str, word: str, confidence: float | None) -> None:
    assert guess(text) == (word, confidence, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no answer"),
        ("Yes, it is relevant.", "no answer"),
        ("[Guess]:", "no class"),
        ("[Guess]: yes or no", "no class"),
        ("[Guess]: partially", "no class"),
        ("[Guess]: not relevant", "no class"),
        ("[Guess]: yes and no", "no class"),
        ("[Guess]: n/a", "no class"),
        ("[Guess]: yes\n[Guess]: no", "several answers"),
        ("[Guess]: <no or yes>\n[Guess]: yes", "no class"),
    ],
)
def test_what_names_no_class_is_not_guessed(text: str, problem: str) -> None:
    assert guess(text) == ("", None, problem)


def test_a_confidence_at_the_end_of_a_text_that_was_cut_off_may_lack_digits() -> None:
    text = "[Guess]: yes\n[Confidence]: 0.9"
    assert guess(text, cut_off=True) == ("yes", None, "")
    assert guess(f"{text}5\n", cut_off=True) == ("yes", 0.95, "")


def test_the_reason_ends_where_the_next_line_in_brackets_begins() -> None:
    text = "[Reason]: It names\nsolar power.\n[Guess]: yes"
    assert parse_answer(text, RELEVANCE, PROMPT).reason == "It names solar power."


def test_labels_that_are_not_asked_are_no_problem() -> None:
    text = "[flagged]: no\n[interpretable]: no\n[attributable]: n/a"
    parsed = parse_answer(text, AIS, load_prompt("ais", AIS))
    assert [g.word for g in parsed.guesses] == ["no", "no", ""]
    assert (parsed.guesses[2].word, parsed.guesses[2].problem) == ("", "")
    assert not parsed.problems


def test_the_name_of_a_label_is_not_found_in_that_of_another() -> None:
    task = Task(name="t", labels=(Label(name="clear"), Label(name="very clear")))
    prompt = Prompt(name="p", user="{answer_format}")
    parsed = parse_answer("[very clear]: yes\n[clear]: no", task, prompt)
    assert [g.word for g in parsed.guesses] == ["no", "yes"]


def test_an_answer_in_the_format_that_is_asked_for_is_read() -> None:
    """For each shipped task: the format with its places filled."""
    import re

    for name in ("ais", "generation", "grounding", "relevance", "retrieval"):
        task = assay.load_task(name)
        prompt = load_prompt(None, task)
        form = answer_format(task, prompt, confidence=True)
        said = re.sub(r"<from.*?>", "0.75", re.sub(r"<(\w+)( or|,).*?>", r"\1", form))
        parsed = parse_answer(said, task, prompt)
        assert not parsed.problems, name
        assert all(g.word and g.confidence == 0.75 for g in parsed.guesses)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("[2] > [1] > [3]", [1, 0, 2]),
        ("The order: [3]>[2]>[1].", [2, 1, 0]),
        ("[1] > [2]", None),
        ("[1] > [2] > [2]", None),
        ("[1] > [2] > [4]", None),
        ("[1] > [2] > [3]\n[2] > [1] > [3]", None),
        ("1, 2, 3", None),
    ],
)
def test_orders_are_read_whole_or_not_at_all(text: str, order: list[int] | None) -> None:
    assert parse_order(text, 3) == order


def token(text: str, logprob: float, tops: dict[str, float]) -> dict[str, Any]:
    listed = [{"token": t, "logprob": p} for t, p in tops.items()]
    return {"token": text, "logprob": logprob, "top_logprobs": listed}


def test_token_probabilities_are_added_and_normalised() -> None:
    tops = {"Yes": math.log(0.5), " yes": math.log(0.1), "NO": math.log(0.2), "maybe": -2.0}
    tokens = [token("[Guess]:", -0.1, {}), token(" Yes", math.log(0.05), tops)]
    shares = class_probabilities(tokens, 9, ["no", "yes"])
    assert shares == pytest.approx([0.2 / 0.85, 0.65 / 0.85])


def test_a_token_that_two_classes_begin_with_counts_for_none() -> None:
    tops = {"part": math.log(0.6), "p": math.log(0.3), "partially yes": math.log(0.05)}
    tokens = [token("part", math.log(0.6), tops)]
    assert class_probabilities(tokens, 0, ["partially no", "partially yes"]) == [0.0, 1.0]
    assert class_probabilities([token("?", -1, {})], 0, ["no", "yes"]) is None
    assert class_probabilities([], 0, ["no", "yes"]) is None


def answer(text: str, tokens: list[dict[str, Any]] | None) -> dict[str, Any]:
    logprobs = None if tokens is None else {"content": tokens}
    return {"choices": [{"message": {"content": text}, "logprobs": logprobs}]}


def test_the_score_of_tokens_is_that_of_the_place_of_the_guess() -> None:
    text = "[Reason]: no, yes\n[Guess]: no"
    tops = {" no": math.log(0.75), " yes": math.log(0.25)}
    tokens = [
        token("[Reason]:", 0, {}),
        token(" no", 0, {" no": 0.0}),
        token(", yes\n[Guess]:", 0, {}),
        token(" no", math.log(0.75), tops),
    ]
    read = read_answer(answer(text, tokens), RELEVANCE, PROMPT, "token")
    assert read.scores["relevance"] == pytest.approx(0.25)
    for other in (None, [], [token("[Guess]: yes", 0, {})]):
        assert read_answer(answer(text, other), RELEVANCE, PROMPT, "token").scores == {}


def test_scores_stand_for_the_upper_class(tmp_path: Path) -> None:
    """A guess with a confidence becomes the score that read_ratings makes of it."""
    items = pd.DataFrame(
        {"item": ["a", "b", "c"], "query_id": "q", "query": "Q?", "document": ["A", "B", "C"]}
    )
    texts = {"A": "[Guess]: yes\n[Confidence]: 0.9", "B": "[Guess]: no\n[Confidence]: 0.7"}

    def reply(number: int, body: dict[str, Any]) -> Reply:
        said = body["messages"][-1]["content"]
        return chat(
            next((t for d, t in texts.items() if f"Document:\n{d}\n" in said), "[Guess]: no")
        )

    with endpoint(reply) as told:
        found = assay.ask_model(
            items, "relevance", model="m", prompt="relevance", log=tmp_path / "l", url=told.url
        )
    assert found.ratings["score"].tolist()[:2] == [0.9, 0.3]  # to the last bit, not 1 - 0.7
    assert [note.code for note in found.notes] == ["guesses-without-score"]
    ratings = assay.read_ratings(found.ratings, task="relevance")
    assert ratings.raters["group"].tolist() == ["llm"]
    assert ratings.scores[:2, 0].round(6).tolist() == [0.9, 0.3]
    assert ratings.accounting.rows_used == 3


@pytest.mark.parametrize("name", ["ais", "generation", "grounding", "retrieval"])
def test_a_judge_of_each_shipped_task_gives_ratings_of_it(name: str, tmp_path: Path) -> None:
    task = assay.load_task(name)
    prompt = load_prompt(None, task)
    lines = {
        label.name: f"[{label.name}]: no\n[{label.name} confidence]: 0.9" for label in task.labels
    }
    if name == "ais":
        lines["attributable"] = "[attributable]: n/a"
    items = pd.DataFrame({"item": ["a", "b"]} | {slot: ["x", "y"] for slot in prompt.columns})
    text = "[Reason]: So it is.\n" + "\n".join(lines.values())
    with endpoint(lambda number, body: chat(text)) as told:
        found = assay.ask_model(items, name, model="m", log=tmp_path / "log", url=told.url)
    assert not found.notes
    path = tmp_path / "ratings.csv"
    found.ratings.to_csv(path, index=False)
    ratings = assay.read_ratings(path, task=name)
    assert ratings.accounting.rows_used == 2
    assert ratings.raters["group"].tolist() == ["llm"]
    asked = [n for n in task.label_names if n != "attributable"]
    for place, label in enumerate(task.label_names):
        assert (ratings.scores[:, place] < 0.2).all() == (label in asked)


def test_answers_that_cannot_be_read_are_kept_whole_and_counted(tmp_path: Path) -> None:
    items = pd.DataFrame({"item": ["a", "b"], "query": "Q?", "chunk": ["x", "y"]})
    text = "[topically_relevant]: yes\n[evidence_sufficient]: perhaps\n[misleading]: no"
    with endpoint(lambda number, body: chat(text)) as told:
        found = assay.ask_model(
            items, "retrieval", model="m", log=tmp_path / "l", url=told.url, confidence="none"
        )
    assert found.unparsed["text"].tolist() == [text] * 2
    assert found.unparsed["label"].tolist() == ["evidence_sufficient"] * 2
    assert found.ratings["evidence_sufficient"].tolist() == [""] * 2
    assert found.ratings["topically_relevant"].tolist() == ["yes"] * 2
    (note,) = found.notes
    assert note.code == "unparsed-answers"
    assert note.numbers == {"answers": 2, "unparsed": 2}


def test_a_refusal_and_an_empty_answer_are_no_ratings(tmp_path: Path) -> None:
    items = pd.DataFrame({"item": ["a", "b"], "query": "Q?", "document": ["x", "y"]})

    def reply(number: int, body: dict[str, Any]) -> Reply:
        message = {"content": None, "refusal": "I cannot."} if number else {"content": ""}
        return chat("", message=message)

    with endpoint(reply) as told:
        found = assay.ask_model(
            items, "relevance", model="m", log=tmp_path / "l", url=told.url, concurrency=1
        )
    assert found.ratings.empty
    assert found.unparsed["text"].tolist() == ["", "I cannot."]
