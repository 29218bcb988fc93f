"""Metrics of known labels: the truth of a simulation, one rater, the majority vote."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.bootstrap import times_drawn
from assay._util.errors import RatingsError
from assay._util.intervals import interval_ends, require_level
from assay._util.random import generator_of
from assay._util.typing import Floats, Ints
from assay._util.validation import require_draws
from assay.data.majority_vote import Votes, majority_votes
from assay.data.ratings import Ratings, require_ratings
from assay.data.states import MISSING, Vectors
from assay.data.task import Task
from assay.evaluation.draws import panel_totals
from assay.evaluation.panels import PanelLayout, panel_layout, weighable_metrics
from assay.evaluation.pools import layout_for
from assay.evaluation.registry import Metric

GIVEN = "the labels given"


def metrics_of_labels(
    labels: Vectors, ratings: Ratings, *, metric: Sequence[str] | str | None = None
) -> pd.DataFrame:
    """Return metrics of known labels (item, label), by ``metric`` and ``system``.

    An item is left out of the metrics that need a label which is ``MISSING`` there.
    """
    expected = (len(ratings.items), len(ratings.task.labels))
    if np.shape(labels) != expected:
        raise RatingsError(
            f"labels have the shape {np.shape(labels)}; (item, label) is {expected}",
            code="labels-shape",
        )
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings)
    totals = [known_totals(m, ratings.task, np.asarray(labels), layout) for m in chosen]
    return pd.DataFrame(
        {
            "metric": np.repeat([m.name for m in chosen], len(layout.systems)),
            "system": list(layout.systems) * len(chosen),
            "value": np.concatenate([divided(*t.sum(axis=1)) for t in totals]),
            "estimand": "finite",
            "reference": GIVEN,
        }
    )


def known_totals(
    metric: Metric, task: Task, labels: Vectors, layout: PanelLayout, *, weighted: bool = False
) -> Floats:
    """Return numerators and denominators of known labels (item, label): (2, cluster, system).

    ``weighted`` panels count their design weight, otherwise one.
    """
    seen = labels[:, metric.columns(task)]
    layout = layout.of_items((seen != MISSING).all(axis=1))
    layout = layout_for(metric, layout, weighted=weighted)
    y = np.where(layout.mask[..., None], seen[layout.item], 0)
    pair = panel_totals(metric, y, layout.mask, layout.listed)
    shape = (len(layout.clusters), len(layout.systems))
    system = np.repeat(np.arange(shape[1]), np.diff(layout.bounds))
    cell = layout.cluster * shape[1] + system
    scale = layout.weight if weighted else 1.0
    totals = [np.bincount(cell, values * scale, minlength=shape[0] * shape[1]) for values in pair]
    return np.stack(totals).reshape(2, *shape)


VOTE = "majority vote, taken for the truth"
WEIGHTS = 4_000_000
"""Weights drawn at a time: bounds the memory of the bootstrap."""


def majority_metrics(
    ratings: Ratings,
    *,
    metric: Sequence[str] | str | None = None,
    level: float = 0.95,
    draws: int = 2000,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    """Return metrics of the majority vote with cluster bootstrap intervals, a line per system.

    A rater has one vote on an item. Tied classes count with equal shares, or as the mean over
    choices of one. Intervals omit labelling error; ``undefined`` is the share of samples without a
    value. Of a stratum one cluster fewer than it has is drawn, each counting more, so that means of
    few vary as in sampling (Rao & Wu 1988, JASA 83, 231-241).
    """
    require_ratings("majority_metrics", ratings)
    require_level(level)
    require_draws("draws", draws)
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings)
    totals = vote_totals(ratings, chosen, layout)
    samples = resampled(totals, layout, draws, generator_of(rng))
    table = pd.DataFrame(
        {
            "metric": np.repeat([m.name for m in chosen], len(layout.systems)),
            "system": list(layout.systems) * len(chosen),
            "value": divided(*totals.sum(axis=2)).ravel(),
        }
    )
    lower, upper = interval_ends(samples.reshape(draws, -1), level, axis=0)
    undefined = np.isnan(samples).mean(axis=0).ravel()
    table = table.assign(lower=lower, upper=upper, level=level, undefined=undefined)
    return table.assign(estimand="population", reference=VOTE)


def vote_totals(ratings: Ratings, chosen: Sequence[Metric], layout: PanelLayout) -> Floats:
    """Return numerators and denominators of the majority vote, (2, metric, cluster, system)."""
    task, votes = ratings.task, majority_votes(ratings)
    names = ratings.items.index.to_numpy(str)
    found = []
    for metric in chosen:
        own = votes.about(metric.columns(task))
        if not own.tied.any():
            totals = known_totals(metric, task, own.labels, layout, weighted=True)
        elif metric.additive:
            totals = known_totals(metric, task, own.labels, _split(layout, own), weighted=True)
        else:
            totals = _mean_over_choices(metric, task, own, layout, names)
        found.append(totals)
    return np.stack(found, 1)


def _split(layout: PanelLayout, votes: Votes) -> PanelLayout:
    """Put the lines of each item's vote in its place, with their share of the item's weight."""
    weight = layout.weight[:, None] if layout.item_weight is None else layout.item_weight
    weight = np.broadcast_to(weight, layout.mask.shape)[layout.mask]
    item, panel = layout.item[layout.mask], np.nonzero(layout.mask)[0]
    count, first = votes.count, np.searchsorted(votes.item, np.arange(len(votes.count)))
    place = np.repeat(np.arange(len(item)), count[item])
    number = np.arange(len(place)) - np.searchsorted(place, place)
    line, panel = first[item[place]] + number, panel[place]
    position = np.arange(len(panel)) - np.searchsorted(panel, panel)
    shape = (len(layout.item), int(position.max(initial=0)) + 1)
    lines, mask, weights = np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape)
    lines[panel, position], mask[panel, position] = line, True
    weights[panel, position] = weight[place] * votes.share[line]
    none = np.zeros((2, 0), np.int64)  # additive metrics need no items of other lists
    return replace(layout, item=lines, mask=mask, item_weight=weights, pool=none)


CHOICES = 64
"""Most choices among tied classes that are averaged over; a sample of them in larger clusters."""


def _mean_over_choices(
    metric: Metric, task: Task, votes: Votes, layout: PanelLayout, names: NDArray[np.str_]
) -> Floats:
    """Return the mean totals over all choices of one class for each tie, cluster by cluster. Of
    more than ``CHOICES``, random ones count, which depend on the order of ``names``.
    """
    first = np.searchsorted(votes.item, np.arange(len(votes.count)))
    cluster = np.full(len(first), -1)
    cluster[layout.pool[1]] = layout.pool[0]
    line = np.broadcast_to(first, (CHOICES, len(first))).copy()
    weight = np.zeros((CHOICES, len(layout.clusters)))
    weight[0] = 1.0
    tied = np.flatnonzero(votes.tied & (cluster >= 0))
    tied = tied[np.lexsort((names[tied], cluster[tied]))]
    starts = np.flatnonzero(np.diff(cluster[tied], prepend=-1))
    rng = np.random.default_rng(1)
    for own in np.split(tied, starts[1:]) if len(tied) else []:
        found, chance = _choices(votes, first[own], votes.count[own], rng)
        line[: len(found), own] = found
        weight[:, cluster[own[0]]] = 0.0
        weight[: len(found), cluster[own[0]]] = chance
    totals = np.zeros((2, len(layout.clusters), len(layout.systems)))
    for number in range(int(np.count_nonzero(weight.any(axis=1)))):
        labels = votes.labels[line[number]]
        labels[weight[number, cluster] == 0] = MISSING
        part = known_totals(metric, task, labels, layout, weighted=True)
        totals += part * weight[number][:, None]
    return totals


def _choices(
    votes: Votes, first: Ints, count: Ints, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return lines (choice, item) of some items, and the probability of each choice."""
    if np.log(count).sum() <= np.log(CHOICES) + 1e-9:
        lines = first + np.indices(tuple(count)).reshape(len(count), -1).T
        return lines, votes.share[lines].prod(axis=1)
    each = (np.arange(CHOICES) + 0.5) / CHOICES
    lines = np.empty((CHOICES, len(first)), np.int64)
    for n, (start, size) in enumerate(zip(first, count, strict=True)):
        ends = votes.share[start : start + size].cumsum()[:-1]
        lines[:, n] = start + np.searchsorted(ends, rng.permutation(each))
    return lines, np.full(CHOICES, 1 / CHOICES)


def resampled(totals: Floats, layout: PanelLayout, draws: int, rng: np.random.Generator) -> Floats:
    """Return metrics of bootstrap samples of the clusters, (draw, metric, system)."""
    parts, metrics, clusters, systems = totals.shape
    columns = totals.transpose(2, 0, 1, 3).reshape(clusters, -1)
    sums = np.empty((draws, columns.shape[1]))
    step = max(1, WEIGHTS // clusters)
    for start in range(0, draws, step):
        run = slice(start, min(start + step, draws))
        sums[run] = times_drawn(layout.stratum, run.stop - run.start, rng).T @ columns
    return divided(*sums.reshape(draws, parts, metrics, systems).swapaxes(0, 1))
