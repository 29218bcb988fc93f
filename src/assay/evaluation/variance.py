"""The variance of a metric, split into parameters, labels and clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.arrays import divided
from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.typing import Floats
from assay._util.validation import names_given, written
from assay.data.task import Task
from assay.evaluation.discordance import Discordance
from assay.evaluation.draws import Labels, draws_once, metric_draws, posterior_labels, second_labels
from assay.evaluation.estimands import WEIGHTS_SEED, Estimand, draws_of_model
from assay.evaluation.fitted import discordant_clusters, metrics, model_share
from assay.evaluation.panels import By, Incomplete, PanelLayout, panel_layout, weighable_metrics
from assay.evaluation.population import population_draws
from assay.evaluation.registry import Metric
from assay.fits.view import Fit, FitView

SETS = 4
"""Sets of cluster weights for each label draw."""
Contrast = tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Components:
    """Terms whose means over the draws are the components of the variance, (metric, draw, system or
    contrast). They are NaN where the metric is undefined.
    """

    parameters: Floats
    labels: Floats
    clusters: Floats

    @classmethod
    def of_pairs(cls, first: Floats, second: Floats) -> Self:
        r"""Split the variance of a metric from two label draws for each draw of the parameters,
        each (set, metric, draw, column) under independent sets of weights.

        With :math:`\bar m_d` and :math:`\bar m'_d` the means over the :math:`K` sets, and
        :math:`v_d` the mean of both variances over the sets,

        .. math::

            p_d = (\bar m_d - \mu)(\bar m'_d - \mu'), \quad c_d = v_d, \quad
            l_d = \tfrac12 (\bar m_d - \mu)^2 + \tfrac12 (\bar m'_d - \mu')^2 - v_d / K - p_d.

        Subtraction removes the noise that :math:`K` weights leave, so the means are unbiased for
        :math:`K \ge 2`; without weights, :math:`K = 1`, the clusters' term is 0.
        """
        sets = len(first)
        ends = np.stack([first.mean(axis=0), second.mean(axis=0)])
        centred = np.stack([_centre(end) for end in ends])
        parameters = centred[0] * centred[1]
        paired = ~np.isnan(parameters)
        known = ~np.isnan(ends).all(axis=0) & paired.any(axis=1, keepdims=True)
        spread = np.where(np.isnan(ends), np.nan, 0.0)
        if sets > 1:
            spread = np.stack([end.var(axis=0, ddof=1) for end in (first, second)])
        clusters = np.where(known, defined_mean(spread, axis=0), np.nan)
        squares = np.where(known, defined_mean(centred**2, axis=0), np.nan)
        labels = squares - clusters / sets - _completed(parameters)
        return cls(parameters=parameters, labels=labels, clusters=clusters)

    def sums(self) -> Floats:
        """Return the terms whose mean is the sum of the components, (metric, draw, column)."""
        return _completed(self.parameters) + self.labels + self.clusters

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return the components parameters, labels and clusters, each (metric, column)."""
        return defined_mean(self.parameters), defined_mean(self.labels), defined_mean(self.clusters)


def paired_values(
    chosen: Sequence[Metric],
    task: Task,
    pair: tuple[Labels, Labels],
    layout: PanelLayout,
    *,
    seed: int | None,
    prior: Discordance | None,
) -> tuple[Floats, Floats]:
    """Return metrics of two label draws, each (set, metric, draw, system). ``seed`` is that of the
    cluster weights; without a seed or ``prior``, none are used.
    """
    if seed is None or prior is None:
        first, second = (metric_draws(chosen, task, y, layout)[None] for y in pair)
        return first, second
    # Seeds of weights count from 1, so negative seeds are used nowhere else.
    seeds = [[seed, *range(-SETS + 1, 0)], [*range(-2 * SETS + 1, -SETS + 1)]]
    first, second = (
        population_draws(chosen, task, y, layout, mine, prior)
        for y, mine in zip(pair, seeds, strict=True)
    )
    return first, second


