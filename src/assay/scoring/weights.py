"""Weights that turn a number about these items into one about clusters like these."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arguments import require_choice
from assay.errors import ModelError
from assay.evaluation.estimands import (
    ESTIMANDS,
    MIN_CLUSTERS,
    WEIGHTS_SEED,
    ClusterWeights,
    cluster_keys,
    gamma_shapes,
)
from assay.evaluation.panels import first_stage
from assay.plurals import counted

Values = NDArray[np.float64]


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
        by_ranking = (weight * self.clusters.design)[:, self.ranking]
        return weight[:, self.cluster] * self.design, by_ranking


def item_weights(
    estimand: str,
    cluster: NDArray[np.object_],
    design: Values,
    stratum: NDArray[np.object_],
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
        Design weights, which the population counts; a ranking counts the mean of its items'.
    stratum : ndarray of object (item,)
        Names of the strata; each keeps its share of the design weights.
    by_cluster : bool
        Whether each cluster has its ranking.

    Raises
    ------
    ModelError
        If there is no such estimand, or the clusters cannot stand for a population.
    """
    require_choice("estimand", estimand, ESTIMANDS)
    if estimand == "finite":
        return None
    names, place = np.unique(cluster.astype(str), return_inverse=True)
    joined = first_stage(place, np.unique(stratum.astype(str), return_inverse=True)[1])
    strata = np.unique(joined, return_inverse=True)[1]
    freedom = len(names) - int(strata.max())
    if not by_cluster or freedom < MIN_CLUSTERS:
        count = counted(len(names), "cluster") + (
            f" in {strata.max() + 1} strata" if strata.max() else ""
        )
        raise ModelError(
            f"estimand='population' needs by='cluster' and at least {MIN_CLUSTERS} clusters (there "
            f"are {count}; strata beyond the first take one each): with fewer the Bayesian "
            "bootstrap is too narrow; use estimand='finite', which is about these items"
        )
    total = np.bincount(place, design)
    return ItemWeights(
        clusters=ClusterWeights(
            keys=cluster_keys(tuple(str(name) for name in names), WEIGHTS_SEED),
            stratum=strata,
            design=total / np.bincount(place),
            shape=gamma_shapes(strata, total),
        ),
        cluster=place.astype(np.int64),
        design=design,
        ranking=np.arange(len(names)),
    )
