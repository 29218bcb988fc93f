"""The metrics of a fit beside those of a majority vote."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from assay._util.intervals import require_level
from assay._util.words import percent
from assay.display.notes import ESTIMAND_WORDS
from assay.evaluation import majority_metrics, metrics
from assay.evaluation.estimands import ESTIMANDS, is_modelled
from assay.fits.datatree import ratings_of
from assay.fits.summary import summarize
from assay.plots.forest import Series, forest
from assay.plots.style import WIDTH, doubt_marks, doubt_note

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_metrics(fit: xr.DataTree, *, level: float = 0.95, width: float = WIDTH) -> "Figure":
    """Draw the task's metrics by system: both estimands, and the majority vote.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    level : float
        Probability of the intervals, between 0 and 1.
    width : float
        Inches.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior means with intervals, and the vote with its cluster bootstrap.

    Raises
    ------
    FitError
        If ``level`` is out of range, or the tree is not a fit.
    """
    require_level(level)
    summaries: dict[str, pd.DataFrame] = {
        e: summarize(metrics(fit, estimand=e), level=level) for e in ESTIMANDS
    }
    return draw_metrics(summaries, majority_metrics(ratings_of(fit), level=level), width=width)


def draw_metrics(
    summaries: Mapping[str, pd.DataFrame], vote: pd.DataFrame, *, width: float = WIDTH
) -> "Figure":
    """Draw summaries by estimand beside the table of :func:`assay.evaluation.majority_metrics`."""
    first = next(iter(summaries.values()))
    doubted = dict(zip(first["metric"], first["doubt"], strict=True))
    summaries = {name: _marked(summary) for name, summary in summaries.items()}
    vote = _marked(vote.assign(doubt=[doubted.get(m, "") for m in vote["metric"]]))
    series = [
        Series(name=_legend(name, summary), values=_by_metric(summary))
        for name, summary in summaries.items()
    ]
    naive = _by_metric(vote.rename(columns={"value": "mean"}))
    series.append(Series(name="majority vote", values=naive))
    level = float(vote["level"].iloc[0])
    label = f"metric, {percent(level)} interval{doubt_note(first)}"
    return forest(series, label=label, width=width)


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark the names of metrics that may mislead."""
    return frame.assign(metric=frame["metric"] + doubt_marks(frame))


def _legend(name: str, summary: pd.DataFrame) -> str:
    """Say what an estimand is about, and whether the model alone tells of all of it."""
    own = ", as the model has them" if summary["estimand"].map(is_modelled).all() else ""
    return f"{name}: {ESTIMAND_WORDS[name]}{own}"


def _by_metric(frame: pd.DataFrame) -> pd.DataFrame:
    """Index by metric and system; without systems the metric is the line."""
    pooled = frame["system"].eq("").all()
    heads = [pd.Series("", frame.index), frame["metric"]]
    index = heads if pooled else [frame["metric"], frame["system"]]
    return frame.set_index(index)[["mean", "lower", "upper"]]
