"""The forest: estimates with intervals, a line each, under headings. Most figures are one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay.plots.style import (
    COLOURS,
    MARKERS,
    RC,
    SERIES,
    WIDTH,
    add_legend,
    bare,
    new_figure,
    short,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line = tuple[str, str]
LINE = 0.2
"""Height of one line in inches; a heading is one line."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One kind of estimate.

    Attributes
    ----------
    name : str
        For the legend.
    values : pandas.DataFrame
        Columns ``mean``, ``lower``, ``upper``; index (heading, name), alike in all series but for
        lines that a series lacks. A heading of ``""`` is not written.
    """

    name: str
    values: pd.DataFrame


def forest(
    series: Sequence[Series],
    *,
    label: str,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
    width: float = WIDTH,
) -> "Figure":
    """Draw estimates and intervals, a line each.

    Parameters
    ----------
    series : sequence of Series
        At least one; the first gives the order of the lines.
    label : str
        Of the horizontal axis.
    limits : tuple of float, optional
        Ends of the horizontal axis.
    reference : float, optional
        Where a vertical line stands.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib as mpl

    heights, headings = _places(series)
    lines = list(heights)
    rows = len(lines) + len(headings)
    with mpl.rc_context(RC):
        figure = new_figure(width, LINE * len(series) ** 0.5 * rows + 0.9)
        axes = figure.subplots()
        for n, one in enumerate(series):
            _draw(axes, one, heights, shift=(n - (len(series) - 1) / 2) * 0.64 / len(series), n=n)
        _name_lines(axes, heights, headings)
        axes.set_ylim(rows - 0.4, -0.7)
        if limits is not None:
            axes.set_xlim(*limits)
        if reference is not None:
            axes.axvline(reference, color=COLOURS["muted"], linewidth=1, zorder=0)
        axes.set_xlabel(label)
        axes.grid(axis="x")
        bare(axes)
        if len(series) > 1:
            add_legend(figure, [one.name for one in series])
    return figure


def _places(series: Sequence[Series]) -> tuple[dict[Line, int], dict[str, int]]:
    """Return how far down each line and each heading stands; lines of one heading together."""
    keys = dict.fromkeys((str(h), str(n)) for one in series for h, n in one.values.index)
    heights: dict[Line, int] = {}
    headings: dict[str, int] = {}
    for heading in dict.fromkeys(key[0] for key in keys):
        if heading:
            headings[heading] = len(heights) + len(headings)
        for key in keys:
            if key[0] == heading:
                heights[key] = len(heights) + len(headings)
    return heights, headings


def _draw(axes: "Axes", one: Series, heights: dict[Line, int], *, shift: float, n: int) -> None:
    values = one.values[["mean", "lower", "upper"]].dropna(subset=["mean"])
    y = np.array([heights[str(h), str(n)] for h, n in values.index], float) + shift
    colour = COLOURS[SERIES[n % len(SERIES)]]
    axes.hlines(y, values["lower"], values["upper"], color=colour, linewidth=1.6)
    axes.plot(
        values["mean"], y, MARKERS[n % len(MARKERS)], color=colour, markersize=4, label=one.name
    )


def _name_lines(axes: "Axes", heights: dict[Line, int], headings: dict[str, int]) -> None:
    axes.set_yticks(list(heights.values()), [short(name) for _, name in heights])
    for heading, height in headings.items():
        axes.text(
            0.0, height, short(heading, 60), transform=axes.get_yaxis_transform(),
            fontweight="bold", va="center", clip_on=False,
        )  # fmt: skip
