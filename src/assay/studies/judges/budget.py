"""Limits of a run: requests per minute and total cost."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay._util.errors import ArgumentError
from assay._util.validation import argument, require_number
from assay.studies.judges.log import Log
from assay.studies.judges.requests import Request

PER_PRICE = 1_000_000
"""Number of tokens to which prices refer."""


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Cost of a million tokens sent and answered."""

    sent: float = 0.0
    answered: float = 0.0

    def of(self, sent: int, answered: int) -> float:
        """Return the cost of these tokens."""
        return (sent * self.sent + answered * self.answered) / PER_PRICE

    def bound(self, request: Request) -> float:
        """Return the highest possible cost of a request."""
        return self.of(request.most_input, request.most_output)

    def of_answer(self, answer: Mapping[str, Any], bound: float) -> float:
        """Return the cost of an answer by its token counts; without counts, the bound."""
        usage = answer.get("usage")
        if isinstance(usage, Mapping):
            counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
            if all(isinstance(n, int) and n >= 0 for n in counts):
                return self.of(*counts)  # type: ignore[arg-type]
        return bound


def prices_given(prices: Any, max_cost: float | None) -> Prices:
    """Check the argument ``prices``; a budget needs prices."""
    if max_cost is not None:
        require_number("max_cost", max_cost, lambda x: x >= 0, allowed="a number of at least 0")
    if prices is None:
        if max_cost is not None:
            raise ArgumentError(
                "`max_cost=` needs the prices of a million tokens sent and answered: `prices=`",
                code="budget-prices",
            )
        return Prices()
    try:
        sent, answered = (float(price) for price in prices)
    except (TypeError, ValueError):
        sent = answered = -1.0
    if not (0 <= sent < float("inf") and 0 <= answered < float("inf")):
        raise ArgumentError(
            f"{argument('prices', prices)}; it must be two numbers of at least 0: the prices of a "
            "million tokens sent and answered",
            code="budget-prices",
        )
    return Prices(sent=sent, answered=answered)


def spent_so_far(log: Log, prices: Prices) -> float:
    """Return the cost of all requests in a log; unknown answers count at their bound."""
    total = 0.0
    for entry in log.answers.values():
        bound = prices.of(*entry.get("bound", (0, 0)))
        total += prices.of_answer(entry.get("response") or {}, bound)
    return total + sum(prices.of(*entry.get("bound", (0, 0))) for entry in log.unknown)


@dataclass(kw_only=True)
class Purse:
    """Money spent, and money reserved for requests under way."""

    max_cost: float | None
    spent: float = 0.0
    reserved: float = 0.0
    _under_way: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def reserve(self, bound: float) -> bool:
        """Reserve the highest cost of a request; False if the budget does not allow it."""
        async with self._changed:
            while self.max_cost is not None and self.spent + self.reserved + bound > self.max_cost:
                if not self._under_way:
                    return False
                await self._changed.wait()
            self.reserved += bound
            self._under_way += 1
            return True

    async def settle(self, bound: float, cost: float) -> None:
        """Replace a reservation by the actual cost."""
        async with self._changed:
            self._under_way -= 1
            # With nothing under way, no rounding error may stay reserved.
            self.reserved = self.reserved - bound if self._under_way else 0.0
            self.spent += cost
            self._changed.notify_all()


@dataclass(kw_only=True)
class Pace:
    """Spaces requests evenly within a minute."""

    per_minute: float | None
    _next: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def wait(self) -> None:
        """Wait for the turn of the next request."""
        if self.per_minute is None:
            return
        async with self._turn:
            now = time.monotonic()
            if self._next > now:
                await asyncio.sleep(self._next - now)
            self._next = max(now, self._next) + 60 / self.per_minute
