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
TRIED = 30
"""Spreads of the leans to answers that are tried for a draw where truth is known."""
STEP = 0.05
"""Step, in SDs, of finite differences."""

_Weigh = Callable[[Floats], float]
"""The log probability of the known truth, given leans of a pool in place of the mean draw's."""


def draw_pool_lean(
    structure: Structure, values: Mapping[str, Floats], *, method: str, seed: int
) -> Floats | None:
    r"""Draw how far the raters lean, together, from their pool, (draw, lean); None if unused.

    Where the truth :math:`t` of some items is known, :math:`p(\delta \mid \theta, t) \propto
    p(\delta \mid \theta)\, p(t \mid y, \theta, \delta)`, the last at the mean parameters with the
    same total lean. Methods that hold the parameters fixed hold the leans at 0.
    """
    if method not in ("nuts", "laplace") or not structure.pools:
        return None
    rng = np.random.default_rng([seed, POOL_STREAM])
    told = (structure.ratings.truth >= 0).any(axis=0)
    found = []
    for number, pool in enumerate(structure.pools):
        chance, unit = pool.spreads(values)
        some = told[pool.labels]
        if some.any():
            total = pool.of_model(values)
            away = total - total.mean(axis=0)
            sd = np.sqrt((chance @ SPREADS**2 * unit**2).mean(axis=0))
            weigh = _weighing(structure, values, number)
            if isinstance(pool, AnswerPoolLean):
                found.append(_told_answers(chance, unit, away, sd, weigh, rng))
                continue
        leans = np.empty(unit.shape)
        for n in range(len(pool.labels)):
            if some[n]:
                leans[:, n] = _told(chance[:, n], unit[:, n], away[:, n], sd, weigh, n, rng)
            else:
                spread = SPREADS[pick(chance[:, n].cumsum(axis=1), rng)]
                leans[:, n] = rng.normal(size=len(unit)) * spread * unit[:, n]
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
    """Draw leans to answers (draw, answer) given the known truth, whose log weight is a quadratic
    of the total leans. They are normal given their spreads, a few of which are weighed.
    """
    slope, bend, at = _quadratic(lambda u: weigh(u * sd), len(sd))
    steps = chance.cumsum(axis=2)
    picked = [[pick(one, rng) for one in np.moveaxis(steps, 1, 0)] for _ in range(TRIED)]
    precision = (sd / (SPREADS[np.transpose(picked, (2, 0, 1))] * unit[:, None])) ** 2
    centre = (away / sd)[:, None]
    pull = slope + bend @ at + precision * centre
    root = np.linalg.cholesky(bend + precision[..., None] * np.eye(len(sd)))
    half = np.linalg.solve(root, pull[..., None])[..., 0]
    logs = (half**2 - precision * centre**2 + np.log(precision)).sum(axis=-1) / 2
    logs -= np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    best = np.arange(len(unit)), pick(np.asarray(softmax(logs, np)).cumsum(axis=1), rng)
    normal = half[best] + rng.normal(size=unit.shape)
    total = np.linalg.solve(root[best].swapaxes(1, 2), normal[..., None])[..., 0]
    return np.asarray(total * sd - away)


def _quadratic(log_weight: Callable[[Floats], float], size: int) -> tuple[Floats, Floats, Floats]:
    """Return slope and negative curvature of a function at its mode under a standard normal."""
    at = minimize(lambda u: u @ u / 2 - log_weight(u), np.zeros(size), method="BFGS").x
    steps = np.eye(size) * STEP
    here, ahead = log_weight(at), np.array([log_weight(at + step) for step in steps])
    slope = (ahead - [log_weight(at - step) for step in steps]) / (2 * STEP)
    bend = np.array([
        [ahead[n] + ahead[m] - here - log_weight(at + steps[n] + steps[m]) for m in range(size)]
        for n in range(size)
    ])  # fmt: skip
    values, vectors = np.linalg.eigh(bend / STEP**2)
    return slope, vectors * np.maximum(values, 0) @ vectors.T, at


def _weighing(structure: Structure, values: Mapping[str, Floats], number: int) -> _Weigh:
    """Return what weighs the leans of one pool."""
    mean = {name: np.asarray(value.mean(axis=0, keepdims=True)) for name, value in values.items()}
    known, blind = _with_truth(structure)
    pools = structure.pools
    sizes = [len(pool.labels) for pool in pools]
    first = sum(sizes[:number])

    def weigh(lean: Floats) -> float:
        leans = np.zeros((1, sum(sizes)))
        leans[0, first : first + len(lean)] = lean
        one = {name: value[0] for name, value in structure.with_pool_lean(mean, leans).items()}
        return known.log_likelihood(one) - blind.log_likelihood(one)

    return weigh


def _with_truth(structure: Structure) -> Iterator[Structure]:
    """Yield the model of the clusters with known truth, and the same without it."""
    start, items = structure.pattern.members
    known = structure.ratings.has_truth[items]
    some = np.flatnonzero(np.add.reduceat(known, start[:-1]) > 0)
    for one in (structure, structure.without_gold()):
        yield replace(one, pattern=take_clusters(one.pattern, some)[0])
