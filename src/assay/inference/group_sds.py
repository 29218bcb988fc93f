r"""SDs of offsets at the mode of their own posterior, the offsets integrated out.

The joint mode of offsets :math:`z_j` and their SD :math:`\sigma` has an SD that is too large.
Here the rest of the unknowns are integrated out by Laplace's approximation: with the SDs held,
:math:`z \mid \sigma` is about Normal(:math:`\hat z, V`), and by Fisher's identity the slope of the
log-likelihood of the SDs is that of the complete data, averaged over this normal:

.. math:: \frac{\partial}{\partial \log \sigma_k} \log p(y \mid \sigma)
          = \sum_{j \in k} (\hat z_j^2 + V_{jj} - 1),

and the information about them is Louis's: that of the complete data less the covariance of their
slope. Newton's steps go along :math:`v = \Phi^{-1}(F(\sigma))`, F the distribution function of the
prior: there the prior is a standard normal, and a posterior that the data hardly change is one too.

References
----------
Louis, T. A. (1982). Finding the observed information matrix when using the EM algorithm. JRSS B 44,
226-233.
Rue, H., Martino, S. & Chopin, N. (2009). Approximate Bayesian inference for latent Gaussian models.
JRSS B 71, 319-392.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
from assay.inference.optimise import Held, climb, spreads_of
from assay.inference.precision import Dense, Precision, Regressed, beside, dense

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LOOKS = 10
"""How often the curvature is computed again, at most."""
STEPS = 6
"""Newton's steps from one look to the next."""
NEAR = 0.1
"""Step, in SDs of the posterior, from which the mode is near enough."""
REACH = 1.0
"""How far the SDs go at most from one look to the next, in SDs of the prior."""
SLACK = 0.5
"""Nats by which the evidence may seem to fall, as that of many offsets is an estimate."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Spreads:
    """SDs at their mode, and what is known of them and of the offsets there.

    Attributes
    ----------
    scores : NormalScores
    information : ndarray (sd, sd)
        About the scores of the SDs, their prior's included.
    variance : ndarray (offset,)
        Of each offset, given the SDs and its mean; that of its prior is 1.
    """

    scores: NormalScores
    information: Floats
    variance: Floats


class _Look(NamedTuple):
    """What the curvature at one point says.

    Attributes
    ----------
    known : ndarray (offset,)
        What the data tell of each offset, in units of what its prior tells.
    bends : ndarray (sd, sd)
        Along which Newton's steps go: the information, its eigenvalues positive and no smaller
        than the prior's.
    information : ndarray (sd, sd)
        About the scores of the SDs.
    evidence : float
        Log of the posterior density of the scores, up to a constant: all else integrated out.
    alone : ndarray (offset,)
        Variances of the offsets, given the SDs and their means.
    given : Precision
        Of all unknowns but the SDs.
    """

    known: Floats
    bends: Floats
    information: Floats
    evidence: float
    alone: Floats
    given: Precision


def settle_spreads(
    density: Density, x: Floats, kept: Callable[[Floats], bool] = lambda _: True
) -> tuple[Floats, Spreads] | None:
    """Move the SDs to their mode, and all else to its mode given them.

    Parameters
    ----------
    density : Density
        On which nothing is centred.
    x : ndarray (value,)
        A mode with the SDs held.
    kept : callable
        Whether a point still belongs to this mode. With other SDs a climb may end in another, which
        would have its own evidence to be weighed by.

    Returns
    -------
    x : ndarray (value,)
    spreads : Spreads
        None in the place of both if there is no peak with the SDs held.
    """
    scores = normal_scores(density, spreads_of(density))
    look = _look(density, x, scores)
    if look is None:
        return None

    def again(_: Floats, moved: Floats, look: _Look) -> _Look | None:
        return _look(density, moved, scores) if kept(moved) else None

    x, look = _rise(density, x, scores, look, again)
    return x, Spreads(scores=scores, information=look.information, variance=look.alone)


def settle_again(
    density: Density, x: Floats, before: Spreads, given: Precision
) -> tuple[Floats, Spreads, Precision]:
    """Move SDs that a sample settled to their mode given all data, and all else with them.

    The curvature is not computed again. As one matrix it is known with other SDs
    (:func:`assay.inference.group_sd_curvature.carry`); in centred coordinates it hardly hangs on
    them.

    Parameters
    ----------
    density : Density
        Of all data, every block of offsets centred.
    x : ndarray (value,)
        A mode of it with the SDs held.
    before : Spreads
        Of the sample.
    given : Precision
        The negative Hessian there of all unknowns but the SDs.

    Returns
    -------
    x : ndarray (value,)
    spreads : Spreads
    given : Precision
        With the SDs where they are now.
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
    spreads = Spreads(scores=scores, information=look.information, variance=look.alone)
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
    """Go from look to look, never to where there is less evidence.

    Parameters
    ----------
    again : callable
        Looks where a step has led, from a point and the look there; None if that is out of bounds.
    quick : bool
        Whether climbs on the way are guided by the curvature, which pays where data are large.
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
    """Go Newton's steps with the curvature of one look; ``x`` itself if there is no way to go."""
    still, start = scores.at, x
    _, owner, _ = offset_places(density, still)
    first = scores.scores(start[still])
    damping, last = 1.0, np.zeros(len(still))
    for _ in range(STEPS):
        score = scores.scores(x[still])
        slope, _ = scores.slopes(score)
        # What data tell of an offset grows with the square of its SD.
        known = look.known * np.exp(2 * (x[still] - start[still]))[owner]
        surplus = offset_values(density, x) ** 2 + 1 / (1 + known) - 1
        gain = np.bincount(owner, surplus, len(still))
        step = np.linalg.solve(look.bends, slope * gain - score)
        # Steps back and forth are too long.
        damping = damping / 2 if step @ last < 0 else min(1.0, 1.5 * damping)
        last = step
        step = np.clip(score + damping * step, first - reach, first + reach) - score
        if (np.abs(step) * np.sqrt(np.diag(look.information)) < NEAR * damping).all():
            break
        x = _with_spreads(density, x, scores.logs(score + step), still)
        x, _ = climb(Held(density, still), x, near)
    return x


