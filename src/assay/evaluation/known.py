"""Metrics of labels that are known: the truth of a simulation, a majority vote, one rater."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.errors import RatingsError
from assay._util.quotients import divided
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors
from assay.data.task import Task
from assay.evaluation.draws import panel_totals
from assay.evaluation.item_weights import weighable_metrics, weighed_layout
from assay.evaluation.panels import PanelLayout, panel_layout
from assay.evaluation.registry import Metric

GIVEN = "the labels given"


def metrics_of_labels(
    labels: Vectors, ratings: Ratings, *, metric: Sequence[str] | str | None = None
) -> pd.DataFrame:
    """Compute metrics from known labels, as scoring tools do.

    Parameters
    ----------
    labels : ndarray of int (item, label)
        Class codes in the order of ``ratings.items`` and of the task's labels. An item is left
        out of the metrics that need a label which is ``MISSING`` there.
    ratings : Ratings
        Whose task and panels to use.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.

    Returns
    -------
    pandas.DataFrame
        ``metric``, ``system`` (``""`` without systems), ``value``, NaN where it is undefined,
        ``estimand`` ("finite") and ``reference`` (that the labels are taken for the truth).

    Raises
    ------
    RatingsError
        If ``labels`` has another shape.
    UnknownNameError, ModelError
        As :func:`assay.metrics`.
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
) -> NDArray[np.float64]:
    """Numerators and denominators of known labels, summed by cluster and system.

    Parameters
    ----------
    metric : Metric
    task : Task
    labels : ndarray of int (item, label)
    layout : PanelLayout
    weighted : bool
        Whether panels count their design weight, or one.

    Returns
    -------
    ndarray of float (2, cluster, system)
    """
    seen = labels[:, metric.columns(task)]
    layout = layout.of_items((seen != MISSING).all(axis=1))
    if weighted:
        layout = weighed_layout(metric, layout)
    y = np.where(layout.mask[..., None], seen[layout.item], 0)
    pair = panel_totals(metric, y, layout.mask)
    shape = (len(layout.clusters), len(layout.systems))
    system = np.repeat(np.arange(shape[1]), np.diff(layout.bounds))
    cell = layout.cluster * shape[1] + system
    scale = layout.weight if weighted else 1.0
    totals = [np.bincount(cell, values * scale, minlength=shape[0] * shape[1]) for values in pair]
    return np.stack(totals).reshape(2, *shape)
