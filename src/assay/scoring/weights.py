"""Weights that turn a number about these items into one about clusters like these."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError, suggest
from assay.evaluation.estimands import MIN_CLUSTERS, WEIGHTS_SEED, ClusterWeights, cluster_keys

Values = NDArray[np.float64]
ESTIMANDS = ("finite", "population")


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemWeights:
    """Bayesian bootstrap weights of clusters, handed on to their items.

    Attributes
    ----------
    clusters : ClusterWeights
    cluster : ndarray of int (item,)
        Position of each item's cluster.
    design : ndarray of float (item,)
        Design weight of each item.
    ranking : ndarray of int (ranking,)
        Position of each ranking's cluster.
    """

    clusters: ClusterWeights
    cluster: NDArray[np.int64]
    design: Values
    ranking: NDArray[np.int64]

    def __getitem__(self, draws: slice) -> tuple[Values, Values]:
        """Return the weights of items (draw, item) and of rankings (draw, ranking)."""
        weight = self.clusters[draws]
        return weight[:, self.cluster] * self.design, weight[:, self.ranking]


def item_weights(
    estimand: str,
    cluster: NDArray[np.object_],
    design: Values,
    *,
    by_cluster: bool,
) -> ItemWeights | None:
    """Return the weights that an estimand calls for; None if all items weigh the same.

    Parameters
    ----------
    estimand : {"finite", "population"}
    cluster : ndarray of object (item,)
        Names of the clusters.
    design : ndarray of float (item,)
        Design weights, which the population counts.
    by_cluster : bool
        Whether each cluster has its ranking.

    Raises
    ------
    ModelError
        If there is no such estimand, or the clusters cannot stand for a population.
    """
    if estimand not in ESTIMANDS:
        raise ModelError(f"estimand={estimand!r}; {suggest(str(estimand), ESTIMANDS)}")
    if estimand == "finite":
        return None
    names, place = np.unique(cluster.astype(str), return_inverse=True)
    if not by_cluster or len(names) < MIN_CLUSTERS:
        raise ModelError(
            f"estimand='population' needs by='cluster' and at least {MIN_CLUSTERS} clusters (there "
            f"are {len(names)}): with fewer the Bayesian bootstrap is too narrow; use "
            "estimand='finite', which is about these items"
        )
    keys = cluster_keys(tuple(str(name) for name in names), WEIGHTS_SEED)
    even = np.zeros(len(names), np.int64)
    return ItemWeights(
        clusters=ClusterWeights(keys=keys, stratum=even, design=np.ones(len(names))),
        cluster=place.astype(np.int64),
        design=design,
        ranking=np.arange(len(names)),
    )
