"""Moments of offsets under a normal distribution of which the precision is known.

Exact where the precision is one matrix; from probes where it can only be solved with.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.inference.precision import Dense, Precision

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PROBES = 24
"""Random vectors for each SD from which the moments of many offsets are estimated."""
FEW = 60
"""Offsets of one SD up to which their moments are computed one by one."""
SURELY = 1e-3
"""Of the variance of an offset, the least that is believed of an estimate."""
BLOCK = 500
"""Rows of the covariance that are looked at in one piece."""


def offset_moments(
    given: Precision, slopes: csr_array, z: Floats, member: csr_array
) -> tuple[Floats, Floats]:
    r"""Variances of the offsets, and the covariance of the sums of squares of each SD's.

    Parameters
    ----------
    given : Precision
        Of all unknowns but the SDs.
    slopes : sparse array (offset, other)
        Of the offsets by these.
    z : ndarray (offset,)
        Their means.
    member : sparse array (sd, offset)
        1 where the offset is the SD's.

    Returns
    -------
    variance : ndarray (offset,)
    covariance : ndarray (sd, sd)

    Notes
    -----
    With the covariance V of the offsets, that of two of their squares is
    :math:`2 V_{ij}^2 + 4 z_i V_{ij} z_j`.
    """
    if isinstance(given, Dense):
        return _exact(given, slopes, z, member)
    return _probed(given, slopes, z, member)


def _exact(given: Dense, slopes: csr_array, z: Floats, member: csr_array) -> tuple[Floats, Floats]:
    """Return the moments from the whole covariance."""
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
    r"""Return the moments from solutions for a few vectors.

    For random signs s on the offsets of one SD, the expectation of :math:`(V s)_i^2` is
    :math:`\sum_j V_{ij}^2`, and that of :math:`s_i (V s)_i` the variance. Few offsets are looked at
    one by one.
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
    r"""Variances of offsets where the means that they stand beside are known.

    Parameters
    ----------
    given : Precision
        Of all unknowns but the SDs.
    slopes : sparse array (offset, other)
        Of the offsets by these.
    mean : ndarray of int (offset,)
        Position of each offset's mean among these; -1 where there is none.
    variance : ndarray (offset,)
        Where means are not known.

    Notes
    -----
    :math:`\mathrm{Var}(z \mid \mu) = \mathrm{Var}(z) - \mathrm{Cov}(z, \mu)^2 / \mathrm{Var}(\mu)`.
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
