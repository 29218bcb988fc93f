"""What is read off a fit and each of its refits, and what a refit changes in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from assay.comparison.settled import pair_conclusion
from assay.comparison.words import Line

Of = Literal["contrasts", "systems"]
OF = ("contrasts", "systems")
CHANGES = "changes"
"""With this begins what is said of a line that a refit changes."""
MOVED = 1.0
"""From how many posterior SDs of the fit on a moved estimate is worth a word."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """A table of a fit, and how its lines are held against those of a refit.

    Attributes
    ----------
    key : tuple of str
        Columns that say what a line is about.
    numbers : tuple of str
        Columns that a refit gives anew.
    table : callable
        From a fit to its lines, in the same order for every fit.
    changes : callable
        From a line of the fit and the same line of a refit to what has changed, in words.
    """

    key: tuple[str, ...]
    numbers: tuple[str, ...]
    table: Callable[[xr.DataTree], pd.DataFrame]
    changes: Callable[[Line, Line], str]


def contrasts_view(table: Callable[[xr.DataTree], pd.DataFrame]) -> View:
    """Return the view of contrasts: lines of :attr:`assay.comparison.Comparison.pairs`."""
    return View(
        key=("metric", "a", "b"),
        numbers=(
            "estimand",
            "difference",
            "difference_lower",
            "difference_upper",
            "p_greater",
            "doubt",
        ),
        table=table,
        changes=contrast_changes,
    )


def systems_view(table: Callable[[xr.DataTree], pd.DataFrame]) -> View:
    """Return the view of the metrics of each system: lines of :func:`assay.summarize`."""
    return View(
        key=("metric", "system"),
        numbers=("estimand", "mean", "lower", "upper", "doubt"),
        table=table,
        changes=system_changes,
    )


def contrast_changes(before: Line, after: Line) -> str:
    """Say what a variant does to a contrast.

    Examples
    --------
    >>> old = {"a": "A", "b": "B", "difference": 0.2, "difference_lower": 0.1,
    ...        "difference_upper": 0.3, "difference_sd": 0.05}
    >>> contrast_changes(old, old | {"difference_lower": -0.1})
    'changes: the sign is open (was: A is higher)'
    """
    if np.isnan(after["difference"]):
        return "undefined"
    old, new = pair_conclusion(before), pair_conclusion(after)
    if old != new:
        return f"{CHANGES}: {new} (was: {old})"
    return _moved(after["difference"] - before["difference"], before["difference_sd"])


def system_changes(before: Line, after: Line) -> str:
    """Say what a variant does to a metric: it changes if the estimate leaves the fit's interval.

    Examples
    --------
    >>> old = {"mean": 0.5, "lower": 0.4, "upper": 0.6, "sd": 0.05}
    >>> system_changes(old, old | {"mean": 0.63})
    'changes: the estimate leaves the interval (+2.6 SD)'
    >>> system_changes(old, old | {"mean": 0.44}), system_changes(old, old | {"mean": 0.52})
    ('none, though the estimate moves by -1.2 SD', 'none')
    """
    if np.isnan(after["mean"]):
        return "undefined"
    shift = after["mean"] - before["mean"]
    if not before["lower"] <= after["mean"] <= before["upper"] and before["sd"] > 0:
        return f"{CHANGES}: the estimate leaves the interval ({shift / before['sd']:+.1f} SD)"
    return _moved(shift, before["sd"])


def _moved(shift: float, sd: float) -> str:
    if sd > 0 and abs(shift / sd) >= MOVED:
        return f"none, though the estimate moves by {shift / sd:+.1f} SD"
    return "none"
