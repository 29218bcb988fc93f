"""Behaviour of raters: adversarial, spammer or informative, with probabilities."""

import json

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.intervals import interval_ends, require_level
from assay._util.typing import Bools, Floats
from assay.data.score_bins import raters_of_scores
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubts_by_label
from assay.raters.reliability import rater_reliability

SPAM = 0.1
"""Informedness up to this value counts as none."""
MISLEADS = 0.9
"""A rater who is right less often than this share of a guesser's rate is adversarial."""
ALIKE = 0.3
"""Largest total variation between the answers to two classes that counts as uninformative."""
MIN_PROBABILITY = 0.95


def rater_spammers(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    r"""Classify each rater as informative, adversarial or a spammer.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        A line per rater and label, with these columns:

        - ``rater``, ``group``, ``label``, ``n_ratings``
        - ``informedness``, with ``lower`` and ``upper``
        - ``p_adversarial``: reliably wrong, that is right less than 0.9 times as often as by
          guessing
        - ``p_spammer``: informedness of at most 0.1, not adversarial, and answers that hardly
          depend on the truth
        - ``mode_weight``: weight of the posterior modes that the draws come from, among all modes
          found; both probabilities are conditional on these modes
        - ``given_mode``: the behaviour whose probability is at least 0.95, else ``""``
        - ``behaviour``: the same if the probability times the weight is at least 0.95

        Both behaviours are empty for a rater who gives only scores, since scores on one
        side of one half can be informative (:func:`assay.rater_calibration`). They are also empty
        on a label whose classes may not match their names; ``doubt`` gives the reason
        (:func:`assay.label_doubts`).

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1.

    Notes
    -----
    Informedness is Youden's J for any number of classes K,

    .. math:: J_{jl} = \frac{\sum_k \theta_{jlkk} - 1}{K_l - 1},

    1 for a perfect rater, and 0 for a rater whose answers do not depend on the truth (constant
    answers or guesses). It is below 0 for a rater who is wrong more often than by guessing, and at
    least :math:`-1 / (K - 1)`. Adversarial is :math:`J < -0.1 / (K - 1)`. With more than two
    classes, a rater who confuses classes also has J near 0, although the answers depend on the
    truth. So a spammer's answers to two classes must also differ by at most 0.3 in total
    variation, :math:`\tfrac12 \sum_m |\theta_{jlkm} - \theta_{jlk'm}|`. This is averaged over the
    pairs of classes; with two classes, it is :math:`|J|`. ``theta`` is the recorded kind of
    :func:`assay.rater_reliability`.

    The probabilities are calibrated under the prior of the fit. The default prior makes
    adversarial raters rare. With one or three of them among eight raters of 30 ratings each, the
    probabilities are far too low. Few are named, and those named are right (benchmark
    ``claims``). In the family ``mace`` no rater can be adversarial: a reliably wrong rater is
    classified as a spammer.

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
    >>> list(rater_spammers(fit).columns)[:3]
    ['rater', 'group', 'label']
    """
    require_level(level)
    view = FitView.of(fit)
    ratings, tables = view.ratings, _confusions(view)
    given = (ratings.answers >= 0) | np.isfinite(ratings.scores)
    scoring = raters_of_scores(ratings)
    kinds = {label: _kinds_of(table) for label, table in tables.items()}
    weight = float(json.loads(view.attrs["diagnostics"]).get("mode_weight", 1.0))
    doubted = doubts_by_label(view)
    rows = []
    for j, rater in enumerate(ratings.raters.index):
        count = given[ratings.rater == j].sum(axis=0)
        for n, (label, drawn) in enumerate(kinds.items()):
            values, adversarial, spammer = (draws[..., j] for draws in drawn)
            lower, upper = interval_ends(values.ravel(), level)
            chances = {"adversarial": float(adversarial.mean()), "spammer": float(spammer.mean())}
            there = next((k for k, p in chances.items() if p >= MIN_PROBABILITY), "")
            there = "" if scoring[j] or label in doubted else there
            sure = there != "" and chances[there] * weight >= MIN_PROBABILITY
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


def informedness(fit: Fit) -> xr.DataArray:
    """Return Youden's J of each rater on each label, (chain, draw, rater, label), at most 1."""
    tables = _confusions(FitView.of(fit))
    one = next(iter(tables.values()))
    return xr.DataArray(
        np.stack([_informedness(table.values) for table in tables.values()], axis=-1),
        dims=("chain", "draw", "rater", "label"),
        coords={**{dim: one[dim] for dim in ("chain", "draw", "rater")}, "label": list(tables)},
        name="informedness",
        attrs=one.attrs,
    )


def _confusions(view: FitView) -> dict[str, xr.DataArray]:
    """Return each label's confusions, (chain, draw, rater, true_class, reported_class)."""
    table, task = rater_reliability(view), view.ratings.task
    found = {}
    for label in task.labels:
        classes = {dim: list(label.classes) for dim in ("true_class", "reported_class")}
        found[label.name] = table.sel(label=label.name, drop=True).sel(classes)
    return found


def _informedness(table: Floats) -> Floats:
    """Return Youden's J (...) of confusions (..., true class, reported class)."""
    return np.asarray((np.trace(table, axis1=-2, axis2=-1) - 1) / (table.shape[-1] - 1))


def _kinds_of(table: xr.DataArray) -> tuple[Floats, Bools, Bools]:
    """Return informedness, adversarial and spammer of each draw, (chain, draw, rater) each."""
    found, size = _informedness(table.values), table.shape[-1]
    adversarial = found < (MISLEADS - 1) / (size - 1)
    apart = np.zeros(found.shape)
    for k in range(1, size):
        differences = np.abs(table.values[..., :k, :] - table.values[..., k, None, :])
        apart += differences.sum(axis=(-2, -1)) / 2
    alike = apart <= ALIKE * size * (size - 1) / 2
    return found, adversarial, (found <= SPAM) & ~adversarial & alike
