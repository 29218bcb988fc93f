"""Metrics of arrays of label draws: panels' values, weighted and summed by system."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from assay._util.errors import ModelError
from assay._util.grouping import unique_rows
from assay._util.progress import steps
from assay._util.quotients import divided
from assay.data.task import Task
from assay.evaluation.item_weights import weighed_layout
from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import Metric
from assay.evaluation.stored import StoredStates

CELLS = 1_000_000
"""Places in panels handled at a time: bounds the memory, whatever the number of draws."""

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


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelDraws:
    """Label vectors of items, of which a draw takes two bytes an item.

    Attributes
    ----------
    states : ndarray of int16 (draw, item), or StoredStates
        Positions in ``codes``; chains and draws are merged.
    codes : ndarray of int16 (state, label)
        Class codes of each state.

    Examples
    --------
    >>> draws = LabelDraws(
    ...     states=np.array([[0, 1], [1, 1]], np.int16),
    ...     codes=np.array([[0, 0], [1, 0]], np.int16),
    ... )
    >>> draws.shape
    (2, 2, 2)
    >>> draws[1:2].tolist()
    [[[1, 0], [1, 0]]]
    """

    states: Codes | StoredStates
    codes: Codes

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of draws, items and labels."""
        return (*self.states.shape, self.codes.shape[1])

    def __getitem__(self, draws: slice, /) -> Codes:
        """Return the class codes of some draws: (draw, item, label)."""
        return self.codes[self.states[draws]]


def metric_draws(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    weights: Draws | None = None,
) -> Values:
    """Metrics of every draw of the labels.

    Parameters
    ----------
    chosen : sequence of Metric
    task : Task
        Whose labels are the last axis of ``y``.
    y : Labels (draw, item, label)
        Class codes, asked for a run of draws at a time.
    layout : PanelLayout
        Of the panels.
    weights : Draws, optional
        (draw, cluster): weight of a cluster, on top of the panels' design weights. Each panel
        counts one if not given.

    Returns
    -------
    ndarray of float (metric, draw, system)
        NaN where the denominator is 0.
    """
    return divided(*metric_totals(chosen, task, y, layout, weights))


def metric_totals(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    weights: Draws | None = None,
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
    layout: PanelLayout,
    weights: Sequence[Draws | None],
) -> Values:
    """Numerators and denominators under several sets of weights of the clusters.

    Returns
    -------
    ndarray of float (2, weights, metric, draw, system)
    """
    if layout.item_weight is None or all(w is None for w in weights):
        return _totals_on(layout, chosen, task, y, weights)
    found = [_totals_on(weighed_layout(m, layout), [m], task, y, weights) for m in chosen]
    return np.concatenate(found, axis=2)


def _totals_on(
    layout: PanelLayout,
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    weights: Sequence[Draws | None],
) -> Values:
    """Totals of metrics that weigh panels alike: (2, weights, metric, draw, system)."""
    draws = y.shape[0]
    totals = np.empty((len(weights), draws, len(layout.systems), 2 * len(chosen)))
    step, told = max(1, CELLS // max(1, layout.item.size)), steps()
    for start in range(0, draws, step):
        run = slice(start, min(start + step, draws))
        kinds, kind = _kinds_of_panels(*_states(y, run), layout)
        values = _values_of_kinds(chosen, task, kinds)
        for k, w in enumerate(weights):
            totals[k, run] = _by_system(values, kind, None if w is None else w[run], layout)
        told(run.stop - run.start)
    parts = totals.reshape(*totals.shape[:-1], 2, len(chosen))
    return np.ascontiguousarray(np.moveaxis(parts, (3, 4), (0, 2)))


def cluster_totals(metric: Metric, task: Task, y: Labels, layout: PanelLayout) -> Values:
    """Numerators and denominators by cluster and system: (2, draw, cluster, system).

    Panels count their design weight over that of their cluster, so that each cluster counts alike.
    """
    clusters, systems = len(layout.clusters), len(layout.systems)
    design = layout.design
    layout = weighed_layout(metric, layout)
    kinds, kind = _kinds_of_panels(*_states(y, slice(0, y.shape[0])), layout)
    values = _values_of_kinds([metric], task, kinds)
    cell = layout.cluster * systems + layout.system
    rows = np.add.outer(np.arange(len(kind)) * clusters * systems, cell).ravel()
    weight = np.divide(
        layout.weight,
        design[layout.cluster],
        where=layout.weight > 0,
        out=np.zeros(len(layout.weight)),
    )
    scale = np.broadcast_to(weight, kind.shape).ravel()
    shape = (len(kind) * clusters * systems, len(values))
    totals = sparse.coo_array((scale, (rows, kind.ravel())), shape).tocsr() @ values
    return np.moveaxis(np.asarray(totals).reshape(len(kind), clusters, systems, 2), -1, 0)


def panel_totals(metric: Metric, y: Codes, mask: NDArray[np.bool_]) -> tuple[Values, Values]:
    """Call a metric's function: each panel's numerator and denominator (..., panel).

    Both are 0 where either is no finite number: an undefined panel counts in no mean.

    Raises
    ------
    ModelError
        If the function fails, or what it returns is no number or has the wrong shape.
    """
    result = _called(metric, y, mask)
    pair = result if metric.kind == "ratio" else (result, np.ones(len(mask)))
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ModelError(
            f"metric {metric.name!r} is a ratio; its function must return a tuple of two arrays, "
            "numerator and denominator",
            code="metric-function",
        )
    expected = y.shape[:-2]
    try:
        arrays = [np.asarray(part, dtype=float) for part in pair]
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the function of metric {metric.name!r} returned what is no array of numbers: {error}",
            code="metric-function",
        ) from error
    for array in arrays[: 2 if metric.kind == "ratio" else 1]:
        if array.shape != expected:
            raise ModelError(
                f"the function of metric {metric.name!r} returned an array of shape {array.shape} "
                f"for y of shape {y.shape}; expected {expected}: reduce position (axis -1 of "
                "y[..., 0]), keep the rest",
                code="metric-function",
            )
    defined = np.isfinite(arrays[0]) & np.isfinite(arrays[1])
    return np.where(defined, arrays[0], 0.0), np.where(defined, arrays[1], 0.0)


