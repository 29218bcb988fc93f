"""Data cut into pieces whose likelihoods add up and can be computed in parallel: bundles, or
clusters with the bundles of each reading. Rows and contexts keep their numbers.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from assay._util.typing import Bools, Ints
from assay.likelihood.data import Data

PIECE = 20_000
"""Least number of rows of a piece; for fewer, a thread costs more than it saves."""


def take_bundles(data: Data, chosen: Ints) -> tuple[Data, Ints]:
    """Return the data of some terms, none twice, and the positions of their cells in ``data``.

    A term is a bundle, or a cluster with its readings.
    """
    reading = data.reading_start, data.reading_bundle, data.reading_kind
    if has_readings(data):
        of_cluster, reading_start = _spans(data.reading_start, chosen)
        chosen, reading_bundle = _distinct(data.reading_bundle[of_cluster])
        reading = reading_start, reading_bundle, data.reading_kind[of_cluster]
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
        reading_start=reading[0],
        reading_bundle=reading[1],
        reading_kind=reading[2],
    )
    return part, cells


def has_readings(data: Data) -> bool:
    """Return whether raters may misread clusters."""
    return len(data.reading_kind) > 0


def has_panels(data: Data) -> bool:
    """Return whether bundles consist of panels."""
    return len(data.panel_start) > 1


def panels_of(data: Data, bundles: Ints) -> Ints:
    """Return the positions of the panels that :func:`take_bundles` keeps."""
    return _distinct(data.bundle_cells[_spans(data.bundle_start, bundles)[0]])[0]


def _distinct(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the sorted distinct numbers, and the position of each number among them."""
    if (numbers[1:] > numbers[:-1]).all():
        return numbers, np.arange(len(numbers))
    found, position = np.unique(numbers, return_inverse=True)
    return found, position.astype(np.int64)


def _span(chosen: Ints | slice) -> Ints | slice:
    """Return consecutive positions as a slice, which gives a view instead of a copy."""
    if isinstance(chosen, slice) or not len(chosen) or (np.diff(chosen) != 1).any():
        return chosen
    return slice(int(chosen[0]), int(chosen[-1]) + 1)


def _spans(start: Ints, chosen: Ints | slice) -> tuple[Ints | slice, Ints]:
    """Return what :func:`runs` does, with a slice for consecutive runs."""
    span = _span(chosen)
    if not isinstance(span, slice):
        return runs(start, span)
    begin = start[span.start : span.stop + 1]
    return slice(int(begin[0]), int(begin[-1])), begin - begin[0]


def runs(start: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return positions of all members of the chosen runs, and where each run begins among them."""
    length = start[chosen + 1] - start[chosen]
    begin = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
    positions = np.arange(begin[-1])
    positions += np.repeat(start[chosen] - begin[:-1], length)
    return positions, begin


def bundle_sizes(data: Data) -> Ints:
    """Return the number of rows of each term of the log-likelihood, which is its cost."""
    of_cell = data.row_start[data.view_start[1:]] - data.row_start[data.view_start[:-1]] + 1
    return _by_term(data, of_cell)


def rows_of_terms(data: Data) -> Ints:
    """Return the number of rows of each term in one reading, which is how much it tells."""
    sizes = bundle_sizes(data)
    return sizes // np.diff(data.reading_start) if has_readings(data) else sizes


def _by_term(data: Data, of_cell: Ints) -> Ints:
    """Sum a number of each cell over the distinct cells of each term of the log-likelihood."""
    if has_panels(data):
        of_cell = _run_sums(of_cell[data.panel_cells], data.panel_start)
    of_bundle = _run_sums(of_cell[data.bundle_cells], data.bundle_start)
    if has_readings(data):
        return _run_sums(of_bundle[data.reading_bundle], data.reading_start)
    return of_bundle


def _run_sums(numbers: Ints, start: Ints) -> Ints:
    running = np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers)])
    return np.asarray(running[start[1:]] - running[start[:-1]])


def shares(data: Data, pieces: int | None = None) -> list[Ints]:
    """Divide bundles into shares of about equal cost, at most ``pieces``, of ``PIECE`` rows."""
    sizes = bundle_sizes(data)
    total = int(sizes.sum())
    most = max(1, total // PIECE)
    count = most if pieces is None else max(1, min(pieces, most))
    if count == 1:
        return [np.arange(len(sizes))]
    owner = (np.cumsum(sizes) - sizes) * count // total
    # Owners are sorted, so each share is a run of bundles.
    ends = np.searchsorted(owner, np.arange(count + 1))
    return [np.arange(a, b) for a, b in pairwise(ends.tolist()) if b > a]


def cut(data: Data, pieces: int | None = None) -> list[tuple[Data, Ints, Ints]]:
    """Cut data into pieces as :func:`shares` does; return each with its bundles and cells."""
    every = shares(data, pieces)
    if len(every) == 1:
        return [(data, every[0], np.arange(len(data.cell_context)))]
    found = []
    for bundles in every:
        part, cells = take_bundles(data, bundles)
        found.append((part, bundles, cells))
    return found


def bundles_of_rows(data: Data, rows: Bools) -> Bools:
    """Return which terms contain any of these rows of the response table."""
    hit = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows[data.rows])])
    by_view = hit[data.row_start]
    by_cell = by_view[data.view_start[1:]] > by_view[data.view_start[:-1]]
    return _by_term(data, by_cell.astype(np.int64)) > 0


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[Any], Any], jobs: Sequence[Any], threads: int) -> list[Any]:
    """Apply a function to jobs in parallel threads."""
    if threads == 1 or len(jobs) == 1:
        return [work(job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, jobs))
