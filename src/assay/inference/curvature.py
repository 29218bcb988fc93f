r"""The negative Hessian of a density at a point, as the precision of a normal distribution.

With more than ``MAX_DENSE`` unknowns, what raters share stands first, and the raters' numbers
follow with a precision :math:`C` given it. With its blocks :math:`M = L L^\top` of single raters,
:math:`T = L^{-1} C L^{-\top}` is near the identity. So a few products with vectors give
:math:`C^{-1} v` (conjugate gradients), and :math:`L^{-\top} T^{-1/2} z` (Lanczos), a draw with the
precision :math:`C`.

Aune, E., Eidsvik, J. & Pokern, Y. (2013). Statistics and Computing 23, 501-521. Ubaru, S., Chen, J.
& Saad, Y. (2017). SIAM J. Matrix Analysis and Applications 38, 1075-1099 (tr f(A)).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array

from assay._util.typing import Floats, Ints
from assay.inference.density import Density
from assay.inference.precision import LARGE, Dense, Precision, Regressed, dense
from assay.likelihood.partition import bundles_of_rows, in_threads, take_bundles

Product = Callable[[Floats], Floats]
PROBES = 24
"""Random vectors by which blocks, variances and the determinant are estimated."""
MAX_STEPS = 200
"""Steps of an iteration after which it ends in any case."""
PRODUCTS = 8
"""Products that a draw takes at least: the whole matrix takes one for each of its columns."""
MAX_HELD = 10_000
"""Unknowns beyond which the matrix is not held for draws either."""
CLOSE = 1e-4
"""Error of a draw, in units of its length, that is small beside the approximation itself."""
SOLVED = 1e-6
"""Residual of a solution, in units of the right side."""
EXHAUSTED = 1e-9
"""Length of a new direction, beside the matrix's own size of 1, that rounding makes."""
LEAST = 1e-3
"""Of a block's eigenvalues, in units of the largest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterBlocks(Precision):
    """Precision of raters' numbers, given what they share.

    product : multiplies a vector (value,) by the matrix
    root : inverse of the lower Cholesky factor of the blocks of single raters (value, value)
    """

    product: Product
    root: csr_array
    threads: int = 1

    @property
    def size(self) -> int:  # noqa: D102
        return int(self.root.shape[0])

    @cached_property
    def log_determinant(self) -> float:  # noqa: D102
        blocks = -2 * float(np.log(self.root.diagonal()).sum())
        return blocks + float(np.mean([logs for logs, _ in self._spectra]))

    @cached_property
    def positive(self) -> bool:
        """Whether no random vector has found a direction in which the matrix is not positive."""
        return all(least > 0 for _, least in self._spectra)

    @cached_property
    def variances(self) -> Floats:  # noqa: D102
        signs = _signs((PROBES, self.size))
        # What raters learn from each other, beside what a rater's own block says.
        more = self.solve(signs) - self._of_blocks(signs)
        own = self.root.power(2).sum(axis=0)
        return np.asarray(own + np.maximum((signs * more).mean(axis=0), 0.0))

    def draws(self, noise: Floats) -> Floats:  # noqa: D102
        if (whole := self._whole(len(noise))) is not None:
            return whole.draws(noise)
        found = np.empty_like(noise)

        def work(n: int) -> None:
            found[n] = self.root.T @ self._lanczos(noise[n]).inverse_root()

        in_threads(work, range(len(noise)), self.threads)
        return found

    def quadratic(self, points: Floats) -> Floats:  # noqa: D102
        flat = points.reshape(-1, self.size)
        if (whole := self._whole(len(flat))) is not None:
            return whole.quadratic(points)
        found = in_threads(lambda x: float(x @ self.product(x)), list(flat), self.threads)
        return np.reshape(found, points.shape[:-1])

    def solve(self, vectors: Floats) -> Floats:  # noqa: D102
        found = in_threads(self._conjugate_gradients, list(vectors), self.threads)
        return np.reshape(found, vectors.shape)

    def walk(self, z: Floats) -> Floats:  # noqa: D102
        return np.asarray(self.root.T @ z)

    def walk_back(self, gradient: Floats) -> Floats:  # noqa: D102
        return np.asarray(self.root @ gradient)

    def times(self, factor: float) -> Self:  # noqa: D102
        product = self.product
        root = csr_array(self.root / np.sqrt(factor))
        return replace(self, product=lambda v: factor * product(v), root=root)

    def covariances(self, blocks: Sequence[Ints]) -> list[Floats]:
        """Return the covariance of each block, without what raters learn from each other."""
        own = csr_array(self.root.T @ self.root)
        return [own[block][:, block].toarray() for block in blocks]

    def _whole(self, vectors: int) -> Dense | None:
        """Return the whole matrix if so many vectors are worth its products, else None."""
        return self._held if self.size <= min(MAX_HELD, PRODUCTS * vectors) else None

    @cached_property
    def _held(self) -> Dense | None:
        """The whole matrix; None if rounding leaves it not positive definite."""
        matrix = np.empty((self.size, self.size))

        def work(n: int) -> None:
            unit = np.zeros(self.size)
            unit[n] = 1.0
            matrix[n] = self.product(unit)

        in_threads(work, range(self.size), self.threads)
        matrix += matrix.T.copy()
        matrix /= 2
        return dense(matrix)

    def _of_blocks(self, vectors: Floats) -> Floats:
        """Solve with the blocks alone: (vector, value)."""
        return np.asarray((self.root.T @ (self.root @ vectors.T)).T)

    @cached_property
    def _spectra(self) -> list[tuple[float, float]]:
        """Log determinant of T as each random vector has it, and the least eigenvalue it saw."""
        noise = np.random.default_rng(1).standard_normal((PROBES, self.size))

        def work(z: Floats) -> tuple[float, float]:
            found = self._lanczos(z)
            return found.log_form(), float(found.values.min())

        return in_threads(work, list(noise), self.threads)

    def _lanczos(self, start: Floats) -> "_Krylov":
        return lanczos(lambda v: self.root @ self.product(self.root.T @ v), start)

    def _conjugate_gradients(self, right: Floats) -> Floats:
        """Solve for one vector, with the blocks as the preconditioner."""
        x, residual = np.zeros_like(right), right.copy()
        enough = SOLVED * np.linalg.norm(self.root @ right)
        step = self.root.T @ (self.root @ residual)
        size = residual @ step
        along = step.copy()
        for _ in range(MAX_STEPS):
            if np.sqrt(max(size, 0.0)) <= enough:
                break
            moved = self.product(along)
            length = size / (along @ moved)
            x += length * along
            residual -= length * moved
            step = self.root.T @ (self.root @ residual)
            size, before = residual @ step, size
            along = step + size / before * along
        return x


@dataclass(frozen=True, kw_only=True, eq=False)
class _Krylov:
    """What Lanczos's process knows of a matrix T, seen from a vector z.

    basis : (step, value)
    values, vectors : eigenvalues and eigenvectors of T in this basis (step,), (step, step)
    length : of z
    """

    basis: Floats
    values: Floats
    vectors: Floats
    length: float

    def inverse_root(self) -> Floats:
        r"""Return :math:`T^{-1/2} z`."""
        return np.asarray(_root_weights(self.values, self.vectors) @ self.basis * self.length)

    def log_form(self) -> float:
        r"""Return :math:`z^\top (\log T - T + I)\, z`.

        Its expectation is the log determinant, as the blocks of T have a trace of 1 a number.
        """
        values = np.maximum(self.values, np.finfo(float).tiny)
        return float(self.length**2 * (self.vectors[0] ** 2 @ (np.log(values) - values + 1)))


def lanczos(product: Product, start: Floats) -> _Krylov:
    """Run Lanczos's process on a symmetric matrix, given its ``product`` with vectors, until its
    inverse root times ``start`` (value,) is known.
    """
    length = float(np.linalg.norm(start))
    basis = [start / length]
    diagonal: list[float] = []
    beside: list[float] = []
    before = np.zeros(0)
    while True:
        moved = product(basis[-1])
        diagonal.append(float(moved @ basis[-1]))
        # Rounding lets the vectors lose their right angles, unless they are made anew.
        for _ in range(2):
            for vector in basis:
                moved -= (moved @ vector) * vector
        rest = float(np.linalg.norm(moved))
        values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside))
        weights = _root_weights(values, vectors)
        change = np.linalg.norm(weights - np.pad(before, (0, len(weights) - len(before))))
        known = change < CLOSE * np.linalg.norm(weights) or rest < EXHAUSTED
        if known or len(diagonal) == min(MAX_STEPS, len(start)):
            break
        before = weights
        beside.append(rest)
        basis.append(moved / rest)
    return _Krylov(basis=np.array(basis), values=values, vectors=vectors, length=length)


def _root_weights(values: Floats, vectors: Floats) -> Floats:
    """First column of the inverse root of a matrix with these eigenvalues and eigenvectors."""
    roots = np.sqrt(np.maximum(values, np.finfo(float).tiny))
    return np.asarray((vectors / roots) @ vectors[0])


def rater_blocks(product: Product, owner: Ints, threads: int) -> RaterBlocks | None:
    """Return the precision that products with vectors are of; None if it is not positive definite.
    ``owner`` (value,) is whose number each is.
    """
    found = RaterBlocks(
        product=product, root=_block_roots(product, owner, threads), threads=threads
    )
    return found if found.positive else None


def _block_roots(product: Product, owner: Ints, threads: int) -> csr_array:
    """Return the inverse Cholesky factors of all raters' blocks, as one matrix.

    Products with random signs for each rater, in one place of every block at a time, have the
    blocks' columns in them. What raters have to do with each other cancels.
    """
    order = np.argsort(owner, kind="stable")
    _, first, counts = np.unique(owner[order], return_index=True, return_counts=True)
    place = np.arange(len(owner)) - np.repeat(first, counts)
    widest = int(counts.max())
    members = np.full((len(counts), widest), -1)
    members[np.repeat(np.arange(len(counts)), counts), place] = order
    inside = members >= 0
    blocks = np.zeros((len(counts), widest, widest))
    signs = _signs((PROBES, len(counts)))

    def column(job: tuple[int, int]) -> tuple[int, Floats]:
        k, probe = job
        vector = np.zeros(len(owner))
        mine = inside[:, k]
        vector[members[mine, k]] = signs[probe, mine]
        return k, product(vector)[members] * inside * signs[probe][:, None]

    jobs = [(k, probe) for k in range(widest) for probe in range(PROBES)]
    for k, found in in_threads(column, jobs, threads):
        blocks[:, :, k] += found / PROBES
    blocks = (blocks + blocks.swapaxes(1, 2)) / 2
    # Where a rater has fewer numbers than others, ones that touch nothing.
    blank = np.arange(widest)
    blocks[:, blank, blank] += ~inside
    values, vectors = np.linalg.eigh(blocks)
    values = np.maximum(values, LEAST * np.maximum(values[:, -1:], 1e-300))
    factor = np.linalg.cholesky((vectors * values[:, None]) @ vectors.swapaxes(1, 2))
    inverse = np.linalg.inv(factor)
    both = inside[:, :, None] & inside[:, None]
    rows = np.broadcast_to(members[:, :, None], both.shape)[both]
    columns = np.broadcast_to(members[:, None], both.shape)[both]
    return csr_array((inverse[both], (rows, columns)), shape=(len(owner), len(owner)))


def _signs(shape: Sequence[int]) -> Floats:
    """Random signs, always the same."""
    return np.asarray(np.random.default_rng(0).choice([-1.0, 1.0], size=tuple(shape)), float)


MAX_DENSE = 2_000
"""Unknowns beyond which the Hessian is not held as one matrix."""
MAX_SHARED = 2_000
"""Of the unknowns that are no single rater's, where there are more than ``MAX_DENSE``."""
DIFFERENCE = 1e-4
MANY = 200
"""Unknowns from which threads share the rows of a Hessian."""
OF_RATERS = ("rater", "walker", "biased")
"""Dims along which parameters are those of single raters."""