def _called(metric: Metric, y: Codes, mask: NDArray[np.bool_]) -> Any:
    """Call a metric's function; an error in it names the metric and the line."""
    try:
        return metric.function(y, mask)
    except Exception as error:
        # The first frame is this call. Of the others, the last in the file of the function is the
        # line that its author can mend; what it calls may lie anywhere.
        frames = traceback.extract_tb(error.__traceback__)
        inner = frames[1:] or frames
        own = [frame for frame in inner if frame.filename == inner[0].filename]
        raise ModelError(
            f"the function of metric {metric.name!r} fails ({own[-1].filename}, line "
            f"{own[-1].lineno}): {type(error).__name__}: {error}",
            code="metric-function",
        ) from error


def _states(y: Labels, run: slice) -> tuple[NDArray[Any], Codes]:
    """States of a run of draws, (draw, item), and the class codes of each state."""
    if isinstance(y, LabelDraws):
        return y.states[run], y.codes
    part = np.asarray(y[run])
    vectors = part.reshape(-1, part.shape[2])
    first, state = unique_rows(*vectors.T)
    return state.reshape(part.shape[:2]), vectors[first]


class _Kinds(NamedTuple):
    """Panels that differ: class codes (kind, position, label), and where there is an item."""

    labels: Codes
    mask: NDArray[np.bool_]


def _kinds_of_panels(
    states: NDArray[Any], codes: Codes, layout: PanelLayout
) -> tuple[_Kinds, NDArray[np.int64]]:
    """Find the panels that differ, and which of them each panel is in each draw: (draw, panel).

    The value of a panel depends on its own labels alone: it is computed once for each kind.
    """
    places = np.where(layout.mask, states[:, layout.item], -1)
    flat = places.reshape(-1, places.shape[2])
    first, kind = unique_rows(*flat.T)
    mask = flat[first] >= 0
    labels = np.where(mask[..., None], codes[flat[first]], 0)
    return _Kinds(labels=labels, mask=mask), kind.reshape(places.shape[:2])


def _values_of_kinds(chosen: Sequence[Metric], task: Task, kinds: _Kinds) -> Values:
    """Numerators of all metrics, then their denominators: (kind, 2 metrics)."""
    pairs = [panel_totals(m, kinds.labels[..., m.columns(task)], kinds.mask) for m in chosen]
    return np.stack([pair[n] for n in range(2) for pair in pairs], axis=-1)


def _by_system(
    values: Values, kind: NDArray[np.int64], weights: Values | None, layout: PanelLayout
) -> Values:
    """Sum over each system's panels of the values (kind, column): (draw, system, column).

    The weights of the panels, by kind, are a sparse matrix with a row for each draw and system.
    """
    draws, panels = kind.shape
    if weights is None:
        scale = np.ones(kind.size)
    else:
        scale = (weights[:, layout.cluster] * layout.weight).ravel()
    rows = np.add.outer(np.arange(draws) * panels, layout.bounds[:-1]).ravel()
    matrix = sparse.csr_array(
        (scale, kind.ravel(), np.append(rows, kind.size)), shape=(len(rows), len(values))
    )
    return np.asarray(matrix @ values).reshape(draws, -1, values.shape[1])
