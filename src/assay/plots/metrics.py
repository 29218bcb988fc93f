"""Figures of metrics: values, differences of systems, and sources of uncertainty."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import ModelError
from assay._util.intervals import require_level
from assay._util.text import percent
from assay._util.typing import Floats
from assay._util.validation import written
from assay.comparison import Comparison, compare
from assay.comparison.contrasts import TIE
from assay.display.notes import ESTIMAND_WORDS
from assay.evaluation import majority_metrics, metrics, variance_budget
from assay.evaluation.estimands import ESTIMANDS, is_modelled
from assay.evaluation.titles import metric_titles
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.plots.style import (
    COLOURS,
    RC,
    WIDTH,
    Series,
    add_legend,
    axes_of,
    bare,
    canvas,
    doubt_marks,
    doubt_note,
    forest,
    label_below,
    short,
    stacked_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN_PAIRS = 24
BINS = 48
LINE = 0.42
"""Height of one density in inches."""


def plot_comparison(
    found: Comparison | Fit, *, width: float = WIDTH, ax: "Axes | None" = None
) -> "Axes":
    """Draw the posterior of each difference between two systems.

    Parameters
    ----------
    found : Comparison or xarray.DataTree
        From :func:`assay.compare`; a fit is compared on all metrics of its task.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes
        A density per pair and metric, at most 24, with the interval of the comparison's level.

    Raises
    ------
    ModelError, FitError
        If it is given anything else, or a fit of fewer than two systems.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_systems=2, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_comparison(fit).get_xlabel()
    'Share of label = yes, difference: density, 95% interval'
    """
    comparison = found if isinstance(found, Comparison) else compare(found)
    titles = metric_titles(comparison.draws)
    figure = draw_comparison(comparison, titles, width=width, ax=ax)
    return cast("Axes", axes_of(figure, ax))


def draw_comparison(
    comparison: Comparison,
    titles: Mapping[str, str],
    *,
    width: float = WIDTH,
    most: int = SHOWN_PAIRS,
    ax: Any = None,
) -> "Figure":
    """Draw the first ``most`` pairs of a comparison, with titles of metrics."""
    import matplotlib as mpl

    pairs = comparison.pairs.dropna(subset=["difference"]).head(most)
    with mpl.rc_context(RC):
        figure, axes = canvas(ax, width, LINE * max(len(pairs), 1) + 0.9)
        axes.axvline(0, color=COLOURS["muted"], linewidth=1, zorder=0)
        for n, (_, line) in enumerate(pairs.iterrows()):
            _draw(axes, n, line, _differences(comparison.draws, line))
        one = pairs["metric"].nunique() == 1
        names = [_name(line, titles, pair_only=one) for _, line in pairs.iterrows()]
        axes.set_yticks(range(len(pairs)), names)
        axes.set_ylim(len(pairs) - 0.3, -0.9)
        level = percent(comparison.pairs["level"].iloc[0])
        what = [f"difference: density, {level} interval"]
        if one:
            what.insert(0, short(titled(pairs, titles)["metric"].iloc[0], 40))
        axes.set_xlabel(label_below(axes, *what) + doubt_note(pairs))
        axes.grid(axis="x")
        bare(axes)
    return figure


def titled(frame: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Replace the metrics of a table by their titles."""
    return frame.assign(metric=[titles.get(name, name) for name in frame["metric"]])


def _name(line: pd.Series, titles: Mapping[str, str], *, pair_only: bool) -> str:
    """Name a pair, below its metric unless all pairs have the same one."""
    mark = " *" * bool(line["doubt"])
    if pair_only:
        return f"{short(line['a'], 20)} − {short(line['b'], 20)}{mark}"
    title = short(titles.get(line["metric"], line["metric"]), 30)
    return f"{title}{mark}\n{short(line['a'], 14)} − {short(line['b'], 14)}"


def _differences(draws: xr.Dataset, line: pd.Series) -> Floats:
    """Return the defined draws of the difference."""
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


PARTS = {
    "parameters": "parameters (raters, prevalence)",
    "labels": "labels",
    "clusters": "clusters",
}
LINE_BUDGET = 0.3


