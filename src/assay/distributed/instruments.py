"""The design of a data set on workers: who rated what, and which truth is known."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.checks.double_sampling import Design, find_design
from assay.checks.gold import Sums, gold_sums, squares, unlike
from assay.checks.items import Counts, Coverage, Flags, checked_items, coverage
from assay.distributed.holding import Held
from assay.distributed.skeleton import Numbered


def double_sampling_on_workers(held: Held) -> Design | None:
    """Return the design if raters of all items of several systems are checked on a sample."""
    ratings, executor, count = held.structure.ratings, held.executor, len(held.numbered)
    systems = [ratings.systems] * count

    def checked(judge: Flags) -> Counts:
        found = executor.gather(executor.map(_checked, held.numbered, systems, [judge] * count))
        total: Counts = sum(found)
        return total

    first, *others = executor.gather(executor.map(_coverage, held.numbered, systems))
    return find_design(ratings, sum(others, start=first), checked)


def _coverage(numbered: Numbered, systems: Sequence[str]) -> Coverage:
    """On a worker: count who answered what, raters in the common order."""
    return coverage(numbered.ratings, systems)


def _checked(numbered: Numbered, systems: Sequence[str], judge: Flags) -> Counts:
    """On a worker: count the items on which the judges are checked."""
    return checked_items(numbered.ratings, systems, judge)


def unlike_gold_on_workers(held: Held) -> str:
    """Say how answers to items of known truth differ from the others, ``""`` if they do not."""
    executor, count = held.executor, len(held.numbered)
    first, *others = executor.gather(executor.map(_gold_sums, held.numbered))
    sums = sum(others, start=first)
    squared = sum(executor.gather(executor.map(_squares, held.numbered, [sums] * count)))
    return unlike(held.structure.ratings.task, sums, squared)


def _gold_sums(numbered: Numbered) -> Sums:
    """On a worker: sum what is compared."""
    return gold_sums(numbered.ratings)


def _squares(numbered: Numbered, sums: Sums) -> NDArray[np.float64]:
    """On a worker: return squared errors of the differences, summed over clusters, (value,)."""
    return squares(numbered.ratings, sums)
