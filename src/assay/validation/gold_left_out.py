"""Leave-one-out of gold: how well the known truth of an item is foretold by a model without it."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from assay._util.errors import FitError
from assay._util.plurals import counted
from assay.fits.datatree import group, parameter_draws, structure_of
from assay.fits.latent_states import recover
from assay.inference.diagnostics import FEW_FOR_PSIS, K_HAT_LIMIT
from assay.inference.fit_tree import by_unit
from assay.modelling.model import Structure

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

DRAWS = ["chain", "draw"]
EVEN = 0.1
"""Range of an item's log probabilities over the draws up to which their weights are all but equal:
there is nothing to smooth, and the shape of so short a tail says nothing."""

UNTOLD = 0.1
"""Share of the gold whose Pareto k is high, above which a fit's score is not believed."""


def loo_gold(fit: xr.DataTree) -> "ELPDData":
    r"""Leave out the gold of each item, or cluster, in turn: how well does the model foretell it?

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
        with gold, or by cluster where there are clusters of items: all gold of a cluster is then
        left out, and foretold, together. For
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
    expectation is by Pareto smoothed importance sampling; ``pareto_k`` is 0 where the log
    probabilities of the draws differ by less than 0.1, and weights are all but equal. The standard
    error goes by the items with gold alone; what is said of all items holds as far as these are a
    random sample.

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

    posterior = group(fit, "posterior")
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    if fit.attrs["method"] != "nuts":
        raise FitError(
            "leave-one-out weighs draws of the posterior, and this fit approximates it "
            f"(method={fit.attrs['method']!r}); fit with method='nuts'",
            code="approximate-draws",
        )
    if draws < FEW_FOR_PSIS:
        raise FitError(
            f"leave-one-out needs the tail of the draws, at least {FEW_FOR_PSIS} draws in all, and "
            f"this fit has {counted(draws, 'draw')}; take more (draws=)",
            code="few-draws",
            numbers={"draws": draws, "needed": FEW_FOR_PSIS},
        )
    chances = gold_log_probability(fit)
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
        raise FitError(
            "no item's truth is known in this fit; give it by truth= when reading",
            code="no-known-truth",
        )
    constant, values = group(fit, "constant_data"), parameter_draws(fit)
    posterior = group(fit, "posterior")
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
    """Log-likelihood of each item, or cluster, and draw, with the names of these."""
    rng = np.random.default_rng(0)  # of drawn states, which are not looked at
    return by_unit(constant, structure, recover(structure, values, rng).log_likelihood)


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