def plot_budget(
    found: pd.DataFrame | Fit, *, width: float = WIDTH, ax: "Axes | None" = None
) -> "Axes":
    """Draw the share of each source of uncertainty in the posterior variance.

    Parameters
    ----------
    found : DataFrame or xarray.DataTree
        From :func:`assay.variance_budget`, or a fit.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes
        A bar per metric and system (or contrast). A component that is negative by Monte Carlo
        error counts as 0.

    Raises
    ------
    ModelError
        If it is given anything else.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_systems=2, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> plot_budget(fit).figure.savefig("budget.png")  # doctest: +SKIP
    >>> plot_budget(fit).get_xlim()
    (np.float64(0.0), np.float64(1.0))
    """
    import matplotlib as mpl

    budget = variance_budget(found) if isinstance(found, Fit) else found
    if not isinstance(budget, pd.DataFrame) or not {"metric", "system", *PARTS} <= set(budget):
        raise ModelError(
            f"plot_budget takes a fit, or the table of assay.variance_budget(fit), not "
            f"{written(found)}",
            code="argument-type",
        )
    if isinstance(found, Fit):
        budget = titled(budget, metric_titles(metrics(found)))
    parts = budget[list(PARTS)].clip(lower=0).to_numpy(float)
    total = parts.sum(axis=1, keepdims=True)
    shares = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
    names, of = _names(budget)
    with mpl.rc_context(RC):
        figure, axes = canvas(ax, width, LINE_BUDGET * len(names) + 1.1)
        stacked_bars(axes, shares, list(PARTS.values()), names, height=0.7)
        axes.set_xlabel(f"share of the variance{of}")
        add_legend(figure, list(PARTS.values()), ax)
    return cast("Axes", axes_of(figure, ax))


def _names(budget: pd.DataFrame) -> tuple[list[str], str]:
    """Name the lines, and the system if all lines are about one, for the axis."""
    metrics, systems = budget["metric"], budget["system"]
    if systems.nunique() == 1:
        only = short(systems.iloc[0])
        return [short(metric, 30) for metric in metrics], f" of {only}" if only else ""
    pairs = zip(metrics, systems, strict=True)
    return [f"{short(metric, 28)}\n{short(system, 28)}" for metric, system in pairs], ""


def plot_metrics(
    fit: Fit,
    *,
    metric: Sequence[str] | str | None = None,
    level: float = 0.95,
    width: float = WIDTH,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the task's metrics by system: both estimands, and the majority vote.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    level : float
        Probability of the intervals, between 0 and 1.
    width : float
        Inches.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, instead of a new figure of that width.

    Returns
    -------
    matplotlib.axes.Axes
        Posterior means with intervals, and the vote with its cluster bootstrap.

    Raises
    ------
    UnknownNameError
        If the task has no metric of a name.
    FitError
        If ``level`` is out of range, or the tree is not a fit.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_systems=2, classes=["no", "yes"], rng=1)
    >>> fit = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> axes = plot_metrics(fit)
    >>> [name.get_text() for name in axes.get_yticklabels()]
    ['system_1', 'system_2']
    """
    require_level(level)
    view = FitView.of(fit)
    draws = {e: metrics(view, estimand=e, metric=metric) for e in ESTIMANDS}
    titles = metric_titles(draws["finite"])
    summaries: dict[str, pd.DataFrame] = {
        e: titled(summarize(one, level=level), titles) for e, one in draws.items()
    }
    vote = titled(majority_metrics(view.ratings, metric=metric, level=level), titles)
    return cast("Axes", axes_of(draw_metrics(summaries, vote, width=width, ax=ax), ax))


def draw_metrics(
    summaries: Mapping[str, pd.DataFrame],
    vote: pd.DataFrame | None,
    *,
    width: float = WIDTH,
    ax: Any = None,
) -> "Figure":
    """Draw summaries by estimand and the table of :func:`assay.evaluation.majority_metrics`."""
    first = next(iter(summaries.values()))
    doubted = dict(zip(first["metric"], first["doubt"], strict=True))
    summaries = {name: _marked(summary) for name, summary in summaries.items()}
    series = [
        Series(name=_legend(name, summary), values=_by_metric(summary))
        for name, summary in summaries.items()
    ]
    if vote is not None:
        vote = _marked(vote.assign(doubt=[doubted.get(m, "") for m in vote["metric"]]))
        naive = _by_metric(vote.rename(columns={"value": "mean"}))
        series.append(Series(name="majority vote", values=naive))
    level = float(first["level"].iloc[0])
    label = f"metric, {percent(level)} interval{doubt_note(first)}"
    return forest(series, label=label, width=width, ax=ax)


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark the names of metrics that may mislead."""
    return frame.assign(metric=frame["metric"] + doubt_marks(frame))


def _legend(name: str, summary: pd.DataFrame) -> str:
    """Describe an estimand, and whether the model predicts all of it."""
    own = ", as the model has them" if summary["estimand"].map(is_modelled).all() else ""
    return f"{name}: {ESTIMAND_WORDS[name]}{own}"


def _by_metric(frame: pd.DataFrame) -> pd.DataFrame:
    """Index by metric and system; without systems the metric is the line."""
    pooled = frame["system"].eq("").all()
    heads = [pd.Series("", frame.index), frame["metric"]]
    index = heads if pooled else [frame["metric"], frame["system"]]
    return frame.set_index(index)[["mean", "lower", "upper"]]
