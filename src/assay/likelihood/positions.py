"""Positions in arrays that are read from other arrays."""

import numpy as np

from assay.likelihood.compiling import compiled


@compiled(inline="always")
def at(position):  # type: ignore[no-untyped-def]
    """Return a position as an unsigned number.

    Of a signed one Numba asks at each look whether it counts from the end of the array, which takes
    longer than the look.
    """
    return np.uint64(position)
