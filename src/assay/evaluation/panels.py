"""Panels as rectangular arrays: the place and the weight of each item."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from assay._util.errors import ModelError, Problem, RatingsError
from assay._util.grouping import unique_rows
from assay._util.text import counted
from assay._util.typing import Bools, Floats, Ints
from assay._util.validation import require_choice
from assay.data.ratings import Ratings
from assay.evaluation.registry import Metric
from assay.evaluation.select import choose_metrics

By = Literal["system"]
Incomplete = Literal["predict", "drop"]
INCOMPLETE = ("predict", "drop")
MAX_PLACES = 10_000
Names = pd.Index


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelLayout:
    """Panels of ragged length, padded to arrays; the panels of one system stand together.

    item : position in ``Ratings.items`` (panel, position), 0 where there is no item
    mask : where there is an item (panel, position); position ``p`` is rank ``p + 1``
    bounds : system ``s`` has the panels from ``bounds[s]`` to ``bounds[s + 1]`` (system + 1,)
    cluster : position of the panel's cluster in ``clusters``, sorted names (panel,)
    weight : design weight, the mean of its items' weights (panel,)
    systems : names; ``("",)`` if the panels are pooled
    stratum : of each cluster (cluster,); strata that share a cluster are one
    dropped, unrated : panels left out as incomplete; items in the panels without an answer
    item_weight : (panel, position), 0 where there is none; None if items of every panel weigh the
        same
    pool : cluster and item of every item in any list of the cluster (2, pooled item)
    listed : number of the panels' own positions, others hold the rest of the cluster; None if all
    """

    item: Ints
    mask: Bools
    bounds: Ints
    cluster: Ints
    weight: Floats
    systems: tuple[str, ...]
    clusters: tuple[str, ...]
    stratum: Ints
    dropped: int = 0
    unrated: int = 0
    item_weight: Floats | None = None
    pool: Ints = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    listed: int | None = None

    @property
    def n_strata(self) -> int:
        """Number of strata of clusters."""
        return int((np.bincount(self.stratum) > 0).sum())

    @property
    def system(self) -> Ints:
        """Position of each panel's system, (panel,)."""
        return np.repeat(np.arange(len(self.systems)), np.diff(self.bounds))

    @property
    def design(self) -> Floats:
        """Design weight of each cluster, the mean of its panels' weights, (cluster,)."""
        return np.bincount(self.cluster, weights=self.weight) / np.bincount(self.cluster)

    def n_clusters(self, systems: Sequence[str]) -> int:
        """Count the clusters in which any of the given systems has a panel."""
        held = [self.systems.index(name) for name in systems]
        ends = [self.cluster[self.bounds[s] : self.bounds[s + 1]] for s in held]
        return len(np.unique(np.concatenate(ends)))

    def freedom(self) -> int:
        """Return clusters less the strata beyond the first, for the system with the fewest."""
        return min(clusters - strata + 1 for clusters, strata in self._samples())

    def sample_words(self) -> str:
        """Describe the clusters and strata that :meth:`freedom` counts."""
        samples = self._samples()
        least = min(range(len(samples)), key=lambda s: samples[s][0] - samples[s][1])
        clusters, strata = samples[least]
        words = counted(clusters, "cluster")
        if strata > 1:
            words += f" in {strata} strata"
        if all(sample[0] == len(self.clusters) for sample in samples):
            return words
        return f"{words} of {'each system' if len(set(samples)) == 1 else self.systems[least]}"

    def _samples(self) -> list[tuple[int, int]]:
        """Return the numbers of clusters and of strata of each system."""
        systems = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        drawn = [np.bincount(self.cluster[low:high]) for low, high in systems]
        held = [np.bincount(self.stratum[np.flatnonzero(counts)]) for counts in drawn]
        return [
            (int((clusters > 0).sum()), int((strata > 0).sum()))
            for clusters, strata in zip(drawn, held, strict=True)
        ]

    def of_items(self, keep: Bools) -> "PanelLayout":
        """Return the layout of the kept items (item,), without panels that lose all items."""
        mask = self.mask & keep[self.item]
        alive = mask.any(axis=1)
        passed = np.concatenate([[0], alive.cumsum()])
        return replace(
            self,
            item=self.item[alive],
            mask=mask[alive],
            bounds=passed[self.bounds],
            cluster=self.cluster[alive],
            weight=self.weight[alive],
            item_weight=None if self.item_weight is None else self.item_weight[alive],
            pool=self.pool[:, keep[self.pool[1]]],
        )


