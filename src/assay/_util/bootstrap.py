"""Cluster bootstrap within strata."""

import numpy as np

from assay._util.typing import Floats, Ints


def times_drawn(stratum: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap weights of clusters, (cluster, draw); each stratum keeps its size.

    Of the :math:`n` clusters of a stratum :math:`n - 1` are drawn with replacement and weigh
    :math:`n / (n - 1)` each, which makes the variance of a mean unbiased: :math:`n` draws would
    give
    :math:`(n - 1) / n` of it. A stratum of one cluster adds no variance.
    Rao, J. N. K. & Wu, C. F. J. (1988). Resampling inference with complex survey data. JASA 83,
    231-241.
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
