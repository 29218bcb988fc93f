"""Measures of scores on arrays: guesses, order, correlation, calibration.

A run is the items of one score, the highest first. ``yes`` and ``no`` (..., run) are total weights
of its positive and other items.
"""

from itertools import pairwise

import numpy as np

from assay._util.arrays import divided
from assay._util.typing import Floats
from assay.raters.scoring.rankings import Runs, ahead, ranking_totals


def brier(yes: Floats, no: Floats, score: Floats) -> Floats:
    """Return the Brier score, the mean of :math:`(p - y)^2`, in [0, 1]; 0 is best."""
    return divided(yes @ (1 - score) ** 2 + no @ score**2, (yes + no).sum(axis=-1))


def calibration_error(yes: Floats, no: Floats, score: Floats, edges: Floats) -> Floats:
    r"""Return the expected calibration error, :math:`\sum_b \frac{n_b}{n} |\bar y_b - \bar p_b|`
    over bins of scores with upper ends ``edges`` (bin,), the last of them 1.

    Few items and many bins bias it upwards (Guo et al. 2017, ICML; Kumar, Liang & Ma 2019,
    NeurIPS).
    """
    inside = (np.searchsorted(edges, score)[:, None] == np.arange(len(edges))).astype(float)
    excess = yes - (yes + no) * score
    return divided(np.abs(excess @ inside).sum(axis=-1), (yes + no).sum(axis=-1))


def equal_width_edges(bins: int) -> Floats:
    """Return the upper ends of bins of equal width."""
    return np.arange(1, bins + 1) / bins


def equal_mass_edges(score: Floats, bins: int) -> Floats:
    """Return the upper ends of bins that hold equally many scores (item,), so far as ties allow.

    An end lies half-way between the scores beside it; equal ends are merged.
    """
    parts = np.array_split(np.sort(score), min(bins, len(score)))
    ends = [(left[-1] + right[0]) / 2 for left, right in pairwise(parts)]
    return np.unique([*ends, 1.0])


def accuracy(hit: Floats, false_alarm: Floats, miss: Floats, rejection: Floats) -> Floats:
    """Return the share of guesses that are right."""
    return divided(hit + rejection, hit + false_alarm + miss + rejection)


def precision(hit: Floats, false_alarm: Floats) -> Floats:
    """Return the share of the positive guesses that are right; NaN without positive guesses."""
    return divided(hit, hit + false_alarm)


def recall(hit: Floats, miss: Floats) -> Floats:
    """Return the share of the positive items that are guessed; NaN if no item is positive."""
    return divided(hit, hit + miss)


def f1(hit: Floats, false_alarm: Floats, miss: Floats) -> Floats:
    """Return the harmonic mean of precision and recall; NaN if no item and no guess is positive."""
    return divided(2 * hit, 2 * hit + false_alarm + miss)


def auroc(yes: Floats, no: Floats) -> Floats:
    r"""Return the area under the ROC curve; NaN without positive or without other items.

    .. math:: \frac{1}{YN} \sum_r y_r \Big(\sum_{q > r} n_q + n_r / 2\Big)

    (Hanley & McNeil 1982, Radiology 143(1), 29-36).
    """
    total = no.sum(axis=-1)
    below = total[..., None] - np.cumsum(no, axis=-1)
    wins = (yes * (below + no / 2)).sum(axis=-1)
    return divided(wins, yes.sum(axis=-1) * total)


def average_precision(yes: Floats, no: Floats) -> Floats:
    r"""Return :math:`\sum_r (R_r - R_{r-1}) P_r` with recall and precision of all items down to
    score :math:`r`; ties enter together. NaN without positives.
    """
    hits = np.cumsum(yes, axis=-1)
    seen = hits + np.cumsum(no, axis=-1)
    precision = hits / np.where(seen == 0, 1.0, seen)
    return divided((yes * precision).sum(axis=-1), hits[..., -1])


def kendall_tau(counts: Floats, size: Floats, runs: Runs) -> Floats:
    r"""Return Kendall's :math:`\tau_b` of each ranking (1945, Biometrika 33(3), 239-251); NaN if
    all scores or all levels are equal. ``counts`` (level, ..., run) are numbers of items.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_s)(P - T_y)}}

    with :math:`C` concordant and :math:`D` discordant of :math:`P` pairs, :math:`T_s` tied in the
    score and :math:`T_y` in the truth.
    """
    everything = ranking_totals(size, runs)
    within = np.stack([ranking_totals(level, runs) for level in counts])
    surplus = sum(_surplus(counts[:level], counts[level], runs) for level in range(1, len(counts)))
    untied = _pairs(everything) - ranking_totals(_pairs(size), runs)
    graded = _pairs(everything) - _pairs(within).sum(axis=0)
    scale = np.sqrt(untied) * np.sqrt(graded)
    return divided(surplus, scale)


def _surplus(lower: Floats, level: Floats, runs: Runs) -> Floats:
    """Return concordant minus discordant pairs of a level's items with those of lower levels."""
    below = lower.sum(axis=0)
    above = ahead(below, runs)
    after = ranking_totals(below, runs)[..., runs.ranking] - above - below
    return ranking_totals(level * (after - above), runs)


def _pairs(count: Floats) -> Floats:
    return np.asarray(count * (count - 1) / 2)
