"""Measures of probabilities: does a score mean what it says?"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided

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
