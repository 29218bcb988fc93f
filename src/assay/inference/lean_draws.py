"""Draws of how far the raters who took part lean from their pool, for the draws of labels."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from assay._util.typing import Floats
from assay.fits.answer_draws import pick
from assay.inference.pieces import take_clusters
from assay.modelling.families.pool_lean import SPREADS
from assay.modelling.structure import Structure

POOL_STREAM = 8
POINTS = np.sinh(np.linspace(-4.6, 4.6, 401)) / 2
"""Leans, in units, among which one is drawn where truth is known."""
WEIGHED = np.sinh(np.linspace(-3, 3, 33)) * 0.6
"""Leans, in SDs, at which the known truth is weighed."""


def draw_pool_lean(
    structure: Structure, values: Mapping[str, Floats], *, method: str, seed: int
) -> Floats | None:
    r"""Draw how far the raters lean, together, from their pool, (draw, label); None if unused.

    Where the truth :math:`t` of some items is known, it weighs the leans:

    .. math:: p(\delta \mid \theta, t) \propto p(\delta \mid \theta)\, p(t \mid y, \theta, \delta).

    The last factor is that of the mean parameters with the same total lean. Methods that hold the
    parameters fixed hold the lean at 0.
    """
    if method not in ("nuts", "laplace") or not structure.pools:
        return None
    rng = np.random.default_rng([seed, POOL_STREAM])
    draws, truth = len(next(iter(values.values()))), structure.ratings.truth
    found = np.zeros((draws, truth.shape[1]))
    told = (truth >= 0).any(axis=0)
    for part, pool in structure.pools:
        own = part.own(values)
        totals = pool.of_model(own).T
        chances, units = pool.spreads(own)
        for label, chance, unit, total in zip(
            pool.labels, np.moveaxis(chances, 1, 0), units.T, totals, strict=True
        ):
            if told[label]:
                sd = float(np.sqrt((chance @ SPREADS**2 * unit**2).mean()))
                weigh = _weighing(structure, values, int(label), sd)
                found[:, label] = _told(chance, unit, total - total.mean(), weigh, rng)
            else:
                spread = SPREADS[pick(chance.cumsum(axis=1), rng)]
                found[:, label] = rng.normal(size=draws) * spread * unit
    return found


def _told(
    chance: Floats,
    unit: Floats,
    away: Floats,
    weigh: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> Floats:
    """Draw leans (draw,) given the known truth, which is weighed at the total lean."""
    of_spread = np.exp(-((POINTS / SPREADS[:, None]) ** 2) / 2) * np.gradient(POINTS)
    prior = chance @ (of_spread / of_spread.sum(axis=1, keepdims=True))
    leans = POINTS * unit[:, None]
    logs = np.interp(leans + away[:, None], *weigh)
    both = prior * np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(leans[np.arange(len(leans)), pick(both.cumsum(axis=1), rng)])


def _weighing(
    structure: Structure, values: Mapping[str, Floats], label: int, sd: float
) -> tuple[Floats, Floats]:
    """Return leans of a label, and the log probability of the known truth at each."""
    leans = WEIGHED * sd
    mean = {name: np.asarray(value.mean(axis=0, keepdims=True)) for name, value in values.items()}
    known, blind = _with_truth(structure)
    told = []
    for lean in leans:
        of_labels = np.zeros((1, structure.ratings.truth.shape[1]))
        of_labels[0, label] = lean
        moved = structure.with_pool_lean(mean, of_labels)
        one = {name: value[0] for name, value in moved.items()}
        told.append(known.log_likelihood(one) - blind.log_likelihood(one))
    return leans, np.array(told)


def _with_truth(structure: Structure) -> Iterator[Structure]:
    """Yield the model of the clusters with known truth, and the same without it."""
    start, items = structure.pattern.cluster_items
    known = structure.ratings.has_truth[items]
    some = np.flatnonzero(np.add.reduceat(known, start[:-1]) > 0)
    for one in (structure, structure.without_gold()):
        yield replace(one, pattern=take_clusters(one.pattern, some)[0])
