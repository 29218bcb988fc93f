"""Draws of how far the raters who took part lean from their pool, for the draws of labels."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from assay._util.arrays import softmax
from assay._util.typing import Floats
from assay.fits.answer_draws import pick
from assay.inference.pieces import take_clusters
from assay.modelling.families.pool_lean import SPREADS, AnswerPoolLean
from assay.modelling.structure import Structure

POOL_STREAM = 8
POINTS = np.sinh(np.linspace(-4.6, 4.6, 401)) / 2
"""Leans, in units, among which one is drawn where truth is known."""
WEIGHED = np.sinh(np.linspace(-3, 3, 33)) * 0.6
"""Leans, in SDs, at which the known truth is weighed."""
CANDIDATES = 600
"""Total leans to answers among which those of the draws are chosen where truth is known."""
STEP = 0.05
"""Step, in SDs, of finite differences."""

_Weigh = Callable[[Floats], float]
"""The log probability of the known truth, given leans of a pool in place of the mean draw's."""


def draw_pool_lean(
    structure: Structure, values: Mapping[str, Floats], *, method: str, seed: int
) -> Floats | None:
    r"""Draw how far the raters lean, together, from their pool, (draw, lean); None if unused.

    Where the truth :math:`t` of some items is known, it weighs the leans:

    .. math:: p(\delta \mid \theta, t) \propto p(\delta \mid \theta)\, p(t \mid y, \theta, \delta).

    The last factor is that of the mean parameters with the same total lean. Methods that hold the
    parameters fixed hold the leans at 0.
    """
    if method not in ("nuts", "laplace") or not structure.pools:
        return None
    rng = np.random.default_rng([seed, POOL_STREAM])
    told = (structure.ratings.truth >= 0).any(axis=0)
    mean = {name: np.asarray(value.mean(axis=0, keepdims=True)) for name, value in values.items()}
    found = []
    for number, (part, pool) in enumerate(structure.pools):
        own = part.own(values)
        chance, unit = pool.spreads(own)
        leans, some = np.empty(unit.shape), told[pool.labels]
        if some.any():
            total = pool.of_model(own)
            away = total - total.mean(axis=0)
            sd = np.sqrt((chance @ SPREADS**2 * unit**2).mean(axis=0))
            weigh = _weighing(structure, mean, number)
        for n in range(len(pool.labels)):
            if not some[n]:
                spread = SPREADS[pick(chance[:, n].cumsum(axis=1), rng)]
                leans[:, n] = rng.normal(size=len(unit)) * spread * unit[:, n]
            elif isinstance(pool, AnswerPoolLean):
                leans = _told_answers(chance, unit, away, sd, weigh, rng)
                break
            else:
                leans[:, n] = _told(chance[:, n], unit[:, n], away[:, n], sd, weigh, n, rng)
        found.append(leans)
    return np.concatenate(found, axis=1)


def _told(
    chance: Floats,
    unit: Floats,
    away: Floats,
    sd: Floats,
    weigh: _Weigh,
    place: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw leans (draw,) given the known truth, which is weighed at the total lean."""
    at = WEIGHED[:, None] * sd * (np.arange(len(sd)) == place)
    of_spread = np.exp(-((POINTS / SPREADS[:, None]) ** 2) / 2) * np.gradient(POINTS)
    prior = chance @ (of_spread / of_spread.sum(axis=1, keepdims=True))
    leans = POINTS * unit[:, None]
    logs = np.interp(leans + away[:, None], at[:, place], [weigh(lean) for lean in at])
    both = prior * np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(leans[np.arange(len(leans)), pick(both.cumsum(axis=1), rng)])


def _told_answers(
    chance: Floats,
    unit: Floats,
    away: Floats,
    sd: Floats,
    weigh: _Weigh,
    rng: np.random.Generator,
) -> Floats:
    """Draw leans to answers (draw, answer) given the known truth.

    They are chosen among total leans from a normal distribution near their posterior, by their
    weights under it and under the posterior of each draw.
    """
    bend, at = _quadratic(lambda u: weigh(u * sd), len(sd))
    wide = np.linalg.cholesky(2 * np.linalg.inv(bend + np.eye(len(sd))))
    normal = rng.normal(size=(CANDIDATES, len(sd)))
    totals = (at + normal @ wide.T) * sd
    logs = np.array([weigh(total) for total in totals]) + (normal**2).sum(axis=1) / 2
    of_spread = np.exp(-((POINTS / SPREADS[:, None]) ** 2) / 2) / SPREADS[:, None]
    for n, total in enumerate(totals.T):
        lean = (total - away[:, [n]]) / unit[:, [n]]
        logs = logs + np.log(_between(POINTS, chance[:, n] @ of_spread, lean))
    picked = pick(np.asarray(softmax(logs, np)).cumsum(axis=1), rng)
    return np.asarray(totals[picked] - away)


def _between(points: Floats, table: Floats, at: Floats) -> Floats:
    """Interpolate each row of a table (row, point) at the places ``at`` (row, place)."""
    above = np.clip(np.searchsorted(points, at), 1, len(points) - 1)
    share = np.clip((at - points[above - 1]) / (points[above] - points[above - 1]), 0, 1)
    low, high = (np.take_along_axis(table, one, axis=1) for one in (above - 1, above))
    return np.asarray(low * (1 - share) + high * share) + 1e-300


def _quadratic(log_weight: Callable[[Floats], float], size: int) -> tuple[Floats, Floats]:
    """Return the negative curvature of a function at its mode under a standard normal, and it."""
    at = minimize(lambda u: u @ u / 2 - log_weight(u), np.zeros(size), method="BFGS").x
    steps = np.eye(size) * STEP
    here, ahead = log_weight(at), [log_weight(at + step) for step in steps]
    bend = np.array([
        [ahead[n] + ahead[m] - here - log_weight(at + steps[n] + steps[m]) for m in range(size)]
        for n in range(size)
    ])  # fmt: skip
    values, vectors = np.linalg.eigh(bend / STEP**2)
    return vectors * np.maximum(values, 0) @ vectors.T, at


def _weighing(structure: Structure, mean: Mapping[str, Floats], number: int) -> _Weigh:
    """Return what weighs the leans of one pool."""
    known, blind = _with_truth(structure)
    pools = structure.pools
    sizes = [len(pool.labels) for _, pool in pools]
    first = sum(sizes[:number])

    def weigh(lean: Floats) -> float:
        leans = np.zeros((1, sum(sizes)))
        leans[0, first : first + len(lean)] = lean
        one = {name: value[0] for name, value in structure.with_pool_lean(mean, leans).items()}
        return known.log_likelihood(one) - blind.log_likelihood(one)

    return weigh


def _with_truth(structure: Structure) -> Iterator[Structure]:
    """Yield the model of the clusters with known truth, and the same without it."""
    start, items = structure.pattern.cluster_items
    known = structure.ratings.has_truth[items]
    some = np.flatnonzero(np.add.reduceat(known, start[:-1]) > 0)
    for one in (structure, structure.without_gold()):
        yield replace(one, pattern=take_clusters(one.pattern, some)[0])
