"""Slots: raters who may be the first, the second, ... answer of an item, and no persons."""

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.checks.findings import Finding, Part
from assay.data.ratings import Ratings

NUMBERED = re.compile(r"(\D+?)[\s_\-.]*(\d+)")
FEW_SORTED = 10
NEARLY = 0.95


def check_slots(ratings: Ratings) -> Part:
    """Say that raters may be slots, where their names and their answers look like it."""
    numbers = _slot_numbers([str(name) for name in ratings.raters.index])
    if numbers is None or not _everywhere(ratings):
        return Part()
    order = np.argsort(numbers)
    names = ratings.raters.index[order]
    text = (
        f"the raters are named {names[0]} to {names[-1]} and each of them rated nearly every item: "
        "they may be slots (the first, second, ... answer to an item) and no persons; if so, a "
        'reliability of each means nothing: raters="pooled" treats them alike'
    )
    # Of two persons one may simply be the stricter; three in the same order on each item are rare.
    if len(names) > 2 and _sorted(ratings, np.argsort(order)):
        text += "; their answers are sorted within every item, as those of persons hardly ever are"
        return Part(
            findings=(
                Finding(
                    level="warning",
                    topic="raters",
                    text=text,
                    code="slot-raters",
                    numbers={"raters": len(names)},
                ),
            )
        )
    return Part(
        findings=(
            Finding(
                level="note",
                topic="raters",
                text=text,
                code="slot-raters",
                numbers={"raters": len(names)},
            ),
        )
    )


def _slot_numbers(names: list[str]) -> list[int] | None:
    """Return the numbers in the names if these are one word, counted through from 0 or 1."""
    parts = [NUMBERED.fullmatch(name) for name in names]
    found = [(p[1], int(p[2])) for p in parts if p]
    numbers = [number for _, number in found]
    if len(found) < len(names) or len(names) < 2 or len({word for word, _ in found}) > 1:
        return None
    first = min(numbers)
    counted = sorted(numbers) == list(range(first, first + len(numbers)))
    return numbers if counted and first in (0, 1) else None


def _everywhere(ratings: Ratings) -> bool:
    """Whether every rater rated nearly every item that anybody rated, and none twice."""
    pairs = pd.DataFrame({"item": ratings.item, "rater": ratings.rater})
    if pairs.duplicated().any():
        return False
    # A slot may miss some items: abstentions, and rows that were set aside.
    fewest = np.bincount(ratings.rater, minlength=len(ratings.raters)).min()
    return bool(fewest >= NEARLY * pairs["item"].nunique())


def _sorted(ratings: Ratings, place: NDArray[np.int64]) -> bool:
    """Whether the answers of a label never decrease from slot to slot, where they differ."""
    grid = np.full((len(ratings.items), len(ratings.raters)), -1, np.int64)
    for answers in ratings.answers.T:
        grid[ratings.item, place[ratings.rater]] = answers
        full = grid[(grid >= 0).all(axis=1)]
        mixed = full[full.min(axis=1) < full.max(axis=1)]
        steps = np.diff(mixed, axis=1)
        if len(mixed) >= FEW_SORTED and ((steps >= 0).all() or (steps <= 0).all()):
            return True
    return False
