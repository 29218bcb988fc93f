"""Predictors of the prevalence: contexts, clusters with their quadrature, covariates.

Formulas are in Wilkinson's notation of `formulae`, as in ``"~ length + (1 | source)"``. Columns are
centred over the items and, unless binary, divided by their SD. Levels of ``(1 | source)`` are
partially pooled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay._util.validation import cut
from assay.data.ratings import Ratings
from assay.modelling.spec import N_ANSWERS, counts_answers, covariate_names, evaluate_formula

SAME = 1e-12
"""SD below which a column is constant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Covariates:
    """Columns and groupings of a formula.

    names : of the columns; ``(per SD)`` for scaled ones
    values : (item, covariate)
    groupings : for each term ``(1 | name)``, as ``by_name``, the levels and each item's level
    """

    names: tuple[str, ...]
    values: Floats
    groupings: Mapping[str, tuple[tuple[str, ...], Ints]]


def no_covariates(items: int) -> Covariates:
    """Return empty covariates, for a model without a formula."""
    return Covariates(names=(), values=np.zeros((items, 0)), groupings={})


def find_covariates(formula: str | None, items: pd.DataFrame) -> Covariates:
    """Evaluate a formula on the items (``Ratings.items``).

    ModelError is raised for a missing column or value, a constant term, or a slope by group.
    """
    if formula is None:
        return no_covariates(len(items))
    table = _columns(formula, items)
    columns, groups = evaluate_formula(formula, table)
    names, values = [], []
    for name, column in columns.items():
        if name == "Intercept":
            continue
        scaled, spread = _scaled(np.asarray(column, float), name)
        names.append(f"{name} (per SD)" if spread else name)
        values.append(scaled)
    return Covariates(
        names=tuple(names),
        values=np.stack(values, axis=1) if values else np.zeros((len(items), 0)),
        groupings=_groupings(groups, formula),
    )


def _items_with_counts(ratings: Ratings, formula: str | None) -> pd.DataFrame:
    """Return the items, with the number of their answers if the formula needs it."""
    items = ratings.items
    if not counts_answers(formula) or N_ANSWERS in items.columns:
        return items
    counts = np.bincount(ratings.item[ratings.answered], minlength=len(items))
    return items.assign(**{N_ANSWERS: counts})


def _columns(formula: str, items: pd.DataFrame) -> pd.DataFrame:
    """Return the formula's columns; raise ModelError for missing columns or values."""
    named = covariate_names(formula)
    for name in named:
        if name not in items.columns:
            there = ", ".join(str(column) for column in items.columns)
            raise ModelError(
                f"`formula={cut(formula)}` uses {name!r}, but the items have only {there}. Read it "
                f"with the ratings: `covariates={named!r}`. System and rank have effects without a "
                "formula",
                code="formula-unknown-column",
            )
        blank = items[name].isna() | (items[name].astype("str") == "")
        if blank.any():
            raise ModelError(
                f"`formula={cut(formula)}`: {int(blank.sum())} of {len(items)} items have no "
                f"{name}, e.g. {str(items.index[blank][0])!r}. Fill in the values, or give these "
                "items a class of their own",
                code="formula-data",
                numbers={"items": int(blank.sum()), "of": len(items)},
            )
    numbers = {n: items[n] for n in named if pd.api.types.is_numeric_dtype(items[n])}
    words = {n: items[n].astype("str").astype(object) for n in named if n not in numbers}
    return pd.DataFrame({**numbers, **words}, index=items.index)


def _scaled(column: Floats, name: str) -> tuple[Floats, bool]:
    """Centre a column, and divide it by its SD unless binary; return whether it was divided."""
    if not np.isfinite(column).all():
        raise ModelError(
            f"the formula's term {name} is not a number for {int((~np.isfinite(column)).sum())} "
            "items, such as the logarithm of 0. Use log1p",
            code="formula-data",
            numbers={"items": int((~np.isfinite(column)).sum())},
        )
    centred, spread = column - column.mean(), float(column.std())
    if spread < SAME * max(1.0, float(np.abs(column).max())):
        raise ModelError(
            f"the formula's term {name} is the same for all items. Leave it out",
            code="formula-data",
        )
    if np.isin(column, (0, 1)).all():
        return centred, False
    return centred / spread, True


def _groupings(found: Any, formula: str) -> dict[str, tuple[tuple[str, ...], Ints]]:
    groupings: dict[str, tuple[tuple[str, ...], Ints]] = {}
    for name, term in ({} if found is None else found.terms).items():
        slope, _, factor = str(name).partition("|")
        if slope != "1":
            raise ModelError(
                f"`formula={cut(formula)}`: the effect of {slope} by {factor} is not available. "
                f"Write (1 | {factor}) for levels alone, or {slope} * {factor}",
                code="formula-term",
            )
        level = found[name].argmax(axis=1)
        called = "by_" + factor.replace("/", "_")  # netCDF names cannot have a slash
        groupings[called] = (
            tuple(str(g) for g in term.groups),
            np.asarray(level, np.int64).ravel(),
        )
    return groupings