def panel_layout(
    ratings: Ratings, *, by: By | None = "system", incomplete: Incomplete = "predict"
) -> PanelLayout:
    """Lay the panels of ``ratings`` out as arrays; with ``by=None``, pool the systems.

    Panels without a system are left out where others have one.
    """
    if by is not None:
        require_choice("by", by, ("system",), otherwise="None to pool all panels")
    require_choice("incomplete", incomplete, INCOMPLETE)
    places, systems, clusters = _places(ratings, apart=by == "system")
    dropped, answered = 0, _answered(ratings)
    if incomplete == "drop":
        complete = pd.Series(answered[places["item"]]).groupby(places["panel"]).all()
        dropped = int((~complete).sum())
        places = places[complete.to_numpy()[places["panel"]]]
        places = places.assign(panel=pd.factorize(places["panel"])[0])
    if places.empty:
        raise RatingsError(
            "`incomplete='drop'` leaves no panel: none has an answer for every item",
            code="no-complete-panel",
        )
    unrated = int((~answered[places["item"].unique()]).sum())
    layout = _rectangle(places, systems, clusters)
    pool = _pool(ratings, layout.clusters)
    return replace(layout, dropped=dropped, unrated=unrated, pool=pool)


def _pool(ratings: Ratings, clusters: Sequence[str]) -> Ints:
    """Return pairs of the given clusters and the items of all their lists, (2, pooled item)."""
    codes, names = pd.factorize(ratings.panels["cluster"])
    cluster = pd.Index(clusters).get_indexer(names)[codes]
    item = ratings.panels["item"].to_numpy(np.int64)
    first = unique_rows(cluster, item)[0]
    first = np.sort(first[cluster[first] >= 0])
    return np.stack([cluster[first], item[first]])


def _places(ratings: Ratings, *, apart: bool) -> tuple[pd.DataFrame, Names, Names]:
    """Return one line for each place of an item in a panel, sorted by system, panel and rank, and
    the names of systems and clusters.
    """
    table = ratings.panels
    if apart and ratings.systems:
        table = table[table["system"] != ""]
    item = table["item"].to_numpy()
    system, systems = pd.factorize(table["system"], sort=True)
    cluster, clusters = pd.factorize(table["cluster"], sort=True)
    panel, names = pd.factorize(table["panel"], sort=True)
    places = pd.DataFrame(
        {
            "panel": pd.factorize(system * len(names) + panel, sort=True)[0],
            "system": system if apart else 0,
            "cluster": cluster,
            "rank": table["rank"].to_numpy(),
            "item": item,
            "weight": ratings.items["weight"].to_numpy()[item],
            "stratum": pd.factorize(ratings.items["stratum"], sort=True)[0][item],
        }
    )
    _check(places, table["panel"])
    places = places.sort_values(["panel", "rank"], kind="stable", ignore_index=True)
    position = _positions(places["panel"].to_numpy(), places["rank"].to_numpy())
    return places.assign(position=position), systems if apart else pd.Index([""]), clusters


def _check(places: pd.DataFrame, names: "pd.Series[str]") -> None:
    problems = []
    clusters = places.groupby("panel")["cluster"].agg(["min", "max"])
    spread = (clusters["min"] < clusters["max"]).to_numpy()[places["panel"]]
    if spread.any():
        problems.append(
            Problem(
                what=f"panel {names[spread].iloc[0]!r} has items of several clusters",
                code="panel-clusters",
            )
        )
    low, high = int(places["rank"].min()), int(places["rank"].max())
    if low < 0 or high > MAX_PLACES:
        problems.append(
            Problem(
                what=f"ranks go from {low} to {high}",
                allowed=f"places in a list, from 1 to {MAX_PLACES}",
                mend="name the right column with `rank=`",
                code="panel-ranks",
                numbers={"lowest": low, "highest": high, "most": MAX_PLACES},
            )
        )
    if problems:
        raise RatingsError(problems)


