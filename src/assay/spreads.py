r"""SDs of offsets at the mode of their own posterior, the offsets integrated out.

The joint mode of offsets :math:`z_j` and their SD :math:`\sigma` has an SD that is too large.
Here the rest of the unknowns are integrated out by Laplace's approximation: with the SDs held,
:math:`z \mid \sigma` is about Normal(:math:`\hat z, V`), and by Fisher's identity the slope of the
log-likelihood of the SDs is that of the complete data, averaged over this normal:

.. math:: \frac{\partial}{\partial \log \sigma_k} \log p(y \mid \sigma)
          = \sum_{j \in k} (\hat z_j^2 + V_{jj} - 1),

and the information about them is Louis's: that of the complete data less the covariance of their
slope. Newton's steps go along :math:`v = \Phi^{-1}(F(\sigma))`, F the distribution function of the
prior: there the prior is a standard normal, and a posterior that the data hardly change is one too.

References
----------
Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm. JRSS B 44,
226-233.
Rue, H., Martino, S. & Chopin, N. (2009). Approximate Bayesian inference for latent Gaussian models.
JRSS B 71, 319-392.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array
from scipy.special import (
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtr,
    ndtri,
)

from assay.climbs import Held, climb, spreads_of
from assay.curvature import DIFFERENCE, cholesky, curvature
from assay.density import Density

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LOOKS = 5
"""How often the curvature is computed again, at most."""
FEW_LOOKS = 1
"""The same of more than ``MANY`` unknowns, of which each look takes minutes."""
MANY = 3000
LEAST = float(np.finfo(float).tiny)
BLOCK = 500
"""Rows of the covariance that are looked at in one piece."""
STEPS = 6
"""Newton's steps from one look to the next."""
NEAR = 0.1
"""Step, in SDs of the posterior, from which the mode is near enough."""
LONGEST = 1.0
"""Of a step, in SDs of the prior."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NormalScores:
    r"""Coordinates in which the prior of each SD is a standard normal.

    A power of each SD has a Gamma prior: of a half-normal SD the square.

    Attributes
    ----------
    at : ndarray of int (sd,)
        Positions of the SDs among the unknowns, where their logarithms stand.
    shape, rate, power : ndarray (sd,)
        :math:`\sigma^{power} \sim \mathrm{Gamma}(shape, rate)`.
    """

    at: Ints
    shape: Floats
    rate: Floats
    power: Floats

    def scores(self, logs: Floats) -> Floats:
        """Scores of SDs (..., sd) that are given by their logarithms."""
        value = self.rate * np.exp(self.power * logs)
        below, above = gammainc(self.shape, value), gammaincc(self.shape, value)
        # Of a probability of 0 the score would be infinite.
        below, above = np.maximum(below, LEAST), np.maximum(above, LEAST)
        return np.asarray(np.where(below < 0.5, ndtri(below), -ndtri(above)))

    def logs(self, scores: Floats) -> Floats:
        """Logarithms of SDs (..., sd) that are given by their scores."""
        low = gammaincinv(self.shape, ndtr(np.minimum(scores, 0)))
        high = gammainccinv(self.shape, ndtr(-np.maximum(scores, 0)))
        value = np.maximum(np.where(scores < 0, low, high), LEAST)
        return np.asarray(np.log(value / self.rate) / self.power)

    def slopes(self, scores: Floats) -> tuple[Floats, Floats]:
        """First and second derivatives of the logarithms by the scores: (..., sd)."""
        value = self.rate * np.exp(self.power * self.logs(scores))
        density = np.log(self.power) + self.shape * np.log(value) - value - gammaln(self.shape)
        slope = np.exp(-0.5 * scores**2 - 0.5 * np.log(2 * np.pi) - density)
        return slope, slope * (-scores - slope * self.power * (self.shape - value))


def normal_scores(density: Density, at: Ints) -> NormalScores:
    """Return the coordinates for the SDs at these positions."""
    numbers = np.empty((3, density.size))
    for n, parameter in enumerate(density.parameters):
        first, *second = (np.asarray(v, float) for v in parameter.prior.values)
        gamma: tuple[Any, Any, Any]
        match parameter.prior.name:
            case "HalfNormal":
                gamma = 0.5, 0.5 / first**2, 2.0
            case "Exponential":
                gamma = 1.0, first, 1.0
            case "Gamma":
                gamma = first, second[0], 1.0
            case _:
                continue
        block = slice(density.starts[n], density.starts[n + 1])
        for row, values in zip(numbers, gamma, strict=True):
            row[block] = np.broadcast_to(np.asarray(values), parameter.free_shape).ravel()
    shape, rate, power = numbers[:, at]
    return NormalScores(at=at, shape=shape, rate=rate, power=power)


@dataclass(frozen=True, kw_only=True, eq=False)
class Spreads:
    """SDs at their mode, and what is known of them and of the offsets there.

    Attributes
    ----------
    scores : NormalScores
    information : ndarray (sd, sd)
        About the scores of the SDs, their prior's included.
    offset : ndarray of int (offset,)
        Positions of the offsets among the unknowns.
    owner : ndarray of int (offset,)
        Which SD is each offset's.
    variance : ndarray (offset,)
        Of each offset, given the SDs; that of its prior is 1.
    """

    scores: NormalScores
    information: Floats
    offset: Ints
    owner: Ints
    variance: Floats


class _Look(NamedTuple):
    """What the curvature at one point says.

    Attributes
    ----------
    known : ndarray (offset,)
        What the data tell of each offset, in units of what its prior tells.
    bends : ndarray (sd, sd)
        Along which Newton's steps go: the information, its eigenvalues positive and no smaller
        than the prior's.
    information : ndarray (sd, sd)
        About the scores of the SDs.
    """

    known: Floats
    bends: Floats
    information: Floats


def settle_spreads(density: Density, x: Floats) -> tuple[Floats, Spreads] | None:
    """Move the SDs to their mode, and all else to its mode given them.

    Parameters
    ----------
    density : Density
        On which nothing is centred.
    x : ndarray (value,)
        A mode with the SDs held.

    Returns
    -------
    x : ndarray (value,)
    spreads : Spreads
        None in the place of both if there is no peak with the SDs held.
    """
    still = spreads_of(density)
    scores = normal_scores(density, still)
    offset, owner = _offsets(density, still)
    look = _look(density, x, scores, offset, owner)
    if look is None:
        return None
    for _ in range(LOOKS if density.size <= MANY else FEW_LOOKS):
        moved = _steps(density, x, scores, offset, owner, look)
        again = None if moved is x else _look(density, moved, scores, offset, owner)
        if again is None:
            break
        x, look = moved, again
    found = Spreads(
        scores=scores,
        information=look.information,
        offset=offset,
        owner=owner,
        variance=1 / (1 + look.known),
    )
    return x, found


def _steps(
    density: Density, x: Floats, scores: NormalScores, offset: Ints, owner: Ints, look: _Look
) -> Floats:
    """Go Newton's steps with the curvature of one look; ``x`` itself if there is no way to go."""
    still, start = scores.at, x
    damping, last = 1.0, np.zeros(len(still))
    for _ in range(STEPS):
        score = scores.scores(x[still])
        slope, _ = scores.slopes(score)
        # What data tell of an offset grows with the square of its SD.
        known = look.known * np.exp(2 * (x[still] - start[still]))[owner]
        surplus = x[offset] ** 2 + 1 / (1 + known) - 1
        gain = np.bincount(owner, surplus, len(still))
        step = np.linalg.solve(look.bends, slope * gain - score)
        if (np.abs(step) * np.sqrt(np.diag(look.information)) < NEAR).all():
            break
        # Steps back and forth are too long.
        damping = damping / 2 if step @ last < 0 else min(1.0, 1.5 * damping)
        last = step = step * min(damping, LONGEST / np.abs(step).max())
        x = _with_spreads(x, scores.logs(score + step), still, offset, owner)
        x, _ = climb(Held(density, still), x)
    return x


