"""What the prevalence may depend on: the context of each item, its cluster, and the quadrature."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.modelling.prevalence.covariates import Covariates, find_covariates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MIN_CLUSTERS = 5
MAX_RANKS = 12
PLACED = ("system", "rank", "stratum")
"""Groupings that come with the items; others are those of a formula."""
REACH = 8.0
"""The nodes of the quadrature cover at least as far on both sides of 0."""
STEP = 0.2
BEND = 2.5
"""Where the distance of the nodes begins to grow."""
PANEL_REACH, PANEL_STEP = 6.0, 0.3
"""The same where panels have effects of their own: there the cost grows with the nodes' square."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Effect:
    """One grouping of items whose levels shift the main effects.

    ``share`` (context, level) says which share of the context's places in ranked lists belongs to
    the level: an item that two systems retrieved is half of each.
    """

    name: str
    levels: tuple[str, ...]
    share: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Contexts of items, clusters and the quadrature over the cluster effect.

    Attributes
    ----------
    effects : tuple of Effect
    covariates : tuple of str
        Columns of the formula.
    covariate_values : ndarray (context, covariate)
    item_context : ndarray of int (item,)
    systems : tuple of str
        Empty if there are none.
    system_share : ndarray (system, context)
        Share of each context among the places of each system (one row without systems).
    cluster : ndarray of int (item,) or None
        Cluster of each item if clusters have an effect.
    panel : ndarray of int (item,) or None
        Panel of each item if systems have effects of their own on a cluster, numbered in the order
        of the clusters.
    nodes, log_weight : ndarray (node,)
        Quadrature over a standard normal cluster effect; one node at 0 without it.
    """

    effects: tuple[Effect, ...]
    covariates: tuple[str, ...]
    covariate_values: Floats
    item_context: Ints
    systems: tuple[str, ...]
    system_share: Floats
    cluster: Ints | None
    panel: Ints | None
    nodes: Floats
    log_weight: Floats

    @property
    def contexts(self) -> int:
        """Number of distinct contexts."""
        return int(self.system_share.shape[1])

    def by_item(self) -> Covariates:
        """Return what the formula made of each item, to be kept in the fit."""
        own = [effect for effect in self.effects if effect.name not in PLACED]
        return Covariates(
            names=self.covariates,
            values=self.covariate_values[self.item_context],
            groupings={
                effect.name: (effect.levels, effect.share.argmax(axis=1)[self.item_context])
                for effect in own
            },
        )


def normal_quadrature(step: float = STEP, reach: float = REACH) -> tuple[Floats, Floats]:
    r"""Nodes and log weights for a standard normal: the trapezoidal rule in a bent coordinate.

    Parameters
    ----------
    step : float
        Distance of the nodes at 0; in the tails, where less depends on it, it grows.
    reach : float
        How far the nodes have to go.

    Returns
    -------
    nodes, log_weight : ndarray (node,)

    Notes
    -----
    .. math:: \int \varphi(u) f(u)\, du \approx \sum_q w_q f(u_q), \quad
              u_q = b \sinh(q h / b), \quad w_q \propto \varphi(u_q) \cosh(q h / b)

    For integrands that are analytic around the real line the error falls exponentially in
    1 / step (Trefethen & Weideman 2014, SIAM Review 56, 385-458), whatever the data say; no
    adaptive centring is needed. Two states whose log odds move by :math:`\Lambda` per unit of
    u bring a singularity to the distance :math:`\pi / \Lambda`, and an error of about
    :math:`e^{-2 \pi^2 / (\Lambda h)}`: below 1e-9 of the log-likelihood for loadings as their
    prior draws them, up to 1e-6 if all loadings are 2, and 1e-3 if all are 3.

    Examples
    --------
    >>> nodes, log_weight = normal_quadrature()
    >>> len(nodes), round(float(np.exp(log_weight) @ nodes**2), 12)
    (49, 1.0)
    """
    half = int(np.ceil(BEND * np.arcsinh(reach / BEND) / step))
    even = step * np.arange(-half, half + 1)
    nodes = BEND * np.sinh(even / BEND)
    log_weight = -0.5 * nodes**2 + np.log(np.cosh(even / BEND))
    return nodes, log_weight - np.log(np.exp(log_weight).sum())


def build_design(
    ratings: Ratings,
    formula: str | None = None,
    covariates: Covariates | None = None,
    *,
    by_panel: bool = True,
) -> Design:
    """Find the contexts of the items of some ratings.

    Systems count if there are two or more; ranks and strata likewise; clusters if at least
    ``MIN_CLUSTERS`` of them have two items or more; panels if ``by_panel`` and at least as many
    clusters have two panels of two items or more. ``covariates`` are what the formula made of
    these items before: then it is not evaluated.

    Raises
    ------
    ModelError
        If the formula does not fit the items.
    """
    groupings = _groupings(ratings)
    if covariates is None:
        covariates = find_covariates(formula, ratings.items)
    for name, (found, codes) in covariates.groupings.items():
        groupings[name] = found, np.eye(len(found))[codes]
    parts = [*(share for _, share in groupings.values()), covariates.values]
    rows = np.concatenate([*parts, np.zeros((len(ratings.items), 1))], axis=1)
    # Rounded to be told apart only: thirds added up in another order are the same context.
    _, shown, item_context = np.unique(
        rows.round(9), axis=0, return_index=True, return_inverse=True
    )
    item_context = item_context.ravel().astype(np.int64)
    widths = [part.shape[1] for part in parts]
    *shares, values, _ = np.split(rows[shown], np.cumsum(widths), axis=1)
    effects = tuple(
        Effect(name=name, levels=levels, share=share)
        for (name, (levels, _)), share in zip(groupings.items(), shares, strict=True)
    )
    # Places without a system are a level of their own, "", beside those of the systems.
    systems = groupings["system"][0] if "system" in groupings else ()
    places = count_places(ratings.panels, systems, item_context, len(shown))
    cluster = _clusters(ratings)
    panel = find_panels(ratings, cluster) if by_panel and cluster is not None else None
    if panel is not None:
        nodes, log_weight = normal_quadrature(PANEL_STEP, PANEL_REACH)
    elif cluster is not None:
        nodes, log_weight = normal_quadrature()
    else:
        nodes, log_weight = np.zeros(1), np.zeros(1)
    return Design(
        effects=effects,
        covariates=covariates.names,
        covariate_values=values,
        item_context=item_context,
        systems=systems,
        system_share=places / places.sum(axis=1, keepdims=True),
        cluster=cluster,
        panel=panel,
        nodes=nodes,
        log_weight=log_weight,
    )


def _groupings(ratings: Ratings) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Levels of systems, ranks and strata, and each item's share of them: (item, level).

    An item that stands in no panel is taken for one of an average place.
    """
    panels = ratings.panels
    place_item = panels["item"].to_numpy(np.int64)
    columns: dict[str, pd.Series] = {}
    if len(ratings.systems) > 1:
        columns["system"] = panels["system"].astype(str)
    if panels["rank"].nunique() > 1:
        columns["rank"] = _rank_levels(panels["rank"])
    strata = ratings.items["stratum"].to_numpy()[place_item]
    if len(set(strata)) > 1:
        columns["stratum"] = pd.Series(strata, index=panels.index).astype(str)
    found = {}
    for name, column in columns.items():
        codes, levels = _ordered_levels(column)
        share = np.zeros((len(ratings.items), len(levels)))
        np.add.at(share, (place_item, codes), 1.0)
        placed = share.sum(axis=1, keepdims=True)
        even = share.sum(axis=0) / placed.sum()
        found[name] = levels, np.where(placed > 0, share / np.maximum(placed, 1.0), even)
    return found


