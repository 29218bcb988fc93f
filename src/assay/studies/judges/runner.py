"""Send concurrent requests with retries and limits, and log every answer."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from assay._util.errors import FitError
from assay.studies.judges.budget import Pace, Prices, Purse
from assay.studies.judges.endpoint import Endpoint, openai_library
from assay.studies.judges.log import Entry, Log, log_request
from assay.studies.judges.requests import Request

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before the first retry and at most; each pause doubles the last."""
LONGEST_ASKED_PAUSE = 600.0
"""Longest pause in seconds that an endpoint may ask for."""
PASSING = (408, 409, 425, 429)
"""Statuses, besides 500 and above, after which a retry may succeed."""
HOPELESS = (401, 402, 403, 404)
"""Statuses that every request will meet."""
NO_CREDIT = "insufficient_quota"
MOST_FAILURES = 5
"""Consecutive failed requests after which a run ends."""
TOO_LONG = "length"


class StoppedError(Exception):
    """No further request is sent; the text says why."""


class BudgetReachedError(StoppedError):
    """The next request could exceed the budget."""


class FailedError(Exception):
    """A request has no answer."""


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """The fault of one attempt.

    ``paid`` is ``"unknown"`` if the endpoint may have done the work, else ``"no"``.
    """

    text: str
    status: int = 0
    retry: bool = True
    hopeless: bool = False
    paid: str = "no"
    pause: float | None = None


