"""Bins of scores: classes cut [0, 1] into equal regions, and each region has a few bins.

Within a bin scores count as equal. Bins are a rater's own: of equal width where that keeps the
rater's distinct scores apart, else by quantiles of its scores, so that heaps never fall apart.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PARTS = 4
"""Bins in the region of a class."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreLayout:
    """Where the bins of each label stand."""

    task: Task
    classes: tuple[int, ...]
    parts: int = PARTS

    @property
    def width(self) -> int:
        """Largest number of codes of a label: bins, then classes."""
        return max(k * self.parts + k for k in self.classes)

    @property
    def bin_names(self) -> tuple[str, ...]:
        """Readable name of each bin: ``label: class 2/4``."""
        return tuple(
            f"{label.name}: {name} {n + 1}/{self.parts}"
            for label in self.task.labels
            for name in label.classes
            for n in range(self.parts)
        )

    @property
    def step_names(self) -> tuple[str, ...]:
        """Readable name of each rise of a likelihood ratio."""
        return tuple(
            f"{label.name}: {label.classes[k]} to {label.classes[k + 1]}, bin {b + 2}"
            for label in self.task.labels
            for k in range(len(label.classes) - 1)
            for b in range(len(label.classes) * self.parts - 1)
        )

    def bin_slice(self, label: int) -> slice:
        """Bins of a label."""
        start = self.parts * sum(self.classes[:label])
        return slice(start, start + self.parts * self.classes[label])

    def step_slice(self, label: int) -> slice:
        """Rises of a label."""
        sizes = [(k - 1) * (k * self.parts - 1) for k in self.classes]
        return slice(sum(sizes[:label]), sum(sizes[: label + 1]))

    def first_row(self, label: int) -> int:
        """Position of the label's first true class."""
        return sum(self.classes[:label])


def score_layout(task: Task) -> ScoreLayout:
    """Lay out the bins of a task."""
    return ScoreLayout(task=task, classes=tuple(len(label.classes) for label in task.labels))


def score_codes(ratings: Ratings, layout: ScoreLayout) -> Ints:
    """Code of each score: its bin; behind the bins, the class of a guess without a score.

    Returns
    -------
    ndarray of int (rating, label)
        ``MISSING`` where there is neither.
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
    """Bin of each score of one rater: equal scores share one, and order is kept.

    Examples
    --------
    >>> bins_of(np.array([0.0, 0.9, 0.95, 1.0]), classes=2)
    array([0, 4, 5, 6])
    """
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
    """Bin of each distinct score: its own as long as there are bins, else equal shares."""
    if len(count) <= parts:
        return (np.arange(len(count)) * parts) // len(count)
    middle = (np.cumsum(count) - count / 2) / count.sum()
    return np.minimum((middle * parts).astype(np.int64), parts - 1)


def bin_middle(code: Ints, classes: int, parts: int = PARTS) -> Floats:
    """Score in the middle of a bin of equal width."""
    return (code + 0.5) / (classes * parts)


def raters_of_scores(ratings: Ratings) -> NDArray[np.bool_]:
    """Whether each rater gave scores and no answer: what it "answers" is where its scores lie.

    Returns
    -------
    ndarray of bool
        (rater,)

    Examples
    --------
    >>> import pandas as pd
    >>> from assay.io import read_ratings
    >>> said = {"label": ["no", "yes", ""], "p": ["", "0.9", "0.8"]}
    >>> table = pd.DataFrame({"item": [1, 1, 1], "rater": list("abc"), **said})
    >>> ratings = read_ratings(table, task="relevance", labels={"relevance": "label"}, score="p")
    >>> raters_of_scores(ratings).tolist()
    [False, False, True]
    """
    found = np.zeros(len(ratings.raters), bool)
    found[ratings.rater[ratings.scores_alone]] = True
    found[ratings.rater[(ratings.answers >= 0).any(axis=1)]] = False
    return found
