"""Stacking: what several fits say of the labels, mixed by how they foretell gold left out."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import FitError, FitWarning
from assay.fits.datatree import group
from assay.fits.labels import label_probabilities
from assay.inference.diagnostics import K_HAT_LIMIT
from assay.validation.gold_left_out import UNTOLD, high_k_share, loo_gold

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

Floats = NDArray[np.float64]


def stack_labels(fits: Mapping[str, xr.DataTree]) -> xr.Dataset:
    r"""Mix what several fits say of the labels, by how well they foretell gold that is left out.

    Models whose truths differ, such as one with a perception layer and one in which difficulty goes
    by class, are each right of some items. Where gold cannot tell one for all, a mixture says more
    than the best of them.

    Parameters
    ----------
    fits : mapping of str to xarray.DataTree
        Two or more fits of the same ratings and gold, by ``method="nuts"``, by name.

    Returns
    -------
    xarray.Dataset
        ``probability`` (item, label, class): as :func:`assay.label_probabilities`, of the mixture.
        ``weight`` (model): in [0, 1], adding up to 1. ``elpd`` (model): of :func:`assay.loo_gold`.
        ``high_k`` (model): share of the gold with a Pareto k above 0.7; where it is above a tenth
        the score is not to be believed, and the model has weight 0, unless all are like that.

    Raises
    ------
    FitError
        If there are fewer than two fits, they are not of the same items and gold, or
        :func:`assay.loo_gold` refuses one.

    Warns
    -----
    FitWarning
        If the score of a fit is not to be believed.

    Notes
    -----
    .. math:: \max_w \sum_i \log \sum_m w_m\, p_m(g_i \mid y, g_{-i}), \qquad
              p(s_i \mid y, g) = \sum_m w_m\, p_m(s_i \mid y, g).

    References
    ----------
    Yao, Y., Vehtari, A., Simpson, D. and Gelman, A. (2018). Using stacking to average Bayesian
    predictive distributions. Bayesian Analysis 13, 917-1007.

    Examples
    --------
    >>> import assay, warnings
    >>> ratings = assay.simulate("single", n_items=40, n_raters=3, gold=0.5, rng=1)
    >>> short = {"draws": 100, "tune": 100, "chains": 1, "rng": 1, "progress": False}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # so few draws are rough
    ...     fits = {name: assay.fit(ratings, raters=name, **short) for name in ("one_coin", "mace")}
    ...     found = stack_labels(fits)
    >>> round(float(found["weight"].sum()), 6)
    1.0
    """
    _require_alike(fits)
    scores = {name: loo_gold(fit) for name, fit in fits.items()}
    high = {name: high_k_share(one) for name, one in scores.items()}
    doubted = [name for name in fits if high[name] > UNTOLD]
    shares = stacking_weights(scores, high)
    if doubted:
        text = (
            f"How well {' and '.join(doubted)} would foretell gold that it has not seen cannot be "
            f"told: Pareto k is above {K_HAT_LIMIT} for more than {UNTOLD:.0%} of "
            "the gold, each of which decides much of the posterior. "
            + ("Such a fit has weight 0." if len(doubted) < len(fits) else "Weights are rough.")
        )
        numbers = {"limit": K_HAT_LIMIT, "share": max(high[name] for name in doubted)}
        warnings.warn(FitWarning(text, code="gold-decides", numbers=numbers), stacklevel=2)
    every = [label_probabilities(fit).drop_attrs() for fit in fits.values()]
    return xr.Dataset(
        {
            "probability": every[0].copy(data=np.tensordot(shares, np.stack(every), axes=1)),
            "weight": ("model", shares),
            "elpd": ("model", np.array([float(scores[name].elpd) for name in fits])),
            "high_k": ("model", np.array([high[name] for name in fits])),
        },
        coords={"model": list(fits)},
    )


def stacking_weights(scores: Mapping[str, "ELPDData"], high_k: Mapping[str, float]) -> Floats:
    """Return the weights of the likeliest mixture, in the order of the names: (model,).

    Models with much gold of a high Pareto k, as :func:`stack_labels` has it, get none.
    """
    from arviz_stats.loo import compare

    trusted = trusted_models(high_k)
    weight = dict.fromkeys(scores, 0.0) | {trusted[0]: 1.0}
    if len(trusted) > 1:
        weigh: Any = compare
        table = weigh({name: scores[name] for name in trusted}, round_to="none")
        weight |= table["weight"].clip(lower=0.0).to_dict()
    shares = np.array(list(weight.values()))
    return np.asarray(shares / shares.sum())


def trusted_models(high_k: Mapping[str, float]) -> list[str]:
    """Return the models whose score is to be believed; all if none is."""
    return [name for name, share in high_k.items() if share <= UNTOLD] or list(high_k)


def _require_alike(fits: Mapping[str, xr.DataTree]) -> None:
    """Refuse fits of different items, or of different gold."""
    if len(fits) < 2:
        raise FitError(
            "stacking needs two fits or more, by name: {'one': fit, 'other': fit}",
            code="too-few-fits",
        )
    first, *others = fits
    constant = group(fits[first], "constant_data")
    for name in others:
        other = group(fits[name], "constant_data")
        same = fits[name].attrs["task"] == fits[first].attrs["task"] and all(
            np.array_equal(constant[part], other[part]) for part in ("item", "truth")
        )
        if not same:
            raise FitError(
                f"{first} and {name} are not fits of the same items and gold; stack fits of one "
                "set of ratings that differ in raters=, reference=, prevalence= or priors=",
                code="unlike-fits",
            )
