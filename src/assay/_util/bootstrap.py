"""Clusters drawn with replacement, within strata: how much a number hangs on which they are."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def times_drawn(stratum: Ints, draws: int, rng: np.random.Generator) -> Floats:
    r"""How much each cluster counts: (cluster, draw). Each stratum keeps its size.

    Parameters
    ----------
    stratum : ndarray of int
        Of each cluster.
    draws : int
    rng : numpy.random.Generator

    Notes
    -----
    Of the :math:`n` clusters of a stratum :math:`n - 1` are drawn with replacement, and count
    :math:`n / (n - 1)` each: then a mean varies as sampling has it, where :math:`n` draws would
    leave :math:`(n - 1) / n` of that, in strata of two clusters a half. A stratum of one cluster
    tells nothing of how clusters vary, and adds nothing.

    References
    ----------
    Rao, J. N. K. & Wu, C. F. J. (1988). Resampling inference with complex survey data. Journal of
    the American Statistical Association 83, 231-241.

    Examples
    --------
    >>> times = times_drawn(np.array([0, 0, 1]), 100, np.random.default_rng(1))
    >>> np.unique(times, axis=1)
    array([[0., 2.],
           [2., 0.],
           [1., 1.]])
    """
    times = np.empty((len(stratum), draws))
    for one in np.unique(stratum):
        inside = np.flatnonzero(stratum == one)
        size = len(inside)
        drawn = max(size - 1, 1)
        picked = rng.integers(size, size=(draws, drawn)) + size * np.arange(draws)[:, None]
        counts = np.bincount(picked.ravel(), minlength=size * draws) * (size / drawn)
        times[inside] = counts.reshape(draws, size).T
    return times