def columns_of(values: Floats, systems: Sequence[str], contrast: Contrast | None) -> Floats:
    """Return values by system (last axis), or the difference of two systems."""
    if contrast is None:
        return values
    names = names_given("contrast", contrast, what="system")
    if len(names) != 2:
        raise ModelError(
            f"`contrast={written(contrast)}`; it must be the names of two systems",
            code="contrast-argument",
        )
    for name in names:
        if name not in systems:
            raise UnknownNameError(
                f"no system is called {name!r}; {suggest(name, list(systems))}",
                code="unknown-system",
            )
    first, second = map(systems.index, names)
    return values[..., [first]] - values[..., [second]]


def metric_columns(
    draws: xr.Dataset, contrast: Contrast | None
) -> tuple[list[str], list[str], Floats]:
    """Return metrics' names, systems' (or the contrast's) and draws (metric, draw, column)."""
    names = [str(name) for name in draws.data_vars]
    systems = [str(s) for s in draws["system"].values] if "system" in draws else [""]
    arrays = [draws[name].to_numpy().reshape(-1, len(systems)) for name in names]
    values = columns_of(np.stack(arrays), systems, contrast)
    return names, systems if contrast is None else [" - ".join(contrast)], values


def defined_mean(values: Floats, axis: int = 1) -> Floats:
    """Return the mean over the defined values of an axis; NaN where none is defined."""
    some = ~np.isnan(values)
    return divided(np.where(some, values, 0.0).sum(axis=axis), some.sum(axis=axis))


def defined_variance(values: Floats) -> Floats:
    """Return the variance over the defined draws (axis 1)."""
    return defined_mean(_centre(values) ** 2)


def _completed(products: Floats) -> Floats:
    """Replace undefined products by the mean of the defined ones."""
    return np.where(np.isnan(products), defined_mean(products)[:, None], products)


def _centre(values: Floats) -> Floats:
    return values - defined_mean(values)[:, None]


SAME = 1e-12
"""Draws that differ by less are constant: the order of a sum changes as much."""


def effective_draws(values: Floats) -> Floats:
    """Return the effective number of draws for the mean of values (..., chain, draw) (Vehtari et
    al. 2021, Bayesian Analysis 16(2), 667-718).

    An undefined draw reduces it in proportion. Constant draws count in full; NaN where none is
    defined.
    """
    from arviz_stats.base.array import BaseArray

    statistics: Any = BaseArray()
    both = (-2, -1)
    some = ~np.isnan(values)
    centre = divided(np.where(some, values, 0.0).sum(axis=both), some.sum(axis=both))
    filled = np.where(some, values, np.nan_to_num(centre)[..., None, None])
    varies = np.ptp(filled, axis=both) >= SAME
    found = np.full(centre.shape, float(values.shape[-2] * values.shape[-1]))
    if varies.any():
        found[varies] = statistics.ess(filled[varies], chain_axis=-2, draw_axis=-1, method="mean")
    return np.where(some.any(axis=both), found * some.mean(axis=both), np.nan)