def _positions(panel: Ints, rank: Ints) -> Ints:
    """Return each place's position: rank less the lowest possible one, ties one after another.
    ``max_{m <= n}(rank_m - m) + n`` is the first free place at or after the rank.
    """
    start = np.flatnonzero(np.r_[True, panel[1:] != panel[:-1]])
    number = np.arange(len(panel)) - start[panel]
    lowest = 0 if rank.min() == 0 else 1
    ahead = pd.Series(rank - lowest - number).groupby(panel).cummax().to_numpy()
    return np.asarray(ahead + number)


def _rectangle(places: pd.DataFrame, systems: Names, clusters: Names) -> PanelLayout:
    panel, position = places["panel"].to_numpy(), places["position"].to_numpy()
    item = np.zeros((panel[-1] + 1, int(position.max()) + 1), np.int64)
    mask = np.zeros(item.shape, bool)
    item[panel, position] = places["item"].to_numpy()
    mask[panel, position] = True
    head = np.flatnonzero(np.diff(panel, prepend=-1))
    held, sizes = np.unique(places["system"].to_numpy()[head], return_counts=True)
    cluster, known = pd.factorize(places["cluster"].to_numpy()[head], sort=True)
    return PanelLayout(
        item=item,
        mask=mask,
        bounds=np.concatenate([[0], sizes.cumsum()]),
        cluster=cluster.astype(np.int64),
        weight=np.bincount(panel, places["weight"]) / np.bincount(panel),
        item_weight=_uneven(item.shape, panel, position, places["weight"].to_numpy(float)),
        systems=tuple(systems[held].tolist()),
        clusters=tuple(clusters[known].tolist()),
        stratum=first_stage(cluster[panel], pd.factorize(places["stratum"], sort=True)[0]),
    )


def _uneven(shape: tuple[int, ...], panel: Ints, position: Ints, weight: Floats) -> Floats | None:
    """Return the design weight of each place (panel, position); None if no panel has several."""
    first = np.flatnonzero(np.diff(panel, prepend=-1))
    if (weight == weight[first][panel]).all():
        return None
    table = np.zeros(shape)
    table[panel, position] = weight
    return table


def first_stage(cluster: Ints, stratum: Ints) -> Ints:
    """Return the stratum of each cluster; strata that share a cluster are joined."""
    joined = np.arange(stratum.max() + 1)
    while True:
        lowest = np.full(cluster.max() + 1, len(joined))
        np.minimum.at(lowest, cluster, joined[stratum])
        wider = joined.copy()
        np.minimum.at(wider, stratum, lowest[cluster])
        if (wider == joined).all():
            return lowest
        joined = wider


def _answered(ratings: Ratings) -> Bools:
    """Return which items have at least one rating with an answer, (item,)."""
    answered = np.zeros(len(ratings.items), bool)
    answered[ratings.item[ratings.answered]] = True
    return answered


MEND = "To count all items alike, read the ratings again without their weights (`weight=''`)"


def weighable_metrics(
    ratings: Ratings, names: Sequence[str] | str | None = None
) -> tuple[Metric, ...]:
    """Return the named metrics, or those of the task that can count all design weights.

    Refuse a named metric that is not ``additive`` if design weights differ within a panel.
    """
    chosen = choose_metrics(ratings.task, names)
    blocked = () if _all_additive(chosen) else _blocked(ratings, chosen)
    kept = tuple(metric for metric in chosen if metric not in blocked)
    if blocked and (names is not None or not kept):
        raise ModelError(_refusal(ratings, blocked), code="uneven-design-weights")
    return kept


