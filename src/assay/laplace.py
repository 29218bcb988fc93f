"""The normal approximation to the posterior at a mode: its draws, density and widths."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.peaks import Mode

Floats = NDArray[np.float64]


def laplace_draws(mode: Mode, count: int, rng: np.random.Generator) -> Floats:
    """Draw from the normal approximation at a mode: (draw, value)."""
    assert mode.precision is not None
    noise = rng.standard_normal((count, len(mode.x)))
    return _unscored(mode, _scored(mode, mode.x) + mode.precision.draws(noise))


def laplace_log_density(mode: Mode, x: Floats) -> Floats:
    """Log density of the normal approximation at points (draw, value)."""
    assert mode.precision is not None
    points = _scored(mode, x)
    constant = mode.precision.log_determinant - len(mode.x) * np.log(2 * np.pi)
    found = 0.5 * (constant - mode.precision.quadratic(points - _scored(mode, mode.x)))
    if mode.spreads is not None:
        scores = mode.spreads.scores
        found = found - np.log(scores.slopes(points[:, scores.at])[0]).sum(axis=1)
    return np.asarray(found)


def mode_scale(mode: Mode) -> Floats:
    """Return the SDs of the normal approximation; 0.1 where there is no proper peak."""
    if mode.precision is None:
        return np.full(len(mode.x), 0.1)
    scale = np.sqrt(mode.precision.variances)
    if mode.spreads is not None:
        scores = mode.spreads.scores
        scale[scores.at] *= scores.slopes(scores.scores(mode.x[scores.at]))[0]
    return np.asarray(scale)


def visits(modes: list[Mode], x: Floats) -> list[Mode]:
    """Say how many draws (..., value) are nearest to each mode, in units of the first one."""
    scale = mode_scale(modes[0])
    points = x.reshape(-1, x.shape[-1]) / scale
    distance = np.stack([((points - mode.x / scale) ** 2).sum(axis=1) for mode in modes])
    share = np.bincount(distance.argmin(axis=0), minlength=len(modes)) / len(points)
    return [replace(mode, visited=float(s)) for mode, s in zip(modes, share, strict=True)]


def _scored(mode: Mode, x: Floats) -> Floats:
    """Put the scores of SDs in the place of their logarithms: points (..., value)."""
    if mode.spreads is None:
        return x
    scores, points = mode.spreads.scores, x.copy()
    points[..., scores.at] = scores.scores(x[..., scores.at])
    return points


def _unscored(mode: Mode, points: Floats) -> Floats:
    """Put the logarithms of SDs in the place of their scores: points (..., value)."""
    if mode.spreads is None:
        return np.asarray(points)
    scores, x = mode.spreads.scores, np.array(points)
    x[..., scores.at] = scores.logs(points[..., scores.at])
    return x
