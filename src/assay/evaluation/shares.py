"""The share of a panel's items that have a property."""

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]


def share(property_: Flags, mask: Flags) -> NDArray[np.float64]:
    """Return the share of each panel's items with a property, (..., panel)."""
    counts: NDArray[np.float64] = (property_ & mask).sum(axis=-1) / mask.sum(axis=-1)
    return counts
