"""The share of a panel's items that have a property."""

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools, Floats


def in_classes(y: NDArray[np.integer], codes: frozenset[int]) -> Bools:
    """Return whether the first label of each item is one of some classes, (..., position)."""
    label = y[..., 0]
    if len(codes) == 1:
        return np.asarray(label == min(codes))
    return np.isin(label, sorted(codes))


def share(property_: Bools, mask: Bools) -> Floats:
    """Return the share of each panel's items with a property, (..., panel)."""
    counts: Floats = (property_ & mask).sum(axis=-1) / mask.sum(axis=-1)
    return counts
