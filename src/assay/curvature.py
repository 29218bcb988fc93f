"""The curvature of a density at a point, as the Cholesky factor of its negative Hessian."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky as upper_factor

from assay.climbs import LARGE
from assay.density import Density
from assay.partition import bundles_of_rows, in_threads, take_bundles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_DENSE = 10_000
"""Unknowns beyond which the Hessian is not held as one matrix."""
DIFFERENCE = 1e-4
MANY = 200
"""Unknowns from which threads share the rows of a Hessian."""


def curvature(density: Density, x: Floats, still: Ints | None = None) -> Floats | None:
    """Upper Cholesky factor of the negative Hessian, by differences of gradients.

    None if it is not positive definite, or too large to be held as one matrix. Unknowns that are
    held ``still`` have no row in it.
    """
    if len(x) > MAX_DENSE:
        return None
    moving = np.ones(len(x), bool)
    if still is not None:
        moving[still] = False
    place = np.cumsum(moving) - 1
    hessian = np.empty((place[-1] + 1, place[-1] + 1))

    def rows(job: tuple[Ints, Density]) -> None:
        unknowns, local = job
        for n in unknowns[moving[unknowns]]:
            shift = np.zeros(len(x))
            shift[n] = DIFFERENCE
            bent = (local(x - shift)[1] - local(x + shift)[1]) / (2 * DIFFERENCE)
            hessian[place[n]] = bent[moving]

    whole, *local = neighbourhoods(density, x)
    if local or len(x) < MANY:
        rows(whole)
    else:
        alone = replace(density, threads=1)
        local = [(part, alone) for part in np.array_split(whole[0], density.threads)]
    in_threads(rows, local, density.threads)
    hessian += hessian.T
    hessian /= 2
    return cholesky(hessian)


def cholesky(precision: Floats) -> Floats | None:
    """Upper Cholesky factor, in the place of the matrix; None if it is not positive definite."""
    if not np.isfinite(precision).all():
        return None
    try:
        # Symmetric: the transpose is the same matrix in the order in which LAPACK wants it.
        return np.asarray(upper_factor(precision.T, overwrite_a=True, check_finite=False))
    except np.linalg.LinAlgError:
        return None


def neighbourhoods(density: Density, x: Floats) -> list[tuple[Ints, Density]]:
    """Group the unknowns by the data that they touch, each group with a density of these data.

    A rater's own numbers touch the items that the rater judged: their row of the Hessian needs no
    others. The first group touches everything.
    """
    unknowns = np.arange(len(x))
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
