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
from assay._util.typing import Bools, Floats, Ints
from assay.data.task import Task
from assay.evaluation.panels import PanelLayout
from assay.evaluation.pools import layout_for
from assay.evaluation.registry import Metric
from assay.fits import storage
from assay.fits.latent_states import predict_states, running_prevalence, sample_states
from assay.fits.view import FitView

Codes = NDArray[np.int16]
BLOCK = 64
"""Draws read at a time if the store does not name a chunk size."""


class StoredStates:
    """States (draw, item) of a stored fit, chains merged, read one chunk of the store at a time."""

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
        """Read a run of draws, (draw, item)."""
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
"""Places in panels handled at a time: bounds the memory."""


class Draws(Protocol):
    """An array whose first axis is the draw, or an object that computes runs of it."""

    def __getitem__(self, draws: slice, /) -> NDArray[Any]:
        """Return a run of draws."""


class Labels(Draws, Protocol):
    """Class codes (draw, item, label), as an array or decoded on demand."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of draws, items and labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelDraws:
    """Label vectors of items, stored as states: two bytes for an item and draw.

    states : positions in ``codes`` (draw, item), chains merged
    codes : class codes of each state (state, label)
    """

    states: Codes | StoredStates
    codes: Codes

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of draws, items and labels."""
        return (*self.states.shape, self.codes.shape[1])

    def __getitem__(self, draws: slice, /) -> Codes:
        """Return the class codes of a run of draws, (draw, item, label)."""
        return self.codes[self.states[draws]]


def metric_draws(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    weights: Draws | None = None,
) -> Floats:
    """Return metrics of every draw, (metric, draw, system); NaN where the denominator is 0.

    ``weights`` (draw, cluster) multiply the panels' design weights; without them panels count 1.
    """
    return divided(*metric_totals(chosen, task, y, layout, weights))


def metric_totals(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    weights: Draws | None = None,
) -> Floats:
    """Return weighted numerators and denominators of the metrics, (2, metric, draw, system)."""
    return weighted_totals(chosen, task, y, layout, [weights])[:, 0]


def weighted_totals(
    chosen: Sequence[Metric],
    task: Task,
    y: Labels,
    layout: PanelLayout,
    weights: Sequence[Draws | None],
) -> Floats:
    """Return totals under several sets of cluster weights, (2, weights, metric, draw, system)."""
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
) -> Floats:
    """Return totals of metrics on one layout, (2, weights, metric, draw, system)."""
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


def cluster_totals(metric: Metric, task: Task, y: Labels, layout: PanelLayout) -> Floats:
    """Return numerators and denominators by cluster and system, (2, draw, cluster, system).

    A panel counts its design weight over that of its cluster, so that each cluster counts alike.
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
    metric: Metric, y: Codes, mask: Bools, listed: int | None = None
) -> tuple[Floats, Floats]:
    """Call a metric's function: return each panel's numerator and denominator, (..., panel); 0
    where either is not finite. Only the first ``listed`` positions are the panels' own.
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
            f"the function of metric {metric.name!r} did not return an array of numbers: {error}",
            code="metric-function",
        ) from error
    for array in arrays[: 2 if metric.kind == "ratio" else 1]:
        if array.shape != expected:
            raise ModelError(
                f"the function of metric {metric.name!r} returned an array of shape {array.shape} "
                f"for y of shape {y.shape}. Expected is {expected}: reduce position (axis -1 of "
                "y[..., 0]), and keep all other axes",
                code="metric-function",
            )
    defined = np.isfinite(arrays[0]) & np.isfinite(arrays[1])
    return np.where(defined, arrays[0], 0.0), np.where(defined, arrays[1], 0.0)


def _called(metric: Metric, y: Codes, mask: Bools, listed: int | None) -> Any:
    """Call a metric's function; an error in it names the metric and the line."""
    try:
        if metric.pooled:
            return metric.function(
                y, mask & (np.arange(mask.shape[1]) < (listed or mask.shape[1])), mask
            )
        return metric.function(y, mask)
    except Exception as error:
        # The first frame is this call. The last other frame in the function's own file is the line
        # that its author can correct.
        frames = traceback.extract_tb(error.__traceback__)
        inner = frames[1:] or frames
        own = [frame for frame in inner if frame.filename == inner[0].filename]
        raise ModelError(
            f"the function of metric {metric.name!r} fails ({own[-1].filename}, line "
            f"{own[-1].lineno}): {type(error).__name__}: {error}",
            code="metric-function",
        ) from error


