"""What most metrics are made of: the share of a panel's items that have a property."""

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]


def share(property_: Flags, mask: Flags) -> NDArray[np.float64]:
    """Share of each panel's items with a property.

    Parameters
    ----------
    property_ : ndarray of bool (..., panel, position)
        Whether the item at that position has it; ignored where ``mask`` is false.
    mask : ndarray of bool (panel, position)
        Where there is an item.

    Returns
    -------
    ndarray of float (..., panel)
        In [0, 1].

    Examples
    --------
    >>> share(np.array([[True, False, True]]), np.array([[True, True, False]]))
    array([0.5])
    """
    counts: NDArray[np.float64] = (property_ & mask).sum(axis=-1) / mask.sum(axis=-1)
    return counts
