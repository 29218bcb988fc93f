"""Equal-tailed intervals: their level, and their ends."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.validation import require_number


def require_level(level: float, *, above: float = 0.0) -> None:
    """Refuse what is no probability of an interval.

    Raises
    ------
    ArgumentError
        If it is no number greater than ``above`` and below 1.
    """
    allowed = f"a probability above {above:g} and below 1, such as 0.95"
    require_number("level", level, lambda x: above < x < 1, allowed=allowed)


def tails(level: float) -> tuple[float, float]:
    """Return the share of the draws below each end.

    Examples
    --------
    >>> tails(0.5)
    (0.25, 0.75)
    """
    return (1 - level) / 2, (1 + level) / 2


def interval_ends(draws: Any, level: float, *, axis: int = -1) -> NDArray[np.float64]:
    """Return the ends of the interval of some draws, those that are NaN left out.

    Parameters
    ----------
    draws : array-like
    level : float
    axis : int
        That the draws lie along.

    Returns
    -------
    ndarray (2, ...)
        NaN where no draw is defined.

    Examples
    --------
    >>> interval_ends([0.0, 1.0, 2.0, np.nan], level=0.5)
    array([0.5, 1.5])
    """
    values = np.moveaxis(np.asarray(draws, float), axis, -1)
    ends = np.full((2, *values.shape[:-1]), np.nan)
    missing = np.isnan(values)
    some = ~missing.all(axis=-1)
    if some.any():
        quantile = np.nanquantile if missing.any() else np.quantile  # the first is slower
        ends[:, some] = quantile(values[some], tails(level), axis=-1)
    return ends
