"""Bins of scores: each class has an equal region of [0, 1], and each region has a few bins.

They are of equal width if that separates a rater's distinct scores, else by quantiles.
"""

from dataclasses import dataclass

import numpy as np

from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Task

PARTS = 4
"""Bins in the region of a class."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreLayout:
    """The positions of the bins of each label."""

    task: Task
    classes: tuple[int, ...]
    parts: int = PARTS

    @property
    def width(self) -> int:
        """Largest number of codes of a label: bins, then classes."""
        return max(k * self.parts + k for k in self.classes)

    @property
    def bin_names(self) -> tuple[str, ...]:
        """Name of each bin: ``label: class 2/4``."""
        return tuple(
            f"{label.name}: {name} {n + 1}/{self.parts}"
            for label in self.task.labels
            for name in label.classes
            for n in range(self.parts)
        )

    @property
    def step_names(self) -> tuple[str, ...]:
        """Name of each increase of a likelihood ratio."""
        return tuple(
            f"{label.name}: {label.classes[k]} to {label.classes[k + 1]}, bin {b + 2}"
            for label in self.task.labels
            for k in range(len(label.classes) - 1)
            for b in range(len(label.classes) * self.parts - 1)
        )

    def bin_slice(self, label: int) -> slice:
        """Return the bins of a label."""
        start = self.parts * sum(self.classes[:label])
        return slice(start, start + self.parts * self.classes[label])

    def step_slice(self, label: int) -> slice:
        """Return the likelihood ratio increases of a label."""
        sizes = [(k - 1) * (k * self.parts - 1) for k in self.classes]
        return slice(sum(sizes[:label]), sum(sizes[: label + 1]))

    def first_row(self, label: int) -> int:
        """Return the position of the label's first true class."""
        return sum(self.classes[:label])


def score_layout(task: Task) -> ScoreLayout:
    """Return the bins of a task."""
    return ScoreLayout(task=task, classes=tuple(len(label.classes) for label in task.labels))


def score_codes(ratings: Ratings, layout: ScoreLayout) -> Ints:
    """Return the code of each score, (rating, label): its bin, or ``MISSING``.

    A guess without a score has the code of its class, after those of the bins.
    """
    codes = np.full(ratings.answers.shape, MISSING, np.int64)
    for label, classes in enumerate(layout.classes):
        answers = ratings.answers[:, label]
        codes[answers >= 0, label] = classes * layout.parts + answers[answers >= 0]
        for rater in np.unique(ratings.rater):
            score = ratings.scores[:, label]
            here = np.flatnonzero((ratings.rater == rater) & np.isfinite(score))
            if len(here):
                codes[here, label] = bins_of(score[here], classes, layout.parts)
    return codes


def bins_of(scores: Floats, classes: int, parts: int = PARTS) -> Ints:
    """Return the bin of each score of one rater: equal scores share one, and order is kept."""
    region = np.minimum((scores * classes).astype(np.int64), classes - 1)
    found = np.empty(len(scores), np.int64)
    for k in np.unique(region):
        here = region == k
        distinct, which, count = np.unique(scores[here], return_inverse=True, return_counts=True)
        even = np.minimum(((distinct * classes - k) * parts).astype(np.int64), parts - 1)
        if len(np.unique(even)) < len(distinct):
            even = _by_quantile(count, parts)
        found[here] = k * parts + even[which]
    return found


def _by_quantile(count: Ints, parts: int) -> Ints:
    """Return the bin of each distinct score: its own while there are bins, else equal shares."""
    if len(count) <= parts:
        return (np.arange(len(count)) * parts) // len(count)
    middle = (np.cumsum(count) - count / 2) / count.sum()
    return np.minimum((middle * parts).astype(np.int64), parts - 1)


def bin_middle(code: Ints, classes: int, parts: int = PARTS) -> Floats:
    """Return the score in the middle of a bin of equal width."""
    return (code + 0.5) / (classes * parts)


def raters_of_scores(ratings: Ratings) -> Bools:
    """Return whether each rater gave scores and no answer, (rater,)."""
    found = np.zeros(len(ratings.raters), bool)
    found[ratings.rater[ratings.scores_alone]] = True
    found[ratings.rater[(ratings.answers >= 0).any(axis=1)]] = False
    return found
