"""Coordinates of the sampler: units of the posterior's width, and positive unknowns by scores.

On the logarithm an SD that may be next to 0 has a long tail, in which it hardly matters where it
is; its score has none.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
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
from assay.inference.settings import Effort
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Where chains start, and how far they walk in a step.

    Attributes
    ----------
    centre : ndarray (value,)
        The mode.
    root : csr_array (value, value)
        Of the covariance of the approximation at the mode: it makes steps of the unknowns of
        numbers that are about standard normal. Chains start that far around the centre.
    """

    centre: Floats
    root: csr_array

    @property
    def scale(self) -> Floats:
        """Standard deviation of each unknown: (value,)."""
        return np.sqrt(np.asarray(self.root.power(2).sum(axis=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """What the chains of a run have in common.

    They walk around the centre, in the coordinates of the root. Positive unknowns, of which the
    density has the logarithms, stand there by their scores: where an SD may be next to 0, chains
    would lose themselves in the long tail of its logarithm.
    """

    density: Density
    start: Start
    draws: int
    tune: int
    target_accept: float

    @cached_property
    def scores(self) -> NormalScores:
        """The scores of the positive unknowns."""
        return exponential_scores(self.density)

    @cached_property
    def units(self) -> tuple[Floats, csr_array]:
        """Centre and root; those of positive unknowns by their scores."""
        centre, at = self.start.centre.copy(), self.scores.at
        centre[at] = self.scores.scores(self.start.centre[at])
        by_score = np.ones(len(centre))
        by_score[at] = 1 / self.scores.slopes(centre[at])[0]
        return centre, csr_array(diags_array(by_score) @ self.start.root)

    def points(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the unknowns at points (draw, value) of a chain, and the log Jacobian there."""
        centre, root = self.units
        x, at = centre + (root @ z.T).T, self.scores.at
        slope, _ = self.scores.slopes(x[:, at])
        x[:, at] = self.scores.logs(x[:, at])
        return x, np.log(slope).sum(axis=1)


def walk_of(density: Density, start: Start, effort: Effort) -> Walk:
    """Return what chains of this effort have in common: each runs in one thread."""
    return Walk(
        density=replace(density, threads=1),
        start=start,
        draws=effort.draws,
        tune=effort.tune,
        target_accept=effort.target_accept,
    )


def arrays_of(walk: Walk) -> list[NDArray[Any]]:
    """Return what the compiled density takes, in the order of its cards."""
    density, places = walk.density, walk.density.places
    centre, root = walk.units
    needed: tuple[Any, ...] = (centre, root.data, *density.tape, np.array(places[:2]))
    needed += (*places[2:], density.log_weight, *density.data)
    needed += (walk.scores.at, -np.log(walk.scores.rate))
    needed += (root.indptr.astype(np.int64), root.indices.astype(np.int64))
    return [np.ascontiguousarray(array) for array in needed]
