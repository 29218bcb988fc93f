"""States of a large fit, which stay where they are and are read some draws at a time."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.interrupts import unbroken

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
