"""Ranks: how likely each system is the best, the second, ..., and what choosing it would cost."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.comparison.pairs import TIE

Values = NDArray[np.float64]
SIGNS = {"higher": 1, "lower": -1}
"""What makes larger values the better ones; a metric that is better neither way has no sign."""


def rank_probabilities(values: Values) -> Values:
    """Return the probability of each rank, ties sharing theirs evenly.

    Parameters
    ----------
    values : ndarray of float (draw, system)
        Larger is better; no NaN.

    Returns
    -------
    ndarray of float (system, rank)
        Rows and columns add up to 1.

    Examples
    --------
    >>> rank_probabilities(np.array([[0.3, 0.2], [0.1, 0.2], [0.4, 0.4], [0.9, 0.4]]))
    array([[0.625, 0.375],
           [0.375, 0.625]])
    """
    places = np.arange(values.shape[1])
    ahead = np.zeros(values.shape, np.int64)
    level = np.zeros(values.shape, np.int64)
    for other in places:
        gap = values[:, [other]] - values
        ahead += gap > TIE
        level += np.abs(gap) <= TIE
    last = ahead + level
    holds = (places >= ahead[..., None]) & (places < last[..., None])
    return np.asarray((holds / level[..., None]).mean(axis=0))


def expected_loss(values: Values) -> Values:
    r"""Return how far each system is behind the best one, on average.

    Parameters
    ----------
    values : ndarray of float (draw, system)
        Larger is better; no NaN.

    Returns
    -------
    ndarray of float (system,)

    Notes
    -----
    :math:`L_s = \mathrm E[\max_r m_r - m_s]`: what one gives away, in units of the metric, by
    choosing :math:`s` now instead of the system that is best in truth.

    Examples
    --------
    >>> expected_loss(np.array([[0.3, 0.2], [0.1, 0.2]]))
    array([0.05, 0.05])
    """
    return np.asarray((values.max(axis=1, keepdims=True) - values).mean(axis=0))


def rank_table(values: Values, better: str) -> pd.DataFrame:
    """Return the rank columns of one metric, a line per system.

    Parameters
    ----------
    values : ndarray of float (draw, system)
        Draws with a NaN are left out.
    better : {"higher", "lower", "neither"}
        Which values are better. If neither are, there is no best one: all probabilities and
        losses are NaN.

    Returns
    -------
    pandas.DataFrame
        ``p_best``, ``expected_loss``, ``unranked`` (share of the draws that are left out),
        ``p_rank_1``, ``p_rank_2``, ...
    """
    systems = values.shape[1]
    complete = values[~np.isnan(values).any(axis=1)]
    table = np.full((systems, systems + 1), np.nan)
    if better in SIGNS and len(complete):
        upward = SIGNS[better] * complete
        table = np.column_stack([expected_loss(upward), rank_probabilities(upward)])
    ranks = pd.DataFrame(table[:, 1:], columns=[f"p_rank_{n + 1}" for n in range(systems)])
    front = pd.DataFrame(
        {
            "p_best": table[:, 1],
            "expected_loss": table[:, 0],
            "unranked": 1 - len(complete) / len(values),
        }
    )
    return pd.concat([front, ranks], axis=1)
