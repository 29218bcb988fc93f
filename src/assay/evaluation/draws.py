"""Metrics of arrays of label draws: panels' values, weighted and summed by system."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.evaluation.panels import Layout
from assay.evaluation.registry import Metric
from assay.task import Task

CELLS = 4_000_000
"""Label cells handled at a time: bounds the memory, whatever the number of draws."""

Values = NDArray[np.float64]
Codes = NDArray[np.int16]


class Draws(Protocol):
    """Something that gives a run of draws as an array: an array, or what computes one."""

    def __getitem__(self, draws: slice, /) -> NDArray[Any]:
        """Return these draws, the first axis of the array."""


class Labels(Draws, Protocol):
    """Draws of label vectors: an array (draw, item, label), or what decodes one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of draws, items and labels."""


def metric_draws(
    chosen: Sequence[Metric], task: Task, y: Labels, layout: Layout, weights: Draws | None = None
) -> Values:
    """Metrics of every draw of the labels.

    Parameters
    ----------
    chosen : sequence of Metric
    task : Task
        Whose labels are the last axis of ``y``.
    y : Labels (draw, item, label)
        Class codes, asked for a run of draws at a time.
    layout : Layout
        Of the panels.
    weights : Draws, optional
        (draw, cluster): weight of a cluster, on top of the panels' design weights. Each panel
        counts one if not given.

    Returns
    -------
    ndarray of float (metric, draw, system)
        NaN where the denominator is 0.
    """
    return ratio(metric_totals(chosen, task, y, layout, weights))


def metric_totals(
    chosen: Sequence[Metric], task: Task, y: Labels, layout: Layout, weights: Draws | None = None
) -> Values:
    """Weighted numerators and denominators of :func:`metric_draws`.

    Returns
    -------
    ndarray of float (2, metric, draw, system)
    """
    return weighted_totals(chosen, task, y, layout, [weights])[:, 0]


def weighted_totals(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: Layout,
    weights: Sequence[Draws | None],
) -> Values:
    """Numerators and denominators under several sets of weights of the clusters.

    Returns
    -------
    ndarray of float (2, weights, metric, draw, system)
    """
    draws, labels = y.shape[0], y.shape[2]
    totals = np.empty((2, len(weights), len(chosen), draws, len(layout.systems)))
    step = max(1, CELLS // max(1, layout.item.size * labels))
    for start in range(0, draws, step):
        run = slice(start, min(start + step, draws))
        scales = [None if w is None else w[run][:, layout.cluster] * layout.weight for w in weights]
        codes = _labels_of_panels(y[run], layout)
        for m, metric in enumerate(chosen):
            pair = panel_totals(metric, codes[..., metric.columns(task)], layout.mask)
            for n, values in enumerate(pair):
                for k, scale in enumerate(scales):
                    totals[n, k, m, run] = _by_system(values, scale, layout)
    return totals


def ratio(totals: Values) -> Values:
    """Divide numerators by denominators (first axis); NaN where the denominator is 0.

    Examples
    --------
    >>> ratio(np.array([[1.0, 0.0], [4.0, 0.0]]))
    array([0.25,  nan])
    """
    values = np.full(totals.shape[1:], np.nan)
    np.divide(totals[0], totals[1], out=values, where=totals[1] != 0)
    return values


def panel_totals(metric: Metric, y: Codes, mask: NDArray[np.bool_]) -> tuple[Values, Values]:
    """Call a metric's function: each panel's numerator and denominator (..., panel).

    Raises
    ------
    ModelError
        If what the function returns has the wrong shape.
    """
    result = metric.function(y, mask)
    pair = result if metric.kind == "ratio" else (result, np.ones(len(mask)))
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ModelError(
            f"metric {metric.name!r} is a ratio; its function must return a tuple of two arrays, "
            "numerator and denominator"
        )
    expected = y.shape[:-2]
    arrays = [np.asarray(part, dtype=float) for part in pair]
    for array in arrays[: 2 if metric.kind == "ratio" else 1]:
        if array.shape != expected:
            raise ModelError(
                f"the function of metric {metric.name!r} returned an array of shape {array.shape} "
                f"for y of shape {y.shape}; expected {expected}: reduce position (axis -1 of "
                "y[..., 0]), keep the rest"
            )
    return arrays[0], np.broadcast_to(arrays[1], expected)


def _labels_of_panels(y: Codes, layout: Layout) -> Codes:
    """Class codes by place, (draw, panel, position, label); 0 where a panel has no item."""
    labels = y[:, layout.item]
    labels[:, ~layout.mask] = 0
    return labels


def _by_system(values: Values, scale: Values | None, layout: Layout) -> Values:
    weighted = values if scale is None else values * scale
    bounds = zip(layout.bounds[:-1], layout.bounds[1:], strict=True)
    return np.stack([weighted[:, low:high].sum(axis=1) for low, high in bounds], axis=1)
