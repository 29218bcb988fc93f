"""Metrics of a population: weighted observed clusters and the prior on discordance."""

from collections.abc import Sequence

import numpy as np

from assay._util.arrays import divided
from assay._util.typing import Floats
from assay.data.task import Task
from assay.evaluation.discordance import Discordance
from assay.evaluation.draws import Labels, metric_totals, weighted_totals
from assay.evaluation.estimands import cluster_weights, mass_of_clusters
from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import Metric


def population_draws(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    seeds: Sequence[int],
    prior: Discordance,
) -> Floats:
    """Return metrics under each seed's cluster weights, (seed, metric, draw, system).

    They are NaN where no observed cluster has a denominator.
    """
    weights = [cluster_weights(layout, seed) for seed in seeds]
    totals = weighted_totals(chosen, task, y, layout, weights)
    for n, seed in enumerate(seeds):
        mass = mass_of_clusters(layout, y.shape[0], seed)
        totals[:, n] += _told(totals[:, n], prior.totals(seed) / mass[:, None])
    return divided(*totals)


def expected_population(
    chosen: Sequence[Metric], task: Task, y: Labels, layout: PanelLayout, prior: Discordance
) -> Floats:
    """Return metrics under the mean weights of the clusters, (metric, draw, system)."""
    even = np.broadcast_to(1.0, (y.shape[0], len(layout.clusters)))
    totals = metric_totals(chosen, task, y, layout, even)
    totals += _told(totals, prior.totals(None) * layout.design.mean())
    return divided(*totals)


def _told(observed: Floats, prior: Floats) -> Floats:
    """Set the prior's clusters to 0 where a metric is undefined on the observed ones."""
    return np.where(observed[1] != 0, prior, 0.0)
