"""Outputs on which all raters agree or differ, by system and label."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.bootstrap import times_drawn
from assay._util.intervals import interval_ends
from assay._util.typing import Bools, Floats, Ints
from assay.data.majority_vote import majority_votes
from assay.data.overlap import FirstRatings
from assay.data.ratings import Ratings, take_ratings

ALL_SYSTEMS = "all systems"
YES = 1
FEWEST_RATERS = 2
"""Fewest answers with which an output can be unanimous."""


def unanimity_table(
    ratings: Ratings, design: FirstRatings, *, level: float, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the share of outputs on which all raters give the same answer, and the majority's
    rates of yes on these and on the others.

    Outputs count with the share of their vote if it asks the label and two raters or more answer
    it.
    """
    votes = majority_votes(take_ratings(ratings, np.sort(design.first)))
    answers = ratings.answers[design.first]
    times = times_drawn(design.stratum, draws, rng)
    lines = []
    for place, label in enumerate(ratings.task.label_names):
        given, alike = _counted(answers[:, place], design)
        won, share = votes.labels[:, place], votes.share
        asked, yes = (np.bincount(votes.item, share * kind) for kind in (won >= 0, won == YES))
        asked = asked * (given >= FEWEST_RATERS)
        for system, items in _systems(ratings):
            lines.append(
                {"label": label, "system": system}
                | _line(asked * items, alike, yes, design, times, level)
            )
    return pd.DataFrame(lines)


def _counted(answers: NDArray[np.integer], design: FirstRatings) -> tuple[Ints, Bools]:
    """Return the number of answers of each item, and whether they are all equal."""
    size = len(design.cluster)
    given = np.bincount(design.item[answers >= 0], minlength=size)
    yes = np.bincount(design.item[answers == YES], minlength=size)
    return given, (yes == 0) | (yes == given)


def _systems(ratings: Ratings) -> list[tuple[str, Bools]]:
    """Return a mask of items for each system, then one for all systems."""
    found = []
    if ratings.systems:
        for name in ratings.systems:
            mask = np.zeros(len(ratings.items), bool)
            mask[ratings.panels.loc[ratings.panels["system"] == name, "item"]] = True
            found.append((str(name), mask))
    return [*found, (ALL_SYSTEMS, np.ones(len(ratings.items), bool))]


def _line(
    asked: Floats, alike: Bools, yes: Floats, design: FirstRatings,
    times: Floats, level: float,
) -> dict[str, float]:  # fmt: skip
    """Return the row of one label and system; ``asked`` and ``yes`` are shares of votes (item,)."""
    size, items = len(design.stratum), np.flatnonzero(asked)
    counts = [
        np.bincount(design.cluster[items], (asked * kind)[items], size) for kind in (alike, 1.0)
    ]
    ends = np.full(2, np.nan)
    if size > 1 and len(items):
        ends = interval_ends(divided(counts[0] @ times, counts[1] @ times), level)
    return {
        "n_items": len(items),
        "unanimous": float(divided(asked @ alike, asked.sum())),
        "lower": float(ends[0]),
        "upper": float(ends[1]),
        "yes_if_unanimous": _yes(yes, asked, alike),
        "yes_if_ambiguous": _yes(yes, asked, ~alike),
    }


def _yes(yes: Floats, asked: Floats, among: Bools) -> float:
    kept = among & (asked > 0)
    return float(divided(yes[kept].sum(), asked[kept].sum()))
