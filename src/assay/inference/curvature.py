r"""The curvature of a density at a point, as the precision of a normal distribution.

The negative Hessian, by differences of gradients. Of more than ``MAX_DENSE`` unknowns it is not
held as one matrix: what raters share stands first, and the numbers of the raters follow it
(:mod:`assay.inference.rater_blocks`).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.inference.density import Density
from assay.inference.precision import LARGE, Precision, Regressed, dense
from assay.inference.rater_blocks import rater_blocks
from assay.likelihood.partition import bundles_of_rows, in_threads, take_bundles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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

    Parameters
    ----------
    moving : ndarray of int (moving,)
        Positions of the unknowns.
    owner : ndarray of int (moving,)
        The rater of each, or -1.
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
    """Group unknowns by the data that they touch, each group with a density of these data.

    A rater's own numbers touch the items that the rater judged: their row of the Hessian needs no
    others. The first group touches everything.
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
