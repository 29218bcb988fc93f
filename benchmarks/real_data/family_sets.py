"""The classical sets with gold: ratings, gold, and random splits of the gold."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import assay
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Task
from assay.data.task_files import load_task

Codes = NDArray[np.integer]
VALENCE = ("negative", "neutral", "positive")
VALENCE_EDGES = (-50.0, 50.0)
"""Where the classes of valence are cut: SemEval-2007's coarse grading."""
GIVEN = 0.1
"""Share of the items with gold whose gold is given to every method."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a set is read: the order of its classes, if they have one, and its repeats."""

    order: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


REPEATS = {"replicate": "row"}
SETS: Mapping[str, Plan] = {
    "snow_affect": Plan(order=VALENCE),
    "weather_amt": Plan(),
    "sentiment_sp_amt": Plan(),
    "snow_rte": Plan(),
    "dogs": Plan(),
    "zencrowd": Plan(options=REPEATS),
    "product_er": Plan(),
    "web_relevance": Plan(order=("1", "2", "3", "4", "5")),
    "adult_content2": Plan(order=("G", "P", "R", "X"), options=REPEATS),
}
"""Small sets first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GoldSet:
    """Ratings without their gold, and the gold by item (``MISSING`` where there is none)."""

    name: str
    ratings: Ratings
    gold: Codes

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.ratings.task.labels[0].classes)

    @property
    def ordered(self) -> bool:
        """Whether the classes have an order."""
        return self.ratings.task.labels[0].ordered

    def votes(self) -> pd.DataFrame:
        """Return a line per rating, as crowd-kit reads them; items, raters, classes as numbers."""
        return pd.DataFrame(
            {
                "task": self.ratings.item,
                "worker": self.ratings.rater,
                "label": self.ratings.answers[:, 0],
            }
        )

    def given(self, split: int, seed: int) -> Codes:
        """Draw the items whose gold is given: a random tenth of those with gold."""
        known = np.flatnonzero(self.gold != MISSING)
        rng = np.random.default_rng([seed, split])
        return np.sort(rng.permutation(known)[: round(GIVEN * len(known))])

    def with_gold(self, items: Codes) -> Ratings:
        """Return the ratings with the gold of some items."""
        truth = np.full_like(self.ratings.truth, MISSING)
        truth[items, 0] = self.gold[items]
        return replace(self.ratings, truth=truth)

    def scored(self, given: Codes | None = None) -> Codes:
        """Items that methods are scored on: those with gold that was not given."""
        known = np.flatnonzero(self.gold != MISSING)
        return known if given is None else np.setdiff1d(known, given)


def read_gold_set(data: Path, name: str) -> GoldSet:
    """Read a set from its folder in ``data``."""
    plan, folder = SETS[name], data / name
    frames = [_table(folder, stem) for stem in ("annotations", "gold")]
    if name == "snow_affect":
        frames = [_by_valence(frame) for frame in frames]
    task = _task(plan.order) if plan.order else "single"
    read = assay.read_ratings(frames[0], task=task, truth=frames[1], **plan.options)
    gold = read.truth[:, 0].astype(np.int64)
    unknown = np.full_like(read.truth, MISSING)
    return GoldSet(name=name, ratings=replace(read, truth=unknown), gold=gold)


def _table(folder: Path, stem: str) -> pd.DataFrame:
    path = next(iter(sorted(folder.glob(f"{stem}.csv*"))))
    return pd.read_csv(path, dtype=str)


def _task(order: tuple[str, ...]) -> Task:
    single = load_task("single")
    return replace(single, labels=(replace(single.labels[0], classes=order, ordered=True),))


def _by_valence(frame: pd.DataFrame) -> pd.DataFrame:
    """Cut the valence of headlines into three ordered classes."""
    valence = pd.to_numeric(frame["valence"]).to_numpy()
    low, high = VALENCE_EDGES
    code = (valence > low).astype(int) + (valence >= high)
    kept = frame[[name for name in ("item", "rater") if name in frame]]
    return kept.assign(label=np.array(VALENCE)[code])
