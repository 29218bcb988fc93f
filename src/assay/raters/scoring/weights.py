"""Weights that turn a number about these items into one about clusters like these."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.plurals import counted
from assay._util.validation import require_choice
from assay.evaluation.estimands import (
    ESTIMANDS,
    MIN_CLUSTERS,
    WEIGHTS_SEED,
    ClusterWeights,
    cluster_keys,
    gamma_shapes,
)
from assay.evaluation.item_weights import MEND
from assay.evaluation.panels import first_stage
from assay.raters.scoring.measures import Measure

Values = NDArray[np.float64]


POPULATION = (
    "estimand='population' counts them in the measures of all items, such as precision and auroc, "
    f"if there are at least {MIN_CLUSTERS} clusters"
)


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
        uneven = len(design_range(design, place if by_cluster else np.zeros_like(place)))
        raise ModelError(
            f"estimand='population' needs by='cluster' and at least {MIN_CLUSTERS} clusters (there "
            f"are {count}; strata beyond the first take one each): with fewer the Bayesian "
            "bootstrap is too narrow; "
            + (MEND if uneven else "use estimand='finite', which is about these items"),
            code="few-clusters",
            numbers={"clusters": len(names), "needed": MIN_CLUSTERS},
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


def design_range(design: Values, ranking: NDArray[np.int64]) -> Values:
    """Return the least and the largest weight of rankings in which weights differ.

    Parameters
    ----------
    design : ndarray of float (item,)
        Design weights.
    ranking : ndarray of int (item,)
        Which ranking each item is in.

    Returns
    -------
    ndarray of float
        Two numbers; none if the items of every ranking weigh the same.

    Examples
    --------
    >>> design_range(np.array([1.0, 4.0, 9.0]), np.array([0, 0, 1]))
    array([1., 4.])
    >>> design_range(np.array([1.0, 4.0]), np.array([0, 1]))
    array([], dtype=float64)
    """
    size = int(ranking.max()) + 1
    least, most = np.full(size, np.inf), np.zeros(size)
    np.minimum.at(least, ranking, design)
    np.maximum.at(most, ranking, design)
    uneven = least < most
    return np.array([least[uneven].min(), most[uneven].max()] if uneven.any() else [])


def weights_ignored(
    measures: Sequence[Measure], estimand: str, design: Values, ranking: NDArray[np.int64]
) -> tuple[list[Measure], str]:
    """Find the measures that would ignore weights which differ within a ranking, and say why.

    Returns
    -------
    measures : list of Measure
        All of them for ``finite``, which counts items alike; measures of rankings for
        ``population``.
    reason : str
        ``""`` if there are none.
    """
    ends = design_range(design, ranking)
    ignoring = [m for m in measures if m.ranking or estimand == "finite"] if len(ends) else []
    if not ignoring:
        return [], ""
    head = f"Design weights differ within rankings (from {ends[0]:g} to {ends[1]:g})"
    if estimand == "finite":
        return ignoring, f"{head}, and estimand='finite' counts all items alike: {POPULATION}."
    return ignoring, f"{head}, and orders cannot count them."


def weighable_measures(
    measures: Sequence[Measure], ignoring: Sequence[Measure], reason: str, *, named: bool
) -> list[Measure]:
    """Leave out measures that would ignore design weights.

    Raises
    ------
    ModelError
        If measures are named and one of them ignores the weights, or if none is left.
    """
    kept = [measure for measure in measures if measure not in ignoring]
    if ignoring and (named or not kept):
        names = ", ".join(measure.name for measure in ignoring) if named else "the measures"
        raise ModelError(
            f"{reason} Here {names} would be about the sample alone. {MEND}",
            code="uneven-design-weights",
        )
    return kept
