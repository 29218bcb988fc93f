"""Where the variance of a metric comes from: parameters, labels, clusters."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.evaluation.components import (
    Components,
    Contrast,
    columns_of,
    defined_mean,
    defined_variance,
    metric_columns,
    paired_values,
)
from assay.evaluation.effective import effective_draws
from assay.evaluation.estimands import WEIGHTS_SEED, Estimand, draws_of_model
from assay.evaluation.fitted import discordant_clusters, metrics, model_share
from assay.evaluation.item_weights import weighable_metrics
from assay.evaluation.kept_draws import draws_once
from assay.evaluation.panels import By, Incomplete, panel_layout
from assay.evaluation.registry import Metric
from assay.evaluation.stream import posterior_labels, second_labels
from assay.fits.datatree import ratings_of

Values = NDArray[np.float64]


def variance_budget(
    fit: xr.DataTree,
    *,
    metric: Sequence[str] | str | None = None,
    by: By | None = "system",
    estimand: Estimand = "population",
    contrast: Contrast | None = None,
    incomplete: Incomplete = "predict",
) -> pd.DataFrame:
    r"""Take the posterior variance of each metric apart.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    by : {"system", None}
        A line per system, or all panels pooled.
    estimand : {"population", "finite"}
        As for :func:`assay.metrics`.
    contrast : tuple of str, optional
        Two systems: the budget of the first's metric less the second's, in place of each one's.
    incomplete : {"predict", "drop"}
        As for :func:`assay.metrics`.

    Returns
    -------
    pandas.DataFrame
        A line per metric and system (or ``"a - b"``): ``metric``, ``system``, ``estimand``,
        ``variance`` (of the draws that :func:`assay.metrics` gives), its components
        ``parameters``, ``labels`` and ``clusters``, ``mcse`` (Monte Carlo standard error of
        ``variance``, or of the components' sum if that is larger, within three of which the
        components add up to it), ``monte_carlo``
        (``variance`` over the effective number of draws: the variance of the reported mean that
        more draws would remove) and ``reference``.

    Raises
    ------
    UnknownNameError
        If a metric or a system of ``contrast`` does not exist.
    ModelError, RatingsError
        As :func:`assay.metrics`.

    Notes
    -----
    :math:`Z` and :math:`Z'` are two draws of the labels given the same draw of the parameters, and
    :math:`m` the metric, averaged over the weights :math:`w` of the clusters:

    .. math::

        \text{parameters} = \operatorname{Cov}(m(Z), m(Z')), \quad
        \text{labels} = \operatorname{Var} m(Z) - \operatorname{Cov}(m(Z), m(Z')), \quad
        \text{clusters} = \operatorname{E}_Z \operatorname{Var}_w m(Z, w).

    They are the variance of what the parameters say of the metric, what the labels add when the
    parameters are known, and what other clusters would add if the labels were known. ``finite`` has
    no clusters. In draws in which the population is the model's own (fewer than 20 clusters), the
    metric hangs on the parameters alone. A component that is 0 comes out within a few ``mcse`` of
    it, on either side.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> table = variance_budget(tree, metric="helpfulness_rate", contrast=("system_1", "system_2"))
    >>> table[["system", "estimand"]]
                    system    estimand
    0  system_1 - system_2  population
    """
    draws = metrics(fit, estimand=estimand, by=by, incomplete=incomplete, metric=metric)
    names, systems, values = metric_columns(draws, contrast)
    parts = components_of(
        fit, names=names, by=by, estimand=estimand, contrast=contrast, incomplete=incomplete,
        reported=values,
    )  # fmt: skip
    estimands = [str(draws[name].attrs["estimand"]) for name in names]
    chains = draws.sizes["chain"]
    variance, effective = defined_variance(values), _ess(values, chains)
    squares = (values - defined_mean(values)[:, None]) ** 2
    # The components rest on other draws: what is rare may be in these and not in the reported.
    terms = (squares, parts.sums())
    mcse = np.fmax(*(np.sqrt(defined_variance(term) / _ess(term, chains)) for term in terms))
    parameters, labels, clusters = (part.ravel() for part in parts.means())
    shape = (len(names), len(systems))
    return pd.DataFrame(
        {
            "metric": np.repeat(names, shape[1]),
            "system": list(systems) * shape[0],
            "estimand": np.repeat(estimands, shape[1]),
            "variance": variance.ravel(),
            "parameters": parameters,
            "labels": labels,
            "clusters": clusters,
            "mcse": mcse.ravel(),
            "monte_carlo": (variance / effective).ravel(),
            "reference": str(draws.attrs["reference"]),
        }
    )


def components_of(
    fit: xr.DataTree,
    *,
    names: Sequence[str],
    by: By | None,
    estimand: Estimand,
    contrast: Contrast | None,
    incomplete: Incomplete,
    reported: Values | None = None,
) -> Components:
    """Return the terms of the components, with the weights of the clusters for the population.

    Parameters
    ----------
    reported : ndarray of float (metric, draw, column), optional
        The draws of the metrics. Where the population of some is the model's, so are their terms.
    """
    ratings = ratings_of(fit)
    layout = panel_layout(ratings, by=by, incomplete=incomplete)
    seed = WEIGHTS_SEED if estimand == "population" else None

    def compute(lacking: Sequence[Metric]) -> Values:
        labels, prior = (posterior_labels(fit), second_labels(fit)), None
        if seed is not None:
            prior = discordant_clusters(fit, ratings, lacking, layout, labels[0].shape[0])
        pair = paired_values(lacking, ratings.task, labels, layout, seed=seed, prior=prior)
        return np.moveaxis(np.stack(pair), 2, 0)

    groups = ("labels", "posterior", "constant_data", "observed_data")
    chosen = weighable_metrics(ratings, names)
    pairs = draws_once(fit, groups, ("pairs", seed), layout, chosen, compute)
    first, second = (
        columns_of(part, layout.systems, contrast)
        for part in np.ascontiguousarray(np.moveaxis(pairs, 0, 2))
    )
    if seed is not None and reported is not None:
        of_model = draws_of_model(model_share(ratings, layout), reported.shape[1])
        first[:, :, of_model] = second[:, :, of_model] = reported[:, of_model]
    return Components.of_pairs(first, second)


def _ess(values: Values, chains: int) -> Values:
    """Effective number of draws of (metric, draw, column), chain by chain: (metric, column)."""
    draws = values.swapaxes(1, 2)
    return effective_draws(draws.reshape(*draws.shape[:2], chains, -1))
