r"""Group SDs of offsets at the mode of their marginal posterior, with the offsets integrated out.

Given the SDs, :math:`z \mid \sigma` is about Normal(:math:`\hat z, V`). By Fisher's identity

.. math:: \frac{\partial}{\partial \log \sigma_k} \log p(y \mid \sigma)
          = \sum_{j \in k} (\hat z_j^2 + V_{jj} - 1),

and the information is that of the complete data minus the covariance of their slope (Louis 1982,
JRSS B 44, 226-233). Newton's steps use :math:`v = \Phi^{-1}(F(\sigma))`, F the prior's distribution
function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from assay._util.typing import Floats, Ints
from assay.inference.coordinates import NormalScores, normal_scores
from assay.inference.curvature import bend_rows, curvature
from assay.inference.density import Density
from assay.inference.group_sd_curvature import (
    carry,
    given_means,
    offset_moments,
    offset_places,
    offset_slopes,
    offset_values,
)
from assay.inference.optimise import FixedCoordinates, climb, spreads_of
from assay.inference.precision import Dense, Precision, Regressed, beside, dense

LOOKS = 10
"""Largest number of times that the curvature is computed again."""
STEPS = 6
"""Newton's steps between two computations of the curvature."""
NEAR = 0.1
"""Step, in SDs of the posterior, below which the mode is reached."""
REACH = 1.0
"""Largest move of the SDs between two computations of the curvature, in SDs of the prior."""
SLACK = 0.5
"""Decrease of the log evidence that is accepted, since it is an estimate with many offsets."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSDs:
    """Group SDs at their mode: ``information`` about their scores, with the prior's (sd, sd), and
    ``variance`` of each offset given them and its mean (offset,); the prior's is 1.
    """

    scores: NormalScores
    information: Floats
    variance: Floats


class _Look(NamedTuple):
    """The curvature at one point, and what follows from it.

    known : information of the data about each offset (offset,); the prior's is 1
    bends : the information made positive definite, for Newton's steps (sd, sd)
    information : about the scores of the SDs (sd, sd)
    evidence : log marginal posterior density of the scores, up to a constant
    alone : variances of the offsets given the SDs and their means (offset,)
    given : precision of all unknowns given the SDs
    """

    known: Floats
    bends: Floats
    information: Floats
    evidence: float
    alone: Floats
    given: Precision


def maximise_group_sds(
    density: Density, x: Floats, kept: Callable[[Floats], bool] = lambda _: True
) -> tuple[Floats, GroupSDs] | None:
    """Move the SDs of a mode ``x`` to their marginal mode, and all else to its mode given them.

    The density must have no centred block. ``kept`` says whether a point belongs to this mode. None
    if the mode is no proper peak.
    """
    scores = normal_scores(density, spreads_of(density))
    look = _look(density, x, scores)
    if look is None:
        return None

    def again(_: Floats, moved: Floats, look: _Look) -> _Look | None:
        return _look(density, moved, scores) if kept(moved) else None

    x, look = _rise(density, x, scores, look, again)
    return x, GroupSDs(scores=scores, information=look.information, variance=look.alone)


def settle_again(
    density: Density, x: Floats, before: GroupSDs, given: Precision
) -> tuple[Floats, GroupSDs, Precision]:
    """Move SDs that a sample settled to their marginal mode given all data, and all else with them.

    ``given`` is the precision of all else at ``x``, and returns last for the new SDs, adapted by
    :func:`assay.inference.group_sd_curvature.carry`.
    """
    scores = before.scores
    look = _look(density, x, scores, given)
    assert look is not None

    def again(x: Floats, moved: Floats, look: _Look) -> _Look | None:
        given = look.given
        if isinstance(given, Dense):
            given = carry(density, x, given, scores.at, density, moved)
        return _look(density, moved, scores, given)

    x, look = _rise(density, x, scores, look, again, quick=True)
    spreads = GroupSDs(scores=scores, information=look.information, variance=look.alone)
    return x, spreads, look.given


def _rise(
    density: Density,
    x: Floats,
    scores: NormalScores,
    look: _Look,
    again: Callable[[Floats, Floats, _Look], _Look | None],
    *,
    quick: bool = False,
) -> tuple[Floats, _Look]:
    """Alternate steps and curvatures; never accept a clear loss of evidence.

    ``again`` returns the new :class:`_Look`, None out of bounds. With ``quick`` the curvature
    preconditions the climbs, which saves time on large data.
    """
    reach = REACH
    for _ in range(LOOKS):
        near = beside(look.given, scores.at) if quick else None
        moved = _steps(density, x, scores, look, reach, near)
        if moved is x:
            break
        there = again(x, moved, look)
        if there is None or there.evidence < look.evidence - SLACK:
            reach /= 4
            continue
        if there.evidence > look.evidence:
            reach = min(REACH, 2 * reach)
        x, look = moved, there
    return x, look


def _steps(
    density: Density,
    x: Floats,
    scores: NormalScores,
    look: _Look,
    reach: float,
    near: Precision | None = None,
) -> Floats:
    """Take Newton's steps with one curvature; return ``x`` itself if it needs no step."""
    still, start = scores.at, x
    _, owner, _ = offset_places(density, still)
    first = scores.scores(start[still])
    damping, last = 1.0, np.zeros(len(still))
    for _ in range(STEPS):
        score = scores.scores(x[still])
        slope, _ = scores.slopes(score)
        # The information of data about an offset grows with the square of its SD.
        known = look.known * np.exp(2 * (x[still] - start[still]))[owner]
        surplus = offset_values(density, x) ** 2 + 1 / (1 + known) - 1
        gain = np.bincount(owner, surplus, len(still))
        step = np.linalg.solve(look.bends, slope * gain - score)
        # Damp steps that reverse the last one.
        damping = damping / 2 if step @ last < 0 else min(1.0, 1.5 * damping)
        last = step
        step = np.clip(score + damping * step, first - reach, first + reach) - score
        if (np.abs(step) * np.sqrt(np.diag(look.information)) < NEAR * damping).all():
            break
        x = _with_spreads(density, x, scores.logs(score + step), still)
        x, _ = climb(FixedCoordinates(density, still), x, near)
    return x