def _look(
    density: Density, x: Floats, scores: NormalScores, given: Precision | None = None
) -> _Look | None:
    """Compute Louis's information about the scores of SDs, and the curvature if not ``given``."""
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
    # Data do not make an SD less certain than its prior.
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
    density: Density, x: Floats, spreads: Spreads, given: Precision | None = None
) -> Precision | None:
    """Return the precision of the normal approximation; ``given`` the SDs is that of all else."""
    still = spreads.scores.at
    given = curvature(density, x, still) if given is None else given
    if given is None:
        return None
    cross = np.empty((len(still), len(x)))
    bend_rows(density, x, still, cross)
    return with_spreads(x, spreads, given, np.delete(cross, still, axis=1))


def with_spreads(x: Floats, spreads: Spreads, given: Precision, cross: Floats) -> Precision | None:
    """Join what is known of the SDs with the curvature of all else.

    The SDs stand by their scores, with the information about them when the rest is integrated out;
    the rest has its curvature given them, and follows them as its mode does.

    Parameters
    ----------
    given : Precision
        The negative Hessian of all unknowns but the SDs.
    cross : ndarray (sd, other)
        Negative second derivatives by the logarithms of the SDs and these.
    """
    still = spreads.scores.at
    own = dense(spreads.information.copy())
    if own is None:
        return None
    slope, _ = spreads.scores.slopes(spreads.scores.scores(x[still]))
    slopes = -given.solve(cross * slope[:, None]).T
    return Regressed(first=still, own=own, slopes=slopes, given=given)


def _with_spreads(density: Density, x: Floats, logs: Floats, still: Ints) -> Floats:
    """Give the SDs other values; offsets that stand as they are keep what they add to means."""
    moved = x.copy()
    if not density.centred:
        offset, owner, _ = offset_places(density, still)
        moved[offset] *= np.exp(x[still] - logs)[owner]
    moved[still] = logs
    return moved
