"""Coordinates of the sampler: units of posterior SDs, and normal scores for positive unknowns.

The log of an SD near 0 has a long, flat tail; its normal score has none.
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

from assay._util.typing import Floats, Ints
from assay.inference.density import Density
from assay.inference.settings import SamplerSettings
from assay.likelihood.c_functions import density_address
from assay.modelling.priors import POSITIVE

LEAST = float(np.finfo(float).tiny)
"""Least positive number, in place of 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NormalScores:
    r"""Coordinates in which the prior of each SD is a standard normal.

    at : positions of the log SDs among the unknowns
    shape, rate, power : :math:`\sigma^{power} \sim \mathrm{Gamma}(shape, rate)`, each (sd,)
    """

    at: Ints
    shape: Floats
    rate: Floats
    power: Floats

    def scores(self, logs: Floats) -> Floats:
        """Return the scores of log SDs (..., sd)."""
        value = self.rate * np.exp(self.power * logs)
        below, above = gammainc(self.shape, value), gammaincc(self.shape, value)
        # A probability of 0 would have an infinite score.
        below, above = np.maximum(below, LEAST), np.maximum(above, LEAST)
        return np.asarray(np.where(below < 0.5, ndtri(below), -ndtri(above)))

    def logs(self, scores: Floats) -> Floats:
        """Return the log SDs of scores (..., sd)."""
        low = gammaincinv(self.shape, ndtr(np.minimum(scores, 0)))
        high = gammainccinv(self.shape, ndtr(-np.maximum(scores, 0)))
        value = np.maximum(np.where(scores < 0, low, high), LEAST)
        return np.asarray(np.log(value / self.rate) / self.power)

    def slopes(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the first and second derivatives of log SDs by their scores, (..., sd)."""
        value = self.rate * np.exp(self.power * self.logs(scores))
        density = np.log(self.power) + self.shape * np.log(value) - value - gammaln(self.shape)
        slope = np.exp(-0.5 * scores**2 - 0.5 * np.log(2 * np.pi) - density)
        return slope, slope * (-scores - slope * self.power * (self.shape - value))


def normal_scores(density: Density, at: Ints) -> NormalScores:
    """Return the coordinates of the SDs at these positions."""
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
    """Return coordinates of all positive unknowns, from exponential priors with the same centres.

    Their quantiles have a closed form, and near 0 they are flat like half-normal ones.
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
    """Start of chains: the mode, and a root of the approximate covariance there (value, value)."""

    centre: Floats
    root: csr_array

    @property
    def scale(self) -> Floats:
        """Standard deviation of each unknown, (value,)."""
        return np.sqrt(np.asarray(self.root.power(2).sum(axis=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Preconditioner:
    """Settings shared by the chains of a run, which move in coordinates of the centre and the root.
    There, positive unknowns have scores: the log of a small SD has a long tail.
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
        """Centre and root, with scores for positive unknowns."""
        centre, at = self.start.centre.copy(), self.scores.at
        centre[at] = self.scores.scores(self.start.centre[at])
        by_score = np.ones(len(centre))
        by_score[at] = 1 / self.scores.slopes(centre[at])[0]
        return centre, csr_array(diags_array(by_score) @ self.start.root)

    def points(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the unknowns at a chain's points (draw, value), and their log Jacobian."""
        centre, root = self.units
        x, at = centre + (root @ z.T).T, self.scores.at
        slope, _ = self.scores.slopes(x[:, at])
        x[:, at] = self.scores.logs(x[:, at])
        return x, np.log(slope).sum(axis=1)


def walk_of(density: Density, start: Start, effort: SamplerSettings) -> Preconditioner:
    """Return the settings of chains, each in one thread."""
    return Preconditioner(
        density=replace(density, threads=1),
        start=start,
        draws=effort.draws,
        tune=effort.tune,
        target_accept=effort.target_accept,
    )


def arrays_of(walk: Preconditioner) -> list[NDArray[Any]]:
    """Return the arguments of the compiled density, in the order of its cards."""
    centre, root = walk.units
    needed: tuple[Any, ...] = (*walk.density.arrays, centre, root.data)
    needed += (root.indptr.astype(np.int64), root.indices.astype(np.int64))
    address = density_address(walk.density.plain)
    needed += (walk.scores.at, -np.log(walk.scores.rate), np.array([address]))
    return [np.ascontiguousarray(array) for array in needed]
