"""Measures of guesses: what a rater decides, against the truth."""

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided

Values = NDArray[np.float64]


def accuracy(hit: Values, false_alarm: Values, miss: Values, rejection: Values) -> Values:
    """Share of guesses that are right."""
    return divided(hit + rejection, hit + false_alarm + miss + rejection)


def precision(hit: Values, false_alarm: Values) -> Values:
    """Share of the positive guesses that are right; NaN if there is no positive guess."""
    return divided(hit, hit + false_alarm)


def recall(hit: Values, miss: Values) -> Values:
    """Share of the positive items that are guessed; NaN if no item is positive."""
    return divided(hit, hit + miss)


def f1(hit: Values, false_alarm: Values, miss: Values) -> Values:
    """Harmonic mean of precision and recall; NaN if nothing is positive, in truth or guess."""
    return divided(2 * hit, 2 * hit + false_alarm + miss)