def curvature(density: Density, x: Floats, still: Ints | None = None) -> Precision | None:
    """Return the negative Hessian of the unknowns that are not held ``still``.

    None if it is not positive definite, or if raters share more than ``MAX_SHARED`` numbers.
    """
    moving = np.ones(len(x), bool)
    if still is not None:
        moving[still] = False
    if moving.sum() <= MAX_DENSE:
        hessian = np.empty((moving.sum(), len(x)))
        bend_rows(density, x, np.flatnonzero(moving), hessian)
        hessian = hessian[:, moving]
        hessian += hessian.T.copy()
        hessian /= 2
        return dense(hessian)
    return _by_raters(density, x, np.flatnonzero(moving), owners(density)[moving])


def _by_raters(density: Density, x: Floats, moving: Ints, owner: Ints) -> Precision | None:
    """Return the precision of what raters share, and of their own numbers given that.

    ``moving`` are positions of the unknowns, and ``owner`` the rater of each, or -1 (moving,).
    """
    first = np.flatnonzero(owner < 0)
    shared, own = moving[first], moving[owner >= 0]
    if len(shared) > MAX_SHARED or not len(own):
        return None
    alone = replace(density, threads=1)

    def product(vector: Floats) -> Floats:
        """Multiply by the Hessian of the raters' own numbers."""
        shift, largest = np.zeros(len(x)), np.abs(vector).max()
        shift[own] = vector * (DIFFERENCE / max(largest, 1e-300))
        bent = alone(x - shift)[1] - alone(x + shift)[1]
        return np.asarray(bent[own] * (largest / (2 * DIFFERENCE)))

    given = rater_blocks(product, owner[owner >= 0], density.threads)
    if given is None:
        return None
    rows = np.empty((len(shared), len(x)))
    bend_rows(density, x, shared, rows)
    slopes = -given.solve(rows[:, own])
    marginal = rows[:, shared] + slopes @ rows[:, own].T
    precision = dense((marginal + marginal.T) / 2)
    if precision is None:
        return None
    return Regressed(first=first, own=precision, slopes=slopes.T, given=given)


