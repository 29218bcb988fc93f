"""The functions ``loo_gold`` and ``stack_labels``: predictions of left-out gold by fits."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from assay._util.errors import FitError, FitWarning
from assay._util.text import counted
from assay._util.typing import Floats
from assay.fits.labels import label_probabilities
from assay.fits.latent_states import sample_states
from assay.fits.view import Fit, FitView
from assay.inference.diagnostics import FEW_FOR_PSIS, K_HAT_LIMIT
from assay.inference.to_datatree import by_unit
from assay.modelling.structure import Structure

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData


DRAWS = ["chain", "draw"]
EVEN = 0.1
"""Range of a unit's log probabilities over the draws below which weights are not smoothed: they are
nearly equal, and so short a tail has no shape.
"""
UNTOLD = 0.1
"""Share of gold with a high Pareto k above which a fit's score is unreliable."""


def loo_gold(fit: Fit) -> "ELPDData":
    r"""Leave out the gold of each item, or cluster, in turn, and score its prediction.

    Leave-one-out of *ratings* shows which model explains the answers best, which is not evidence
    about the intended truth: an unintended class can explain them better. Gold is evidence. Among
    models of the same ratings and gold, prefer the one with the higher ``elpd``.

    Parameters
    ----------
    fit : xarray.DataTree
        By ``method="nuts"``, of ratings with known truth (``truth=`` when reading).

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd`` is the sum of the log probabilities. ``elpd_i`` and ``pareto_k`` are by item
        with gold, or by cluster if there are clusters of items. All gold of a cluster is then
        left out and predicted together. Compare models by
        ``arviz_stats.compare({"one": loo_gold(fit), "other": loo_gold(other)})``.

    Raises
    ------
    FitError
        If no truth is known, or the fit has no posterior draws.

    Notes
    -----
    .. math:: \mathrm{elpd} = \sum_i \log p(g_i \mid y, g_{-i}), \qquad
              p(g_i \mid y, g_{-i})^{-1} = E\left[ p(g_i \mid y_i, \theta)^{-1} \mid y, g \right],

    where the ratings :math:`y_i` of the item are kept, since they predict its truth. The
    expectation uses Pareto smoothed importance sampling. ``pareto_k`` is 0 where the log
    probabilities of the draws differ by less than 0.1, so that weights are nearly equal. The
    standard error uses only the items with gold; conclusions about all items need a random sample.

    References
    ----------
    Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using
    leave-one-out cross-validation and WAIC. Statistics and Computing 27, 1413-1432.

    Examples
    --------
    >>> import assay, warnings
    >>> ratings = assay.simulate("single", n_items=40, n_raters=3, gold=0.5, rng=1)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # so few draws are rough
    ...     tree = assay.fit(ratings, draws=100, tune=100, chains=1, rng=1, progress=False)
    >>> bool(loo_gold(tree).elpd < 0)
    True
    """
    from arviz_stats.loo import loo

    view = FitView.of(fit)
    posterior = view["posterior"]
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    if view.attrs["method"] != "nuts":
        raise FitError(
            "leave-one-out needs draws of the posterior, but this fit approximates it "
            f"(`method={view.attrs['method']!r}`). Fit with `method='nuts'`",
            code="approximate-draws",
        )
    if draws < FEW_FOR_PSIS:
        raise FitError(
            f"leave-one-out needs at least {FEW_FOR_PSIS} draws in all, but this fit has "
            f"{counted(draws, 'draw')}. Take more draws (`draws=`)",
            code="few-draws",
            numbers={"draws": draws, "needed": FEW_FOR_PSIS},
        )
    chances = gold_log_probability(view)
    weights, shape = _weights(chances)
    tree = xr.DataTree.from_dict(
        {"posterior": posterior, "log_likelihood": xr.Dataset({"gold": chances})}
    )
    leave_out: Any = loo
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Pareto k is in what is returned
        found: ELPDData = leave_out(
            tree, var_name="gold", pointwise=True, log_weights=weights, pareto_k=shape
        )
    return found


def high_k_share(found: "ELPDData") -> float:
    """Return the share of the items, or clusters, with gold whose Pareto k is high."""
    return float((found.pareto_k > K_HAT_LIMIT).mean())


def gold_log_probability(view: FitView) -> xr.DataArray:
    r"""Return :math:`\log p(g_i \mid y_i, \theta)` of the gold, (chain, draw, item or cluster)."""
    structure = view.structure
    known = structure.ratings.has_truth
    if not known.any():
        raise FitError(
            "this fit has no known truth. Give the truth when reading (`truth=`)",
            code="no-known-truth",
        )
    constant, values, posterior = view["constant_data"], view.draws, view["posterior"]
    names, blind = _of_units(structure.without_gold(), values, constant)
    (unit,) = names.dims
    here = known if unit == "item" else np.isin(names, constant["item_cluster"].values[known])
    both = _of_units(structure, values, constant)[1][:, here]
    coords = {dim: posterior[dim].values for dim in DRAWS} | {unit: names.values[here]}
    shape = (*(posterior.sizes[dim] for dim in DRAWS), -1)
    return xr.DataArray((both - blind[:, here]).reshape(shape), coords=coords, dims=(*DRAWS, unit))


