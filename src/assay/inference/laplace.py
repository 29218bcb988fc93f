"""Laplace's approximation, the normal distribution at a mode: draws, density and scales."""

from contextlib import suppress

import numpy as np
from scipy.sparse import csr_array, diags_array

from assay._util.typing import Floats, Ints
from assay.inference.density import Density
from assay.inference.modes import Mode

WIDEST = 100
"""Largest block of unknowns with a full covariance: more would make steps slow."""
SLIGHT = 0.05
"""Entry of a block's Cholesky factor, in SDs of its unknown, below which it is set to 0.

It is also the least entry of the diagonal: with a 0 there, chains could not move in that direction.
"""


def laplace_draws(mode: Mode, count: int, rng: np.random.Generator) -> Floats:
    """Draw from the normal approximation at a mode, (draw, value)."""
    assert mode.precision is not None
    noise = rng.standard_normal((count, len(mode.x)))
    return _unscored(mode, _scored(mode, mode.x) + mode.precision.draws(noise))


def laplace_log_density(mode: Mode, x: Floats) -> Floats:
    """Return the log density of the normal approximation at points (draw, value)."""
    assert mode.precision is not None
    points = _scored(mode, x)
    constant = mode.precision.log_determinant - len(mode.x) * np.log(2 * np.pi)
    found = 0.5 * (constant - mode.precision.quadratic(points - _scored(mode, mode.x)))
    if mode.spreads is not None:
        scores = mode.spreads.scores
        found = found - np.log(scores.slopes(points[:, scores.at])[0]).sum(axis=1)
    return np.asarray(found)


def mode_scale(mode: Mode) -> Floats:
    """Return the SDs of the normal approximation; 0.1 if the mode has no precision."""
    if mode.precision is None:
        return np.full(len(mode.x), 0.1)
    return np.asarray(np.sqrt(mode.precision.variances) * _slopes(mode))


def _slopes(mode: Mode) -> Floats:
    """Return the derivatives of the unknowns by their coordinates: 1, except for group SDs."""
    found = np.ones(len(mode.x))
    if mode.spreads is not None:
        scores = mode.spreads.scores
        found[scores.at] = scores.slopes(scores.scores(mode.x[scores.at]))[0]
    return found


def mode_root(density: Density, mode: Mode) -> csr_array:
    """Return the block Cholesky factor of the normal approximation's covariance, (value, value).

    Blocks are each rater's offsets, correlated as data give only differences of logits, and what is
    shared. Without a precision it is diagonal.
    """
    if mode.precision is None:
        return csr_array(diags_array(mode_scale(mode)))
    slopes, blocks = _slopes(mode), _blocks(density)
    rows, columns, entries = [], [], []
    for block, covariance in zip(blocks, mode.precision.covariances(blocks), strict=True):
        covariance = covariance * slopes[block] * slopes[block, None]
        scale = np.sqrt(np.diag(covariance))
        root = np.diag(scale)
        if 1 < len(block) <= WIDEST:
            # After rounding, a nearly singular matrix may have no Cholesky factor.
            with suppress(np.linalg.LinAlgError):
                root = np.linalg.cholesky(covariance)
                slight = np.abs(root) < SLIGHT * scale[:, None]
                root[slight] = np.diag(SLIGHT * scale)[slight]
        row, column = np.nonzero(root)
        rows.append(block[row])
        columns.append(block[column])
        entries.append(root[row, column])
    places = np.concatenate(rows), np.concatenate(columns)
    return csr_array((np.concatenate(entries), places), shape=(len(slopes), len(slopes)))


def _blocks(density: Density) -> list[Ints]:
    """Return the positions of the shared unknowns, and of the offsets of each rater."""
    shared, blocks = [], []
    for n, parameter in enumerate(density.parameters):
        own = np.arange(*density.starts[n : n + 2])
        if parameter.spread:
            blocks += list(own.reshape(len(parameter.coords[parameter.dims[0]]), -1))
        else:
            shared.append(own)
    return [np.concatenate(shared), *blocks] if shared else blocks


def _scored(mode: Mode, x: Floats) -> Floats:
    """Replace log SDs by their normal scores, in points (..., value)."""
    if mode.spreads is None:
        return x
    scores, points = mode.spreads.scores, x.copy()
    points[..., scores.at] = scores.scores(x[..., scores.at])
    return points


def _unscored(mode: Mode, points: Floats) -> Floats:
    """Replace normal scores of SDs by log SDs, in points (..., value)."""
    if mode.spreads is None:
        return np.asarray(points)
    scores, x = mode.spreads.scores, np.array(points)
    x[..., scores.at] = scores.logs(points[..., scores.at])
    return x