MIN_CLUSTERS = 5
MAX_RANKS = 12
PLACED = ("system", "rank", "stratum")
"""Groupings from the items; others are those of a formula."""
REACH = 8.0
"""Least distance from 0 that the quadrature nodes cover on both sides."""
STEP = 0.2
BEND = 2.5
"""Distance from 0 at which the spacing of the nodes starts to grow."""
PANEL_REACH, PANEL_STEP = 6.0, 0.3
"""Reach and step with panels, whose cost is quadratic in the number of nodes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Effect:
    """A grouping of items whose levels shift the main effects.

    share : each level's share of a context's places in ranked lists (context, level)
    """

    name: str
    levels: tuple[str, ...]
    share: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class PrevalenceDesign:
    """Contexts of items, clusters, and quadrature over the cluster effect.

    covariate_values : (context, covariate)
    system_share : share of contexts in each system's places (system, context); one row without
        systems
    cluster : of each item; None without a cluster effect
    panel : of each item, numbered by cluster; None without effects of systems within clusters
    nodes, log_weight : quadrature over a standard normal effect; one node at 0 without clusters
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

    def effect(self, name: str) -> Effect | None:
        """Return a grouping by name; None if the items do not differ in it."""
        return next((effect for effect in self.effects if effect.name == name), None)

    def by_item(self) -> Covariates:
        """Return the formula's columns and groupings by item, for storage in the fit."""
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
    r"""Return nodes and log weights for a standard normal, by the trapezoidal rule.

    .. math:: \int \varphi(u) f(u)\, du \approx \sum_q w_q f(u_q), \quad
              u_q = b \sinh(q h / b), \quad w_q \propto \varphi(u_q) \cosh(q h / b)

    ``step`` is the spacing at 0, ``reach`` the least distance to cover. The error falls
    exponentially in 1 / step (Trefethen & Weideman 2014, SIAM Review 56, 385-458). Log odds that
    change by :math:`\Lambda` per unit of u cause one of about :math:`e^{-2 \pi^2 / (\Lambda h)}`:
    below 1e-9 of the log-likelihood for loadings from their prior, up to 1e-6 if all are 2, and
    1e-3 if all are 3.
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
) -> PrevalenceDesign:
    """Return the design of the prevalence for some ratings.

    Two or more systems, ranks or strata have effects; clusters if ``MIN_CLUSTERS`` have two items,
    and panels if as many have two panels of two items. ``covariates`` are the formula's columns of
    an earlier fit.
    """
    groupings = _design_groupings(ratings)
    if covariates is None:
        covariates = find_covariates(formula, _items_with_counts(ratings, formula))
    for name, (found, codes) in covariates.groupings.items():
        groupings[name] = found, np.eye(len(found))[codes]
    parts = [*(share for _, share in groupings.values()), covariates.values]
    rows = np.concatenate([*parts, np.zeros((len(ratings.items), 1))], axis=1)
    # Rounded only for this comparison: the order of additions must not split a context.
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
    # Places without a system are a level "" of their own.
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
    return PrevalenceDesign(
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


def _design_groupings(ratings: Ratings) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Return levels of systems, ranks and strata, and each item's share of them (item, level).

    An item without a place has the average shares.
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
    """Return ranks as levels; beyond ``MAX_RANKS``, deep ones share levels of doubling width."""
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
    """Count the places in panels by system and context; one row without systems."""
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
    """Return the panel of each item; None if too few clusters separate systems."""
    if len(ratings.systems) < 2:
        return None
    panel, telling = telling_panels(ratings, cluster)
    return panel if len(telling) >= MIN_CLUSTERS else None


def telling_panels(ratings: Ratings, cluster: Ints) -> tuple[Ints, Ints]:
    """Return the panel of each item (a cluster with a set of systems), numbered by cluster, and the
    clusters with two panels of two items or more.
    """
    shown_by = _sets_of_systems(ratings)
    sets = shown_by.max(initial=0) + 1
    pairs, panel, sizes = np.unique(
        cluster * sets + shown_by, return_inverse=True, return_counts=True
    )
    found, panels = np.unique(pairs[sizes >= 2] // sets, return_counts=True)
    return panel.ravel().astype(np.int64), found[panels >= 2]


def _sets_of_systems(ratings: Ratings) -> Ints:
    """Return the number of the set of systems of each item."""
    places = ratings.panels[["item", "system"]].astype({"system": str}).drop_duplicates()
    places = places.sort_values("system", kind="stable")
    if places["item"].is_unique:  # the usual case, without a group of each item
        shown = places.set_index("item")["system"]
    else:
        shown = places.groupby("item")["system"].agg("\0".join)
    codes, _ = pd.factorize(shown.reindex(range(len(ratings.items)), fill_value="\0"))
    return codes.astype(np.int64)
