"""Partial pooling of estimates over groups: a normal-normal model, drawn from exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Values = NDArray[np.float64]
GRID = 200
REACH = 6.0
JITTER = 1e-10
"""Added to variances: estimates that no draw moves are known, and still need an inverse."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pooled:
    """Draws of a normal-normal model.

    Attributes
    ----------
    effects : ndarray of float (draw, group)
    mean, sd : ndarray of float (draw,)
        Of the distribution of effects over groups.
    """

    effects: Values
    mean: Values
    sd: Values


def pool(
    estimates: Values, covariance: Values, *, scale: float, draws: int, rng: np.random.Generator
) -> Pooled:
    r"""Pool the estimates of several groups partially.

    Parameters
    ----------
    estimates : ndarray of float (group,)
        At least two.
    covariance : ndarray of float (group, group)
        Of the estimates, given the effects.
    scale : float
        Of the half-normal prior of the SD of the effects, positive.
    draws : int
    rng : numpy.random.Generator

    Returns
    -------
    Pooled

    Notes
    -----
    .. math:: m \mid \delta \sim N(\delta, \Sigma), \quad \delta_g \sim N(\mu, \tau^2), \quad
              p(\mu) \propto 1, \quad \tau \sim N^+(0, \text{scale}^2)

    With :math:`V = \Sigma + \tau^2 I`, the posterior of :math:`\tau` is known up to a constant and
    drawn from on a grid, that of :math:`\mu` given :math:`\tau` is normal, and
    :math:`\delta \mid \mu, \tau, m \sim N(\mu 1 + \tau^2 V^{-1} (m - \mu 1),\
    \tau^2 I - \tau^4 V^{-1})`: no chain is needed.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian data analysis, 3rd ed., section 5.4.
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
    Bayesian Analysis 1(3), 515-534.

    Examples
    --------
    Two groups that agree, and one far off that is hardly known: it is drawn to the others.

    >>> found = pool(
    ...     np.array([0.1, 0.1, 0.5]), np.diag([0.01, 0.01, 0.2]) ** 2,
    ...     scale=0.1, draws=4000, rng=np.random.default_rng(1),
    ... )
    >>> found.effects.mean(axis=0).round(1)
    array([0.1, 0.1, 0.1])
    """
    size = len(estimates)
    # The middles of equal parts, so that no group SD is exactly 0.
    tau = (np.arange(GRID) + 0.5) / GRID * REACH * scale
    noise = covariance + JITTER * np.eye(size)
    inverse = np.linalg.inv(noise + tau[:, None, None] ** 2 * np.eye(size))
    weight = inverse.sum(axis=-1)
    precision = weight.sum(axis=-1)
    centre = weight @ estimates / precision
    residual = estimates - centre[:, None]
    log_posterior = (
        np.linalg.slogdet(inverse)[1]
        - np.log(precision)
        - np.einsum("tg,tgh,th->t", residual, inverse, residual)
        - (tau / scale) ** 2
    ) / 2
    at = rng.choice(GRID, size=draws, p=np.exp(log_posterior - logsumexp(log_posterior)))
    mean = centre[at] + rng.standard_normal(draws) / np.sqrt(precision[at])
    square = tau[:, None, None] ** 2
    root = np.linalg.cholesky(square * np.eye(size) - square**2 * inverse + JITTER * np.eye(size))
    pull = (tau[at] ** 2)[:, None] * np.einsum("dgh,dh->dg", inverse[at], estimates - mean[:, None])
    noise_draws = np.einsum("dgh,dh->dg", root[at], rng.standard_normal((draws, size)))
    return Pooled(effects=mean[:, None] + pull + noise_draws, mean=mean, sd=tau[at])
