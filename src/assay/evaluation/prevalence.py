"""The generic metrics: how many of the items to which a label applies are in a class, or not."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Totals = tuple[Counts, Counts]


@cache
def prevalence_totals(
    code: int, *, other: bool = False
) -> Callable[[NDArray[Any], NDArray[np.bool_]], Totals]:
    """Return the metric function that counts class ``code`` of one label, or all other classes.

    The same class has the same function, so that a metric made twice is one metric.

    Examples
    --------
    >>> y = np.array([[[1], [0], [-2]]])
    >>> prevalence_totals(1)(y, np.ones((1, 3), bool))
    (array([1]), array([2]))
    >>> prevalence_totals(1, other=True)(y, np.ones((1, 3), bool))
    (array([1]), array([2]))
    """

    def totals(y: NDArray[Any], mask: NDArray[np.bool_]) -> Totals:
        label = y[..., 0]
        applies = (label >= 0) & mask
        return (((label == code) ^ other) & applies).sum(axis=-1), applies.sum(axis=-1)

    return totals