def _rank_levels(rank: pd.Series) -> pd.Series:
    """Ranks as levels; beyond ``MAX_RANKS`` of them, the deep ones share levels by doubling."""
    if rank.nunique() <= MAX_RANKS:
        return rank.astype(int)
    depth = np.floor(np.log2(np.maximum(rank.to_numpy(float) / 6, 1)))
    deep = (6 * 2**depth).astype(int)
    return pd.Series(np.where(rank <= 6, rank, deep), index=rank.index).astype(int)


def _ordered_levels(column: pd.Series) -> tuple[Ints, tuple[str, ...]]:
    codes, found = pd.factorize(column, sort=True)
    return codes.astype(np.int64), tuple(str(level) for level in found)


def count_places(
    panels: pd.DataFrame, systems: Sequence[str], item_context: Ints, contexts: int
) -> Floats:
    """Count the places of panels by system and context; in one row if there are no systems."""
    item = panels["item"].to_numpy(np.int64)
    if systems:
        system = pd.Index(systems).get_indexer(pd.Index(panels["system"]))
    else:
        system = np.zeros(len(item), np.int64)
    known = system >= 0
    counts = np.zeros((max(len(systems), 1), contexts))
    np.add.at(counts, (system[known], item_context[item[known]]), 1.0)
    return counts


def _clusters(ratings: Ratings) -> Ints | None:
    codes, _ = pd.factorize(ratings.items["cluster"])
    several = (np.bincount(codes) >= 2).sum() if len(codes) else 0
    return codes.astype(np.int64) if several >= MIN_CLUSTERS else None


def find_panels(ratings: Ratings, cluster: Ints) -> Ints | None:
    """Return the panel of each item; None if too few clusters tell systems apart."""
    if len(ratings.systems) < 2:
        return None
    panel, telling = telling_panels(ratings, cluster)
    return panel if len(telling) >= MIN_CLUSTERS else None


def telling_panels(ratings: Ratings, cluster: Ints) -> tuple[Ints, Ints]:
    """Return the panel of each item, and the clusters with two panels of two items or more.

    The panel of an item is its cluster with the systems that show it: items that two systems show
    are a panel of their own, and so are those of none. Panels stand in the order of clusters.
    """
    shown_by = _sets_of_systems(ratings)
    sets = shown_by.max(initial=0) + 1
    pairs, panel, sizes = np.unique(
        cluster * sets + shown_by, return_inverse=True, return_counts=True
    )
    found, panels = np.unique(pairs[sizes >= 2] // sets, return_counts=True)
    return panel.ravel().astype(np.int64), found[panels >= 2]


def _sets_of_systems(ratings: Ratings) -> Ints:
    """Return which set of systems shows each item."""
    places = ratings.panels[["item", "system"]].astype({"system": str}).drop_duplicates()
    places = places.sort_values("system", kind="stable")
    shown = places.groupby("item")["system"].agg("\0".join)
    codes, _ = pd.factorize(shown.reindex(range(len(ratings.items)), fill_value="\0"))
    return codes.astype(np.int64)
