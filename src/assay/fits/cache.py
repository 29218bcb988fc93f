"""Results that one task requests repeatedly from a fit, computed once."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import xarray as xr

from assay._util.typing import Floats
from assay.fits.datatree import group

SAID = ("task", "spec", "seed")
"""Attributes of a fit that define the meaning of its parameter draws."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kept:
    """The fit of the current block, and its results by name."""

    fit: xr.DataTree
    values: dict[Hashable, Floats] = field(default_factory=dict)


_KEPT: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def computed_once(fit: xr.DataTree) -> Iterator[None]:
    """Keep results on a fit within the block, and discard them at its end.

    Results are unchanged by it. The arrays of the fit must not be modified in place within the
    block.
    """
    token = _KEPT.set(_Kept(fit=fit))
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept_values(fit: xr.DataTree, groups: Sequence[str]) -> dict[Hashable, Floats] | None:
    """Return the kept results of a fit, which may be added to; None outside of a block.

    ``groups`` are the groups that the results use. A tree that shares their arrays with the fit of
    the block shares the results.
    """
    kept = _KEPT.get()
    return None if kept is None or not _alike(fit, kept.fit, groups) else kept.values


def value_once(
    fit: xr.DataTree, groups: Sequence[str], name: Hashable, compute: Callable[[], Floats]
) -> Floats:
    """Return a copy of the kept value of that name, or compute it."""
    values = kept_values(fit, groups)
    if values is None:
        return compute()
    if name not in values:
        values[name] = compute()
    return values[name].copy()


def _alike(one: xr.DataTree, other: xr.DataTree, groups: Sequence[str]) -> bool:
    """Return whether two trees have the same model, and share the arrays of the groups."""
    if any(one.attrs.get(name) != other.attrs.get(name) for name in SAID):
        return False
    pairs = [(group(one, name).data_vars, group(other, name).data_vars) for name in groups]
    return all(
        set(mine) == set(theirs) and all(_shared(mine[k], theirs[k]) for k in mine)
        for mine, theirs in pairs
    )


def _shared(one: xr.DataArray, other: xr.DataArray) -> bool:
    """Return whether two variables have the same array, without reading it."""
    return one.variable is other.variable or one.values is other.values
