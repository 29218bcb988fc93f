"""What scores mean: the probability of a class given the score, a panel per rater and label."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from assay.data.task import Task
from assay.fits.datatree import ratings_of
from assay.plots.style import COLOURS, MARKERS, RC, SERIES, WIDTH, panel_grid, short
from assay.raters.calibration import score_calibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_CURVES = 6


def plot_calibration(fit: xr.DataTree, *, level: float = 0.95, width: float = WIDTH) -> "Figure":
    """Draw what scores mean: the probability of each class given a rater's score.

    Parameters
    ----------
    fit : xarray.DataTree
        Of raters who give scores (``raters="scored"``).
    level : float
        Probability of the bands.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per rater and label, as many as fit a page. All classes but the
        lowest; of a label with two classes beside the diagonal that a calibrated score lies on.

    Raises
    ------
    FitError
        If no rater gives scores.
    """
    table = upper_classes(score_calibration(fit, level=level), ratings_of(fit).task)
    return draw_calibration(table, width=width)


def upper_classes(table: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return the lines of a calibration table but for the lowest class, which is the rest."""
    lowest = {label.name: label.classes[0] for label in task.labels}
    return table[table["class"].astype(str) != table["label"].map(lowest)]


def draw_calibration(table: pd.DataFrame, *, width: float = WIDTH) -> "Figure":
    """Draw lines of :func:`assay.score_calibration`, the classes that are to be shown.

    Parameters
    ----------
    table : DataFrame
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means with bands over the scores that were given; beside the diagonal if one
        class of each label is shown.
    """
    import matplotlib as mpl

    curves = list(table.groupby(["rater", "label"], sort=False))[:SHOWN_CURVES]
    with mpl.rc_context(RC):
        figure, panels = panel_grid(
            len(curves), width, ratio=1, extra=0.2, label="probability of the class"
        )
        for axes, ((rater, label), part) in zip(panels, curves, strict=True):
            axes.set_title(f"{short(rater)}\n{short(label)}")
            _draw_curves(axes, part)
            axes.set_xlabel("score")
    return figure


def _draw_curves(axes: "Axes", part: pd.DataFrame) -> None:
    """Draw each class of one rater and label over the middles of its bins."""
    several = part["class"].nunique() > 1
    if not several:
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=1, zorder=0)
    for n, (name, line) in enumerate(part.groupby("class", sort=False, observed=True)):
        colour = COLOURS[SERIES[n % len(SERIES)]]
        x = np.asarray((line["lowest_score"] + line["highest_score"]) / 2)
        axes.fill_between(x, line["lower"], line["upper"], color=colour, alpha=0.25, linewidth=0)
        axes.plot(
            x, line["mean"], f"{MARKERS[n % len(MARKERS)]}-", color=colour, markersize=4,
            linewidth=1.4, label=str(name),
        )  # fmt: skip
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.grid()
    if several:
        axes.legend()
