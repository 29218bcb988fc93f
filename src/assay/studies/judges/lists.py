"""The items of a query ordered by a language model in sliding windows; ranks become scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from assay._util.errors import Note
from assay.data.task import Task
from assay.studies.judges.items import Items
from assay.studies.judges.outcome import GROUP, UNPARSED_COLUMNS
from assay.studies.judges.parsing import parse_order
from assay.studies.judges.prompts import LISTED_TEXT, Prompt
from assay.studies.judges.ranking import order_by_windows, window_places
from assay.studies.judges.requests import Request, Settings, make_request
from assay.studies.judges.runner import Asker, message_of
from assay.studies.judges.sending import Job

START_RANK = "retriever_rank"
"""Column with the initial order of a query's items; without it, the order of the file."""
NO_ORDER = "no order"


@dataclass(frozen=True, kw_only=True)
class RankedItems:
    """The items of each query before and after ordering.

    starts, orders : places of items by query, before and after
    windows, broken : number of windows by query, and of those without a readable order
    texts : query and text of each answer without an order
    """

    items: Items
    task: Task
    prompt: Prompt
    settings: Settings
    window: int
    step: int
    starts: Mapping[str, list[int]]
    orders: dict[str, list[int]] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)

    def request(self, query: str, places: Sequence[int]) -> Request:
        """Return the request to order some items of a query."""
        values = self.items.values[places[0]]
        documents = tuple(self.items.values[place][LISTED_TEXT] for place in places)
        return make_request(query, values, self.task, self.prompt, self.settings, documents)

    def jobs(self, asker: Asker) -> list[Job]:
        """Return a job for each query: its windows depend on each other."""
        return [self._job(asker, query) for query in self.starts]

    def _job(self, asker: Asker, query: str) -> Job:
        async def reorder(places: Sequence[int]) -> list[int] | None:
            text = message_of(await asker.ask(self.request(query, places)))
            order = parse_order(text, len(places))
            if order is None:
                self.texts.append((query, text))
                return None
            return [places[n] for n in order]

        async def ask() -> None:
            order, windows, broken = await order_by_windows(
                self.starts[query], self.window, self.step, reorder
            )
            self.orders[query] = order
            self.windows[query], self.broken[query] = windows, broken

        return ask

    def ratings(self, rows: Sequence[Mapping[str, Any]], rater: str) -> pd.DataFrame:
        """Return rank and score of each ordered item; scores fall evenly from 1 to 0."""
        lines = []
        for query in self.starts:
            order = self.orders.get(query, [])
            last = max(len(order) - 1, 1)
            for rank, place in enumerate(order):
                score = 1 - rank / last
                more = {"list_rank": rank + 1, "windows_without_order": self.broken[query]}
                lines.append(
                    {**rows[place], "rater": rater, "group": GROUP, self._score: score, **more}
                )
        columns = [*(rows[0] if rows else ()), "rater", "group", self._score]
        return pd.DataFrame(lines) if lines else pd.DataFrame(columns=columns)

    @property
    def _score(self) -> str:
        several = len(self.task.labels) > 1
        return f"{self.task.label_names[0]}_score" if several else "score"

    def unparsed(self) -> pd.DataFrame:
        """Return the whole text of answers without an order."""
        lines = [(query, "", NO_ORDER, text) for query, text in self.texts]
        return pd.DataFrame(lines, columns=UNPARSED_COLUMNS)

    def notes(self) -> list[Note]:
        """Count windows without a readable order."""
        broken, windows = sum(self.broken.values()), sum(self.windows.values())
        if not broken:
            return []
        return [
            Note(
                f"{broken} of {windows} windows have no readable order. Their documents keep their "
                "places, and the column windows_without_order counts them.",
                code="unparsed-answers",
                numbers={"answers": windows, "unparsed": broken},
            )
        ]


def ranked_items(
    items: Items, task: Task, prompt: Prompt, settings: Settings, window: int, step: int
) -> RankedItems:
    """Group items by query, in their initial order."""
    order = list(range(len(items.names)))
    if START_RANK in items.kept:
        ranks = pd.to_numeric(items.kept[START_RANK], errors="coerce")
        order = ranks.sort_values(kind="stable").index.tolist()
    starts: dict[str, list[int]] = {}
    for place in order:
        starts.setdefault(items.cluster[place], []).append(place)
    return RankedItems(
        items=items, task=task, prompt=prompt, settings=settings, window=window, step=step,
        starts=starts,
    )  # fmt: skip


def list_requests(ranked: RankedItems, answers: Mapping[str, Mapping[str, Any]]) -> list[Request]:
    """Return the requests to order all items, given the known answers. An unknown answer is taken
    to keep the order, so that the number and length of requests are about right.
    """
    requests = []
    for query, start in ranked.starts.items():
        order = list(start)
        for first, last in window_places(len(order), ranked.window, ranked.step):
            places = order[first:last]
            request = ranked.request(query, places)
            requests.append(request)
            known = answers.get(request.key)
            found = (
                None if known is None else parse_order(message_of(known["response"]), len(places))
            )
            if found is not None:
                order[first:last] = [places[n] for n in found]
    return requests