def _of_units(
    structure: Structure, values: Any, constant: xr.Dataset
) -> tuple[xr.Variable, np.ndarray]:
    """Return names of items or clusters, and the log-likelihood of each in each draw."""
    rng = np.random.default_rng(0)  # for drawn states, which are not used
    return by_unit(constant, structure, sample_states(structure, values, rng).log_likelihood)


def _weights(chances: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the log weights of the draws without the gold of each unit, and Pareto k."""
    import arviz_stats  # noqa: F401 (gives arrays their accessor)

    weights = -chances - logsumexp(-chances, axis=(0, 1))
    shape = xr.zeros_like(chances.isel(chain=0, draw=0, drop=True))
    uneven = (chances.max(DRAWS) - chances.min(DRAWS)).to_numpy() > EVEN
    if uneven.any():
        smoothed, shapes = chances[..., uneven].azstats.psislw(dim=DRAWS)
        weights[..., uneven] = smoothed.transpose(*chances.dims).to_numpy()
        shape[uneven] = shapes.to_numpy()
    return weights, shape


def stack_labels(fits: Mapping[str, Fit]) -> xr.Dataset:
    r"""Mix the label probabilities of several fits, weighted by their prediction of left-out gold.

    Models with different truths, such as one with a perception layer and one with difficulty by
    class, can each be right on some items. If gold does not favour one model, a mixture can predict
    better than the best of them.

    Parameters
    ----------
    fits : mapping of str to xarray.DataTree
        Two or more fits of the same ratings and gold, by ``method="nuts"``, by name.

    Returns
    -------
    xarray.Dataset
        ``probability`` (item, label, class): as :func:`assay.label_probabilities`, of the mixture.
        ``weight`` (model): in [0, 1], adding up to 1. ``elpd`` (model): of :func:`assay.loo_gold`.
        ``high_k`` (model): share of the gold with a Pareto k above 0.7. Above a tenth, the score is
        unreliable and the model has weight 0, unless all models are unreliable.

    Raises
    ------
    FitError
        If there are fewer than two fits, they are not of the same items and gold, or
        :func:`assay.loo_gold` refuses one.

    Warns
    -----
    FitWarning
        If the score of a fit is unreliable.

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
    views = {name: FitView.of(fit) for name, fit in fits.items()}
    _require_alike(views)
    scores = {name: loo_gold(view) for name, view in views.items()}
    high = {name: high_k_share(one) for name, one in scores.items()}
    doubted = [name for name in fits if high[name] > UNTOLD]
    shares = stacking_weights(scores, high)
    if doubted:
        text = (
            f"The prediction of new gold by {' and '.join(doubted)} cannot be estimated: Pareto k "
            f"is above {K_HAT_LIMIT} for more than {UNTOLD:.0%} of the gold. Single items of gold "
            "have a large influence on the posterior. "
            + (
                "Such a fit has weight 0."
                if len(doubted) < len(fits)
                else "The weights are unreliable."
            )
        )
        numbers = {"limit": K_HAT_LIMIT, "share": max(high[name] for name in doubted)}
        warnings.warn(FitWarning(text, code="gold-decides", numbers=numbers), stacklevel=2)
    every = [label_probabilities(view).drop_attrs() for view in views.values()]
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
    """Return the stacking weights in the order of the names, (model,); unreliable models get 0."""
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
    """Return the models with a reliable score; all if none has one."""
    return [name for name, share in high_k.items() if share <= UNTOLD] or list(high_k)


def _require_alike(fits: Mapping[str, FitView]) -> None:
    """Refuse fits of different items, or of different gold."""
    if len(fits) < 2:
        raise FitError(
            "stacking needs two fits or more, by name: {'one': fit, 'other': fit}",
            code="too-few-fits",
        )
    first, *others = fits
    constant = fits[first]["constant_data"]
    for name in others:
        other = fits[name]["constant_data"]
        same = fits[name].attrs["task"] == fits[first].attrs["task"] and all(
            np.array_equal(constant[part], other[part]) for part in ("item", "truth")
        )
        if not same:
            raise FitError(
                f"{first} and {name} are not fits of the same items and gold. Stack fits of one "
                "set of ratings that differ in `raters=`, `reference=`, `prevalence=` or `priors=`",
                code="unlike-fits",
            )
