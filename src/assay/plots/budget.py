"""Where the uncertainty of each metric comes from, as shares of its variance."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import ModelError
from assay._util.validation import written
from assay.evaluation import variance_budget
from assay.plots.style import COLOURS, RC, SERIES, WIDTH, add_legend, bare, new_figure, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {
    "parameters": "parameters (raters, prevalence)",
    "labels": "labels",
    "clusters": "clusters",
}
LINE = 0.3


def plot_budget(found: pd.DataFrame | xr.DataTree, *, width: float = WIDTH) -> "Figure":
    """Draw the shares of the posterior variance that each source of uncertainty has.

    Parameters
    ----------
    found : DataFrame or xarray.DataTree
        From :func:`assay.variance_budget`, or a fit.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        A bar per metric and system (or contrast). A component that Monte Carlo error makes
        negative counts as 0.

    Raises
    ------
    ModelError
        If it is given anything else.
    """
    import matplotlib as mpl

    budget = variance_budget(found) if isinstance(found, xr.DataTree) else found
    if not isinstance(budget, pd.DataFrame) or not {"metric", "system", *PARTS} <= set(budget):
        raise ModelError(
            f"plot_budget takes a fit, or the table of assay.variance_budget(fit), not "
            f"{written(found)}",
            code="argument-type",
        )
    parts = budget[list(PARTS)].clip(lower=0).to_numpy(float)
    total = parts.sum(axis=1, keepdims=True)
    shares = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    names, of = _names(budget)
    with mpl.rc_context(RC):
        figure = new_figure(width, LINE * len(names) + 1.1)
        axes = figure.subplots()
        left = np.zeros(len(names))
        for n, (share, name) in enumerate(zip(shares.T, PARTS.values(), strict=True)):
            axes.barh(
                range(len(names)), share, left=left, height=0.7, label=name,
                color=COLOURS[SERIES[n]], edgecolor=COLOURS["paper"], linewidth=0.8,
            )  # fmt: skip
            left += share
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xlabel(f"share of the variance{of}")
        bare(axes)
        add_legend(figure, list(PARTS.values()))
    return figure


def _names(budget: pd.DataFrame) -> tuple[list[str], str]:
    """Name the lines; what all of them are about is said once, after the words of the axis."""
    metrics, systems = budget["metric"], budget["system"]
    if systems.nunique() == 1:
        only = short(systems.iloc[0])
        return [short(metric, 30) for metric in metrics], f" of {only}" if only else ""
    pairs = zip(metrics, systems, strict=True)
    return [f"{short(metric, 28)}\n{short(system, 28)}" for metric, system in pairs], ""
