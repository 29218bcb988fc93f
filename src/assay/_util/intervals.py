"""Level and ends of equal-tailed intervals."""

from typing import Any

import numpy as np

from assay._util.typing import Floats
from assay._util.validation import require_number


def require_level(level: float, *, above: float = 0.0) -> None:
    """Refuse a level that is no number above ``above`` and below 1."""
    allowed = f"a probability above {above:g} and below 1, such as 0.95"
    require_number("level", level, lambda x: above < x < 1, allowed=allowed)


def tails(level: float) -> tuple[float, float]:
    """Return the probabilities below the lower and the upper end."""
    return (1 - level) / 2, (1 + level) / 2


def interval_ends(draws: Any, level: float, *, axis: int = -1) -> Floats:
    """Return lower and upper end along ``axis``, (2, ...), without NaN; NaN if all draws are."""
    values = np.moveaxis(np.asarray(draws, float), axis, -1)
    ends = np.full((2, *values.shape[:-1]), np.nan)
    missing = np.isnan(values)
    some = ~missing.all(axis=-1)
    if some.any():
        quantile = np.nanquantile if missing.any() else np.quantile  # the first is slower
        ends[:, some] = quantile(values[some], tails(level), axis=-1)
    return ends
