"""score_table: several scored raters side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import xarray as xr

from assay._util.errors import ModelError
from assay._util.validation import names_given
from assay.fits.summary import summarize
from assay.raters.scoring.rater import score_rater
from assay.raters.scoring.scores import Scores
from assay.raters.scoring.truths import Source


def score_table(
    truth: Source,
    scores: Mapping[str, Scores] | Sequence[str],
    *,
    level: float = 0.95,
    **choices: Any,
) -> pd.DataFrame:
    """Score several raters against the same truth and put the results in one table.

    Parameters
    ----------
    truth : xarray.DataTree, xarray.DataArray, Ratings, pandas.Series or mapping
        As in :func:`score_rater`.
    scores : mapping of str to scores, or sequence of str
        The scores of each rater by name; or names of raters who have scores in the ratings.
    level : float
        Probability of the intervals.
    **choices
        The other arguments of :func:`score_rater`.

    Returns
    -------
    pandas.DataFrame
        A line per measure and rater: ``metric``, ``rater``, ``estimand``, ``mean``, ``sd``,
        ``lower``, ``upper``, ``level``, ``undefined``, ``reference``, ``n_items``,
        ``n_items_without_score``, ``note`` (what the measure leaves out, and why). A measure that
        cannot count the design weights has no numbers, and its ``note`` says why.

    Raises
    ------
    RatingsError, UnknownNameError, ModelError, FitError
        As :func:`score_rater` and :func:`assay.summarize`.

    Examples
    --------
    >>> truth = {"a": 1, "b": 0, "c": 1}
    >>> raters = {"one": {"a": 0.9, "b": 0.4, "c": 0.4}, "two": {"a": 0.1, "b": 0.2, "c": 0.3}}
    >>> score_table(truth, raters, metric="auroc")[["metric", "rater", "mean"]]
      metric rater  mean
    0  auroc   one  0.75
    1  auroc   two  0.50
    """
    if isinstance(scores, Mapping):
        named: Mapping[str, Scores] = scores
    else:
        named = {name: name for name in names_given("scores", scores, what="rater")}
    if not named:
        raise ModelError(
            "scores={} names no rater; give the scores of at least one", code="scores-table"
        )
    parts = []
    for rater, own in named.items():
        found = score_rater(truth, own, **choices)
        counts = {name: found.attrs[name] for name in ("n_items", "n_items_without_score")}
        lines = summarize(found, level=level)
        lines = lines.assign(note=[found[name].attrs["note"] for name in lines["metric"]])
        parts += [part.assign(rater=rater, **counts) for part in (lines, *_left_out(found))]
    table = pd.concat(parts, ignore_index=True).drop(columns="system")
    names = list(dict.fromkeys(table["metric"]))
    order = table["metric"].map(names.index).argsort(kind="stable")
    front = ["metric", "rater"]
    rest = [column for column in table.columns if column not in front]
    return table.loc[order, [*front, *rest]].reset_index(drop=True)


def _left_out(found: xr.Dataset) -> list[pd.DataFrame]:
    """Lines without numbers for the measures that are left out, if there are any."""
    said = found.attrs
    if "left_out" not in said:
        return []
    lines = pd.DataFrame({"metric": said["left_out"], "note": said["left_out_because"]})
    return [lines.assign(estimand=said["estimand"], reference=said["reference"])]
