"""Requests: their text, and the key by which an answer is found again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay._util.errors import ArgumentError
from assay.data.task import Task
from assay.studies.judges.prompts import Prompt, guidelines_of
from assay.studies.judges.questions import answer_format, questions_text
from assay.studies.judges.templates import filled

Confidence = Literal["ask", "token", "none"]
CONFIDENCES = ("ask", "token", "none")
TOP_TOKENS = 20
"""Number of likeliest tokens requested: the most that endpoints commonly allow."""
PER_MESSAGE = 64
"""Bound of the tokens that frame a message."""
REASON_TOKENS, LABEL_TOKENS, TEXT_TOKENS, RANK_TOKENS = 512, 48, 512, 8
"""Most tokens of a reason, a label's lines, a free text, and a place in an order."""
OWN_FIELDS = ("model", "messages")
"""Fields of a request that ``options`` may not replace."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is asked.

    confidence : asked for in words, read from token probabilities, or none
    max_tokens : of an answer; None for what the prompt needs
    options : further fields of a request; a field that is None is left out
    """

    model: str
    url: str
    confidence: Confidence = "ask"
    temperature: float | None = 0.0
    seed: int | None = 1
    max_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if replaced := [name for name in OWN_FIELDS if name in self.options]:
            raise ArgumentError(
                f"`options=` may not replace {replaced[0]}; it is made of the other arguments",
                code="argument-names",
            )


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request: its JSON body, and a key that is a hash of body and endpoint."""

    item: str
    body: dict[str, Any] = field(repr=False)
    key: str

    @property
    def most_input(self) -> int:
        """Bound of the tokens sent: no token is shorter than a byte."""
        messages = self.body["messages"]
        return sum(len(m["content"].encode()) + PER_MESSAGE for m in messages)

    @property
    def most_output(self) -> int:
        """Bound of the tokens answered."""
        for name in ("max_completion_tokens", "max_tokens"):
            if isinstance(self.body.get(name), int):
                return int(self.body[name])
        return 0


def make_request(
    item: str, values: Mapping[str, str], task: Task, prompt: Prompt, settings: Settings,
    documents: tuple[str, ...] = (),
) -> Request:  # fmt: skip
    """Fill a prompt for one item, or for some documents to order."""
    given = slot_values(task, prompt, settings) | dict(values)
    if documents:
        numbered = (f"[{n}] {text}" for n, text in enumerate(documents, start=1))
        given |= {"documents": "\n\n".join(numbered), "number": str(len(documents))}
    messages = [{"role": "user", "content": filled(prompt.user, given)}]
    if prompt.system:
        messages.insert(0, {"role": "system", "content": filled(prompt.system, given)})
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": messages,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.max_tokens or _most_tokens(task, prompt, len(documents)),
    }
    if settings.confidence == "token" and prompt.kind == "answers":
        body |= {"logprobs": True, "top_logprobs": TOP_TOKENS}
    body = {k: v for k, v in (body | dict(settings.options)).items() if v is not None}
    text = json.dumps([settings.url, body], sort_keys=True, ensure_ascii=False)
    return Request(item=item, body=body, key=hashlib.sha256(text.encode()).hexdigest())


def slot_values(task: Task, prompt: Prompt, settings: Settings) -> dict[str, str]:
    """Return the text of slots that no column fills."""
    asks = settings.confidence == "ask"
    return {
        "task": task.description,
        "questions": questions_text(task, prompt),
        "guidelines": guidelines_of(task),
        "answer_format": answer_format(task, prompt, confidence=asks),
    }


def _most_tokens(task: Task, prompt: Prompt, documents: int) -> int:
    """Return the most tokens that an answer needs."""
    match prompt.kind:
        case "text":
            return TEXT_TOKENS
        case "ranking":
            return RANK_TOKENS * documents + LABEL_TOKENS
        case _:
            return REASON_TOKENS * prompt.reason + LABEL_TOKENS * len(task.labels)