def _states(y: Labels, run: slice) -> tuple[NDArray[Any], Codes]:
    """Return states of a run of draws, (draw, item), and the class codes of each state."""
    if isinstance(y, LabelDraws):
        return y.states[run], y.codes
    part = np.asarray(y[run])
    vectors = part.reshape(-1, part.shape[2])
    first, state = unique_rows(*vectors.T)
    return state.reshape(part.shape[:2]), vectors[first]


class _Kinds(NamedTuple):
    """Distinct panels: class codes (kind, position, label) and mask (kind, position)."""

    labels: Codes
    mask: Bools
    listed: int | None


def _kinds_of_panels(
    states: NDArray[Any], codes: Codes, layout: PanelLayout
) -> tuple[_Kinds, Ints]:
    """Find the distinct panels, and the number of each panel among them, (draw, panel).

    A panel's value depends on its labels alone, so it is computed once for each distinct panel.
    """
    places = np.where(layout.mask, states[:, layout.item], -1)
    flat = places.reshape(-1, places.shape[2])
    first, kind = unique_rows(*flat.T)
    mask = flat[first] >= 0
    labels = np.where(mask[..., None], codes[flat[first]], 0)
    return _Kinds(labels=labels, mask=mask, listed=layout.listed), kind.reshape(places.shape[:2])


def _values_of_kinds(chosen: Sequence[Metric], task: Task, kinds: _Kinds) -> Floats:
    """Return the numerators of all metrics, then their denominators, (kind, 2 metrics)."""
    pairs = [
        panel_totals(m, kinds.labels[..., m.columns(task)], kinds.mask, kinds.listed)
        for m in chosen
    ]
    return np.stack([pair[n] for n in range(2) for pair in pairs], axis=-1)


def _by_system(values: Floats, kind: Ints, weights: Floats | None, layout: PanelLayout) -> Floats:
    """Sum the values (kind, column) over each system's panels, (draw, system, column).

    The panels' weights are a sparse matrix: a row for each draw and system, a column for each kind.
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


def posterior_labels(view: FitView) -> LabelDraws:
    """Return the label draws of a fit, not yet decoded; those of a large fit are read on demand."""
    stored = view["labels"]["state"]
    large = stored.nbytes > storage.LARGE
    return LabelDraws(states=StoredStates(stored) if large else view.states, codes=view.codes)


def second_labels(view: FitView) -> LabelDraws:
    """Draw the labels a second time, independently given each draw of the parameters."""
    rng = np.random.default_rng([int(view.attrs["seed"]), SECOND_STREAM])
    found = sample_states(view.structure, view.draws_of_labels, rng)
    return LabelDraws(states=found.states, codes=view.codes)


def predicted_labels(view: FitView, replicates: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters like the observed ones, one set for each replicate."""
    structure, codes = view.structure, view.codes
    rng = np.random.default_rng([int(view.attrs["seed"]), PREDICTIVE_STREAM])
    running = running_prevalence(structure, view.draws)
    for _ in range(replicates):
        states = predict_states(structure, running, rng)
        yield LabelDraws(states=states, codes=codes)


def predicted_again(view: FitView, draws: int) -> Iterator[LabelDraws]:
    """Yield label draws of new clusters without end, each time for some draws of the parameters."""
    structure, codes, values = view.structure, view.codes, view.draws
    rng = np.random.default_rng([int(view.attrs["seed"]), DISCORDANT_STREAM])
    total = len(next(iter(values.values())))
    while True:
        some = rng.choice(total, size=min(draws, total), replace=False)
        running = running_prevalence(structure, {name: v[some] for name, v in values.items()})
        yield LabelDraws(states=predict_states(structure, running, rng), codes=codes)


def draws_once(
    view: FitView,
    choices: Hashable,
    layout: PanelLayout,
    chosen: Sequence[Metric],
    compute: Callable[[Sequence[Metric]], Floats],
) -> Floats:
    """Return draws (metric, ...): those of the view, by ``choices`` and panels, and of ``compute``,
    which must give each metric the same draws whatever the others are.
    """
    values = view.results
    place = (choices, _contents(layout))
    lacking = [metric for metric in chosen if (metric, place) not in values]
    if lacking:
        found = compute(lacking)
        values.update({(m, place): v for m, v in zip(lacking, found, strict=True)})
    return np.stack([values[metric, place] for metric in chosen])


def _contents(layout: PanelLayout) -> Hashable:
    """Return a hashable key of a layout's contents; equal layouts are built repeatedly."""
    held = (getattr(layout, one.name) for one in fields(layout))
    return tuple(
        (v.shape, v.dtype.str, v.tobytes()) if isinstance(v, np.ndarray) else v for v in held
    )
