"""One run: limits, plan, requests and notes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import assay
from assay._util.errors import Note
from assay._util.progress import steps, waiting
from assay._util.text import counted, some
from assay._util.validation import require_count, require_number
from assay.studies.judges.budget import Pace, Prices, Purse, prices_given, spent_so_far
from assay.studies.judges.endpoint import Endpoint, openai_library
from assay.studies.judges.log import Log, opened, read_log
from assay.studies.judges.plan import Plan, make_plan
from assay.studies.judges.requests import Request
from assay.studies.judges.runner import Asker, BudgetReachedError, StoppedError, finish, raise_stop

Job = Callable[[], Awaitable[None]]


def jobs_of(requests: Sequence[Request]) -> Callable[[Asker], list[Job]]:
    """Return a function that makes a job for each distinct request that the log cannot answer."""

    def jobs(asker: Asker) -> list[Job]:
        new = {r.key: r for r in requests if r.key not in asker.log.answers}
        return [partial(_ask, asker, request) for request in new.values()]

    return jobs


async def _ask(asker: Asker, request: Request) -> None:
    await asker.ask(request)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Endpoint and log of a run, and its limits of number, speed and cost."""

    endpoint: Endpoint
    log: Path
    concurrency: int = 4
    retries: int = 5
    requests_per_minute: float | None = None
    max_cost: float | None = None
    prices: Prices = field(default_factory=Prices)


def limits_of(
    endpoint: Endpoint, log: object, *, concurrency: Any, retries: Any, requests_per_minute: Any,
    max_cost: float | None, prices: Any,
) -> Limits:  # fmt: skip
    """Check the arguments for limits of a run."""
    if requests_per_minute is not None:
        require_number(
            "requests_per_minute", requests_per_minute, lambda x: x > 0, allowed="a number above 0"
        )
    return Limits(
        endpoint=endpoint,
        log=Path(str(log)),
        concurrency=require_count("concurrency", concurrency),
        retries=require_count("retries", retries, least=0),
        requests_per_minute=requests_per_minute,
        max_cost=max_cost,
        prices=prices_given(prices, max_cost),
    )


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The log of a run with its answers, and notes."""

    log: Log
    notes: tuple[Note, ...] = ()


def plan_of(
    requests: Sequence[Request], limits: Limits, model: str, sent: Mapping[str, str]
) -> Plan:
    """Return what would be sent, given the current log."""
    log = read_log(limits.log)
    return make_plan(
        requests, log, limits.prices,
        url=limits.endpoint.url, model=model, spent=spent_so_far(log, limits.prices),
        max_cost=limits.max_cost, sent=sent,
    )  # fmt: skip


def send(
    make_jobs: Callable[[Asker], Sequence[Job]], limits: Limits, about: Mapping[str, Any],
    *, total: int, progress: bool,
) -> Sent:  # fmt: skip
    """Run the jobs and log everything; ``about`` describes the run in the log.

    `FitError` if the endpoint refuses requests or does not answer; Ctrl-C says where answers are.
    """
    openai_library()
    _ = limits.endpoint.key
    with opened(limits.log) as log:
        notes = _notes_on_log(log)
        log.write("run", version=assay.__version__, **about)
        spent = spent_so_far(log, limits.prices)
        with waiting("asking", show=progress, total=total, unit="answers"):
            asker = Asker(
                endpoint=limits.endpoint, log=log, prices=limits.prices,
                purse=Purse(max_cost=limits.max_cost, spent=spent),
                pace=Pace(per_minute=limits.requests_per_minute), retries=limits.retries,
                on_answer=steps(),
            )  # fmt: skip
            jobs = make_jobs(asker)
            try:
                stop = finish(lambda: asker.run(jobs, limits.concurrency)) if jobs else None
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the log {log.path} has {len(log.answers)} answers; call again to continue"
                ) from None
    raise_stop(stop, log)
    return Sent(log=log, notes=(*notes, *_notes_on_run(asker, stop)))


def _notes_on_log(log: Log) -> list[Note]:
    notes = []
    if log.damaged:
        notes.append(
            Note(
                f"{counted(log.damaged, 'line')} of {log.path} cannot be read, such as one that "
                "was cut off. They are skipped.",
                code="log-damaged",
                numbers={"lines": log.damaged},
            )
        )
    return notes


def _notes_on_run(asker: Asker, stop: StoppedError | None) -> list[Note]:
    notes = []
    if isinstance(stop, BudgetReachedError):
        notes.append(
            Note(
                f"The run stopped: {stop}. All answers are kept. To continue, raise `max_cost=`.",
                code="budget-reached",
                numbers={"spent": asker.purse.spent},
            )
        )
    if asker.failures:
        whys = some(list(dict.fromkeys(asker.failures.values())), 3)
        notes.append(
            Note(
                f"{counted(len(asker.failures), 'request', 'have')} no answer: {whys}. "
                "Another call sends them again.",
                code="failed-requests",
                numbers={"requests": len(asker.failures)},
            )
        )
    return notes