def _look(
    density: Density, x: Floats, scores: NormalScores, offset: Ints, owner: Ints
) -> _Look | None:
    """Compute the curvature with the SDs held, and Louis's information about their scores."""
    still = scores.at
    factor = curvature(density, x, still)
    if factor is None:
        return None
    rows = np.searchsorted(np.delete(np.arange(density.size), still), offset)
    covariance = _inverse(factor)
    z, variance = x[offset], covariance[rows, rows]
    shape = len(still), len(owner)
    member = csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=shape)
    complete = np.diag(2 * (member @ (z**2 + variance)))
    missing = np.zeros_like(complete)
    for some in np.array_split(np.arange(len(rows)), len(rows) // BLOCK + 1):
        part = covariance[np.ix_(rows[some], rows)]
        part = 2 * part**2 + 4 * z[some, None] * part * z
        missing += member[:, some] @ part @ member.T
    slope, bend = scores.slopes(scores.scores(x[still]))
    information = slope[:, None] * (complete - missing) * slope
    information += np.diag(1 - bend * (member @ (z**2 + variance - 1)))
    values, vectors = np.linalg.eigh((information + information.T) / 2)
    # Data do not make an SD less certain than its prior.
    steep, known = np.maximum(np.abs(values), 1.0), np.maximum(values, 1.0)
    return _Look(
        known=1 / variance - 1,
        bends=(vectors * steep) @ vectors.T,
        information=(vectors * known) @ vectors.T,
    )


def factor_with_spreads(
    density: Density, x: Floats, spreads: Spreads, given: Floats | None = None
) -> Floats | None:
    """Upper Cholesky factor of the precision of the normal approximation, by unknown.

    The SDs stand in it by their scores, with the information about them when the rest is
    integrated out; the rest has its curvature ``given`` the SDs, and follows them as its mode does.
    """
    still = spreads.scores.at
    factor = curvature(density, x, still) if given is None else given
    if factor is None:
        return None
    cross = np.empty((len(x), len(still)))
    for n, position in enumerate(still):
        shift = np.zeros(len(x))
        shift[position] = DIFFERENCE
        cross[:, n] = (density(x - shift)[1] - density(x + shift)[1]) / (2 * DIFFERENCE)
    return joint_factor(x, spreads, factor, np.delete(cross, still, axis=0))


def joint_factor(x: Floats, spreads: Spreads, factor: Floats, cross: Floats) -> Floats | None:
    """Join what is known of the SDs with the curvature of all else.

    Parameters
    ----------
    factor : ndarray (other, other)
        Upper Cholesky factor of the negative Hessian of all unknowns but the SDs.
    cross : ndarray (other, sd)
        Negative second derivatives by these and the logarithms of the SDs.
    """
    still = spreads.scores.at
    free = np.delete(np.arange(len(x)), still)
    cross = cross * spreads.scores.slopes(spreads.scores.scores(x[still]))[0]
    precision = np.empty((len(x), len(x)))
    precision[np.ix_(free, free)] = factor.T @ factor
    precision[np.ix_(free, still)] = cross
    precision[np.ix_(still, free)] = cross.T
    precision[np.ix_(still, still)] = spreads.information + cross.T @ _inverse(factor) @ cross
    return cholesky(precision)


def _offsets(density: Density, still: Ints) -> tuple[Ints, Ints]:
    """Positions of all offsets, and which of the SDs is each one's."""
    names = [parameter.name for parameter in density.parameters]
    offset, owner = [], []
    for n, parameter in enumerate(density.parameters):
        if parameter.spread:
            first = density.starts[names.index(parameter.spread)]
            at = np.broadcast_to(parameter.spread_at, parameter.shape).ravel()
            offset.append(np.arange(*density.starts[n : n + 2]))
            owner.append(np.searchsorted(still, first + at))
    return np.concatenate(offset), np.concatenate(owner)


def _with_spreads(x: Floats, logs: Floats, still: Ints, offset: Ints, owner: Ints) -> Floats:
    """Give the SDs other values; offsets keep what they add to their means."""
    moved = x.copy()
    moved[offset] *= np.exp(x[still] - logs)[owner]
    moved[still] = logs
    return moved


def _inverse(factor: Floats) -> Floats:
    """Inverse of the matrix that an upper Cholesky factor stands for."""
    found = dpotri(factor, lower=0)[0]
    for n in range(1, len(found)):
        found[n, :n] = found[:n, n]
    return np.asarray(found)
