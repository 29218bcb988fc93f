"""The plan of a run: number of requests, amount of text, bound of the cost, first request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.studies.judges.budget import Prices
from assay.studies.judges.log import Log
from assay.studies.judges.requests import Request

CHARACTERS_PER_TOKEN = 4
"""Roughly, for English prose."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run would send.

    answered : requests whose answers are in the log; they are not sent
    characters : length of all texts sent
    most_input, most_output : bounds of tokens sent and answered
    spent, most_cost : cost of the log so far, and bound of the run's cost without retries
    sent : column that fills each slot of the prompt; no other column is sent
    """

    url: str
    model: str
    requests: int
    answered: int
    characters: int
    most_input: int
    most_output: int
    spent: float
    most_cost: float
    max_cost: float | None
    sent: Mapping[str, str] = field(default_factory=dict)
    first: Request | None = None

    @property
    def to_send(self) -> int:
        """Number of requests that are sent."""
        return self.requests - self.answered

    def lines(self) -> list[str]:
        """Return the plan in words."""
        columns = ", ".join(dict.fromkeys(self.sent.values())) or "none"
        said = [
            f"endpoint: {self.url}, model {self.model}",
            f"columns that are sent: {columns}",
            f"requests: {self.requests}; the log has {self.answered}, {self.to_send} to send",
            f"text: {self.characters} characters, about {self.characters // CHARACTERS_PER_TOKEN} "
            f"tokens; answers: at most {self.most_output} tokens",
        ]
        if self.most_cost or self.max_cost is not None:
            limit = "no limit" if self.max_cost is None else f"limit {self.max_cost:g}"
            said.append(
                f"cost: {self.spent:.4f} so far, at most {self.most_cost:.4f} more; {limit}"
            )
        return said

    def first_text(self) -> str:
        """Return the messages of the first request."""
        if self.first is None:
            return ""
        messages = self.first.body["messages"]
        return "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in messages)


def make_plan(
    requests: Sequence[Request], log: Log, prices: Prices, *, url: str, model: str, spent: float,
    max_cost: float | None, sent: Mapping[str, str],
) -> Plan:  # fmt: skip
    """Return the plan of these requests; equal ones are sent once."""
    unlike = {request.key: request for request in requests}
    new = [request for key, request in unlike.items() if key not in log.answers]
    characters = sum(len(m["content"]) for r in new for m in r.body["messages"])
    return Plan(
        url=url,
        model=model,
        requests=len(unlike),
        answered=len(unlike) - len(new),
        characters=characters,
        most_input=sum(r.most_input for r in new),
        most_output=sum(r.most_output for r in new),
        spent=spent,
        most_cost=sum(map(prices.bound, new)),
        max_cost=max_cost,
        sent=sent,
        first=new[0] if new else None,
    )
