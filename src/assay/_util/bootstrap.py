"""Cluster bootstrap within strata."""

import numpy as np

from assay._util.typing import Floats, Ints


def times_drawn(stratum: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Return bootstrap weights of clusters, (cluster, draw); each stratum keeps its size.

    Of its :math:`n` clusters :math:`n - 1` are drawn and weigh :math:`n / (n - 1)` each, which
    makes the variance of a mean unbiased (Rao & Wu 1988, JASA 83, 231-241); of one cluster it is 0.
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
