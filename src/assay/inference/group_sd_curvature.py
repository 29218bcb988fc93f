"""Offsets and their group SDs: moments of offsets at the mode, and their dependence on the SDs.

Moments are exact for a dense precision; otherwise random probes estimate them.
"""

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from assay._util.typing import Floats, Ints
from assay.inference.density import Density, given_data
from assay.inference.precision import Dense, Precision, dense


def offset_values(density: Density, x: Floats) -> Floats:
    """Return all offsets at a point, (offset,)."""
    values = density.constrain(x)
    return np.concatenate([values[p.name].ravel() for p in density.parameters if p.spread])


def offset_places(density: Density, still: Ints) -> tuple[Ints, Ints, Ints]:
    """Return positions among the unknowns, for SDs at the positions ``still``.

    offset : position of each offset (offset,)
    owner : number of its SD, in ``still`` (offset,)
    mean : position of its mean; -1 without one (offset,)
    """
    names = [parameter.name for parameter in density.parameters]
    offset, owner, mean = [], [], []
    for n, parameter in enumerate(density.parameters):
        if parameter.spread:
            own = np.arange(*density.starts[n : n + 2])
            at = np.broadcast_to(parameter.spread_at, parameter.shape).ravel()
            first = density.starts[names.index(parameter.spread)]
            offset.append(own)
            owner.append(np.searchsorted(still, first + at))
            mean.append(np.full(len(own), -1))
            if parameter.location:
                at = np.broadcast_to(parameter.mean_at, parameter.shape).ravel()
                mean[-1] = density.starts[names.index(parameter.location)] + at
    return np.concatenate(offset), np.concatenate(owner), np.concatenate(mean)


def offset_slopes(density: Density, x: Floats, still: Ints) -> csr_array:
    """Return the derivatives of the offsets by all unknowns but the SDs, (offset, other)."""
    offset, owner, mean = offset_places(density, still)
    logs = np.zeros(density.size)
    for n, parameter in enumerate(density.parameters):
        if parameter.name in density.centred:
            _, found = given_data(n, density.parameters, density.starts, x, density.centred)
            logs[density.starts[n] : density.starts[n + 1]] = found.ravel()
    logs = logs[offset]
    # Given the data, an offset falls as its mean rises.
    by_mean = -(1 - np.exp(-logs)) / np.exp(x[still][owner])
    some = np.flatnonzero(mean >= 0)
    row = np.concatenate([np.arange(len(offset)), some])
    column = np.concatenate([offset, mean[some]])
    values = np.concatenate([np.exp(-0.5 * logs), by_mean[some]])
    shape = len(offset), density.size - len(still)
    return csr_array(coo_array((values, (row, column - np.searchsorted(still, column))), shape))


def carry(
    density: Density, x: Floats, given: Dense, still: Ints, onto: Density, there: Floats
) -> Dense:
    """Return the precision given SDs for other SDs, or in other coordinates.

    The information H of offsets, their means and all other unknowns becomes

    .. math:: H' = R (H - P) R + P,

    R diagonal with ratios of SDs for offsets, else 1; P with 1 (the prior) for offsets, else 0. It
    is exact for a log-likelihood quadratic in the scaled offsets.

    given : precision at ``x``, a point of ``density``, of all unknowns but the SDs
    still : positions of the SDs
    """
    offset, owner, _ = offset_places(density, still)
    place = offset - np.searchsorted(still, offset)
    before = splu(_all_slopes(density, x, still, place))
    after = _all_slopes(onto, there, still, place)
    matrix = given.factor.T @ given.factor
    matrix = before.solve(before.solve(matrix, "T").T, "T")
    matrix[place, place] -= 1
    ratio = np.ones(given.size)
    ratio[place] = np.exp(there[still] - x[still])[owner]
    matrix *= ratio * ratio[:, None]
    matrix[place, place] += 1
    matrix = after.T @ (after.T @ matrix).T
    return dense((matrix + matrix.T) / 2) or given


