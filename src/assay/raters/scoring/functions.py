"""Measures of scores on arrays: guesses, order, correlation, calibration."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay.raters.scoring.rankings import Runs, ahead, ranking_totals

Values = NDArray[np.float64]


def brier(yes: Values, no: Values, score: Values) -> Values:
    r"""Brier score: the mean of :math:`(p - y)^2`.

    Parameters
    ----------
    yes, no : ndarray of float (..., run)
        Total weight of the positive and of the other items of each score.
    score : ndarray of float (run,)
        In [0, 1].

    Returns
    -------
    ndarray of float (...)
        In [0, 1], 0 is best.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly
    Weather Review 78(1), 1-3.

    Examples
    --------
    >>> float(brier(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.5, 0.25])))
    0.15625
    """
    return divided(yes @ (1 - score) ** 2 + no @ score**2, (yes + no).sum(axis=-1))


def calibration_error(yes: Values, no: Values, score: Values, edges: Values) -> Values:
    r"""Return the expected calibration error (ECE).

    Parameters
    ----------
    yes, no : ndarray of float (..., run)
        Total weight of the positive and of the other items of each score.
    score : ndarray of float (run,)
        In [0, 1].
    edges : ndarray of float (bin,)
        Upper ends of the bins, the last one 1; an end belongs to the bin below it.

    Returns
    -------
    ndarray of float (...)
        In [0, 1], 0 is best.

    Notes
    -----
    :math:`\sum_b \frac{n_b}{n} |\bar y_b - \bar p_b|` over bins of scores. It is biased upwards:
    a calibrated score has a positive error too, the more so the fewer items and the more bins.

    References
    ----------
    Guo, C. et al. (2017). On calibration of modern neural networks. ICML, PMLR 70, 1321-1330.
    Kumar, A., Liang, P. & Ma, T. (2019). Verified uncertainty calibration. NeurIPS 32.

    Examples
    --------
    >>> yes, no = np.array([[3.0, 1.0]]), np.array([[1.0, 4.0]])
    >>> calibration_error(yes, no, np.array([0.75, 0.3]), equal_width_edges(10)).round(4)
    array([0.0556])
    """
    inside = (np.searchsorted(edges, score)[:, None] == np.arange(len(edges))).astype(float)
    excess = yes - (yes + no) * score
    return divided(np.abs(excess @ inside).sum(axis=-1), (yes + no).sum(axis=-1))


def equal_width_edges(bins: int) -> Values:
    """Upper ends of bins that are equally wide."""
    return np.arange(1, bins + 1) / bins


def equal_mass_edges(score: Values, bins: int) -> Values:
    """Upper ends of bins that hold equally many of the scores (item,), so far as ties allow.

    The sorted scores are cut into ``bins`` parts, whose sizes differ by one at most; an end lies
    half-way between the scores beside it. Ends that fall together are one.
    """
    parts = np.array_split(np.sort(score), min(bins, len(score)))
    ends = [(left[-1] + right[0]) / 2 for left, right in pairwise(parts)]
    return np.unique([*ends, 1.0])


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


def auroc(yes: Values, no: Values) -> Values:
    r"""Area under the ROC curve.

    Parameters
    ----------
    yes, no : ndarray of float (..., run)
        Total weight of the positive and of the other items of each score, highest score first.

    Returns
    -------
    ndarray of float (...)
        In [0, 1]; NaN if one of the two is missing altogether.

    Notes
    -----
    The probability that a positive item has a higher score than another one, ties counting half
    (Hanley & McNeil 1982):

    .. math:: \frac{1}{YN} \sum_r y_r \Big(\sum_{q > r} n_q + n_r / 2\Big).

    References
    ----------
    Hanley, J. A. & McNeil, B. J. (1982). The meaning and use of the area under a receiver
    operating characteristic (ROC) curve. Radiology 143(1), 29-36.

    Examples
    --------
    >>> float(auroc(np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0])))
    0.9166666666666666
    """
    total = no.sum(axis=-1)
    below = total[..., None] - np.cumsum(no, axis=-1)
    wins = (yes * (below + no / 2)).sum(axis=-1)
    return divided(wins, yes.sum(axis=-1) * total)


def average_precision(yes: Values, no: Values) -> Values:
    r"""Average precision, each distinct score being one threshold.

    Parameters
    ----------
    yes, no : ndarray of float (..., run)
        Total weight of the positive and of the other items of each score, highest score first.

    Returns
    -------
    ndarray of float (...)
        In [0, 1]; NaN if no item is positive.

    Notes
    -----
    :math:`\sum_r (R_r - R_{r-1}) P_r` with recall :math:`R_r` and precision :math:`P_r` of all
    items down to score :math:`r`. Tied items enter together, so that their order is no matter.

    Examples
    --------
    >>> float(average_precision(np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])))
    0.8333333333333333
    """
    hits = np.cumsum(yes, axis=-1)
    seen = hits + np.cumsum(no, axis=-1)
    precision = hits / np.where(seen == 0, 1.0, seen)
    return divided((yes * precision).sum(axis=-1), hits[..., -1])


def kendall_tau(counts: Values, size: Values, runs: Runs) -> Values:
    r"""Kendall's :math:`\tau_b` of each ranking.

    Parameters
    ----------
    counts : ndarray of float (level, ..., run)
        Number of items of each level, the lowest level first, in each run, highest score first.
    size : ndarray of float (..., run)
        Number of items in each run.
    runs : Runs

    Returns
    -------
    ndarray of float (..., ranking)
        In [-1, 1]; NaN where all items of a ranking have one score or one level.

    Notes
    -----
    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_s)(P - T_y)}}

    with :math:`C` concordant and :math:`D` discordant pairs of all :math:`P` pairs, :math:`T_s`
    of them tied in the score and :math:`T_y` in the truth (Kendall 1945).

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.

    Examples
    --------
    >>> from assay.raters.scoring.rankings import run_totals, tied_runs
    >>> runs = tied_runs(np.array([0.9, 0.5, 0.1]))
    >>> truth = np.array([1, 0, 0])
    >>> counts = run_totals(np.stack([truth == 0, truth == 1]), runs)
    >>> kendall_tau(counts, counts.sum(axis=0), runs).round(4)
    array([0.8165])
    """
    everything = ranking_totals(size, runs)
    within = np.stack([ranking_totals(level, runs) for level in counts])
    surplus = sum(_surplus(counts[:level], counts[level], runs) for level in range(1, len(counts)))
    untied = _pairs(everything) - ranking_totals(_pairs(size), runs)
    graded = _pairs(everything) - _pairs(within).sum(axis=0)
    scale = np.sqrt(untied) * np.sqrt(graded)
    return divided(surplus, scale)


def _surplus(lower: Values, level: Values, runs: Runs) -> Values:
    """Concordant minus discordant pairs of the items of a level with those of lower levels."""
    below = lower.sum(axis=0)
    above = ahead(below, runs)
    after = ranking_totals(below, runs)[..., runs.ranking] - above - below
    return ranking_totals(level * (after - above), runs)


def _pairs(count: Values) -> Values:
    return np.asarray(count * (count - 1) / 2)
