"""Moments of offsets under a normal distribution of which the precision is known.

Exact where the precision is one matrix; from probes where it can only be solved with.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.precision import Dense, Precision

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
    given: Precision, place: Ints, z: Floats, member: csr_array
) -> tuple[Floats, Floats]:
    r"""Variances of the offsets, and the covariance of the sums of squares of each SD's.

    Parameters
    ----------
    given : Precision
        Of all unknowns but the SDs.
    place : ndarray of int (offset,)
        Positions of the offsets among these.
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
        return _exact(given, place, z, member)
    return _probed(given, place, z, member)


def _exact(given: Dense, place: Ints, z: Floats, member: csr_array) -> tuple[Floats, Floats]:
    """Return the moments from the whole covariance."""
    covariance = given.covariance()
    missing = np.zeros((member.shape[0],) * 2)
    for some in np.array_split(np.arange(len(place)), len(place) // BLOCK + 1):
        part = covariance[np.ix_(place[some], place)]
        part = 2 * part**2 + 4 * z[some, None] * part * z
        missing += member[:, some] @ part @ member.T
    return covariance[place, place], missing


def _probed(given: Precision, place: Ints, z: Floats, member: csr_array) -> tuple[Floats, Floats]:
    r"""Return the moments from solutions for a few vectors.

    For random signs s on the offsets of one SD, the expectation of :math:`(V s)_i^2` is
    :math:`\sum_j V_{ij}^2`, and that of :math:`s_i (V s)_i` the variance. Few offsets are looked at
    one by one.
    """
    rng = np.random.default_rng(0)
    variance, missing = np.zeros(len(place)), np.zeros((member.shape[0],) * 2)
    for k in range(member.shape[0]):
        mine = member[[k]].indices
        if len(mine) <= FEW:
            probes = np.eye(len(mine))
        else:
            probes = rng.choice([-1.0, 1.0], size=(PROBES, len(mine))) / np.sqrt(PROBES)
        right = np.zeros((1 + len(probes), given.size))
        right[:, place[mine]] = np.concatenate([z[None, mine], probes])
        whole, *seen = given.solve(right)[:, place]
        variance[mine] = np.maximum((probes * np.stack(seen)[:, mine]).sum(axis=0), SURELY)
        missing[:, k] = member @ (2 * np.square(seen).sum(axis=0) + 4 * z * whole)
    return variance, (missing + missing.T) / 2
