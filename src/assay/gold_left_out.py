"""Leave-one-out of gold: how well the known truth of an item is foretold by a model without it."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from assay.diagnostics import FEW_FOR_PSIS
from assay.errors import FitError
from assay.fit_data import group, parameter_draws, structure_of
from assay.fit_tree import by_unit
from assay.plurals import counted
from assay.recovery import recover

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData


def loo_gold(fit: xr.DataTree) -> "ELPDData":
    r"""Leave out the gold of each item in turn: how well does the model foretell it?

    Leave-one-out of *ratings* says which model explains the answers best, and is no judge of the
    truth that is meant: a class that nobody means can explain them better. Gold is. Of models of
    the same ratings and gold take the one with the higher ``elpd``.

    Parameters
    ----------
    fit : xarray.DataTree
        By ``method="nuts"``, of ratings with known truth (``truth=`` when reading).

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd`` is the sum of the log probabilities; ``elpd_i`` and ``pareto_k`` are by item
        with gold, or by cluster where the model has clusters of items. For
        ``arviz_stats.compare({"one": loo_gold(fit), "other": loo_gold(other)})``.

    Raises
    ------
    FitError
        If no truth is known, or there are no draws of the posterior to weigh.

    Notes
    -----
    .. math:: \mathrm{elpd} = \sum_i \log p(g_i \mid y, g_{-i}), \qquad
              p(g_i \mid y, g_{-i})^{-1} = E\left[ p(g_i \mid y_i, \theta)^{-1} \mid y, g \right],

    with the ratings :math:`y_i` of the item kept: they are what its truth is foretold from. The
    expectation is by Pareto smoothed importance sampling. Its standard error goes by the items with
    gold alone; what is said of all items holds as far as these are a random sample.

    References
    ----------
    Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using
    leave-one-out cross-validation and WAIC. Statistics and Computing 27, 1413-1432.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=3, gold=0.5, rng=1)
    >>> tree = assay.fit(ratings, draws=100, tune=100, chains=1, rng=1, progress=False)
    >>> bool(loo_gold(tree).elpd < 0)
    True
    """
    from arviz_stats.loo import loo

    chances = gold_log_probability(fit)
    draws = chances.sizes["chain"] * chances.sizes["draw"]
    if fit.attrs["method"] != "nuts" or draws < FEW_FOR_PSIS:
        raise FitError(
            f"leave-one-out weighs draws of the posterior, at least {FEW_FOR_PSIS}, and this fit "
            f"has {counted(draws, 'draw')} by method={fit.attrs['method']!r}; fit with "
            "method='nuts'"
        )
    tree = xr.DataTree.from_dict(
        {
            "posterior": group(fit, "posterior"),
            "log_likelihood": xr.Dataset({"gold": chances}),
        }
    )
    leave_out: Any = loo
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Pareto k is in what is returned
        found: ELPDData = leave_out(tree, var_name="gold", pointwise=True)
    return found


def gold_log_probability(fit: xr.DataTree) -> xr.DataArray:
    r"""Return :math:`\log p(g_i \mid y_i, \theta)`: what each draw of the parameters says of gold.

    Returns
    -------
    xarray.DataArray
        (chain, draw, item) of the items with gold, or (chain, draw, cluster) of their clusters.

    Raises
    ------
    FitError
        If no truth is known.
    """
    structure = structure_of(fit)
    known = structure.ratings.has_truth
    if not known.any():
        raise FitError("no item's truth is known in this fit; give it by truth= when reading")
    both = group(fit, "log_likelihood")["ratings"]
    constant, (unit,) = group(fit, "constant_data"), set(both.dims) - {"chain", "draw"}
    rng = np.random.default_rng(0)  # of drawn states, which are not looked at
    recovered = recover(structure.without_gold(), parameter_draws(fit), rng)
    _, ratings = by_unit(constant, structure, recovered.log_likelihood)
    here = known if unit == "item" else np.isin(both[unit], constant["item_cluster"][known])
    return (both - ratings.reshape(both.shape)).isel({unit: here})
