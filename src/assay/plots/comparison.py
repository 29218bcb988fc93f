"""Differences of systems: the posterior density of each, with its interval and zero."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.words import percent
from assay.comparison import Comparison, compare
from assay.comparison.pairs import TIE
from assay.plots.style import COLOURS, RC, WIDTH, bare, doubt_note, new_figure, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_PAIRS = 24
BINS = 48
LINE = 0.42
"""Height of one density in inches."""

Floats = NDArray[np.float64]


def plot_comparison(found: Comparison | xr.DataTree, *, width: float = WIDTH) -> "Figure":
    """Draw the posterior of each difference between two systems.

    Parameters
    ----------
    found : Comparison or xarray.DataTree
        From :func:`assay.compare`; a fit is compared on all metrics of its task.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        A density per pair and metric, at most 24, with the interval of the comparison's level.

    Raises
    ------
    ModelError, FitError
        If it is given anything else, or a fit of fewer than two systems.
    """
    import matplotlib as mpl

    comparison = found if isinstance(found, Comparison) else compare(found)
    pairs = comparison.pairs.dropna(subset=["difference"]).head(SHOWN_PAIRS)
    with mpl.rc_context(RC):
        figure = new_figure(width, LINE * max(len(pairs), 1) + 0.9)
        axes = figure.subplots()
        axes.axvline(0, color=COLOURS["muted"], linewidth=1, zorder=0)
        for n, (_, line) in enumerate(pairs.iterrows()):
            _draw(axes, n, line, _differences(comparison.draws, line))
        axes.set_yticks(range(len(pairs)), [_name(line) for _, line in pairs.iterrows()])
        axes.set_ylim(len(pairs) - 0.3, -0.9)
        level = percent(comparison.pairs["level"].iloc[0])
        axes.set_xlabel(f"difference: density, {level} interval{doubt_note(pairs)}")
        axes.grid(axis="x")
        bare(axes)
    return figure


def _name(line: pd.Series) -> str:
    mark = " *" * bool(line["doubt"])
    return f"{short(line['metric'], 30)}{mark}\n{short(line['a'], 14)} − {short(line['b'], 14)}"


def _differences(draws: xr.Dataset, line: pd.Series) -> Floats:
    """Draws of the difference that are defined."""
    metric = draws[line["metric"]]
    gap = (metric.sel(system=line["a"]) - metric.sel(system=line["b"])).to_numpy().ravel()
    return np.asarray(gap[~np.isnan(gap)])


def _draw(axes: "Axes", n: int, line: pd.Series, gap: Floats) -> None:
    """Draw one density above its interval; a difference without spread is a point."""
    lower, upper = line["difference_lower"], line["difference_upper"]
    colour = COLOURS["first"]
    if gap.size and np.ptp(gap) > TIE:
        heights, edges = np.histogram(gap, bins=BINS)
        smooth = np.convolve(heights, np.array([1, 2, 3, 2, 1]) / 9, mode="same")
        middles = (edges[1:] + edges[:-1]) / 2
        axes.fill_between(
            middles, n, n - 0.72 * smooth / smooth.max(), color=colour, alpha=0.3, lw=0
        )
    axes.hlines(n, lower, upper, color=colour, linewidth=1.8)
    axes.plot([line["difference"]], [n], "o", color=colour, markersize=4)
