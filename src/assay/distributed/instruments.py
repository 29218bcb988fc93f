"""The evidence for the warnings of a fit of a data set on workers: its design and its counts."""

from operator import attrgetter
from typing import Any

from assay._util.typing import Bools, Ints
from assay.checks.departures.search import MOST_ROWS, SEED, Departure, search
from assay.checks.double_sampling import DoubleSampling, find_design
from assay.checks.gold import gold_sums, squares, unlike
from assay.checks.items import checked_items, coverage
from assay.data.ratings import Ratings
from assay.distributed.holding import Held
from assay.distributed.skeleton import take_sample
from assay.inference.data_counts import DataCounts
from assay.inference.subsets import join_ratings

SPARE = 2
"""Ratings of the sample for the search of departures, by the number that it uses."""


def double_sampling_on_workers(held: Held) -> DoubleSampling | None:
    """Return the design if raters of all items of several systems are checked on a sample."""
    ratings, executor, parts = held.structure.ratings, held.executor, _ratings(held)
    systems = [ratings.systems] * len(parts)

    def checked(judge: Bools) -> Ints:
        found = executor.map(checked_items, parts, systems, [judge] * len(parts))
        total: Ints = sum(executor.gather(found))
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


def counts_on_workers(held: Held) -> DataCounts:
    """Return the counts of the whole data set."""
    counted = held.executor.map(attrgetter("counts"), held.numbered)
    first, *others = held.executor.gather(counted)
    total: DataCounts = sum(others, start=first)
    return total


def departures_on_workers(held: Held) -> tuple[Departure, ...]:
    """Return departures from raters who err independently, found on a sample of the clusters.

    The search takes a sample of large data on one machine, too.
    """
    share = min(1.0, SPARE * MOST_ROWS / rating_count(held))
    return search(sample_on_workers(held, share, SEED)).found


def sample_on_workers(held: Held, share: float, seed: int) -> Ratings:
    """Return the ratings of a random share of the clusters of every partition."""
    executor, count = held.executor, len(held.numbered)
    seeds = [(seed, n) for n in range(count)]
    taken = executor.gather(executor.map(take_sample, held.numbered, [share] * count, seeds))
    return join_ratings(taken)


def rating_count(held: Held) -> int:
    """Return the number of ratings of the whole data set."""
    return sum(fact.sizes["rating"] for fact in held.facts)


def _ratings(held: Held) -> list[Any]:
    """Return the ratings of the partitions, with raters in the common order, as parts."""
    return held.executor.map(attrgetter("ratings"), held.numbered)
