r"""Precision matrices of normal distributions, with the operations that they allow.

:class:`Dense` is a matrix, :class:`assay.inference.curvature.RaterBlocks` has only products, and
:class:`Regressed` joins a dense one of some unknowns f with that of all others r given them:

.. math:: f \sim \mathrm{Normal}(0, P^{-1}), \qquad
          r \mid f \sim \mathrm{Normal}(B f, H^{-1}).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import cholesky as upper_factor
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotri

from assay._util.typing import Floats, Ints


class Precision(ABC):
    """Operations on a precision matrix H; vectors have the unknowns on their last axis."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of unknowns."""

    @property
    @abstractmethod
    def log_determinant(self) -> float:
        """Log determinant of H."""

    @property
    @abstractmethod
    def variances(self) -> Floats:
        """Marginal variance of each unknown, the diagonal of the inverse."""

    @abstractmethod
    def draws(self, noise: Floats) -> Floats:
        """Turn standard normal noise (draw, value) into draws with mean 0."""

    @abstractmethod
    def quadratic(self, points: Floats) -> Floats:
        r"""Return :math:`x^\top H x` of points (draw, value)."""

    @abstractmethod
    def solve(self, vectors: Floats) -> Floats:
        r"""Return :math:`H^{-1} v` of vectors (vector, value)."""

    @abstractmethod
    def walk(self, z: Floats) -> Floats:
        """Map coordinates in which the precision is about the identity to the unknowns."""

    @abstractmethod
    def walk_back(self, gradient: Floats) -> Floats:
        """Turn a gradient by the unknowns into one by the coordinates of :meth:`walk`."""

    @abstractmethod
    def times(self, factor: float) -> Self:
        """Return the precision multiplied by a number."""

    @abstractmethod
    def covariances(self, blocks: Sequence[Ints]) -> list[Floats]:
        """Return the covariance of each block of unknowns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Precision):
    """A precision matrix by its upper Cholesky factor (value, value)."""

    factor: Floats

    @property
    def size(self) -> int:  # noqa: D102
        return len(self.factor)

    @cached_property
    def log_determinant(self) -> float:  # noqa: D102
        return 2 * float(np.log(np.diag(self.factor)).sum())

    @cached_property
    def variances(self) -> Floats:  # noqa: D102
        inverse = solve_triangular(self.factor, np.eye(self.size))
        return np.asarray((inverse**2).sum(axis=1))

    def draws(self, noise: Floats) -> Floats:  # noqa: D102
        return np.asarray(solve_triangular(self.factor, noise.T).T)

    def quadratic(self, points: Floats) -> Floats:  # noqa: D102
        return np.asarray(((points @ self.factor.T) ** 2).sum(axis=-1))

    def solve(self, vectors: Floats) -> Floats:  # noqa: D102
        half = solve_triangular(self.factor, vectors.T, trans="T")
        return np.asarray(solve_triangular(self.factor, half).T)

    def walk(self, z: Floats) -> Floats:  # noqa: D102
        return np.asarray(solve_triangular(self.factor, z))

    def walk_back(self, gradient: Floats) -> Floats:  # noqa: D102
        return np.asarray(solve_triangular(self.factor, gradient, trans="T"))

    def times(self, factor: float) -> Self:  # noqa: D102
        return replace(self, factor=self.factor * np.sqrt(factor))

    def covariance(self) -> Floats:
        """Return the inverse of the matrix."""
        found = dpotri(self.factor, lower=0)[0]
        for n in range(1, len(found)):
            found[n, :n] = found[:n, n]
        return np.asarray(found)

    def covariances(self, blocks: Sequence[Ints]) -> list[Floats]:  # noqa: D102
        covariance = self.covariance()
        return [covariance[np.ix_(block, block)] for block in blocks]


@dataclass(frozen=True, kw_only=True, eq=False)
class Regressed(Precision):
    """Some unknowns first, and all others regressed on them.

    first : positions of the first unknowns
    own : their marginal precision
    slopes : regression coefficients (other, first)
    given : precision of the others given the first
    """

    first: Ints
    own: Dense
    slopes: Floats
    given: Precision

    @property
    def size(self) -> int:  # noqa: D102
        return self.own.size + self.given.size

    @cached_property
    def others(self) -> Ints:
        """Positions of the others."""
        return np.delete(np.arange(self.size), self.first)

    @property
    def log_determinant(self) -> float:  # noqa: D102
        return self.own.log_determinant + self.given.log_determinant

    @cached_property
    def variances(self) -> Floats:  # noqa: D102
        passed_on = ((self.slopes @ self.own.covariance()) * self.slopes).sum(axis=1)
        return self._join(self.own.variances, self.given.variances + passed_on)

    def draws(self, noise: Floats) -> Floats:  # noqa: D102
        first = self.own.draws(noise[:, self.first])
        rest = self.given.draws(noise[:, self.others])
        return self._join(first, rest + first @ self.slopes.T)

    def quadratic(self, points: Floats) -> Floats:  # noqa: D102
        first, rest = points[..., self.first], points[..., self.others]
        return self.own.quadratic(first) + self.given.quadratic(rest - first @ self.slopes.T)

    def solve(self, vectors: Floats) -> Floats:  # noqa: D102
        rest = vectors[:, self.others]
        first = self.own.solve(vectors[:, self.first] + rest @ self.slopes)
        return self._join(first, self.given.solve(rest) + first @ self.slopes.T)

    def walk(self, z: Floats) -> Floats:  # noqa: D102
        first = self.own.walk(z[self.first])
        return self._join(first, self.given.walk(z[self.others]) + self.slopes @ first)

    def walk_back(self, gradient: Floats) -> Floats:  # noqa: D102
        rest = gradient[self.others]
        first = self.own.walk_back(gradient[self.first] + self.slopes.T @ rest)
        return self._join(first, self.given.walk_back(rest))

    def times(self, factor: float) -> Self:  # noqa: D102
        return replace(self, own=self.own.times(factor), given=self.given.times(factor))

    def covariances(self, blocks: Sequence[Ints]) -> list[Floats]:  # noqa: D102
        own, follows = self.own.covariance(), np.ones(self.size, bool)
        follows[self.first] = False
        place = np.empty(self.size, np.int64)  # among the first, or among the others
        place[self.first] = np.arange(len(self.first))
        place[self.others] = np.arange(len(self.others))
        given = self.given.covariances([place[block[follows[block]]] for block in blocks])
        found = []
        for block, rest in zip(blocks, given, strict=True):
            later = follows[block]
            by_first = np.zeros((len(block), len(self.first)))
            by_first[~later, place[block[~later]]] = 1
            by_first[later] = self.slopes[place[block[later]]]
            covariance = by_first @ own @ by_first.T
            covariance[np.ix_(later, later)] += rest
            found.append(covariance)
        return found

    def _join(self, first: Floats, rest: Floats) -> Floats:
        found = np.empty((*first.shape[:-1], self.size))
        found[..., self.first], found[..., self.others] = first, rest
        return found


def dense(matrix: Floats) -> Dense | None:
    """Return a matrix, which is overwritten, as a precision; None if not positive definite."""
    if not np.isfinite(matrix).all():
        return None
    try:
        # The transpose of a symmetric matrix has the memory order that LAPACK needs.
        factor = upper_factor(matrix.T, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return Dense(factor=np.asarray(factor))


def beside(precision: Precision, still: Ints) -> Precision:
    """Add independent unknowns of precision 1 at the positions ``still``."""
    if not len(still):
        return precision
    own = Dense(factor=np.eye(len(still)))
    slopes = np.zeros((precision.size, len(still)))
    return Regressed(first=still, own=own, slopes=slopes, given=precision)


LARGE = 30_000
"""Least number of rows in the first sample of large data."""