def owners(density: Density) -> Ints:
    """Say whose number each unknown is: that of a rater, counted from 0, or -1 of them all."""
    found, names = np.full(density.size, -1), dict[str, int]()
    for n, parameter in enumerate(density.parameters):
        for axis, dim in enumerate(parameter.dims):
            if dim.split(".")[-1] in OF_RATERS:
                levels = [names.setdefault(str(k), len(names)) for k in parameter.coords[dim]]
                shape = [-1 if k == axis else 1 for k in range(len(parameter.free_shape))]
                whose = np.broadcast_to(np.reshape(levels, shape), parameter.free_shape)
                found[density.starts[n] : density.starts[n + 1]] = whose.ravel()
    return found


def bend_row(gradient: Callable[[Floats], Floats], x: Floats, unknown: int) -> Floats:
    """Return one row of a negative Hessian, by differences of gradients: (value,)."""
    shift = np.zeros(len(x))
    shift[unknown] = DIFFERENCE
    return (gradient(x - shift) - gradient(x + shift)) / (2 * DIFFERENCE)


def bend_rows(density: Density, x: Floats, unknowns: Ints, out: Floats) -> None:
    """Write rows of the negative Hessian (unknown, value): each takes the data that it touches."""
    place = np.full(len(x), -1)
    place[unknowns] = np.arange(len(unknowns))

    def rows(job: tuple[Ints, Density]) -> None:
        some, local = job
        for n in some:
            out[place[n]] = bend_row(lambda at: local(at)[1], x, n)

    whole, *local = neighbourhoods(density, x, unknowns)
    if local or len(unknowns) < MANY:
        rows(whole)
    else:
        alone = replace(density, threads=1)
        local = [(part, alone) for part in np.array_split(whole[0], density.threads)]
    in_threads(rows, local, density.threads)


def neighbourhoods(density: Density, x: Floats, unknowns: Ints) -> list[tuple[Ints, Density]]:
    """Group unknowns by the data that they touch, each with a density of these data: a rater's
    numbers touch the rater's items. The first group touches everything.
    """
    if len(density.data.rows) < LARGE:
        return [(unknowns, density)]
    _, prevalence, response, *others = density.tables(x)
    found: dict[bytes, list[int]] = {b"": []}
    for n in unknowns:
        shift = np.zeros(len(x))
        shift[n] = 1.0
        _, moved, rows, *rest = density.tables(x + shift)
        changed = (rows != response).any(axis=(0, 2))
        wide = (moved != prevalence).any() or changed.mean() > 0.5
        wide |= any((a != b).any() for a, b in zip(rest, others, strict=True))
        found.setdefault(b"" if wide else changed.tobytes(), []).append(int(n))
    groups = [(np.array(found.pop(b""), np.int64), density)]
    for key, members in found.items():
        touched = bundles_of_rows(density.data, np.frombuffer(key, bool))
        data, _ = take_bundles(density.data, np.flatnonzero(touched))
        groups.append((np.array(members), replace(density, data=data, threads=1)))
    return groups
