"""Definitions of relevance, one for each query: drafted by a language model, edited by people."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from assay._util.errors import Note
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.studies.judges.endpoint import KEY_VARIABLE, OPENAI_URL, Endpoint
from assay.studies.judges.plan import Plan
from assay.studies.judges.prompts import Prompt, load_prompt
from assay.studies.judges.requests import Settings, make_request
from assay.studies.judges.runner import message_of
from assay.studies.judges.sending import jobs_of, limits_of, plan_of, send
from assay.studies.texts import read_texts

DRAFT = "definition_draft"


def draft_definitions(
    queries: object,
    *,
    model: str,
    log: str | Path,
    prompt: str | Path | Prompt = DRAFT,
    query_id: str | None = None,
    query_text: str | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1,
    max_tokens: int | None = None,
    options: Mapping[str, Any] | None = None,
    url: str = OPENAI_URL,
    key_variable: str = KEY_VARIABLE,
    timeout: float = 60.0,
    concurrency: int = 4,
    retries: int = 5,
    requests_per_minute: float | None = None,
    max_cost: float | None = None,
    prices: Sequence[float] | None = None,
    dry_run: bool = False,
    progress: bool = False,
) -> tuple[pd.DataFrame, Plan, tuple[Note, ...]]:
    """Let a language model draft what makes a document relevant, for each query.

    ``queries`` has an id and a text for each; other arguments are those of :func:`ask_model`.
    People edit the column ``definition`` of the table; ``draft`` keeps what the model wrote.
    """
    task: Task = load_task("relevance")
    chosen = load_prompt(prompt, task)
    asked = read_texts(queries, "query", id=query_id, text=query_text)
    endpoint = Endpoint(url=url, key_variable=key_variable, timeout=timeout)
    limits = limits_of(
        endpoint, log, concurrency=concurrency, retries=retries, max_cost=max_cost, prices=prices,
        requests_per_minute=requests_per_minute,
    )  # fmt: skip
    settings = Settings(
        model=model, url=url, confidence="none", temperature=temperature, seed=seed,
        max_tokens=max_tokens, options=dict(options or {}),
    )  # fmt: skip
    requests = [
        make_request(name, {"query": text}, task, chosen, settings)
        for name, text in zip(asked.ids, asked.texts, strict=True)
    ]
    plan = plan_of(requests, limits, model, {"query": "query"})
    if dry_run:
        return _table(asked.ids, asked.texts, [""] * len(requests)), plan, ()

    about = {"prompt": chosen.name, "prompt_sha256": chosen.sha256, "model": model, "url": url}
    sent = send(jobs_of(requests), limits, about, total=plan.to_send, progress=progress)
    found = [sent.log.answers.get(request.key) for request in requests]
    texts = ["" if one is None else message_of(one["response"]).strip() for one in found]
    return _table(asked.ids, asked.texts, texts), plan, sent.notes


def _table(ids: Sequence[str], texts: Sequence[str], drafts: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"query_id": ids, "query": texts, "draft": drafts, "definition": drafts})
