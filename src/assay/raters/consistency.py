"""Repeated answers: how often a rater gives an item the same again, or copies another rater."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from assay._util.intervals import interval_ends, require_level
from assay.data.overlap import repeated_pairs
from assay.data.score_bins import score_codes
from assay.fits.view import Fit, FitView
from assay.modelling.rater_model import ScorePart


def rater_consistency(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Measure how often a rater's repeated ratings of an item agree.

    Parameters
    ----------
    fit : xarray.DataTree
        Of ratings with replicates.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater with replicates, ``rater``. ``pairs`` counts pairs of ratings of one item
        that both answer some label. ``same`` is the share of the pairs that agree on every label
        that both answer; scores in one bin agree. ``consistency``, with ``lower`` and ``upper``, is
        the probability that a repeated rating copies the earlier one instead of being a fresh one.
        It is NaN if ratings were modelled as independent, as those of different labels always are.
        Empty without replicates.

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1.
    """
    require_level(level)
    view = FitView.of(fit)
    ratings, structure, values = view.ratings, view.structure, view.draws
    rows = []
    for part in structure.parts:
        kappa = part.kappa(part.own(values), np)
        bounds = np.full((len(ratings.raters), 3), np.nan)
        if kappa is not None:
            bounds[part.members, 0] = kappa.mean(axis=0)
            bounds[part.members, 1:] = interval_ends(kappa, level, axis=0).T
        said: NDArray[np.integer] = ratings.answers
        if isinstance(part, ScorePart):
            said = score_codes(ratings, part.family.layout)
        pairs, same = repeated_pairs(ratings, said).compare(said)
        rows += [
            [str(ratings.raters.index[j]), int(pairs[j]), float(same[j] / pairs[j]), *bounds[j]]
            for j in part.members
            if pairs[j]
        ]
    columns = ["rater", "pairs", "same", "consistency", "lower", "upper"]
    return pd.DataFrame(rows, columns=columns)


def copied_shares(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Return a line for each ``copier``: the ``source``, and the ``share`` of copied ratings.

    ``lower`` and ``upper`` are the ends of the interval. Empty if nobody copies.
    """
    view = FitView.of(fit)
    copies, rows = view.spec.copies, []
    for part in view.structure.parts:
        for n, name in enumerate(part.copying.names):
            share = part.own(view.draws)["copied"][:, n]
            ends = interval_ends(share, level)
            rows.append([name, copies[name], float(share.mean()), *map(float, ends)])
    return pd.DataFrame(rows, columns=["copier", "source", "share", "lower", "upper"])
