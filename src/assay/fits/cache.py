"""What one piece of work asks a fit for again and again, computed once."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.fits.datatree import group

Values = NDArray[np.float64]
SAID = ("task", "spec", "seed")
"""Attributes of a fit that say what draws from its parameters are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kept:
    """The fit that the work is about, and what was computed, by name."""

    fit: xr.DataTree
    values: dict[Hashable, Values] = field(default_factory=dict)


_KEPT: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def computed_once(fit: xr.DataTree) -> Iterator[None]:
    """Keep what is computed of a fit within the block, and forget it at its end.

    All numbers are those without the block. Whoever asks the same of one fit in several ways, as
    a report does, opens it; meanwhile the arrays of the fit must not be changed in place. Of
    other fits nothing is kept.

    Parameters
    ----------
    fit : xarray.DataTree
    """
    token = _KEPT.set(_Kept(fit=fit))
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept_values(fit: xr.DataTree, groups: Sequence[str]) -> dict[Hashable, Values] | None:
    """Return what is kept of a fit, by name, to be read and added to; None outside of a block.

    Parameters
    ----------
    fit : xarray.DataTree
    groups : sequence of str
        Groups of the fit that the values rest on, besides its task, spec and seed. A tree that
        shares the arrays of these groups with the fit of the block shares the values.
    """
    kept = _KEPT.get()
    return None if kept is None or not _alike(fit, kept.fit, groups) else kept.values


def value_once(
    fit: xr.DataTree, groups: Sequence[str], name: Hashable, compute: Callable[[], Values]
) -> Values:
    """Return the value that is kept under a name, or what ``compute`` gives: the caller's own."""
    values = kept_values(fit, groups)
    if values is None:
        return compute()
    if name not in values:
        values[name] = compute()
    return values[name].copy()


def _alike(one: xr.DataTree, other: xr.DataTree, groups: Sequence[str]) -> bool:
    """Whether two trees say the same of the model, and share the arrays of some groups."""
    if any(one.attrs.get(name) != other.attrs.get(name) for name in SAID):
        return False
    pairs = [(group(one, name).data_vars, group(other, name).data_vars) for name in groups]
    return all(
        set(mine) == set(theirs) and all(_shared(mine[k], theirs[k]) for k in mine)
        for mine, theirs in pairs
    )


def _shared(one: xr.DataArray, other: xr.DataArray) -> bool:
    """Whether two variables have the same array; one that is not read stays so."""
    return one.variable is other.variable or one.values is other.values
