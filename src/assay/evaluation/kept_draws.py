"""Draws of a fit's metrics that one piece of work asks for again and again, computed once."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.evaluation.panels import PanelLayout
from assay.evaluation.registry import Metric
from assay.fits.cache import kept_values

Values = NDArray[np.float64]


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
