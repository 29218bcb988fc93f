"""Metrics of label draws: panels' values, weighted and summed by system."""

import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import sparse

from assay._util.arrays import divided
from assay._util.errors import ModelError
from assay._util.grouping import unique_rows
from assay._util.progress import steps, unbroken
from assay.data.task import Task
from assay.evaluation.panels import PanelLayout
from assay.evaluation.pools import layout_for
from assay.evaluation.registry import Metric
from assay.fits import storage
from assay.fits.cache import kept_values
from assay.fits.datatree import group, parameter_draws, structure_of
from assay.fits.latent_states import predict_states, recover, running_prevalence

Codes = NDArray[np.int16]
BLOCK = 64
"""Draws that are read at a time where the store does not say how many it keeps together."""


class StoredStates:
    """States (draw, item) of a fit, chains and draws merged, of which a block is in memory.

    A store keeps draws together in chunks, and reading one of them reads all: so that is a block.

    Parameters
    ----------
    states : DataArray (chain, draw, item)
        Of a store that was opened and not read, or in memory.
    """

    def __init__(self, states: xr.DataArray) -> None:
        self._states = states
        self._sizes = states.sizes
        self._step = _draws_of_chunk(states)
        self._held: tuple[tuple[int, int], Codes] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of draws and items."""
        return len(self), self._sizes["item"]

    def __len__(self) -> int:
        """Return the number of draws of all chains."""
        return int(self._sizes["chain"] * self._sizes["draw"])

    def __getitem__(self, draws: slice, /) -> Codes:
        """Read some draws: (draw, item)."""
        chain, draw = np.divmod(np.arange(len(self))[draws], self._sizes["draw"])
        found = np.empty((len(chain), self._sizes["item"]), np.int16)
        places = np.stack([chain, draw // self._step], axis=1)
        for place in np.unique(places, axis=0):
            here = np.flatnonzero((places == place).all(axis=1))
            found[here] = self._block(int(place[0]), int(place[1]))[draw[here] % self._step]
        return found

    def _block(self, chain: int, number: int) -> Codes:
        if self._held is None or self._held[0] != (chain, number):
            self._held = None  # two blocks never stand in memory
            draws = slice(number * self._step, (number + 1) * self._step)
            block = self._states.isel(chain=chain, draw=draws).transpose("draw", "item")
            with unbroken():
                self._held = (chain, number), block.to_numpy()
        return self._held[1]


def _draws_of_chunk(states: xr.DataArray) -> int:
    chunks: Any = states.encoding.get("chunks") or ()
    by_dim = dict(zip(states.dims, chunks, strict=False))
    return int(by_dim.get("draw", BLOCK))


CELLS = 1_000_000
"""Places in panels handled at a time: bounds the memory, whatever the number of draws."""
Values = NDArray[np.float64]


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
    weighted = layout.item_weight is not None and any(w is not None for w in weights)
    if not weighted and not any(m.pooled for m in chosen):
        return _totals_on(layout, chosen, task, y, weights)
    layouts = [layout_for(m, layout, weighted=weighted) for m in chosen]
    found = [_totals_on(own, [m], task, y, weights) for m, own in zip(chosen, layouts, strict=True)]
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
    layout = layout_for(metric, layout)
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


def panel_totals(
    metric: Metric, y: Codes, mask: NDArray[np.bool_], listed: int | None = None
) -> tuple[Values, Values]:
    """Call a metric's function: each panel's numerator and denominator (..., panel).

    Both are 0 where either is no finite number: an undefined panel counts in no mean. Of a layout
    with the clusters' other items, ``listed`` positions are the panels' own.

    Raises
    ------
    ModelError
        If the function fails, or what it returns is no number or has the wrong shape.
    """
    result = _called(metric, y, mask, listed)
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


def _called(metric: Metric, y: Codes, mask: NDArray[np.bool_], listed: int | None) -> Any:
    """Call a metric's function; an error in it names the metric and the line."""
    try:
        if metric.pooled:
            return metric.function(
                y, mask & (np.arange(mask.shape[1]) < (listed or mask.shape[1])), mask
            )
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
    listed: int | None


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
    return _Kinds(labels=labels, mask=mask, listed=layout.listed), kind.reshape(places.shape[:2])


