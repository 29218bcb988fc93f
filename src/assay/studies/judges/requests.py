"""Requests: what is sent for an item, and the name by which its answer is found again."""

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
"""Likeliest tokens that are asked for: the most that endpoints commonly allow."""
PER_MESSAGE = 64
"""Tokens by which the frame of a message is bounded."""
REASON_TOKENS, LABEL_TOKENS, TEXT_TOKENS, RANK_TOKENS = 512, 48, 512, 8
"""Most tokens of a reason, of the lines of a label, of a free text, of a place in an order."""
OWN_FIELDS = ("model", "messages")
"""Fields of a request that options may not replace."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is asked.

    Attributes
    ----------
    model : str
    url : str
    confidence : {"ask", "token", "none"}
        Asked for in words, read from the probabilities of tokens, or not at all.
    temperature : float or None
    seed : int or None
    max_tokens : int or None
        Of an answer; None for what the prompt needs.
    options : mapping
        Further fields of a request; a field that is None is left out.
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
    """One request.

    Attributes
    ----------
    item : str
    body : dict
        As it is sent, in JSON.
    key : str
        Hash of the body and the endpoint: the same request has the same key.
    """

    item: str
    body: dict[str, Any] = field(repr=False)
    key: str

    @property
    def most_input(self) -> int:
        """A bound of the tokens that are sent: no token is shorter than a byte."""
        messages = self.body["messages"]
        return sum(len(m["content"].encode()) + PER_MESSAGE for m in messages)

    @property
    def most_output(self) -> int:
        """A bound of the tokens that are answered."""
        for name in ("max_completion_tokens", "max_tokens"):
            if isinstance(self.body.get(name), int):
                return int(self.body[name])
        return 0


def make_request(
    item: str, values: Mapping[str, str], task: Task, prompt: Prompt, settings: Settings,
    documents: tuple[str, ...] = (),
) -> Request:  # fmt: skip
    """Fill a prompt for an item, or for the order of some documents."""
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
    """Return what fills the slots that no column fills."""
    asks = settings.confidence == "ask"
    return {
        "task": task.description,
        "questions": questions_text(task, prompt),
        "guidelines": guidelines_of(task),
        "answer_format": answer_format(task, prompt, confidence=asks),
    }


def _most_tokens(task: Task, prompt: Prompt, documents: int) -> int:
    """Return how many tokens an answer may have."""
    match prompt.kind:
        case "text":
            return TEXT_TOKENS
        case "ranking":
            return RANK_TOKENS * documents + LABEL_TOKENS
        case _:
            return REASON_TOKENS * prompt.reason + LABEL_TOKENS * len(task.labels)
