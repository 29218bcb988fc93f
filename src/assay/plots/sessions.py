"""How raters drift: reliability by session, a panel per label and a line per rater."""

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from assay._util.intervals import interval_ends, require_level
from assay.plots.style import COLOURS, MARKERS, RC, SERIES, WIDTH, panel_grid, short
from assay.raters.drift import reliability_by_session

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_RATERS = len(SERIES)
TICKS = 3
"""Sessions that are named below a panel."""


def plot_drift(fit: xr.DataTree, *, level: float = 0.95, width: float = WIDTH) -> "Figure":
    """Draw the reliability of raters by session.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="... + drift")``.
    level : float
        Probability of the bands.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per label: posterior means over the sessions with bands, of the raters that move
        most.

    Raises
    ------
    FitError
        If no rater drifts, or ``level`` is not between 0 and 1.
    """
    import matplotlib as mpl

    require_level(level)
    table = reliability_by_session(fit).stack(sample=("chain", "draw"))
    means = table.mean("sample").dropna("rater", how="all")
    moves = (means.max("session") - means.min("session")).max("label")
    shown = means["rater"].values[np.argsort(-moves.values, kind="stable")[:SHOWN_RATERS]]
    labels = list(table["label"].values)
    with mpl.rc_context(RC):
        figure, panels = panel_grid(
            len(labels), width, ratio=0.75, extra=0.4, label="mean P(right answer)"
        )
        for axes, label in zip(panels, labels, strict=True):
            _draw_walks(axes, table.sel(label=label, rater=shown), level)
            axes.set_title(short(label))
        lines, names = panels[0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=len(names))
    return figure


def _draw_walks(axes: "Axes", table: xr.DataArray, level: float) -> None:
    """Draw each rater of one label over the sessions."""
    x = np.arange(table.sizes["session"])
    for n, rater in enumerate(table["rater"].values):
        draws = table.sel(rater=rater).transpose("session", "sample").values
        lower, upper = interval_ends(draws, level)
        colour = COLOURS[SERIES[n]]
        axes.fill_between(x, lower, upper, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            x, draws.mean(axis=1), f"{MARKERS[n]}-", color=colour, markersize=4, linewidth=1.4,
            label=short(rater),
        )  # fmt: skip
    shown = x[:: ceil(len(x) / TICKS)]
    axes.set_xticks(shown, [short(table["session"].values[n], 12) for n in shown])
    axes.set_ylim(0, 1)
    axes.grid()
