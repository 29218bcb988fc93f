"""Whether the data show any event: weights of clusters cannot tell how rare an unseen one is."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.evaluation.known import known_totals
from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import Metric
from assay.quotients import divided
from assay.ratings import Ratings
from assay.states import MISSING, Vectors

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
OFTEN = 0.025
"""Share of draws without an event from which weights of clusters say too little: an end of a 95 %
interval would be the end of the range, where the share of a population is not."""


def without_event(
    chosen: Sequence[Metric], ratings: Ratings, layout: PanelLayout, draws: Values
) -> Flags:
    """Which metrics sit at one end of their range, for some system, in answers or in draws.

    Parameters
    ----------
    chosen : sequence of Metric
    ratings : Ratings
    layout : PanelLayout
    draws : ndarray of float (metric, draw, system)

    Returns
    -------
    ndarray of bool (metric,)
        True if for some system that has ratings the metric has the smallest (or everywhere the
        largest) possible value whichever rating of an item is taken for its truth, or has it in
        more than ``OFTEN`` of the draws in which it is defined. The labels of a system without
        ratings are the model's prediction as they are.
    """
    ends = [metric.limits for metric in chosen]
    drawn = [_often_at_an_end(values, end) for values, end in zip(draws, ends, strict=True)]
    stuck = np.ones((len(chosen), 2, len(layout.systems)), bool)
    for answers in recorded_answers(ratings):
        for m in map(int, np.flatnonzero(stuck.any(axis=(1, 2)))):
            totals = known_totals(chosen[m], ratings.task, answers, layout).sum(axis=1)
            stuck[m] &= _at_ends(divided(*totals), ends[m])
    quiet = (stuck | np.stack(drawn))[..., _rated(ratings, layout)]
    return np.asarray(quiet.any(axis=(1, 2)))


def _rated(ratings: Ratings, layout: PanelLayout) -> Flags:
    """Whether each system has a rating."""
    items = ratings.item[ratings.answered]
    panels = (np.isin(layout.item, items) & layout.mask).any(axis=1)
    return np.array([part.any() for part in np.split(panels, layout.bounds[1:-1])])


def recorded_answers(ratings: Ratings) -> Iterator[Vectors]:
    """Give label arrays (item, label) that hold, together, every rating of every item.

    The n-th holds the n-th rating of each item, or its last; ``MISSING`` where there is none. A
    score stands for the class that it is nearest to.
    """
    answers = _with_scores(ratings)
    answered = np.flatnonzero((answers != MISSING).any(axis=1))
    order = answered[np.argsort(ratings.item[answered], kind="stable")]
    counts = np.bincount(ratings.item[order], minlength=len(ratings.items))
    rated = np.flatnonzero(counts)
    first = (counts.cumsum() - counts)[rated]
    for n in range(int(counts.max(initial=0))):
        labels = np.full((len(counts), answers.shape[1]), MISSING, np.int16)
        labels[rated] = answers[order[first + np.minimum(n, counts[rated] - 1)]]
        yield labels


def _with_scores(ratings: Ratings) -> Vectors:
    """Answers (rating, label), with the nearest class where there is only a score."""
    highest = np.array([len(label.classes) - 1 for label in ratings.task.labels])
    scored = np.nonzero((ratings.answers == MISSING) & np.isfinite(ratings.scores))
    answers = ratings.answers.copy()
    answers[scored] = np.floor(ratings.scores[scored] * highest[scored[1]] + 0.5)
    return answers


def _often_at_an_end(values: Values, ends: tuple[float, float]) -> Flags:
    """Whether draws (draw, system) are often at an end, or never defined: (end, system)."""
    defined = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    at = [(np.isclose(values, end, rtol=0, atol=1e-9)).sum(axis=0) / defined for end in ends]
    return (np.stack(at) > OFTEN) | np.isnan(values).all(axis=0)


def _at_ends(values: Values, ends: tuple[float, float]) -> Flags:
    """Whether values (..., system) are undefined or at one end of the range: (end, ..., system)."""
    at = [np.isclose(values, end, rtol=0, atol=1e-9) for end in ends]
    return np.stack(at) | np.isnan(values)
