"""Draws of a fit's metrics that one piece of work asks for again and again, computed once."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.evaluation.panels import Layout
from assay.evaluation.registry import Metric
from assay.fit_data import group

Values = NDArray[np.float64]
SAID = ("task", "spec", "seed")
"""Attributes of a fit that say what draws from its parameters are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kept:
    """The fit that the work is about, and draws by metric and by what else they rest on."""

    fit: xr.DataTree
    values: dict[Hashable, Values] = field(default_factory=dict)


_KEPT: ContextVar[_Kept | None] = ContextVar("draws_of_metrics", default=None)


@contextmanager
def computed_once(fit: xr.DataTree) -> Iterator[None]:
    """Keep draws of a fit's metrics within the block, and forget them at its end.

    All numbers are those without the block. Whoever asks for the metrics of one fit in several
    ways, as a report does, opens it; meanwhile the arrays of the fit must not be changed in place.
    Of other fits nothing is kept.

    Parameters
    ----------
    fit : xarray.DataTree
    """
    token = _KEPT.set(_Kept(fit=fit))
    try:
        yield
    finally:
        _KEPT.reset(token)


def draws_once(
    fit: xr.DataTree,
    groups: Sequence[str],
    choices: Hashable,
    layout: Layout,
    chosen: Sequence[Metric],
    compute: Callable[[Sequence[Metric]], Values],
) -> Values:
    """Return draws of metrics: those kept, and those of the others as ``compute`` gives them.

    Parameters
    ----------
    fit : xarray.DataTree
    groups : sequence of str
        Groups of the fit that the draws rest on, besides its task, spec and seed. A tree that
        shares the arrays of these groups with the fit that is kept shares the draws.
    choices : hashable
        What else the draws rest on, besides the panels.
    layout : Layout
        The panels.
    chosen : sequence of Metric
    compute : callable
        Of metrics, draws (metric, ...); those of one metric do not depend on the others.

    Returns
    -------
    ndarray of float (metric, ...)
        The caller's own.
    """
    kept = _KEPT.get()
    if kept is None or not _alike(fit, kept.fit, groups):
        return compute(chosen)
    place = (choices, _contents(layout))
    lacking = [metric for metric in chosen if (metric, place) not in kept.values]
    if lacking:
        found = compute(lacking)
        kept.values.update({(m, place): v for m, v in zip(lacking, found, strict=True)})
    return np.stack([kept.values[metric, place] for metric in chosen])


def _alike(one: xr.DataTree, other: xr.DataTree, groups: Sequence[str]) -> bool:
    """Whether two trees say the same of the model, and share the arrays of some groups."""
    if any(one.attrs.get(name) != other.attrs.get(name) for name in SAID):
        return False
    pairs = [(group(one, name).data_vars, group(other, name).data_vars) for name in groups]
    return all(
        set(mine) == set(theirs) and all(mine[k].values is theirs[k].values for k in mine)
        for mine, theirs in pairs
    )


def _contents(layout: Layout) -> Hashable:
    """Name a layout by what it holds: it is made anew for every question."""
    held = (getattr(layout, one.name) for one in fields(layout))
    return tuple(
        (v.shape, v.dtype.str, v.tobytes()) if isinstance(v, np.ndarray) else v for v in held
    )
