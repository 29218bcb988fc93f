"""Who is adversarial, who is a spammer, who is consistent: in words and with probabilities."""

import json

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.intervals import interval_ends, require_level
from assay.data.score_bins import raters_of_scores
from assay.fits.datatree import ratings_of
from assay.inference.label_doubts import doubts_by_label
from assay.raters.reliability import rater_reliability

Floats = NDArray[np.float64]
SPAM = 0.1
"""Informedness up to this counts as none."""
MISLEADS = 0.9
"""Who is right less often than this share of a guesser's is reliably wrong."""
ALIKE = 0.3
"""Answers to two classes that differ by no more than this tell hardly anything of the class."""
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
        ``informedness`` with ``lower`` and ``upper``, ``p_adversarial`` (reliably wrong: right
        less than 0.9 times as often as by guessing), ``p_spammer`` (informedness of at most 0.1
        and not adversarial, and the answers hardly depend on the truth), ``mode_weight`` (of the
        modes of the posterior that the draws lie in, among all that were seen: the two chances
        are given these), ``given_mode`` (what has a probability of at least 0.95 there, else
        ``""``), and ``behaviour``: the same if it is so sure by the weight, too. A rater of scores
        alone has neither: scores that all lie on one side of a half can tell a lot
        (:func:`assay.score_calibration`); nor has any rater on a label whose classes may not be
        what their names say: ``doubt`` says why (:func:`assay.label_doubts`).

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1.

    Notes
    -----
    Informedness is Youden's J for any number of classes K,

    .. math:: J_{jl} = \frac{\sum_k \theta_{jlkk} - 1}{K_l - 1},

    1 for a perfect rater, 0 for one whose answers do not depend on the truth (a constant one, a
    guesser), below 0 for one who is wrong more often than by guessing, and at least
    :math:`-1 / (K - 1)`. Adversarial is :math:`J < -0.1 / (K - 1)`. With more than two classes
    one who takes classes for each other has J near 0 as well, though the answers depend on the
    truth: those of a spammer to two classes differ by at most 0.3 besides, the total variation
    :math:`\tfrac12 \sum_m |\theta_{jlkm} - \theta_{jlk'm}|` averaged over the pairs of classes
    (which is :math:`|J|` of two). ``theta`` is the recorded kind of
    :func:`assay.rater_reliability`.

    Under the prior of the fit, probabilities are so as often as they say. The default prior takes
    adversaries for rare: where one or three of eight raters are, each with 30 ratings, far less is
    stated than is so, and few are named; those named are right (benchmark ``claims``). By
    ``mace`` nobody can be adversarial: who is reliably wrong is a spammer there.

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
    require_level(level)
    ratings, tables = ratings_of(fit), _confusions(fit)
    given = (ratings.answers >= 0) | np.isfinite(ratings.scores)
    scoring = raters_of_scores(ratings)
    kinds = {label: _kinds_of(table) for label, table in tables.items()}
    weight = float(json.loads(fit.attrs["diagnostics"]).get("mode_weight", 1.0))
    doubted = doubts_by_label(fit)
    rows = []
    for j, rater in enumerate(ratings.raters.index):
        count = given[ratings.rater == j].sum(axis=0)
        for n, (label, drawn) in enumerate(kinds.items()):
            values, adversarial, spammer = (draws[..., j] for draws in drawn)
            lower, upper = interval_ends(values.ravel(), level)
            chances = {"adversarial": float(adversarial.mean()), "spammer": float(spammer.mean())}
            there = next((k for k, p in chances.items() if p >= SURE), "")
            there = "" if scoring[j] or label in doubted else there
            sure = there != "" and chances[there] * weight >= SURE
            rows.append(
                {
                    "rater": str(rater),
                    "group": str(ratings.raters["group"].iloc[j]),
                    "label": label,
                    "n_ratings": int(count[n]),
                    "informedness": float(np.nanmean(values)),
                    "lower": float(lower),
                    "upper": float(upper),
                    **{f"p_{kind}": chance for kind, chance in chances.items()},
                    "mode_weight": weight,
                    "given_mode": there,
                    "behaviour": there if sure else "",
                    "doubt": doubted.get(label, ""),
                }
            )
    return pd.DataFrame(rows)


def informedness(fit: xr.DataTree) -> xr.DataArray:
    """Youden's J of each rater on each label: (chain, draw, rater, label), at most 1."""
    tables = _confusions(fit)
    one = next(iter(tables.values()))
    return xr.DataArray(
        np.stack([_informedness(table.values) for table in tables.values()], axis=-1),
        dims=("chain", "draw", "rater", "label"),
        coords={**{dim: one[dim] for dim in ("chain", "draw", "rater")}, "label": list(tables)},
        name="informedness",
        attrs=one.attrs,
    )


def _confusions(fit: xr.DataTree) -> dict[str, xr.DataArray]:
    """Confusions by label: (chain, draw, rater, true_class, reported_class), its classes alone."""
    table, task = rater_reliability(fit), ratings_of(fit).task
    found = {}
    for label in task.labels:
        classes = {dim: list(label.classes) for dim in ("true_class", "reported_class")}
        found[label.name] = table.sel(label=label.name, drop=True).sel(classes)
    return found


def _informedness(table: Floats) -> Floats:
    """Youden's J (...) of confusions (..., true class, reported class)."""
    return np.asarray((np.trace(table, axis1=-2, axis2=-1) - 1) / (table.shape[-1] - 1))


def _kinds_of(table: xr.DataArray) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Informedness, and whether each draw is adversarial or a spammer: (chain, draw, rater)."""
    found, size = _informedness(table.values), table.shape[-1]
    adversarial = found < (MISLEADS - 1) / (size - 1)
    apart = np.zeros(found.shape)
    for k in range(1, size):
        differences = np.abs(table.values[..., :k, :] - table.values[..., k, None, :])
        apart += differences.sum(axis=(-2, -1)) / 2
    alike = apart <= ALIKE * size * (size - 1) / 2
    return found, adversarial, (found <= SPAM) & ~adversarial & alike