def variance_budget(
    fit: Fit,
    *,
    metric: Sequence[str] | str | None = None,
    by: By | None = "system",
    estimand: Estimand = "population",
    contrast: Contrast | None = None,
    incomplete: Incomplete = "predict",
) -> pd.DataFrame:
    r"""Split the posterior variance of each metric into its sources.

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
        Two systems: the budget of the first's metric minus the second's.
    incomplete : {"predict", "drop"}
        As for :func:`assay.metrics`.

    Returns
    -------
    pandas.DataFrame
        A line per metric and system (or ``"a - b"``): ``metric``, ``system``, ``estimand``,
        ``variance`` (of the draws of :func:`assay.metrics`), its components ``parameters``,
        ``labels`` and ``clusters``, ``mcse``, ``monte_carlo`` and ``reference``. ``mcse`` is the
        Monte Carlo standard error of ``variance``, or of the components' sum if that is larger.
        The components add up to ``variance`` within three ``mcse``. ``monte_carlo`` is
        ``variance`` over the effective number of draws: the variance of the reported mean that
        more draws would remove.

    Raises
    ------
    UnknownNameError
        If a metric or a system of ``contrast`` does not exist.
    ModelError, RatingsError
        As :func:`assay.metrics`.

    Notes
    -----
    :math:`Z` and :math:`Z'` are two draws of the labels given the same draw of the parameters.
    :math:`m` is the metric, averaged over the weights :math:`w` of the clusters:

    .. math::

        \text{parameters} = \operatorname{Cov}(m(Z), m(Z')), \quad
        \text{labels} = \operatorname{Var} m(Z) - \operatorname{Cov}(m(Z), m(Z')), \quad
        \text{clusters} = \operatorname{E}_Z \operatorname{Var}_w m(Z, w).

    They are the variance due to the parameters, to the labels given the parameters, and to the
    choice of clusters given the labels. ``finite`` has no cluster component. In draws in which the
    model predicts the population (fewer than 20 clusters), the metric depends on the parameters
    alone. The estimate of a component that is 0 lies within a few ``mcse`` of 0, on either side.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> model = {"raters": "hierarchical", "method": "map"}
    >>> tree = assay.fit(ratings, **model, draws=50, chains=1, starts=1, rng=1)
    >>> table = variance_budget(tree, metric="helpfulness_rate", contrast=("system_1", "system_2"))
    >>> table[["system", "estimand"]]
                    system    estimand
    0  system_1 - system_2  population
    """
    view = FitView.of(fit)
    draws = metrics(view, estimand=estimand, by=by, incomplete=incomplete, metric=metric)
    names, systems, values = metric_columns(draws, contrast)
    parts = components_of(
        view, names=names, by=by, estimand=estimand, contrast=contrast, incomplete=incomplete,
        reported=values,
    )  # fmt: skip
    estimands = [str(draws[name].attrs["estimand"]) for name in names]
    chains = draws.sizes["chain"]
    variance, effective = defined_variance(values), _ess(values, chains)
    squares = (values - defined_mean(values)[:, None]) ** 2
    # The components use other draws, which may hold rare events that the reported ones lack.
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
    view: FitView,
    *,
    names: Sequence[str],
    by: By | None,
    estimand: Estimand,
    contrast: Contrast | None,
    incomplete: Incomplete,
    reported: Floats | None = None,
) -> Components:
    """Return the terms of the variance components, with cluster weights for the population.

    ``reported`` are the metrics' draws (metric, draw, column), used where the model predicts them.
    """
    ratings = view.ratings
    layout = panel_layout(ratings, by=by, incomplete=incomplete)
    seed = WEIGHTS_SEED if estimand == "population" else None

    def compute(lacking: Sequence[Metric]) -> Floats:
        labels, prior = (posterior_labels(view), second_labels(view)), None
        if seed is not None:
            prior = discordant_clusters(view, ratings, lacking, layout, labels[0].shape[0])
        pair = paired_values(lacking, ratings.task, labels, layout, seed=seed, prior=prior)
        return np.moveaxis(np.stack(pair), 2, 0)

    chosen = weighable_metrics(ratings, names)
    pairs = draws_once(view, ("pairs", seed), layout, chosen, compute)
    first, second = (
        columns_of(part, layout.systems, contrast)
        for part in np.ascontiguousarray(np.moveaxis(pairs, 0, 2))
    )
    if seed is not None and reported is not None:
        of_model = draws_of_model(model_share(ratings, layout), reported.shape[1])
        first[:, :, of_model] = second[:, :, of_model] = reported[:, of_model]
    return Components.of_pairs(first, second)


def _ess(values: Floats, chains: int) -> Floats:
    """Return the effective number of draws of (metric, draw, column): (metric, column)."""
    draws = values.swapaxes(1, 2)
    return effective_draws(draws.reshape(*draws.shape[:2], chains, -1))
