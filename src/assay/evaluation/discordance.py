"""The prior on discordance: clusters on which systems differ, in both directions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csgraph
from scipy.special import gammaincinv

from assay._util.arrays import divided
from assay._util.typing import Bools, Floats, Ints
from assay.data.task import Task
from assay.evaluation.draws import LabelDraws, cluster_totals
from assay.evaluation.estimands import cluster_keys, uniforms
from assay.evaluation.panels import PanelLayout
from assay.evaluation.prevalence import prevalence_metrics
from assay.evaluation.registry import EVEN, Metric

SAME = 1e-12
"""Values nearer to each other than this are equal: the order of a sum changes as much."""
MAX_CLUSTERS_FOR_PRIOR = 500
"""Discordant clusters kept for the prior: more would not change a 95 % interval."""
ROUNDS = 10
CLUSTERS = 20_000
"""Number of predicted clusters in each of at most ``ROUNDS`` searches for discordant ones."""

Predicted = Callable[[int], Iterator[LabelDraws]]
"""Yields label draws of new clusters without end, each time for the given number of draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Discordance:
    r"""Prior mass of about one cluster in each direction, for each metric and pair of systems
    (docs/model.md, "A prior on discordance").

    blocks : the linked groups of systems, see :func:`linked_systems`

    Such a cluster comes from one that the model predicts and on which the systems differ. Its
    :math:`S` systems are relabelled, in a random order, turned round and mirrored: :math:`2S`
    clusters of weight :math:`\mathrm{Gamma}(1 / (S \delta))`, beside :math:`\mathrm{Exp}(1)` of an
    observed one, with :math:`\delta` the share of pairs that differ.

    The mean shares of a label's :math:`K` classes sum to 1. With :math:`W_k` the mean weight of the
    discordant clusters of a class, and :math:`m_k` its share in them, a cluster without the class
    joins them, of weight :math:`\mathrm{Gamma}(\sum_l W_l m_l - W_k)`: if clusters are single
    items, a rate is Beta(:math:`x + 1, n - x + K - 1`).

    Strata do not multiply the mass. Weights depend on the systems' names, the draw and a seed
    alone, so that fits of different tasks share them. (Fagerland, M. W., Lydersen, S. & Laake, P.
    (2013). BMC Medical Research Methodology 13, 91.)
    """

    blocks: tuple["DiscordantBlock", ...]
    n_systems: int

    def totals(self, seed: int | None) -> Floats:
        """Return weighted numerators and denominators of these clusters, (2, metric, draw, system).

        ``seed`` draws the clusters' weights; None takes the mean weights.
        """
        shape = self.blocks[0].values.shape[:3]
        found = np.zeros((*shape, self.n_systems))
        for block in self.blocks:
            found[..., block.systems] = block.totals(seed)
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class DiscordantBlock:
    """The discordant clusters of systems that share clusters.

    name : the first of the systems
    systems : positions in the layout (system,)
    values : numerators and denominators of one discordant cluster (2, metric, draw, slot); the
        first slots are the systems
    shape : of the gamma weights (metric, draw)
    plain, plain_shape : a cluster on which no system has the rarer outcome (2, metric, draw,
        system), and of its weights (metric,), 0 for a prior share of 1/2
    """

    name: str
    systems: Ints
    values: Floats
    shape: Floats
    plain: Floats
    plain_shape: Floats

    def totals(self, seed: int | None) -> Floats:
        """Return the weighted sum over the relabelled clusters, (2, metric, draw, system)."""
        slots = self.values.shape[-1]
        orders = [np.roll(np.arange(slots)[::step], k) for step in (1, -1) for k in range(slots)]
        found = np.zeros((*self.values.shape[:3], len(self.systems)))
        weights = self._weights(len(orders), seed)
        for order, weight in zip(orders, weights, strict=True):
            found += weight[..., None] * self.values[..., order[: len(self.systems)]]
        return found + self._plain_weight(seed)[..., None] * self.plain

    def of_first(self, count: int) -> "DiscordantBlock":
        """Return the clusters of the first metrics."""
        return replace(
            self, values=self.values[:, :count], shape=self.shape[:count],
            plain=self.plain[:, :count], plain_shape=self.plain_shape[:count],
        )  # fmt: skip

    def _plain_weight(self, seed: int | None) -> Floats:
        """Return the gamma weights (metric, draw) of the plain cluster, or their means."""
        shape = np.broadcast_to(self.plain_shape[:, None], self.shape.shape)
        if seed is None or not self.plain_shape.any():
            return np.asarray(shape)
        draws = np.arange(self.shape.shape[1])
        chances = uniforms(cluster_keys((f"plain: {self.name}",), seed), draws)[:, 0]
        return np.where(shape > 0, gammaincinv(np.where(shape > 0, shape, 1.0), chances), 0.0)

    def _weights(self, count: int, seed: int | None) -> Iterator[Floats]:
        """Yield the gamma weights (metric, draw) of each relabelled cluster, or their means."""
        if seed is None:
            yield from [self.shape] * count
            return
        names = tuple(f"discordant {k}: {self.name}" for k in range(count))
        draws = np.arange(self.shape.shape[1])
        for chances in uniforms(cluster_keys(names, seed), draws).T:
            yield np.asarray(gammaincinv(self.shape, chances))