def _values_of_kinds(chosen: Sequence[Metric], task: Task, kinds: _Kinds) -> Values:
    """Numerators of all metrics, then their denominators: (kind, 2 metrics)."""
    pairs = [
        panel_totals(m, kinds.labels[..., m.columns(task)], kinds.mask, kinds.listed)
        for m in chosen
    ]
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


PREDICTIVE_STREAM = 4
SECOND_STREAM = 5
DISCORDANT_STREAM = 6


def posterior_labels(fit: xr.DataTree) -> LabelDraws:
    """Return the label draws of a fit, those of :func:`assay.label_draws`, not yet decoded.

    Those of a large fit are read as they are asked for.
    """
    stored = group(fit, "labels")["state"]
    if stored.nbytes > storage.LARGE:
        return LabelDraws(states=StoredStates(stored), codes=_codes(fit))
    states = stored.transpose("chain", "draw", "item").to_numpy()
    return LabelDraws(states=states.reshape(-1, states.shape[2]), codes=_codes(fit))


def second_labels(fit: xr.DataTree) -> LabelDraws:
    """Draw the labels a second time, independently given each draw of the parameters."""
    rng = np.random.default_rng([int(fit.attrs["seed"]), SECOND_STREAM])
    found = recover(structure_of(fit), parameter_draws(fit), rng)
    return LabelDraws(states=found.states, codes=_codes(fit))


def predicted_labels(fit: xr.DataTree, replicates: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters like the observed ones, one replicate after the other.

    Parameters
    ----------
    fit : xarray.DataTree
    replicates : int
        How many new sets of clusters for each draw of the parameters.

    Yields
    ------
    LabelDraws
        Same panels and systems as the data; cluster effects and states are drawn anew.
    """
    structure, codes = structure_of(fit), _codes(fit)
    rng = np.random.default_rng([int(fit.attrs["seed"]), PREDICTIVE_STREAM])
    running = running_prevalence(structure, parameter_draws(fit))
    for _ in range(replicates):
        states = predict_states(structure, running, rng)
        yield LabelDraws(states=states, codes=codes)


def predicted_again(fit: xr.DataTree, draws: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters without end, each time for some draws of the parameters."""
    structure, codes, values = structure_of(fit), _codes(fit), parameter_draws(fit)
    rng = np.random.default_rng([int(fit.attrs["seed"]), DISCORDANT_STREAM])
    total = len(next(iter(values.values())))
    while True:
        some = rng.choice(total, size=min(draws, total), replace=False)
        running = running_prevalence(structure, {name: v[some] for name, v in values.items()})
        yield LabelDraws(states=predict_states(structure, running, rng), codes=codes)


def _codes(fit: xr.DataTree) -> Codes:
    return group(fit, "constant_data")["states"].to_numpy().astype(np.int16)


def draws_once(
    fit: xr.DataTree,
    groups: Sequence[str],
    choices: Hashable,
    layout: PanelLayout,
    chosen: Sequence[Metric],
    compute: Callable[[Sequence[Metric]], Values],
) -> Values:
    """Return draws of metrics: those kept, and those of the others as ``compute`` gives them.

    Parameters
    ----------
    fit : xarray.DataTree
    groups : sequence of str
        Groups of the fit that the draws rest on, as for :func:`assay.fits.cache.kept_values`.
    choices : hashable
        What else the draws rest on, besides the panels.
    layout : PanelLayout
        The panels.
    chosen : sequence of Metric
    compute : callable
        Of metrics, draws (metric, ...); those of one metric do not depend on the others.

    Returns
    -------
    ndarray of float (metric, ...)
        The caller's own.
    """
    values = kept_values(fit, groups)
    if values is None:
        return compute(chosen)
    place = (choices, _contents(layout))
    lacking = [metric for metric in chosen if (metric, place) not in values]
    if lacking:
        found = compute(lacking)
        values.update({(m, place): v for m, v in zip(lacking, found, strict=True)})
    return np.stack([values[metric, place] for metric in chosen])


def _contents(layout: PanelLayout) -> Hashable:
    """Name a layout by what it holds: it is made anew for every question."""
    held = (getattr(layout, one.name) for one in fields(layout))
    return tuple(
        (v.shape, v.dtype.str, v.tobytes()) if isinstance(v, np.ndarray) else v for v in held
    )
