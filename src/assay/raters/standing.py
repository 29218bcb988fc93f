"""Accuracy of each rater, compared with the median rater and a threshold."""

from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.intervals import require_level
from assay._util.validation import require_number
from assay.fits.summary import summarize
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubts_by_label
from assay.inference.settings import MODES_ALONE
from assay.raters.reliability import TIE, rater_accuracy

ALL_LABELS = "all labels"


def over_labels(standing: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of raters over all labels; with one label, those on that one."""
    whole = standing[standing["label"] == ALL_LABELS]
    return whole if len(whole) else standing


def rater_standing(
    fit: Fit,
    *,
    kind: Literal["recorded", "raw"] = "recorded",
    threshold: float | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    r"""Compare each rater's accuracy with the median rater and with a threshold.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    kind : {"recorded", "raw"}
        Of the confusions, as for :func:`assay.rater_reliability`.
    threshold : float, optional
        The required probability of a right answer.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater and label. If there are several labels, a line per rater for
        ``"all labels"`` has the mean over them. The columns:

        - ``rater``, ``label``, ``level``, ``reference``, ``doubt``
        - ``mean``, ``sd``, ``lower``, ``upper``: of the probability of a right answer
        - ``p_worse``: P(worse than the median rater)
        - ``p_below``: P(below the threshold), NaN without one

        Both probabilities are NaN for a fit that is a mode alone (``map``, ``em``). So is
        ``p_worse`` if all raters have the same parameters.

    Raises
    ------
    ModelError
        If ``kind`` is none of the two.
    ArgumentError
        If the threshold is no probability.
    FitError
        If ``level`` is out of range.

    Notes
    -----
    With :math:`A_{jl}` the probability of a right answer of rater :math:`j`, on the same mix of
    items for all raters, ``p_worse`` is
    :math:`P(A_{jl} < \operatorname{median}_{j'} A_{j'l})`. The median is taken in each draw.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=200, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, raters="pooled", method="laplace", draws=50, chains=1, rng=1)
    >>> rater_standing(tree, threshold=0.7)[["rater", "label", "p_worse", "p_below"]].shape
    (3, 4)
    """
    require_level(level)
    if threshold is not None:
        require_number(
            "threshold", threshold, lambda x: 0 < x < 1,
            allowed="a probability between 0 and 1, such as 0.8",
        )  # fmt: skip
    view = FitView.of(fit)
    accuracy = rater_accuracy(view, kind=kind).transpose("chain", "draw", "rater", "label")
    doubted = doubts_by_label(view)
    if accuracy.sizes["label"] > 1:
        whole = accuracy.mean("label", keep_attrs=True).expand_dims(label=[ALL_LABELS], axis=-1)
        accuracy = xr.concat([whole, accuracy], dim="label", combine_attrs="override")
        doubted = doubted | {ALL_LABELS: next(iter(doubted.values()), "")}
    lines = summarize(accuracy.rename("accuracy"), level=level)
    values = accuracy.to_numpy()
    behind = np.median(values, axis=2, keepdims=True) - values > TIE
    below = np.full(values.shape[2:], np.nan)
    # Raters with the same parameters have no middle one.
    alike = values.shape[2] > 1 and np.ptp(values, axis=2).max(axis=(0, 1)) <= TIE
    worse = np.where(alike, np.nan, behind.mean(axis=(0, 1)))
    if threshold is not None:
        below = (values < threshold).mean(axis=(0, 1))
    if view.attrs["method"] in MODES_ALONE:
        worse, below = np.full_like(worse, np.nan), np.full_like(below, np.nan)
    lines = lines.assign(
        p_worse=worse.ravel(),
        p_below=below.ravel(),
        doubt=[doubted.get(label, "") for label in lines["label"]],
    )
    front = ["rater", "label", "mean", "sd", "lower", "upper", "p_worse", "p_below"]
    return lines[[*front, "level", "reference", "doubt"]]
