"""Measures of order: do positive items have the higher scores? Ties count half, or as one step."""

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided

Values = NDArray[np.float64]


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
