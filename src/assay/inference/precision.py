r"""The precision matrix of a normal distribution, known by what is asked of it.

A few thousand unknowns have it as one matrix (:class:`Dense`). Of more unknowns only products with
vectors are at hand (:class:`assay.inference.curvature.RaterBlocks`). In either case some
unknowns may stand first, with a precision of their own, and all others be regressed on them
(:class:`Regressed`):

.. math:: f \sim \mathrm{Normal}(0, P^{-1}), \qquad
          r \mid f \sim \mathrm{Normal}(B f, H^{-1}).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky as upper_factor
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotri

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Precision(ABC):
    """What can be asked of a precision matrix: all vectors have the unknowns on their last axis."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of unknowns."""

    @property
    @abstractmethod
    def log_determinant(self) -> float:
        """Logarithm of the determinant."""

    @property
    @abstractmethod
    def variances(self) -> Floats:
        """Variance of each unknown: the diagonal of the inverse."""

    @abstractmethod
    def draws(self, noise: Floats) -> Floats:
        """Turn standard normal noise (draw, value) into draws with this precision and mean 0."""

    @abstractmethod
    def quadratic(self, points: Floats) -> Floats:
        r"""Return :math:`x^\top H x` of points (draw, value)."""

    @abstractmethod
    def solve(self, vectors: Floats) -> Floats:
        r"""Return :math:`H^{-1} v` of vectors (vector, value)."""

    @abstractmethod
    def walk(self, z: Floats) -> Floats:
        """Go from coordinates in which the precision is about the identity to the unknowns."""

    @abstractmethod
    def walk_back(self, gradient: Floats) -> Floats:
        """Turn a gradient by the unknowns into one by the coordinates of :meth:`walk`."""

    @abstractmethod
    def times(self, factor: float) -> Self:
        """Multiply the precision by a number."""

    @abstractmethod
    def covariances(self, blocks: Sequence[Ints]) -> list[Floats]:
        """Return the covariance of each of some blocks of unknowns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Precision):
    """A precision matrix that is held as one.

    Attributes
    ----------
    factor : ndarray (value, value)
        Upper Cholesky factor.
    """

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
    """Some unknowns first, all others regressed on them.

    Attributes
    ----------
    first : ndarray of int (first,)
        Positions of those that stand first.
    own : Dense
        Their precision when the others are integrated out.
    slopes : ndarray (other, first)
        Coefficients of the regression.
    given : Precision
        Of the others, given the first.
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
    """Return the precision that a matrix is, which is used up; None if it is not positive definite.

    Examples
    --------
    >>> found = dense(np.array([[4.0, 0.0], [0.0, 1.0]]))
    >>> found.variances
    array([0.25, 1.  ])
    """
    if not np.isfinite(matrix).all():
        return None
    try:
        # Symmetric: the transpose is the same matrix in the order in which LAPACK wants it.
        factor = upper_factor(matrix.T, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return Dense(factor=np.asarray(factor))


def beside(precision: Precision, still: Ints) -> Precision:
    """Put unknowns of precision 1 beside those of a precision, at the positions ``still``."""
    if not len(still):
        return precision
    own = Dense(factor=np.eye(len(still)))
    slopes = np.zeros((precision.size, len(still)))
    return Regressed(first=still, own=own, slopes=slopes, given=precision)


LARGE = 30_000
"""Rows of the sample on which modes of larger data are sought first, at least."""
