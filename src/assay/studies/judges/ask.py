"""A language model as a rater of any task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from assay._util.errors import ArgumentError, Note
from assay._util.validation import require_choice
from assay.data.task import Task
from assay.data.task_files import load_task
from assay.studies.judges.endpoint import KEY_VARIABLE, OPENAI_URL, Endpoint
from assay.studies.judges.items import Items, read_items
from assay.studies.judges.lists import list_requests, ranked_items
from assay.studies.judges.log import read_log
from assay.studies.judges.outcome import (
    Read,
    notes_on_answers,
    ratings_table,
    read_answer,
    unparsed_table,
)
from assay.studies.judges.plan import Plan
from assay.studies.judges.prompts import Prompt, load_prompt
from assay.studies.judges.questions import require_classes
from assay.studies.judges.ranking import require_window
from assay.studies.judges.requests import (
    CONFIDENCES,
    Confidence,
    Settings,
    make_request,
)
from assay.studies.judges.sending import Limits, jobs_of, limits_of, plan_of, send

WINDOW, STEP = 20, 10


@dataclass(frozen=True, kw_only=True)
class ModelAnswers:
    """Answers of a language model.

    ratings : a row for each answered item, for :func:`read_ratings`: columns of the items without
        texts, ``rater``, ``group`` (``llm``), the labels, scores, ``reason``
    unparsed : answers without a class for a label, with the whole text
    plan : what was to be sent
    notes : number of unreadable answers, and other warnings
    """

    ratings: pd.DataFrame
    unparsed: pd.DataFrame
    plan: Plan
    notes: tuple[Note, ...] = field(default=())


def ask_model(
    items: object,
    task: str | Path | Task,
    *,
    model: str,
    log: str | Path,
    prompt: str | Path | Prompt | None = None,
    definitions: object = None,
    slots: Mapping[str, str] | None = None,
    texts: Sequence[str] | None = None,
    item: str | Sequence[str] | None = None,
    rater: str | None = None,
    confidence: Confidence = "ask",
    temperature: float | None = 0.0,
    seed: int | None = 1,
    max_tokens: int | None = None,
    options: Mapping[str, Any] | None = None,
    window: int = WINDOW,
    step: int = STEP,
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
) -> ModelAnswers:
    """Let a language model rate items, at any endpoint with the interface of OpenAI.

    Parameters
    ----------
    items : path or DataFrame
        A row for each item, with its texts. Of a table of ratings each item is taken once.
    task : str, path or Task
    model : str
        As the endpoint calls it.
    log : path
        File of all requests and answers, JSON lines. A later call goes on from it: what is
        answered there is not asked again.
    prompt : str, path or Prompt, optional
        A name of the catalogue, or a TOML file of one's own. None for the one that is named like
        the task, else ``judge``.
    definitions : path or DataFrame, optional
        What makes a document relevant, for each query: an id and ``definition``.
    slots : mapping of str to str, optional
        The column of a slot of the prompt, where its name is not recognised.
    texts : list of str, optional
        Columns that the prompt ``judge`` shows.
    item : str or list of str, optional
        Columns that name an item.
    rater : str, optional
        Name of the rater; else model, prompt and kind of confidence.
    confidence : {"ask", "token", "none"}
        Whether the model states its confidence, its token probabilities tell it, or neither.
    temperature, seed, max_tokens : optional
        Of a request. ``None`` leaves the first two out, and takes what the prompt needs.
    options : mapping, optional
        Further fields of a request; ``{"seed": None}`` leaves one out.
    window, step : int
        Of prompts that order documents: how many are ordered at a time, and how far the next
        window is.
    url : str
        Of the endpoint, up to the part before ``/chat/completions``.
    key_variable : str
        Environment variable with the key. The key is written nowhere.
    timeout : float
        Seconds to wait for an answer.
    concurrency : int
        Requests at a time.
    retries : int
        After statuses 408, 409, 425, 429 and from 500, broken connections and broken answers.
    requests_per_minute : float, optional
    max_cost : float, optional
        What all requests of the log may cost. No request is sent that could exceed it.
    prices : (float, float), optional
        Of a million tokens sent, and answered.
    dry_run : bool
        Send nothing; ``plan`` of the result says what would be sent.
    progress : bool

    Returns
    -------
    ModelAnswers

    Raises
    ------
    RatingsError
        If the table of items cannot be used.
    TaskError
        If the prompt cannot be used.
    ArgumentError
        If an argument does not suit.
    FitError
        If the extra ``assay[llm]`` is missing, the key is not set, or the endpoint fails. All
        answers until then are in the log.

    Notes
    -----
    Only the columns that fill slots of the prompt are sent. Columns that name raters are refused
    there.

    The score of a guess with a stated confidence c is P(upper class): c for the upper class of
    two, 1 - c for the lower. With token probabilities it is the mean class, from 0 to 1.

    References
    ----------
    Ni, J. et al. (2025). DIRAS: efficient LLM annotation of document relevance for retrieval
    augmented generation. NAACL 2025, 5238-5258.

    Tian, K. et al. (2023). Just ask for calibration. EMNLP 2023, 5433-5442.

    Examples
    --------
    >>> import assay
    >>> items = pd.DataFrame({"item": ["q:d"], "query": ["Sun?"], "document": ["The sun shines."]})
    >>> found = assay.ask_model(items, "relevance", model="m", log="log.jsonl", dry_run=True)
    >>> found.plan.to_send, sorted(found.plan.sent)
    (1, ['document', 'query'])
    """
    require_choice("confidence", confidence, CONFIDENCES)
    task = load_task(task)
    require_classes(task)
    chosen = load_prompt(prompt, task)
    _require_suits(chosen, task)
    endpoint = Endpoint(url=url, key_variable=key_variable, timeout=timeout)
    limits = limits_of(
        endpoint, log, concurrency=concurrency, retries=retries, max_cost=max_cost, prices=prices,
        requests_per_minute=requests_per_minute,
    )  # fmt: skip
    settings = Settings(
        model=model, url=endpoint.url, confidence=confidence, temperature=temperature, seed=seed,
        max_tokens=max_tokens, options=dict(options or {}),
    )  # fmt: skip
    read = read_items(
        items, task, chosen, item=item, slots=slots, texts=texts, definitions=definitions
    )
    name = rater or "/".join([model, chosen.name, *([confidence] if confidence != "ask" else [])])
    asked = _Asked(task=task, prompt=chosen, settings=settings, items=read, rater=name)
    if chosen.kind == "ranking":
        require_window(window, step)
        return asked.rank(limits, window, step, dry_run=dry_run, progress=progress)
    return asked.rate(limits, dry_run=dry_run, progress=progress)


def _require_suits(prompt: Prompt, task: Task) -> None:
    if prompt.kind == "text":
        raise ArgumentError(
            f"the prompt {prompt.name} asks for a text, not for labels; choose another `prompt=`",
            code="prompt-unfit",
        )
    if prompt.task and prompt.task != task.name:
        raise ArgumentError(
            f"the prompt {prompt.name} is for task {prompt.task}, not for {task.name}; choose "
            "another `prompt=`",
            code="prompt-unfit",
        )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Everything that determines the requests of a run."""

    task: Task
    prompt: Prompt
    settings: Settings
    items: Items
    rater: str

    def rate(self, limits: Limits, *, dry_run: bool, progress: bool) -> ModelAnswers:
        """Ask for the labels of each item."""
        requests = [
            make_request(name, values, self.task, self.prompt, self.settings)
            for name, values in zip(self.items.names, self.items.values, strict=True)
        ]
        plan = plan_of(requests, limits, self.settings.model, self.items.sent)
        if dry_run:
            return self._result(plan, [None] * len(requests))
        sent = send(jobs_of(requests), limits, self._about(), total=plan.to_send, progress=progress)
        found = [sent.log.answers.get(request.key) for request in requests]
        reads = [None if one is None else self._read(one["response"]) for one in found]
        return self._result(plan, reads, sent.notes)

    def _read(self, answer: Mapping[str, Any]) -> Read:
        return read_answer(answer, self.task, self.prompt, self.settings.confidence)

    def _result(
        self, plan: Plan, reads: list[Read | None], notes: Sequence[Note] = ()
    ) -> ModelAnswers:
        names, rows = self.items.names, self._rows()
        said = notes_on_answers(names, reads, self.task, self.settings.confidence)
        return ModelAnswers(
            ratings=ratings_table(rows, reads, self.task, self.rater),
            unparsed=unparsed_table(names, reads),
            plan=plan,
            notes=(*notes, *said),
        )

    def rank(
        self, limits: Limits, window: int, step: int, *, dry_run: bool, progress: bool
    ) -> ModelAnswers:
        """Ask for the order of the items of each query."""
        ranked = ranked_items(self.items, self.task, self.prompt, self.settings, window, step)
        requests = list_requests(ranked, read_log(limits.log).answers)
        plan = plan_of(requests, limits, self.settings.model, self.items.sent)
        notes: tuple[Note, ...] = ()
        if not dry_run:
            sent = send(ranked.jobs, limits, self._about(), total=plan.requests, progress=progress)
            notes = (*sent.notes, *ranked.notes())
        return ModelAnswers(
            ratings=ranked.ratings(self._rows(), self.rater),
            unparsed=ranked.unparsed(),
            plan=plan,
            notes=notes,
        )

    def _rows(self) -> list[dict[str, Any]]:
        """Return the columns that the table of ratings keeps, for each item."""
        return [{str(k): v for k, v in row.items()} for row in self.items.kept.to_dict("records")]

    def _about(self) -> dict[str, Any]:
        """Return the settings that the log records for the run."""
        s = self.settings
        return {
            "task": self.task.name, "prompt": self.prompt.name,
            "prompt_sha256": self.prompt.sha256, "rater": self.rater, "model": s.model,
            "url": s.url, "confidence": s.confidence, "temperature": s.temperature,
            "seed": s.seed, "max_tokens": s.max_tokens, "options": dict(s.options),
        }  # fmt: skip
