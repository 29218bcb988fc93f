"""Agreement of each rater with the other raters of the same items, without a model."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from assay._util.arrays import divided
from assay._util.intervals import require_level, tails
from assay._util.typing import Floats, Ints
from assay.data.majority_vote import count_of_others
from assay.data.ratings import Ratings, require_ratings

COLUMNS = (
    "rater", "group", "label", "n_shared", "agreement", "agreement_lower", "agreement_upper",
    "level",
)  # fmt: skip


def rater_agreement(ratings: Ratings, *, level: float = 0.95) -> pd.DataFrame:
    r"""Measure how often the other raters of the same items answer as each rater does.

    This is the raw counterpart of :func:`assay.rater_reliability`: it needs no model, and cannot
    identify which of two disagreeing raters is right.

    Parameters
    ----------
    ratings : Ratings
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        A line per rater and label, with ``rater``, ``group``, ``label`` and ``level``.
        ``n_shared`` counts the items that the rater and another rater answered. ``agreement`` is
        the mean share of the other raters' answers that equal the rater's, with
        ``agreement_lower`` and ``agreement_upper``; NaN without such items.

    Raises
    ------
    ModelError
        If ``ratings`` are not Ratings.
    FitError
        If ``level`` is out of range.

    Notes
    -----
    With :math:`n_{ik}` of the :math:`n_i` raters of item :math:`i` in class :math:`k`, and
    :math:`k_{ij}` the answer of rater :math:`j`, the leave-one-out agreement is

    .. math:: A_j = \frac1{m_j} \sum_{i: n_i \ge 2} \frac{n_{i k_{ij}} - 1}{n_i - 1},

    over the :math:`m_j` items that :math:`j` and another rater answered. Only a rater's first
    rating of an item counts. Intervals are Wilson's at the effective sample size
    :math:`A_j (1 - A_j) / v_j`, at most :math:`m_j`. Here :math:`v_j` is the linearised variance
    between clusters. The quantile is that of Student's t, with one degree of freedom less than
    clusters. Intervals are NaN for fewer than two clusters.

    References
    ----------
    Franco, C., Little, R. J. A., Louis, T. A. & Slud, E. V. (2019). Comparative study of
    confidence intervals for proportions in complex sample surveys. Journal of Survey Statistics
    and Methodology 7, 334-364.
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> from assay.io import read_ratings
    >>> said = {"item": [1, 1, 1, 2, 2, 2], "rater": list("abcabc"), "label": list("xxyyyy")}
    >>> table = rater_agreement(read_ratings(pd.DataFrame(said), task="single"))
    >>> table[["rater", "n_shared", "agreement"]]
      rater  n_shared  agreement
    0     a         2       0.75
    1     b         2       0.75
    2     c         2       0.50
    """
    require_ratings("rater_agreement", ratings)
    require_level(level)
    order = np.lexsort((ratings.replicate, ratings.rater, ratings.item))
    pair = np.column_stack([ratings.item, ratings.rater])[order]
    first = order[np.r_[True, (pair[1:] != pair[:-1]).any(axis=1)][: len(order)]]
    cluster = pd.factorize(ratings.items["cluster"])[0][ratings.item[first]]
    parts = [
        _of_label(ratings, first, cluster, label, level)
        for label in range(ratings.answers.shape[1])
    ]
    table = pd.concat(parts, ignore_index=True).assign(level=level)
    order = np.arange(len(table)).reshape(len(parts), -1).T.ravel()
    return table.iloc[order].reset_index(drop=True)[list(COLUMNS)]


def _of_label(
    ratings: Ratings, first: Ints, cluster: Ints, label: int, level: float
) -> pd.DataFrame:
    """Return the agreement of all raters on one label."""
    given = ratings.answers[first, label] >= 0
    rows, cluster = first[given], cluster[given]
    item, rater, answer = ratings.item[rows], ratings.rater[rows], ratings.answers[rows, label]
    classes = len(ratings.task.labels[label].classes)
    others = count_of_others(item, answer, len(ratings.items), classes)
    shared = others.any(axis=1)
    alike = (others[np.arange(len(rows)), answer] / others.sum(axis=1).clip(1))[shared]
    count, mean, lower, upper = _clustered(
        alike, rater[shared], cluster[shared], len(ratings.raters), level
    )
    return pd.DataFrame(
        {
            "rater": ratings.raters.index.to_numpy(object),
            "group": ratings.raters["group"].to_numpy(object),
            "label": ratings.task.labels[label].name,
            "n_shared": count.astype(int),
            "agreement": mean,
            "agreement_lower": lower,
            "agreement_upper": upper,
        }
    )


def _clustered(
    value: Floats, rater: Ints, cluster: Ints, raters: int, level: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return number, mean and interval of values sampled by clusters, (rater,) each."""
    count = np.bincount(rater, minlength=raters).astype(float)
    mean = divided(np.bincount(rater, value, minlength=raters), count)
    pair, place = np.unique(rater * (cluster.max(initial=0) + 1) + cluster, return_inverse=True)
    owner = pair // (cluster.max(initial=0) + 1)
    residual = np.bincount(place, value - mean[rater], minlength=len(pair))
    clusters = np.bincount(owner, minlength=raters).astype(float)
    spread = np.bincount(owner, residual**2, minlength=raters)
    variance = divided(clusters * spread, (clusters - 1) * count**2)
    binomial = mean * (1 - mean)
    # Agreement of 0 or 1 everywhere has no variance, so each cluster counts once.
    size = np.where(binomial > 0, np.inf, clusters)
    np.divide(binomial, variance, out=size, where=variance > 0)
    size = np.minimum(size, count)
    lower, upper = _wilson(mean, size, stdtrit(np.maximum(clusters - 1, 1), tails(level)[1]))
    known = clusters > 1
    return count, mean, np.where(known, lower, np.nan), np.where(known, upper, np.nan)


def _wilson(mean: Floats, size: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's interval for means of ``size`` independent values."""
    square = divided(quantile**2, size)
    middle = (mean + square / 2) / (1 + square)
    half = np.sqrt(square * mean * (1 - mean) + square**2 / 4) / (1 + square)
    return middle - half, middle + half