def left_out_metrics(ratings: Ratings, names: Sequence[str] | str | None = None) -> pd.DataFrame:
    """Return ``metric`` and ``reason`` of those that :func:`weighable_metrics` leaves out."""
    chosen = () if names is not None else choose_metrics(ratings.task)
    blocked = () if _all_additive(chosen) else _blocked(ratings, chosen)
    reason = f"{_differ(ratings)}, and orders cannot count them." if blocked else ""
    return pd.DataFrame({"metric": [m.name for m in blocked], "reason": reason}, dtype="str")


def left_out_attributes(
    ratings: Ratings, names: Sequence[str] | str | None = None
) -> dict[str, object]:
    """Return :func:`left_out_metrics` as attributes of draws; empty if nothing is left out."""
    table = left_out_metrics(ratings, names)
    if table.empty:
        return {}
    return {"left_out": table["metric"].tolist(), "left_out_because": table["reason"].iloc[0]}


def _all_additive(chosen: Sequence[Metric]) -> bool:
    return all(metric.additive for metric in chosen)


def _blocked(ratings: Ratings, chosen: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics that cannot count item weights which differ within a panel."""
    return () if _item_weights_uneven(ratings).empty else tuple(m for m in chosen if not m.additive)


def _item_weights_uneven(ratings: Ratings) -> pd.DataFrame:
    """Return panel and weight of the items of the panels within which weights differ."""
    table = ratings.panels[["system", "panel"]]
    weight = ratings.items["weight"].to_numpy(float)[ratings.panels["item"]]
    weights = table.assign(weight=weight).groupby(["system", "panel"])["weight"]
    differ = weights.transform("min") < weights.transform("max")
    return table.assign(weight=weight)[differ]


def _differ(ratings: Ratings) -> str:
    """State that weights differ within panels, with their range and an example."""
    items = _item_weights_uneven(ratings)
    return (
        f"Design weights differ within panels (from {items['weight'].min():g} to "
        f"{items['weight'].max():g}, for example in panel {items['panel'].iloc[0]!r})"
    )


def _refusal(ratings: Ratings, blocked: Sequence[Metric]) -> str:
    names = ", ".join(metric.name for metric in blocked)
    able = ", ".join(m.name for m in choose_metrics(ratings.task) if m.additive)
    others = f"Name metrics that can: {able}. " if able else ""
    return (
        f"{_differ(ratings)}, and {names} cannot count them: the result would be about the sample "
        f"alone. {others}{MEND}. A metric of your own that is a mean over items, or a ratio of "
        "sums over them, is registered with `additive=True`"
    )


def weighed_layout(metric: Metric, layout: PanelLayout) -> PanelLayout:
    r"""Return the layout on which a metric counts the design weights of items (Hájek 1971). Each
    item is a panel of its own, if weights differ within one; else it is ``layout`` itself.

    With :math:`d_i` the weight of item :math:`i`, :math:`d_p` that of its panel and :math:`a_i,
    b_i` the parts for the item alone, a panel has :math:`\sum_i d_i a_i` and :math:`\sum_i d_i b_i`
    for a ratio, else :math:`d_p \sum_i d_i a_i / \sum_i d_i` and :math:`d_p`.
    """
    if layout.item_weight is None:
        return layout
    if not metric.additive:
        raise ModelError(
            f"design weights differ within panels, and {metric.name} cannot count them. {MEND}",
            code="uneven-design-weights",
        )
    weight = np.where(layout.mask, layout.item_weight, 0.0)
    if metric.kind == "per_panel":
        total = weight.sum(axis=1)
        weight = weight * np.divide(layout.weight, total, out=total * 0, where=total > 0)[:, None]
    size = layout.mask.sum(axis=1)
    return replace(
        layout,
        item=layout.item[layout.mask][:, None],
        mask=np.ones((int(size.sum()), 1), bool),
        bounds=np.concatenate([[0], size.cumsum()])[layout.bounds],
        cluster=np.repeat(layout.cluster, size),
        weight=weight[layout.mask],
        item_weight=None,
    )