@dataclass(kw_only=True)
class Asker:
    """Sends requests, unless the log has their answers.

    on_answer : called when a request is done
    failures : why requests have no answer, by key
    """

    endpoint: Endpoint
    log: Log
    prices: Prices
    purse: Purse
    pace: Pace
    retries: int
    on_answer: Callable[[float], None]
    failures: dict[str, str] = field(default_factory=dict)
    _client: Any = None
    _running: "dict[str, asyncio.Task[Entry]]" = field(default_factory=dict)
    _in_a_row: int = 0
    _stop: StoppedError | None = None
    _chance: random.Random = field(default_factory=random.Random)

    async def ask(self, request: Request) -> Entry:
        """Return the answer to a request; `FailedError` or `StoppedError` if there is none."""
        if (known := self.log.answers.get(request.key)) is not None:
            return dict(known["response"])
        if request.key not in self._running:
            self._running[request.key] = asyncio.create_task(self._ask(request))
        return await self._running[request.key]

    async def _ask(self, request: Request) -> Entry:
        why = ""
        for attempt in range(1, self.retries + 2):
            if self._stop is not None:
                raise self._stop
            found = await self._attempt(request, attempt)
            if isinstance(found, dict):
                self._in_a_row = 0
                self.on_answer(1.0)
                return found
            why = found.text
            if found.hopeless:
                self._end(f"{self.endpoint.url} refuses requests: {why}")
            if not found.retry or attempt > self.retries:
                break
            await asyncio.sleep(self._pause(attempt, found))
        self.failures[request.key] = why
        self._in_a_row += 1
        self.on_answer(1.0)
        if self._in_a_row >= MOST_FAILURES:
            self._end(
                f"{self._in_a_row} requests in a row have failed at {self.endpoint.url}: {why}"
            )
        raise FailedError(why)

    def _end(self, why: str) -> None:
        """Stop the run: raise `StoppedError`, here and for all later requests."""
        self._stop = self._stop or StoppedError(why)
        raise self._stop

    def _pause(self, attempt: int, fault: _Fault) -> float:
        """Return the seconds before the next attempt, with random jitter."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
        usual = longest * self._chance.uniform(0.5, 1)
        return max(usual, min(fault.pause or 0.0, LONGEST_ASKED_PAUSE))

    async def _attempt(self, request: Request, attempt: int) -> dict[str, Any] | _Fault:
        """Send a request once, within the limits, and log the result."""
        bound = self.prices.bound(request)
        if not await self.purse.reserve(bound):
            self._stop = self._stop or BudgetReachedError(
                f"the budget is reached: {self.purse.spent:.4f} of {self.purse.max_cost:g} is "
                f"spent, and the next request may cost {bound:.4f}"
            )
            raise self._stop
        cost = bound
        try:
            await self.pace.wait()
            if self._stop is not None:
                cost = 0.0
                raise self._stop
            log_request(self.log, request, attempt)
            found = await self._send(request)
            if isinstance(found, _Fault):
                cost = bound if found.paid == "unknown" else 0.0
                self.log.write(
                    "failure", key=request.key, item=request.item, attempt=attempt,
                    status=found.status, paid=found.paid, said=found.text,
                )  # fmt: skip
            else:
                cost = self.prices.of_answer(found, bound)
                self.log.write(
                    "answer", key=request.key, item=request.item, attempt=attempt,
                    bound=[request.most_input, request.most_output], response=found,
                )  # fmt: skip
            return found
        finally:
            await self.purse.settle(bound, cost)

    async def _send(self, request: Request) -> dict[str, Any] | _Fault:
        """Send a request; return the answer or its fault."""
        openai = openai_library()
        body = dict(request.body)
        model, messages = body.pop("model"), body.pop("messages")
        try:
            raw = await self._client.chat.completions.with_raw_response.create(
                model=model, messages=messages, extra_body=body
            )
            return self._checked(raw.http_response.text)
        except openai.APIStatusError as error:
            return self._status_fault(error)
        except openai.APITimeoutError:
            return _Fault(text=f"no answer within {self.endpoint.timeout:g} s", paid="unknown")
        except openai.APIConnectionError as error:
            said = self.endpoint.said(f"{error.__cause__ or error}")
            return _Fault(text=f"the connection failed: {said}", paid="unknown")
        except openai.OpenAIError as error:
            said = self.endpoint.said(str(error))
            return _Fault(text=f"the answer cannot be used: {said}", paid="unknown")

    def _checked(self, text: str) -> dict[str, Any] | _Fault:
        """Return the answer without the key, or a fault if it is no chat completion."""
        try:
            found = json.loads(self.endpoint.without_key(text))
            message_of(found)
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            said = self.endpoint.said(text)
            return _Fault(text=f"the answer is no chat completion: {said}", paid="unknown")
        return dict(found)

    def _status_fault(self, error: Any) -> _Fault:
        status, said = int(error.status_code), self.endpoint.said(_message(error))
        no_credit = NO_CREDIT in str(getattr(error, "body", "") or error)
        return _Fault(
            text=f"status {status}: {said}",
            status=status,
            retry=(status in PASSING or status >= 500) and not no_credit,
            hopeless=status in HOPELESS or no_credit,
            pause=_asked_pause(error),
        )

    async def run(
        self, jobs: Sequence[Callable[[], Awaitable[None]]], concurrency: int
    ) -> StoppedError | None:
        """Run jobs concurrently; return why the run stopped early, if it did."""
        self._client = self.endpoint.asynchronous()
        waiting = iter(jobs)

        async def work() -> None:
            for job in waiting:
                if self._stop is not None:
                    return
                with suppress(FailedError, StoppedError):
                    await job()

        async with self._client, asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(jobs))):
                group.create_task(work())
        return self._stop


def message_of(answer: Entry) -> str:
    """Return the text of an answer; KeyError, IndexError or TypeError if it has none."""
    message = answer["choices"][0]["message"]
    content = message.get("content")
    if content is None:
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise TypeError("the content is no text")
    return content


def _message(error: Any) -> str:
    """Return the endpoint's message about an error."""
    body = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    return str(error)


def _asked_pause(error: Any) -> float | None:
    """Return the seconds that the endpoint asks to wait, if any."""
    try:
        return float(error.response.headers["retry-after"])
    except (AttributeError, KeyError, ValueError):
        return None


def finish[T](main: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine to its end, also where an event loop runs, as in notebooks."""

    async def whole() -> T:
        return await main()

    try:
        return _run(whole)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def _run[T](whole: Callable[[], Coroutine[Any, Any, T]]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(whole())).result()


def raise_stop(stop: StoppedError | None, log: Log) -> None:
    """Raise `FitError` if a run stopped for a reason other than its budget."""
    if stop is not None and not isinstance(stop, BudgetReachedError):
        raise FitError(
            f"{stop}. The log {log.path} has {len(log.answers)} answers. Call again to continue",
            code="endpoint-failed",
        )
