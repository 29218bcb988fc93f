"""Reliability by session, for raters whose reliability drifts."""

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.errors import FitError
from assay._util.intervals import interval_ends, require_level
from assay.fits.view import Fit, FitView


def reliability_by_session(fit: Fit) -> xr.DataArray:
    """Reliability of each rater in each session, of a fit whose raters drift.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="... + drift")``.

    Returns
    -------
    xarray.DataArray
        (chain, draw, rater, label, session), in [0, 1]; NaN for raters without drift. The mean
        probability of the right answer over the classes of the label, from the parameters.

    Raises
    ------
    FitError
        If no rater drifts.
    """
    view = FitView.of(fit)
    structure, values = view.structure, view.draws
    if all(part.drift is None for part in structure.parts):
        raise FitError(
            "no rater drifts in this fit; read ratings with `session=` and fit with "
            "`raters='hierarchical + drift'`",
            code="no-drift",
        )
    ratings = structure.ratings
    draws = len(next(iter(values.values())))
    shape = (draws, len(ratings.raters), len(ratings.task.labels), len(ratings.sessions))
    table = np.full(shape, np.nan)
    for part in structure.parts:
        if part.drift is None:
            continue
        right = part.accuracy(values)
        for rater, unit in zip(*np.nonzero(part.owners), strict=True):
            table[:, part.members[rater], :, part.drift.unit_session[unit]] = right[:, unit]
    coords = {
        "rater": ratings.raters.index.to_numpy(object),
        "label": list(ratings.task.label_names),
        "session": list(ratings.sessions),
    }
    return view.by_chain(table, "reliability", coords, kind="raw")


def rater_drift(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Return the change of each rater's reliability from the first session to the last.

    Parameters
    ----------
    fit : xarray.DataTree
        From ``assay.fit(ratings, raters="... + drift")``.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater and label, with ``rater`` and ``label``. ``first`` and ``last`` are the
        mean reliability in the first and in the last session, and ``change`` is their difference
        with ``lower`` and ``upper``. ``p_better`` is the probability that the rater is better at
        the end than at the start.

    Raises
    ------
    FitError
        If no rater drifts, or ``level`` is not between 0 and 1.
    """
    require_level(level)
    table = reliability_by_session(fit)
    rows = []
    for j, rater in enumerate(table["rater"].values):
        for n, label in enumerate(table["label"].values):
            walk = table.values[:, :, j, n].reshape(-1, table.sizes["session"])
            if np.isnan(walk).all():
                continue
            change = walk[:, -1] - walk[:, 0]
            lower, upper = interval_ends(change, level)
            rows.append(
                {
                    "rater": str(rater),
                    "label": str(label),
                    "first": float(walk[:, 0].mean()),
                    "last": float(walk[:, -1].mean()),
                    "change": float(change.mean()),
                    "lower": float(lower),
                    "upper": float(upper),
                    "p_better": float((change > 0).mean()),
                }
            )
    return pd.DataFrame(rows)
