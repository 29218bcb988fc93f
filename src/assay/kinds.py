"""Who is adversarial, who is a spammer, who is consistent: in words and with probabilities."""

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.fit_data import parameter_draws, ratings_of, structure_of
from assay.labels import class_names
from assay.reliability import rater_reliability
from assay.states import MISSING

Floats = NDArray[np.float64]
SPAM = 0.1
"""Informedness whose size is below this counts as none."""
SURE = 0.95


def rater_kinds(fit: xr.DataTree, *, level: float = 0.95) -> pd.DataFrame:
    r"""Say of each rater whether its answers inform, mislead, or say nothing.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater and label: ``rater``, ``group``, ``label``, ``n_ratings``,
        ``informedness`` with ``lower`` and ``upper``, ``p_adversarial`` (reliably wrong:
        informedness below -0.1), ``p_spammer`` (between -0.1 and 0.1: the answers hardly depend on
        the truth), and ``kind``: what has a probability of at least 0.95, else ``""``.

    Notes
    -----
    Informedness is Youden's J for any number of classes K,

    .. math:: J_{jl} = \frac{\sum_k \theta_{jlkk} - 1}{K_l - 1},

    1 for a perfect rater, 0 for one whose answers do not depend on the truth (a constant one, a
    guesser), below 0 for one who is wrong more often than by guessing. ``theta`` is the recorded
    kind of :func:`assay.rater_reliability`.

    References
    ----------
    Youden, W. J. (1950). Index for rating diagnostic tests. Cancer 3, 32-35.
    Raykar, V. C. & Yu, S. (2012). Eliminating spammers and ranking annotators for crowdsourced
    labeling tasks. Journal of Machine Learning Research 13, 491-518.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> fit = assay.fit(ratings, method="map", draws=2, chains=1, rng=1)
    >>> list(rater_kinds(fit).columns)[:3]
    ['rater', 'group', 'label']
    """
    draws = informedness(fit)
    ratings = ratings_of(fit)
    given = (ratings.answers >= 0) | np.isfinite(ratings.scores)
    rows = []
    for j, rater in enumerate(draws["rater"].values):
        count = given[ratings.rater == j].sum(axis=0)
        for n, label in enumerate(draws["label"].values):
            values = draws.values[:, :, j, n].ravel()
            lower, upper = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2])
            adversarial = float((values < -SPAM).mean())
            spammer = float((np.abs(values) <= SPAM).mean())
            kind = "adversarial" if adversarial >= SURE else ("spammer" if spammer >= SURE else "")
            rows.append(
                {
                    "rater": str(rater),
                    "group": str(ratings.raters["group"].iloc[j]),
                    "label": str(label),
                    "n_ratings": int(count[n]),
                    "informedness": float(np.nanmean(values)),
                    "lower": float(lower),
                    "upper": float(upper),
                    "p_adversarial": adversarial,
                    "p_spammer": spammer,
                    "kind": kind,
                }
            )
    return pd.DataFrame(rows)


def informedness(fit: xr.DataTree) -> xr.DataArray:
    """Youden's J of each rater on each label: (chain, draw, rater, label), at most 1."""
    table = rater_reliability(fit)
    task = ratings_of(fit).task
    names = class_names(task)
    found = []
    for n, label in enumerate(task.labels):
        places = [names.index(c) for c in label.classes]
        right = table.values[:, :, :, n, places, places].sum(axis=-1)
        found.append((right - 1) / (len(places) - 1))
    return xr.DataArray(
        np.stack(found, axis=-1),
        dims=("chain", "draw", "rater", "label"),
        coords={dim: table[dim] for dim in ("chain", "draw", "rater", "label")},
        name="informedness",
        attrs=table.attrs,
    )


def rater_consistency(fit: xr.DataTree, *, level: float = 0.95) -> pd.DataFrame:
    """Say how alike a rater's repeated ratings of an item are.

    Parameters
    ----------
    fit : xarray.DataTree
        Of ratings with replicates.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater with replicates: ``rater``, ``pairs`` (pairs of its ratings of one item),
        ``same`` (share of the pairs that agree on every label), and of its part of the model
        ``consistency``, ``lower``, ``upper``: the chance that a repeated rating is the earlier one
        again instead of a fresh one; NaN if ratings were taken for independent. Empty without
        replicates.
    """
    ratings, structure = ratings_of(fit), structure_of(fit)
    values = parameter_draws(fit)
    rows = []
    for part in structure.parts:
        kappa = part.own(values).get("consistency")
        bounds = [np.nan] * 3
        if kappa is not None:
            ends = np.quantile(kappa, [(1 - level) / 2, (1 + level) / 2])
            bounds = [float(kappa.mean()), *(float(end) for end in ends)]
        for member in part.members:
            pairs, same = _repeated_pairs(ratings.answers, ratings.item, ratings.rater == member)
            if pairs:
                line = [str(ratings.raters.index[member]), pairs, same / pairs, *bounds]
                rows.append(line)
    columns = ["rater", "pairs", "same", "consistency", "lower", "upper"]
    return pd.DataFrame(rows, columns=columns)


def _repeated_pairs(
    answers: NDArray[np.int16], item: NDArray[np.int64], mine: NDArray[np.bool_]
) -> tuple[int, int]:
    """Count pairs of ratings of one item by one rater, and those that agree on all labels."""
    here = np.flatnonzero(mine & (answers != MISSING).any(axis=1))
    frame = pd.DataFrame({"item": item[here], "answer": [a.tobytes() for a in answers[here]]})
    by_item = frame.groupby("item").size()
    by_answer = frame.groupby(["item", "answer"]).size()
    pairs = int((by_item * (by_item - 1) // 2).sum())
    return pairs, int((by_answer * (by_answer - 1) // 2).sum())
