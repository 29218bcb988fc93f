"""Quotients that are NaN where there is nothing to divide by."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def divided(top: Any, bottom: Any) -> NDArray[np.float64]:
    """Divide; NaN where the denominator is 0.

    Parameters
    ----------
    top, bottom : array-like
        Of shapes that can be broadcast together.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> divided([1.0, 0.0], [4.0, 0.0])
    array([0.25,  nan])
    """
    over, under = np.asarray(top, float), np.asarray(bottom, float)
    blank = np.full(np.broadcast_shapes(over.shape, under.shape), np.nan)
    return np.asarray(np.divide(over, under, out=blank, where=under != 0))
