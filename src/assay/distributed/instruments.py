"""The design of a data set on workers: who rated what, and which truth is known."""

from operator import attrgetter
from typing import Any

from assay.checks.double_sampling import Design, find_design
from assay.checks.gold import gold_sums, squares, unlike
from assay.checks.items import Counts, Flags, checked_items, coverage
from assay.distributed.holding import Held


def double_sampling_on_workers(held: Held) -> Design | None:
    """Return the design if raters of all items of several systems are checked on a sample."""
    ratings, executor, parts = held.structure.ratings, held.executor, _ratings(held)
    systems = [ratings.systems] * len(parts)

    def checked(judge: Flags) -> Counts:
        found = executor.map(checked_items, parts, systems, [judge] * len(parts))
        total: Counts = sum(executor.gather(found))
        return total

    first, *others = executor.gather(executor.map(coverage, parts, systems))
    return find_design(ratings, sum(others, start=first), checked)


def unlike_gold_on_workers(held: Held) -> str:
    """Say how answers to items of known truth differ from the others, ``""`` if they do not."""
    executor, parts = held.executor, _ratings(held)
    first, *others = executor.gather(executor.map(gold_sums, parts))
    sums = sum(others, start=first)
    squared = sum(executor.gather(executor.map(squares, parts, [sums] * len(parts))))
    return unlike(held.structure.ratings.task, sums, squared)


def _ratings(held: Held) -> list[Any]:
    """Return the ratings of the partitions, with raters in the common order, as parts."""
    return held.executor.map(attrgetter("ratings"), held.numbered)
