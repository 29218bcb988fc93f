"""Positive unknowns by scores that are standard normal under a prior.

On the logarithm an SD that may be next to 0 has a long tail, in which it hardly matters where it
is; its score has none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import (
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtr,
    ndtri,
)

from assay.inference.density import Density
from assay.modelling.priors import POSITIVE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LEAST = float(np.finfo(float).tiny)


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


def exponential_scores(density: Density) -> NormalScores:
    """Return coordinates for all positive unknowns, from a prior that is much like theirs.

    The exponential distribution, whose quantiles have a closed form: near 0 it is flat like the
    half-normal one, and its median is the centre of each prior.
    """
    at, centre = [np.zeros(0, np.int64)], [np.zeros(0)]
    for n, parameter in enumerate(density.parameters):
        if parameter.prior.name in POSITIVE:
            at.append(np.arange(*density.starts[n : n + 2]))
            centre.append(parameter.centre.ravel())
    some, median = np.concatenate(at), np.concatenate(centre)
    one = np.ones(len(some))
    return NormalScores(at=some, shape=one, rate=np.log(2) / median, power=one)