def _look(
    density: Density, x: Floats, scores: NormalScores, given: Precision | None = None
) -> _Look | None:
    """Compute Louis's information about the SDs' scores, and the curvature unless ``given``."""
    still = scores.at
    given = curvature(density, x, still) if given is None else given
    if given is None:
        return None
    _, owner, mean = offset_places(density, still)
    slopes = offset_slopes(density, x, still)
    member = csr_array(
        (np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(len(still), len(owner))
    )
    z = offset_values(density, x)
    variance, missing = offset_moments(given, slopes, z, member)
    complete = np.diag(2 * (member @ (z**2 + variance)))
    slope, bend = scores.slopes(scores.scores(x[still]))
    information = slope[:, None] * (complete - missing) * slope
    information += np.diag(1 - bend * (member @ (z**2 + variance - 1)))
    values, vectors = np.linalg.eigh((information + information.T) / 2)
    # The posterior of an SD is not wider than its prior.
    steep, known = np.maximum(np.abs(values), 1.0), np.maximum(values, 1.0)
    other = np.where(mean < 0, -1, mean - np.searchsorted(still, mean))
    return _Look(
        known=1 / variance - 1,
        bends=(vectors * steep) @ vectors.T,
        information=(vectors * known) @ vectors.T,
        evidence=density(x)[0] - given.log_determinant / 2 + float(np.log(slope).sum()),
        alone=given_means(given, slopes, other, variance),
        given=given,
    )


def precision_with_spreads(
    density: Density, x: Floats, spreads: GroupSDs, given: Precision | None = None
) -> Precision | None:
    """Return the normal approximation's precision; ``given`` is that of all else given SDs."""
    still = spreads.scores.at
    given = curvature(density, x, still) if given is None else given
    if given is None:
        return None
    cross = np.empty((len(still), len(x)))
    bend_rows(density, x, still, cross)
    return with_spreads(x, spreads, given, np.delete(cross, still, axis=1))


def with_spreads(x: Floats, spreads: GroupSDs, given: Precision, cross: Floats) -> Precision | None:
    """Join the information about the SDs' scores with the precision ``given`` them of all else.
    ``cross`` holds the negative second derivatives by log SDs and all else, (sd, other).
    """
    still = spreads.scores.at
    own = dense(spreads.information.copy())
    if own is None:
        return None
    slope, _ = spreads.scores.slopes(spreads.scores.scores(x[still]))
    slopes = -given.solve(cross * slope[:, None]).T
    return Regressed(first=still, own=own, slopes=slopes, given=given)


def _with_spreads(density: Density, x: Floats, logs: Floats, still: Ints) -> Floats:
    """Change the SDs; non-centred offsets are rescaled so that their effects stay the same."""
    moved = x.copy()
    if not density.centred:
        offset, owner, _ = offset_places(density, still)
        moved[offset] *= np.exp(x[still] - logs)[owner]
    moved[still] = logs
    return moved
