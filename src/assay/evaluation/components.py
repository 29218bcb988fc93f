"""The variance of a metric in three components, from pairs of label draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import ModelError, UnknownNameError, suggest
from assay._util.quotients import divided
from assay._util.validation import names_given, written
from assay.data.task import Task
from assay.evaluation.discordance import Discordance
from assay.evaluation.draws import Labels, metric_draws
from assay.evaluation.panels import PanelLayout
from assay.evaluation.population import population_draws
from assay.evaluation.registry import Metric

SETS = 4
"""Sets of cluster weights for each label draw."""

Values = NDArray[np.float64]
Contrast = tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Components:
    """Terms whose means over the draws are the components of the variance.

    Attributes
    ----------
    parameters, labels, clusters : ndarray of float (metric, draw, column)
        NaN in draws in which the metric is undefined, the first where it is in either draw of
        the labels. A column is a system or a contrast.
    """

    parameters: Values
    labels: Values
    clusters: Values

    @classmethod
    def of_pairs(cls, first: Values, second: Values) -> Self:
        r"""Take the variance of a metric apart.

        Parameters
        ----------
        first, second : ndarray of float (set, metric, draw, column)
            The metric of two label draws for each draw of the parameters, each under as many sets
            of weights of the clusters, all independent.

        Notes
        -----
        With :math:`\bar m_d` and :math:`\bar m'_d` the means over the :math:`K` sets, and
        :math:`v_d` the mean of both variances over the sets, the terms of draw :math:`d` are

        .. math::

            p_d = (\bar m_d - \mu)(\bar m'_d - \mu'), \quad c_d = v_d, \quad
            l_d = \tfrac12 (\bar m_d - \mu)^2 + \tfrac12 (\bar m'_d - \mu')^2 - v_d / K - p_d.

        This is an analysis of variance in which the noise that :math:`K` weights leave in
        :math:`\bar m_d` is taken off, so that the three means are unbiased (but for
        :math:`1 - 1/n`) for any :math:`K` from 2 on. Without weights, :math:`K = 1`, the last is 0.
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

    def sums(self) -> Values:
        """Return the terms whose mean is the sum of the components: (metric, draw, column)."""
        return _completed(self.parameters) + self.labels + self.clusters

    def means(self) -> tuple[Values, Values, Values]:
        """Return the components parameters, labels and clusters: (metric, column) each."""
        return defined_mean(self.parameters), defined_mean(self.labels), defined_mean(self.clusters)


def paired_values(
    chosen: Sequence[Metric],
    task: Task,
    pair: tuple[Labels, Labels],
    layout: PanelLayout,
    *,
    seed: int | None,
    prior: Discordance | None,
) -> tuple[Values, Values]:
    """Metrics of two label draws: (set, metric, draw, system) each.

    Parameters
    ----------
    chosen : sequence of Metric
    task : Task
    pair : tuple of Labels
    layout : PanelLayout
    seed : int or None
        Of the weights of the clusters in the first set of the first draw.
    prior : Discordance or None
        None for no weights.
    """
    if seed is None or prior is None:
        first, second = (metric_draws(chosen, task, y, layout)[None] for y in pair)
        return first, second
    # Seeds of weights count from 1: the negative ones are nobody else's.
    seeds = [[seed, *range(-SETS + 1, 0)], [*range(-2 * SETS + 1, -SETS + 1)]]
    first, second = (
        population_draws(chosen, task, y, layout, mine, prior)
        for y, mine in zip(pair, seeds, strict=True)
    )
    return first, second


def columns_of(values: Values, systems: Sequence[str], contrast: Contrast | None) -> Values:
    """Values by system (last axis), or the difference of two systems."""
    if contrast is None:
        return values
    names = names_given("contrast", contrast, what="system")
    if len(names) != 2:
        raise ModelError(
            f"contrast={written(contrast)}; it must be the names of two systems",
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
) -> tuple[list[str], list[str], Values]:
    """Names of metrics, names of systems or the contrast, and draws (metric, draw, column)."""
    names = [str(name) for name in draws.data_vars]
    systems = [str(s) for s in draws["system"].values] if "system" in draws else [""]
    arrays = [draws[name].to_numpy().reshape(-1, len(systems)) for name in names]
    values = columns_of(np.stack(arrays), systems, contrast)
    return names, systems if contrast is None else [" - ".join(contrast)], values


def defined_mean(values: Values, axis: int = 1) -> Values:
    """Mean over the draws (or another axis) that are defined; NaN where none is.

    Examples
    --------
    >>> defined_mean(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]]))
    array([ 2., nan])
    """
    some = ~np.isnan(values)
    return divided(np.where(some, values, 0.0).sum(axis=axis), some.sum(axis=axis))


def defined_variance(values: Values) -> Values:
    """Variance over the draws (axis 1) that are defined."""
    return defined_mean(_centre(values) ** 2)


def _completed(products: Values) -> Values:
    """Take products of which one factor is undefined for what they are on average."""
    return np.where(np.isnan(products), defined_mean(products)[:, None], products)


def _centre(values: Values) -> Values:
    return values - defined_mean(values)[:, None]