def discordance(
    chosen: Sequence[Metric],
    task: Task,
    layout: PanelLayout,
    predicted: Predicted,
    *,
    draws: int,
    seed: int,
) -> Discordance:
    """Draw discordant clusters for each metric from label draws of new clusters.

    The result for one metric does not depend on the other metrics.
    """
    blocks, wanted = linked_systems(layout), len(chosen)
    chosen = with_all_classes(chosen, task)
    pools: list[list[list[Floats]]] = [[[] for _ in chosen] for _ in blocks]
    lacking, ranges = set(range(len(chosen))), np.tile([np.inf, -np.inf], (len(chosen), 1))
    for y in predicted(max(1, CLUSTERS // len(layout.clusters))):
        for m in sorted(lacking):
            totals = cluster_totals(chosen[m], task, y, layout)
            ranges[m] = _widened(ranges[m], divided(*totals))
            for systems, pool in zip(blocks, pools, strict=True):
                rng = np.random.default_rng([seed, systems[0], len(pool[m])])
                pool[m].append(_differing(totals, layout, systems, rng))
        lacking -= {
            m for m in lacking if all(_size(pool[m]) >= MAX_CLUSTERS_FOR_PRIOR for pool in pools)
        }
        if not lacking or len(pools[0][min(lacking)]) == ROUNDS:
            break
    return Discordance(
        blocks=tuple(
            _block(chosen, layout, systems, pool, ranges, draws=draws, seed=seed).of_first(wanted)
            for systems, pool in zip(blocks, pools, strict=True)
        ),
        n_systems=len(layout.systems),
    )


def linked_systems(layout: PanelLayout) -> list[Ints]:
    """Group the systems that share clusters, directly or through other systems."""
    system = layout.system
    nodes = len(layout.systems) + len(layout.clusters)
    links = coo_array(
        (np.ones(len(system)), (system, len(layout.systems) + layout.cluster)), (nodes, nodes)
    )
    group = csgraph.connected_components(links, directed=False)[1][: len(layout.systems)]
    return [np.flatnonzero(group == g) for g in dict.fromkeys(group.tolist())]


def _differing(
    totals: Floats, layout: PanelLayout, systems: Ints, rng: np.random.Generator
) -> Floats:
    """Return clusters (2, cluster, slot) on which the metric differs between slots, of ``totals``
    (2, draw, cluster, system). Two that differ stand for one if no cluster has two systems that do.
    """
    if len(systems) > 1:
        rows = totals[..., systems].reshape(2, -1, len(systems))
        there = np.zeros((len(layout.clusters), len(layout.systems)), bool)
        there[layout.cluster, layout.system] = True
        present = np.tile(there[:, systems], (totals.shape[1], 1))
        differ = _spread(divided(*rows)) > SAME
        if differ.any():
            return _filled(rows[:, differ], present[differ], rng)
    cells = totals.reshape(2, -1)
    cells = cells[:, cells[1] > 0]
    pairs = rng.permutation(cells.shape[1])[: cells.shape[1] // 2 * 2].reshape(-1, 2)
    rows = cells[:, pairs]
    rows = rows[:, _spread(divided(*rows)) > SAME]
    # Each of the other systems copies one of the two.
    like = rng.integers(2, size=(rows.shape[1], max(len(systems), 2)))
    like[:, :2] = (0, 1)
    return np.take_along_axis(rows, np.broadcast_to(like, (2, *like.shape)), axis=-1)


def _spread(values: Floats) -> Floats:
    """Return the range of the defined values of each row; 0 where none is defined."""
    low = np.where(np.isnan(values), np.inf, values).min(axis=-1, initial=np.inf)
    high = np.where(np.isnan(values), -np.inf, values).max(axis=-1, initial=-np.inf)
    return np.where(high >= low, high - low, 0.0)


def _filled(rows: Floats, present: Bools, rng: np.random.Generator) -> Floats:
    """Copy the values of a random present system into each system that a cluster lacks."""
    drawn = np.where(present, rng.random(present.shape), -1.0)
    for slot in np.flatnonzero(~present.all(axis=0)):
        like = np.where(present[:, slot], slot, drawn.argmax(axis=1))
        rows[..., slot] = rows[:, np.arange(len(like)), like]
    return rows


def _block(
    chosen: Sequence[Metric],
    layout: PanelLayout,
    systems: Ints,
    pools: Sequence[Sequence[Floats]],
    ranges: Floats,
    *,
    draws: int,
    seed: int,
) -> DiscordantBlock:
    """Draw a discordant cluster for each metric and draw, with the systems in a random order."""
    slots = max(len(systems), 2)
    values, shape = np.zeros((2, len(chosen), draws, slots)), np.ones((len(chosen), draws))
    for m, (metric, pool) in enumerate(zip(chosen, pools, strict=True)):
        rows = np.concatenate([*pool, np.zeros((2, 0, slots))], axis=1)
        if not rows.shape[1]:
            rows = _ends(metric, ranges[m], slots)
        if not rows.shape[1]:
            continue
        # All metrics share one random stream, so that mirrored metrics stay mirrored.
        rng = np.random.default_rng([seed, systems[0]])
        picked = rows[:, rng.integers(rows.shape[1], size=draws)]
        order = rng.permuted(np.tile(np.arange(slots), (draws, 1)), axis=1)
        values[:, m] = np.take_along_axis(picked, np.broadcast_to(order, picked.shape), axis=-1)
        shape[m] = 1 / (slots * _share_of_pairs(divided(*values[:, m])))
    shares = np.array([metric.prior_share for metric in chosen])
    # A denominator of all systems: one that has none cannot show the rarer outcome.
    plain = np.repeat(values[1:, ..., : len(systems)], 2, axis=0)
    plain[0] *= (shares > EVEN)[:, None, None]
    return DiscordantBlock(
        name=layout.systems[systems[0]], systems=systems, values=values, shape=shape, plain=plain,
        plain_shape=_plain_shapes(chosen, values, shape * 2 * slots),
    )  # fmt: skip


def with_all_classes(chosen: Sequence[Metric], task: Task) -> list[Metric]:
    """Add the shares of the other classes of a label, on which the prior of a share depends."""
    there = {(metric.labels, metric.function) for metric in chosen}
    kinds = {(metric.labels, metric.prior_share) for metric in chosen}
    every = (*prevalence_metrics(task), *prevalence_metrics(task, other=True))
    return [
        *chosen,
        *(
            metric
            for metric in every
            if metric.prior_share != EVEN
            and (metric.labels, metric.prior_share) in kinds
            and (metric.labels, metric.function) not in there
        ),
    ]


def _plain_shapes(chosen: Sequence[Metric], values: Floats, weight: Floats) -> Floats:
    """Return the mean weight of each metric's plain cluster, (metric,), from the discordant ones'
    ``values`` (2, metric, draw, slot) and ``weight`` (metric, draw).
    """
    kinds = [(metric.labels, metric.prior_share) for metric in chosen]
    share = np.nan_to_num(divided(*values.sum(axis=(2, 3))))
    mean, found = weight.mean(axis=1), np.zeros(len(chosen))
    # A class that two metrics count counts once.
    first = {(m.labels, m.function): n for n, m in reversed([*enumerate(chosen)])}.values()
    for kind in set(kinds):
        if kind[1] != EVEN:
            own = [n for n, other in enumerate(kinds) if other == kind]
            classes = [n for n in own if n in first]
            rarer = share[classes] if kind[1] < EVEN else 1 - share[classes]
            found[own] = mean[classes] @ rarer - mean[own]
    return np.maximum(found, 0.0)


def _widened(ends: Floats, values: Floats) -> Floats:
    """Extend the range ``ends`` by the defined values."""
    known = values[~np.isnan(values)]
    low, high = known.min(initial=np.inf), known.max(initial=-np.inf)
    return np.array([min(ends[0], low), max(ends[1], high)])


def _ends(metric: Metric, seen: Floats, slots: int) -> Floats:
    """Return both ends of the metric's range, (2, 1, slot), if the model predicts one end alone.

    A metric that is constant at another value has no discordant cluster.
    """
    low, high = metric.limits
    at_an_end = np.ptp(seen) <= SAME and np.abs(seen[0] - metric.limits).min() <= SAME
    if not (np.isfinite(high - low) and at_an_end):
        return np.zeros((2, 0, slots))
    row = np.full((2, 1, slots), 1.0)
    row[0] = seen[0]
    row[0, 0, 0] = low + high - seen[0]
    return row


def _share_of_pairs(values: Floats) -> Floats:
    """Return the share of the pairs of slots that differ, (draw,)."""
    first, second = np.triu_indices(values.shape[-1], 1)
    return np.asarray((np.abs(values[:, first] - values[:, second]) > SAME).mean(axis=-1))


def _size(pool: Sequence[Floats]) -> int:
    return sum(part.shape[1] for part in pool)
