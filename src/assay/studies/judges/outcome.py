"""Answers of a model as a table of ratings, and answers that cannot be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted, some
from assay.data.task import Label, Task
from assay.io.scores import belief
from assay.studies.judges.parsing import Guess, Parsed, parse_answer
from assay.studies.judges.prompts import Prompt
from assay.studies.judges.questions import asked_classes
from assay.studies.judges.requests import Confidence
from assay.studies.judges.runner import TOO_LONG, message_of
from assay.studies.judges.token_probabilities import class_probabilities

GROUP = "llm"
UNPARSED_COLUMNS = ["item", "label", "problem", "text"]


@dataclass(frozen=True, kw_only=True)
class Read:
    """One answer as read: its guesses, its scores by label (0 to 1), and its text."""

    parsed: Parsed
    scores: dict[str, float]
    text: str


def read_answer(
    answer: Mapping[str, Any], task: Task, prompt: Prompt, confidence: Confidence
) -> Read:
    """Read the answer of an endpoint."""
    text, cut_off = message_of(answer), answer["choices"][0].get("finish_reason") == TOO_LONG
    parsed = parse_answer(text, task, prompt, cut_off=cut_off)
    scores = {}
    for label, guess in zip(task.labels, parsed.guesses, strict=True):
        classes = asked_classes(label, prompt)
        if confidence == "token" and guess.word:
            score = _token_score(answer, guess, label, classes, task, prompt)
        else:
            score = _asked_score(guess, label, classes)
        if score is not None:
            scores[label.name] = score
    return Read(parsed=parsed, scores=scores, text=text)


def _ordered(label: Label, classes: Sequence[str]) -> bool:
    return len(classes) == 2 or label.ordered


def _asked_score(guess: Guess, label: Label, classes: Sequence[str]) -> float | None:
    """Return the score of a guess with a stated confidence."""
    if guess.confidence is None or not guess.word or not _ordered(label, classes):
        return None
    code = np.array([list(classes).index(guess.word)], np.int16)
    asked = Label(name=label.name, classes=tuple(classes), ordered=True)
    # 1 - 0.8 is 0.2: arithmetic must not move a score to another bin of the calibration error.
    return round(float(belief(code, np.array([guess.confidence]), asked)[0]), 12)


def _token_score(
    answer: Mapping[str, Any], guess: Guess, label: Label, classes: Sequence[str], task: Task,
    prompt: Prompt,
) -> float | None:  # fmt: skip
    """Return the mean class, scaled to 0 to 1, from the token probabilities of the class word."""
    found = answer["choices"][0].get("logprobs")
    tokens = found.get("content") if isinstance(found, Mapping) else None
    if not isinstance(tokens, list) or not _ordered(label, classes):
        return None
    tokens = [one for one in tokens if isinstance(one, Mapping)]
    # Search the joined tokens, not the text: tokens may write blanks with a sign.
    joined = "".join(str(one.get("token", "")) for one in tokens)
    again = {g.label: g for g in parse_answer(joined, task, prompt).guesses}[label.name]
    if again.word != guess.word:
        return None
    shares = class_probabilities(tokens, again.start, classes)
    if shares is None:
        return None
    return float(np.dot(shares, np.arange(len(classes))) / (len(classes) - 1))


def ratings_table(
    rows: Sequence[Mapping[str, Any]], reads: Sequence[Read | None], task: Task, rater: str
) -> pd.DataFrame:
    """Return a row for each item with an answer: columns of the item, labels, scores, reason.

    Scores are in ``score``, or in ``<label>_score`` if there are several labels.
    """
    scored = [n for n in task.label_names if any(r and n in r.scores for r in reads)]
    several = len(task.labels) > 1
    lines = []
    for row, read in zip(rows, reads, strict=True):
        if read is None or not any(guess.word for guess in read.parsed.guesses):
            continue
        words = {guess.label: guess.word for guess in read.parsed.guesses}
        scores = {f"{n}_score" if several else "score": read.scores.get(n) for n in scored}
        reason = {"reason": read.parsed.reason} if read.parsed.reason else {}
        lines.append({**row, "rater": rater, "group": GROUP, **words, **scores, **reason})
    columns = [*(rows[0] if rows else ()), "rater", "group", *task.label_names]
    return pd.DataFrame(lines) if lines else pd.DataFrame(columns=columns)


def unparsed_table(names: Sequence[str], reads: Sequence[Read | None]) -> pd.DataFrame:
    """Return each answer without a class for a label: item, label, problem, whole text."""
    lines = [
        (name, label, problem, read.text)
        for name, read in zip(names, reads, strict=True)
        if read is not None
        for label, problem in read.parsed.problems.items()
    ]
    return pd.DataFrame(lines, columns=UNPARSED_COLUMNS)


def notes_on_answers(
    names: Sequence[str], reads: Sequence[Read | None], task: Task, confidence: Confidence
) -> list[Note]:
    """Count answers without a class, and guesses without a score."""
    notes = []
    unread = [n for n, read in zip(names, reads, strict=True) if read and read.parsed.problems]
    answered = sum(read is not None for read in reads)
    if unread:
        notes.append(
            Note(
                f"{len(unread)} of {counted(answered, 'answer')} lack a class for some label: "
                f"{some(unread, 3)}. They are kept in full but are not ratings.",
                code="unparsed-answers",
                numbers={"answers": answered, "unparsed": len(unread)},
            )
        )
    if confidence != "none":
        ordered = [label.name for label in task.labels if _ordered(label, label.classes)]
        bare = sum(
            guess.word != "" and guess.label in ordered and guess.label not in read.scores
            for read in reads
            if read is not None
            for guess in read.parsed.guesses
        )
        if bare:
            how = "token probabilities" if confidence == "token" else "a stated confidence"
            notes.append(
                Note(
                    f"{counted(bare, 'guess', 'have')} no score, for lack of {how}.",
                    code="guesses-without-score",
                    numbers={"guesses": bare},
                )
            )
    return notes
