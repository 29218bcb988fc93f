"""Estimands, and the random weights of clusters that stand for the population."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from assay._util.typing import Bools, Floats, Ints
from assay.evaluation.panels import PanelLayout

Estimand = Literal["population", "finite"]
ESTIMANDS: tuple[Estimand, ...] = ("finite", "population")

WEIGHTS_SEED = 1
"""Default seed of the weights: the same for all fits, so that fits of different tasks pair."""

MIN_CLUSTERS = 20
"""Clusters (less the strata beyond the first) below which the model predicts some of the draws.

Below, the weights of clusters are too narrow; with half as many, the model predicts all draws.
"""
CLUSTERS_ENOUGH, CLUSTERS_FEW = 30, 10
"""Effective numbers of clusters: from 30 on, the weights are Dirichlet(1, ..., 1); up to 10, they
are widened in full.
"""

RUN = 1_000_000
LEAST_SHAPE = 0.05
"""Least shape of the gamma variates: at 0, one of two clusters would have all the weight."""

MODELLED = "model-based"
GOLDEN = 0.5 * (5**0.5 - 1)

Keys = NDArray[np.uint64]

# The constants of SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def modelled(because: str, share: float = 1.0) -> str:
    """Name a population that the model predicts, in whole or by a share, and the reason."""
    part = f"{round(100 * share)}% " if share < 1 else ""
    return f"population ({part}{MODELLED}: {because})"


def share_of_model(freedom: int, enough: int = MIN_CLUSTERS) -> float:
    """Return the share of a population's draws that the model predicts.

    ``freedom`` counts the clusters less the strata beyond the first; from ``enough`` on, it is 0.
    """
    return round(min(1.0, max(0.0, 2 - freedom / (enough / 2))), 6)


def draws_of_model(share: float, draws: int) -> Bools:
    """Mark the draws that the model predicts: evenly spread, the same in every fit."""
    return np.asarray((np.arange(1, draws + 1) * GOLDEN) % 1 < share)


def is_modelled(estimand: str) -> bool:
    """Return whether an estimand's name says that the model predicts it, in whole or part."""
    return MODELLED in estimand


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterWeights:
    r"""Bayesian bootstrap weights of clusters, computed when a run of draws is asked for.

    keys : start of each cluster's random stream (cluster,)
    design : design weight of a cluster (cluster,)
    shape : of the gamma variates in its stratum, 1 from 30 clusters on (cluster,)

    .. math:: w_c = \frac{D_h}{D} \frac{e_c}{\sum_{b \in h} e_b d_b}, \quad
              D_h = \sum_{b \in h} d_b, \quad D = \sum_h D_h,

    for a cluster of stratum :math:`h`, :math:`e_c` independent Exp(1) and :math:`d_c` the design
    weight (Rubin 1981, Annals of Statistics 9(1), 130-134). :math:`e_c` depends on the cluster's
    name, the draw and the seed alone, so that systems and fits share it (SplitMix64: Steele, Lea &
    Flood 2014, OOPSLA, 453-472).

    A mean of :math:`n` clusters then has :math:`(n - 1) / (n + 1)` of its sampling variance. So in
    a stratum of few clusters :math:`e_c` becomes the quantile of Gamma(:math:`1 - 2 t / k`) at its
    own probability. :math:`k = (\sum_c d_c n_c)^2 / \sum_c (d_c n_c)^2` is the effective number of
    clusters (Kish 1965), with :math:`n_c` panels each, and :math:`t` falls from 1 at ten clusters
    to 0 at thirty.
    """

    keys: Keys
    stratum: Ints
    design: Floats
    shape: Floats

    def __getitem__(self, draws: slice) -> Floats:
        """Return the weights of a run of draws, (draw, cluster)."""
        weights = exponentials(self.keys, np.arange(draws.start or 0, draws.stop))
        few = self.shape < 1
        weights[:, few] = gammaincinv(self.shape[few], -np.expm1(-weights[:, few]))
        design = np.bincount(self.stratum, self.design)
        for drawn in weights:
            total = np.bincount(self.stratum, drawn * self.design)
            share = np.divide(design, total, out=np.zeros_like(total), where=total > 0)
            drawn *= share[self.stratum] / design.sum()
        return weights


def mass_of_clusters(layout: PanelLayout, draws: int, seed: int) -> Floats:
    """Return the sum of the clusters' exponential variates, (draw,)."""
    keys = cluster_keys(layout.clusters, seed)
    run = max(1, RUN // len(keys))
    starts = range(0, draws, run)
    parts = [exponentials(keys, np.arange(k, min(k + run, draws))).sum(axis=1) for k in starts]
    return np.concatenate(parts)


def cluster_weights(layout: PanelLayout, seed: int = WEIGHTS_SEED) -> ClusterWeights:
    """Return the Bayesian bootstrap weights of a layout's clusters.

    Fits with the same seed give the same weights to clusters of the same name.
    """
    size = len(layout.clusters)
    panels = np.bincount(layout.cluster, minlength=size)
    total = np.bincount(layout.cluster, weights=layout.weight, minlength=size)
    return ClusterWeights(
        keys=cluster_keys(layout.clusters, seed),
        stratum=layout.stratum,
        design=total / panels,
        shape=gamma_shapes(layout.stratum, total),
    )


def gamma_shapes(stratum: Ints, size: Floats) -> Floats:
    """Return the shape of each cluster's gamma variates, by the effective number in its stratum.

    ``size`` (cluster,) is the cluster's part of its stratum.
    """
    squares = np.bincount(stratum, size**2)
    some = np.where(squares > 0, squares, 1.0)
    effective = np.maximum(np.bincount(stratum, size) ** 2 / some, 1.0)
    # Rounding must not count 30 equal clusters as fewer.
    few = (CLUSTERS_ENOUGH - effective) / (CLUSTERS_ENOUGH - CLUSTERS_FEW)
    few = np.where(effective > CLUSTERS_ENOUGH - 1e-6, 0.0, few.clip(0.0, 1.0))
    shape = 1 - 2 / effective * few
    return np.asarray(shape.clip(min=LEAST_SHAPE)[stratum])


def cluster_keys(clusters: tuple[str, ...], seed: int) -> Keys:
    """Hash each cluster's name with the seed to 64 bits, the same on every machine."""
    salt = str(seed).encode()
    digests = [blake2b(name.encode(), key=salt, digest_size=8).digest() for name in clusters]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def exponentials(keys: Keys, draws: Ints) -> Floats:
    """Return Exp(1) variates, (draw, cluster)."""
    return np.asarray(-np.log(uniforms(keys, draws)))


def uniforms(keys: Keys, draws: Ints) -> Floats:
    """Return uniform variates (draw, key): number ``draw`` of the SplitMix64 stream at each key."""
    state = keys + (draws[:, None].astype(np.uint64) + np.uint64(1)) * _STEP
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    state ^= state >> np.uint64(31)
    # The middle of one of 2^53 equal parts of (0, 1): never 0 and never 1.
    return np.asarray(((state >> np.uint64(11)) + 0.5) * 2.0**-53)
