"""Tests whether a fitted model reproduces the answers' departures from independent raters."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Floats
from assay.checks.departures.null_model import TINY, LabelRows, NullFit, fit_null
from assay.checks.departures.report import MEANINGS
from assay.checks.departures.search import (
    CELLS,
    SEED,
    SIZE,
    Sets,
    label_rows,
    statistics,
    upper_tail,
)
from assay.data.ratings import Ratings
from assay.data.states import Vectors

MOST_REPLICATES = 60
"""Most replicates that are tested: each is fitted by the quick model."""


def independence_lines(
    ratings: Ratings, replicated: Sequence[Vectors]
) -> list[tuple[str, str, Floats, float | None]]:
    """Compare the statistics of the departure tests with replicates of a fitted model.

    Return label, question, the largest statistic for data and each replicate in their SDs (1 +
    replicate,), and its upper tail. The tail is None if too small to report. Gated labels are left
    out: other raters answer them in replicates.
    """
    found = []
    for n, every in label_rows(ratings, np.random.default_rng(SEED)).items():
        label, rows = ratings.task.labels[n], every.of_several()
        if label.asked_if:
            continue
        first = fit_null(rows)
        observed = statistics(rows, first, ratings)
        drawn = _of_replicates(rows, first, [a[rows.place, n] for a in replicated], ratings)
        for code, seen in observed.items():
            values = np.concatenate([sets[code].values for sets in drawn])
            spread = values.std(axis=0, ddof=1) + TINY
            more = np.concatenate([seen.values, values]) - values.mean(axis=0)
            scores, top = (more / spread).max(axis=1), (more[0] / spread).argmax()
            tail = float(upper_tail(scores[0], scores[1:])) if more[0, top] >= SIZE[code] else None
            found.append((label.name, MEANINGS[code].asked, scores, tail))
    return found


def _of_replicates(
    rows: LabelRows, first: NullFit, answers: list[NDArray[np.int16]], ratings: Ratings
) -> list[Sets]:
    """Return the statistics of replicates, computed several at once."""
    size = max(1, CELLS // (len(rows.item) * first.own.shape[-1] * rows.classes))
    found = []
    for start in range(0, len(answers), size):
        told = np.stack(answers[start : start + size], axis=1).astype(np.int64)
        again = replace(rows, answer=told)
        found.append(statistics(again, first, ratings))
    return found
