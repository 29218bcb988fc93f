"""How many independent draws correlated ones are worth, for their mean."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided

Values = NDArray[np.float64]
SAME = 1e-12
"""Draws that differ by less are constant: sums in another order differ by as much."""


def effective_draws(values: Values) -> Values:
    """Return the effective number of draws for the mean.

    Parameters
    ----------
    values : ndarray of float (..., chain, draw)
        NaN where a draw is undefined: it counts as the mean of the others, and not in their number.

    Returns
    -------
    ndarray of float (...)
        All draws where they are constant, NaN where none is defined.

    References
    ----------
    Vehtari et al. (2021). Rank-normalization, folding, and localization: an improved R-hat.
    Bayesian Analysis 16(2), 667-718.

    Examples
    --------
    >>> float(effective_draws(np.ones((2, 50))))
    100.0
    """
    from arviz_stats.base.array import BaseArray

    statistics: Any = BaseArray()
    both = (-2, -1)
    some = ~np.isnan(values)
    centre = divided(np.where(some, values, 0.0).sum(axis=both), some.sum(axis=both))
    filled = np.where(some, values, np.nan_to_num(centre)[..., None, None])
    varies = np.ptp(filled, axis=both) >= SAME
    found = np.full(centre.shape, float(values.shape[-2] * values.shape[-1]))
    if varies.any():
        found[varies] = statistics.ess(filled[varies], chain_axis=-2, draw_axis=-1, method="mean")
    return np.where(some.any(axis=both), found * some.mean(axis=both), np.nan)
