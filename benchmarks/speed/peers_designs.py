"""The made-up ratings of the speed benchmarks: one binary label, ten ratings an item."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
CLASSES = ("no", "yes")
PER_ITEM = 10
RATERS = {8_000: 164}
"""As many as the snow_rte set has at this size; else 200, or fewer where there are few ratings."""
MEAN, SD, PREVALENCE = 1.5, 0.7, 0.4
"""Of the raters' log odds of a right answer, and of "yes"."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Ratings as a full table, which is what every side can read.

    Attributes
    ----------
    rater, answer : ndarray of int (item, position)
        Who gave the item's ratings, and the class codes.
    raters : int
    """

    rater: Ints
    answer: Ints
    raters: int

    @property
    def ratings(self) -> int:
        """Number of ratings."""
        return self.rater.size

    def save(self, path: Path) -> None:
        """Write to an ``.npz`` file."""
        np.savez(path, rater=self.rater, answer=self.answer, raters=self.raters)

    def columns(self) -> dict[str, Ints]:
        """Return item, rater and answer of each rating, as columns of a long table."""
        item = np.repeat(np.arange(len(self.rater)), self.rater.shape[1])
        return {"item": item, "rater": self.rater.ravel(), "label": self.answer.ravel()}


def load_design(path: Path) -> Design:
    """Read what :meth:`Design.save` wrote."""
    with np.load(path) as found:
        return Design(rater=found["rater"], answer=found["answer"], raters=int(found["raters"]))


def make_design(ratings: int, seed: int, *, raters: int | None = None) -> Design:
    """Draw a design of about so many ratings.

    Parameters
    ----------
    ratings : int
    seed : int
    raters : int, optional
        As :data:`RATERS` says if not given.
    """
    rng = np.random.default_rng([seed, ratings])
    items = ratings // PER_ITEM
    count = raters or RATERS.get(ratings, max(PER_ITEM, min(200, ratings // 50)))
    order = rng.random((items, count)).argpartition(PER_ITEM - 1, axis=1)
    rater = np.sort(order[:, :PER_ITEM], axis=1)
    truth = (rng.random(items) < PREVALENCE).astype(np.int64)
    right = 1 / (1 + np.exp(-rng.normal(MEAN, SD, (count, 2))))
    correct = rng.random(rater.shape) < right[rater, truth[:, None]]
    answer = np.where(correct, truth[:, None], 1 - truth[:, None])
    return Design(rater=rater, answer=answer, raters=count)
