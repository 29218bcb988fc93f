"""The function ``threshold_sweep``: precision, recall and F1 by threshold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from assay._util.errors import ModelError
from assay._util.typing import Floats, Ints
from assay._util.validation import numbers_given, require_flag
from assay.evaluation.panels import MEND
from assay.fits.view import Fit
from assay.raters.scoring import functions
from assay.raters.scoring.informed import design_range, informed_truth, saw_scores
from assay.raters.scoring.measures import Setting
from assay.raters.scoring.rater_scores import blocks
from assay.raters.scoring.scores import Scores, read_scores
from assay.raters.scoring.truths import Source, class_grades, positive_classes, read_truth

MAX_THRESHOLDS = 200
"""Most distinct scores that are all thresholds; with more, as many quantiles are."""


def threshold_sweep(
    truth: Source,
    scores: Scores,
    *,
    label: str | None = None,
    positive: str | Sequence[str] | None = None,
    thresholds: Sequence[float] | float | None = None,
    informed: bool = False,
) -> xr.Dataset:
    """Precision, recall, F1 and accuracy of "positive if the score is at least the threshold".

    Parameters
    ----------
    truth, scores, label, positive
        As in :func:`assay.score_rater`; guesses are ignored.
    thresholds : float or sequence of float, optional
        The distinct scores if not given; 200 quantiles of the scores if there are more.
    informed : bool
        As in :func:`assay.score_rater`.

    Returns
    -------
    xarray.Dataset
        ``precision``, ``recall``, ``f1`` and ``accuracy`` (chain, draw, threshold), NaN where
        undefined; the estimand is ``finite``.

    Raises
    ------
    RatingsError, UnknownNameError, ModelError
        As :func:`assay.score_rater`; also if design weights differ within a cluster.

    Examples
    --------
    >>> found = threshold_sweep({"a": 1, "b": 0}, {"a": 0.9, "b": 0.4})
    >>> found["threshold"].values, found["precision"].values.ravel()
    (array([0.4, 0.9]), array([0.5, 1. ]))
    """
    require_flag("informed", informed)
    known = read_truth(truth, label=label)
    chosen = positive_classes(known, positive)
    scored = read_scores(scores, known, chosen, 0.5)
    if informed and isinstance(truth, Fit) and not saw_scores(known, scored):
        known = informed_truth(truth, known, scored)
    clusters = np.unique(known.cluster[scored.item].astype(str), return_inverse=True)[1]
    if len(ends := design_range(known.weight[scored.item], clusters)):
        raise ModelError(
            f"design weights differ within clusters (from {ends[0]:g} to {ends[1]:g}), but a sweep "
            "weights all items equally, so it would describe the sample alone. For one threshold, "
            f"`score_rater(..., threshold=0.5, estimand='population')` uses the weights. {MEND}",
            code="uneven-design-weights",
            numbers={"lowest": ends[0], "highest": ends[1]},
        )
    setting = Setting(
        scored=scored,
        positive=chosen,
        gains=chosen.astype(float),
        grades=class_grades(known, chosen),
        ranking=np.zeros(len(scored.item), np.int64),
        k=None,
        bins=1,
    )
    at = _thresholds(scored.score, thresholds)
    # Runs are sorted from the highest score down; this counts those at or above each threshold.
    passed = np.searchsorted(-setting.pooled.score, -at, side="right")
    tables = [_tables(*block.pooled, passed) for block in blocks(known, setting)]
    hit, false_alarm, miss, rejection = np.concatenate(tables, axis=1)
    found = {
        "precision": functions.precision(hit, false_alarm),
        "recall": functions.recall(hit, miss),
        "f1": functions.f1(hit, false_alarm, miss),
        "accuracy": functions.accuracy(hit, false_alarm, miss, rejection),
    }
    dims = ("chain", "draw", "threshold")
    variables: dict[str, Any] = {
        name: (dims, values.reshape(*known.shape, len(at))) for name, values in found.items()
    }
    coords = {
        "chain": np.arange(known.shape[0]),
        "draw": np.arange(known.shape[1]),
        "threshold": at,
    }
    attrs = {"reference": known.reference, "label": known.label, "estimand": "finite"}
    return xr.Dataset(variables, coords=coords, attrs=attrs)


def _thresholds(score: Floats, given: Sequence[float] | float | None) -> Floats:
    if given is None:
        distinct = np.unique(score)
        if len(distinct) <= MAX_THRESHOLDS:
            return distinct
        shares = np.linspace(0, 1, MAX_THRESHOLDS)
        return np.unique(np.quantile(score, shares, method="inverted_cdf"))
    return np.unique(numbers_given("thresholds", given, np.isfinite, allowed="finite numbers"))


def _tables(yes: Floats, no: Floats, passed: Ints) -> Floats:
    """Return hits, false alarms, misses and rejections, (4, draw, threshold)."""
    start = np.zeros((len(yes), 1))
    hit = np.concatenate([start, np.cumsum(yes, axis=1)], axis=1)
    false_alarm = np.concatenate([start, np.cumsum(no, axis=1)], axis=1)
    return np.stack(
        [
            hit[:, passed],
            false_alarm[:, passed],
            hit[:, -1:] - hit[:, passed],
            false_alarm[:, -1:] - false_alarm[:, passed],
        ]
    )