def _all_slopes(density: Density, x: Floats, still: Ints, place: Ints) -> csc_array:
    """Return the derivatives of the offsets and all other unknowns by all unknowns but the SDs."""
    size = density.size - len(still)
    rest = np.ones(size)
    rest[place] = 0
    upright = csr_array((np.ones(len(place)), (place, np.arange(len(place)))), (size, len(place)))
    by_offset = upright @ offset_slopes(density, x, still)
    return csc_array(by_offset + eye_array(size).multiply(rest))


PROBES = 24
"""Random vectors for each SD that estimate the moments of many offsets."""
FEW = 60
"""Number of offsets of one SD up to which their moments are exact."""
SURELY = 1e-3
"""Least estimated variance of an offset; its prior has variance 1."""
BLOCK = 500
"""Rows of the covariance computed together."""


def offset_moments(
    given: Precision, slopes: csr_array, z: Floats, member: csr_array
) -> tuple[Floats, Floats]:
    r"""Return variances of offsets (offset,) and covariances of each SD's sum of squares (sd, sd).

    :math:`\mathrm{Cov}(z_i^2, z_j^2) = 2 V_{ij}^2 + 4 z_i V_{ij} z_j`.

    given : precision of all unknowns but the SDs
    slopes : derivatives of the offsets by these (offset, other)
    member : 1 where an SD is an offset's (sd, offset)
    """
    if isinstance(given, Dense):
        return _exact(given, slopes, z, member)
    return _probed(given, slopes, z, member)


def _exact(given: Dense, slopes: csr_array, z: Floats, member: csr_array) -> tuple[Floats, Floats]:
    """Return the moments from the whole covariance matrix."""
    right = (slopes @ given.covariance()).T
    variance, missing = np.empty(len(z)), np.zeros((member.shape[0],) * 2)
    for some in np.array_split(np.arange(len(z)), len(z) // BLOCK + 1):
        part = slopes[some] @ right
        variance[some] = part[np.arange(len(some)), some]
        part = 2 * part**2 + 4 * z[some, None] * part * z
        missing += member[:, some] @ part @ member.T
    return variance, missing


def _probed(
    given: Precision, slopes: csr_array, z: Floats, member: csr_array
) -> tuple[Floats, Floats]:
    r"""Return the moments from products with a few vectors: with random signs s on the offsets of
    one SD, :math:`E\, (V s)_i^2 = \sum_j V_{ij}^2` and :math:`E\, s_i (V s)_i = V_{ii}`.
    """
    rng = np.random.default_rng(0)
    variance, missing = np.zeros(len(z)), np.zeros((member.shape[0],) * 2)
    for k in range(member.shape[0]):
        mine = member[[k]].indices
        if len(mine) <= FEW:
            probes = np.eye(len(mine))
        else:
            probes = rng.choice([-1.0, 1.0], size=(PROBES, len(mine))) / np.sqrt(PROBES)
        right = np.concatenate([z[None, mine], probes]) @ slopes[mine]
        whole, *seen = given.solve(right) @ slopes.T
        variance[mine] = np.maximum((probes * np.stack(seen)[:, mine]).sum(axis=0), SURELY)
        missing[:, k] = member @ (2 * np.square(seen).sum(axis=0) + 4 * z * whole)
    return variance, (missing + missing.T) / 2


def given_means(given: Precision, slopes: csr_array, mean: Ints, variance: Floats) -> Floats:
    r"""Return the offsets' variances given their means, (offset,): :math:`\mathrm{Var}(z) -
    \mathrm{Cov}(z, \mu)^2 / \mathrm{Var}(\mu)`.

    slopes : derivatives of the offsets by these (offset, other)
    mean : position of each offset's mean among these; -1 without one (offset,)
    variance : with unknown means (offset,)
    """
    means, code = np.unique(mean[mean >= 0], return_inverse=True)
    if not len(means):
        return variance
    unit = np.zeros((len(means), given.size))
    unit[np.arange(len(means)), means] = 1
    solved = given.solve(unit)
    some = np.flatnonzero(mean >= 0)
    shared = (solved @ slopes.T)[code, some]
    known = shared**2 / solved[np.arange(len(means)), means][code]
    found = variance.copy()
    found[some] = np.maximum(variance[some] - known, SURELY * variance[some])
    return found
