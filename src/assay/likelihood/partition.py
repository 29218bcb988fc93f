"""Data cut into pieces by clusters: likelihoods of pieces add up, and can run side by side.

The log-likelihood is a sum over bundles (clusters, or items without a cluster effect), and so is
its gradient: a piece of the data is a set of bundles with the cells that they need. Rows and
contexts keep their numbers, so that every piece takes the same tables.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.likelihood.data import Data

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PIECE = 20_000
"""Rows of cells that a piece has at least: below, starting a thread costs more than it saves."""


def take_bundles(data: Data, chosen: Ints) -> tuple[Data, Ints]:
    """Return the data of some bundles, and which cells they are.

    Parameters
    ----------
    chosen : ndarray of int
        Positions of bundles, none twice.

    Returns
    -------
    part : Data
    cells : ndarray of int
        Positions in ``data`` of the cells of ``part``.

    Examples
    --------
    >>> import assay, numpy as np
    >>> from assay.modelling.structure import build_structure
    >>> from assay.modelling.spec import make_spec
    >>> ratings = assay.simulate("single", n_items=9, n_raters=3, rng=1)
    >>> data = build_structure(ratings, make_spec("pooled", "dirichlet")).pattern.data
    >>> part, cells = take_bundles(data, np.array([0, 2]))
    >>> bool((part.bundle_weight == data.bundle_weight[[0, 2]]).all())
    True
    """
    of_bundle, bundle_start = _spans(data.bundle_start, chosen)
    cells, bundle_cells = _distinct(data.bundle_cells[of_bundle])
    of_panel: Ints | slice = slice(0)
    panel_start, panel_cells = data.panel_start[:1], data.panel_cells[:0]
    if has_panels(data):
        of_panel, panel_start = _spans(data.panel_start, cells)
        cells, panel_cells = _distinct(data.panel_cells[of_panel])
    views, view_start = _spans(data.view_start, cells)
    of_view, row_start = _spans(data.row_start, views)
    of_cell, some = _span(cells), _span(chosen)
    part = Data(
        cell_context=data.cell_context[of_cell],
        cell_mask=data.cell_mask[of_cell],
        view_start=view_start,
        view_layer=data.view_layer[views],
        row_start=row_start,
        rows=data.rows[of_view],
        masks=data.masks,
        panel_start=panel_start,
        panel_cells=panel_cells,
        panel_counts=data.panel_counts[of_panel],
        bundle_start=bundle_start,
        bundle_cells=bundle_cells,
        bundle_counts=data.bundle_counts[of_bundle],
        bundle_weight=data.bundle_weight[some],
    )
    return part, cells


def has_panels(data: Data) -> bool:
    """Whether bundles are made of panels."""
    return len(data.panel_start) > 1


def panels_of(data: Data, bundles: Ints) -> Ints:
    """Return which panels of the data those of :func:`take_bundles` are."""
    return _distinct(data.bundle_cells[_spans(data.bundle_start, bundles)[0]])[0]


def _distinct(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the distinct numbers in order, and the position of each number among them."""
    if (numbers[1:] > numbers[:-1]).all():
        return numbers, np.arange(len(numbers))
    found, position = np.unique(numbers, return_inverse=True)
    return found, position.astype(np.int64)


def _span(chosen: Ints | slice) -> Ints | slice:
    """Return positions as a slice if they are a run: what it takes is a view, not a copy."""
    if isinstance(chosen, slice) or not len(chosen) or (np.diff(chosen) != 1).any():
        return chosen
    return slice(int(chosen[0]), int(chosen[-1]) + 1)


def _spans(start: Ints, chosen: Ints | slice) -> tuple[Ints | slice, Ints]:
    """Positions as :func:`runs` gives them, or as a slice where the chosen ones are a run."""
    span = _span(chosen)
    if not isinstance(span, slice):
        return runs(start, span)
    begin = start[span.start : span.stop + 1]
    return slice(int(begin[0]), int(begin[-1])), begin - begin[0]


def runs(start: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Positions of all members of the chosen runs, and where each run begins among them."""
    length = start[chosen + 1] - start[chosen]
    begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
    positions = np.arange(begin[-1])
    positions += np.repeat(start[chosen] - begin[:-1], length)
    return positions, begin


def bundle_sizes(data: Data) -> Ints:
    """Count the rows that stand behind each bundle: what its likelihood costs."""
    of_cell = data.row_start[data.view_start[1:]] - data.row_start[data.view_start[:-1]] + 1
    return _by_bundle(data, of_cell)


def _by_bundle(data: Data, of_cell: Ints) -> Ints:
    """Add up a number of each cell over the distinct cells of each bundle, or of its panels."""
    if has_panels(data):
        of_cell = _run_sums(of_cell[data.panel_cells], data.panel_start)
    return _run_sums(of_cell[data.bundle_cells], data.bundle_start)


def _run_sums(numbers: Ints, start: Ints) -> Ints:
    running = np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers)])
    return np.asarray(running[start[1:]] - running[start[:-1]])


def shares(data: Data, pieces: int | None = None) -> list[Ints]:
    """Divide the bundles of data into shares of about equal cost.

    Parameters
    ----------
    pieces : int, optional
        How many at most; as many as have ``PIECE`` rows if not given. None is smaller.

    Returns
    -------
    list of ndarray
        Positions of the bundles of each share.
    """
    sizes = bundle_sizes(data)
    total = int(sizes.sum())
    most = max(1, total // PIECE)
    count = most if pieces is None else max(1, min(pieces, most))
    if count == 1:
        return [np.arange(len(sizes))]
    owner = (np.cumsum(sizes) - sizes) * count // total
    # Owners stand in order: each share is a run of bundles.
    ends = np.searchsorted(owner, np.arange(count + 1))
    return [np.arange(a, b) for a, b in pairwise(ends.tolist()) if b > a]


def cut(data: Data, pieces: int | None = None) -> list[tuple[Data, Ints, Ints]]:
    """Cut data into pieces of about equal cost.

    Parameters
    ----------
    pieces : int, optional
        As for :func:`shares`.

    Returns
    -------
    list of (Data, bundles, cells)
        Each piece, and which bundles and cells of ``data`` it has.
    """
    every = shares(data, pieces)
    if len(every) == 1:
        return [(data, every[0], np.arange(len(data.cell_context)))]
    found = []
    for bundles in every:
        part, cells = take_bundles(data, bundles)
        found.append((part, bundles, cells))
    return found


def bundles_of_rows(data: Data, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which bundles contain some of the rows of the response table."""
    hit = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows[data.rows])])
    by_view = hit[data.row_start]
    by_cell = by_view[data.view_start[1:]] > by_view[data.view_start[:-1]]
    return _by_bundle(data, by_cell.astype(np.int64)) > 0


def cores() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[Any], Any], jobs: Sequence[Any], threads: int) -> list[Any]:
    """Do jobs side by side; their compiled parts hold no lock."""
    if threads == 1 or len(jobs) == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, jobs))
