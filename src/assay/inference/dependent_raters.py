r"""Score tests, at the mode of a fit, of raters who repeat the answers of others.

Rater :math:`j` may repeat another answer :math:`y_{ik}` to an item in a share
:math:`\varepsilon` of the items. At :math:`\varepsilon = 0`, the derivative of the log likelihood
is a sum over items of

.. math:: u_i = \frac{[y_{ij} = y_{ik}]}{p(y_{ij} \mid y_{-ij})} - 1, \qquad
          \frac{1}{p(y_{ij} \mid y_{-ij})} = \sum_{d, s} \frac{p(d, s \mid y)}{p_d(y_{ij} \mid s)}

with state :math:`s` and difficulty :math:`d`. The answers to all other items of a cluster are in
:math:`p(d, s \mid y)`, so three raters are enough. With the sums :math:`U_c` of the clusters, their
gradients :math:`G_c` by the unknowns :math:`\varphi` and the precision :math:`H` at the mode, the
test is

.. math:: z = \sum_c U_c \Big/ \sqrt{\sum_c (U_c - A G_c)^2}, \qquad
          A = -\frac{\partial \sum_c U_c}{\partial \varphi} H^{-1}

(Boos 1992, The American Statistician 46, 327-333).
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr

from assay._util.typing import Bools, Floats, Ints
from assay.checks.departures.search import LEAST_COMMON, Departure
from assay.data.ratings import UNNAMED
from assay.fits.latent_states import states_by_difficulty, tables_of_draws
from assay.inference.curvature import curvature
from assay.inference.density import Density
from assay.inference.modes import NONE, Mode
from assay.inference.precision import Precision
from assay.likelihood.partition import cores, in_threads
from assay.modelling.rater_model import CategoricalRaterModel
from assay.modelling.structure import Structure, Tables

SIZE = 0.01
"""Chance of a false alarm, over all raters and pairs."""
LEAST_TOLD = 0.02
"""Least part of a score's variance that the unknowns do not explain.

Below it, the answers hardly tell copies from raters of another reliability.
"""
LARGEST = 600.0
"""Largest negative log probability of an answer: a state that it excludes has none itself."""
STEP = 1e-4
"""Step of the derivatives, on unconstrained values."""
MOST_STEPS = 200_000_000
"""Most unknowns times entries of the items' tables: some ten seconds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    """What each tested rater may repeat.

    who : the rater, and the other rater; the rater alone if any others who agree
    at, test : a rating that may repeat an answer, and the test that it belongs to
    same : whether it has that answer
    """

    who: tuple[tuple[str, ...], ...]
    at: Ints
    test: Ints
    same: Bools


def find_dependent_raters(structure: Structure, density: Density, mode: Mode) -> list[Departure]:
    """Return the raters who repeat others more often than the model explains, if there are any."""
    if not _can_be_tested(structure, density):
        return []
    repeats = find_repeats(structure)
    precision = mode.given_spreads or curvature(density, mode.x, mode.held)
    if not repeats.who or precision is None:
        return []
    total, variance = score_tests(structure, density, mode, precision, repeats)
    # Both directions of a pair are almost the same test.
    p = len({frozenset(who) for who in repeats.who}) * ndtr(-total / np.sqrt(variance))
    found = [n for n in np.argsort(p, kind="stable") if p[n] < SIZE]
    if not found:
        return []
    first = repeats.who[found[0]]
    pairs = dict.fromkeys(tuple(sorted(repeats.who[n])) for n in found if len(repeats.who[n]) == 2)
    several = len(first) == 2 and len(structure.ratings.raters) > 3
    return [
        Departure(
            code="dependent-raters", p=float(p[found[0]]),
            size=float(np.minimum(1.0, total / variance)[found[0]]),
            who=first, pairs=tuple(pairs) if several else (),
        )
    ]  # fmt: skip


def _can_be_tested(structure: Structure, density: Density) -> bool:
    """Return whether raters have names, all answers enter by rater, and the test is quick."""
    pattern, entries = structure.pattern, structure.prevalence.log_weight.size
    entries *= len(structure.prevalence.space.states) * structure.difficulty.classes
    return (
        UNNAMED not in set(structure.ratings.raters["group"])
        and all(isinstance(part, CategoricalRaterModel) for part in structure.parts)
        and not structure.perception.groups
        and pattern.cases is None
        and density.size * pattern.items * entries <= MOST_STEPS
    )


def find_repeats(structure: Structure) -> Repeats:
    """Return each rater who shares enough items with another, or with others who agree."""
    ratings, row = structure.ratings, structure.rows_of_ratings
    rated = np.flatnonzero((row >= 0) & (ratings.replicate == 0))
    place = np.full((len(ratings.raters), len(ratings.items)), -1)
    place[ratings.rater[rated], ratings.item[rated]] = rated
    names = [str(name) for name in ratings.raters.index]
    who: list[tuple[str, ...]] = []
    at, same = [], []
    for j, k in permutations(range(len(names)), 2):
        both = (place[j] >= 0) & (place[k] >= 0)
        if both.sum() >= LEAST_COMMON:
            who.append((names[j], names[k]))
            at.append(place[j, both])
            same.append(_equal(ratings.answers, place[j, both], place[k, both]))
    for j in range(len(names) if len(names) > 3 else 0):
        others = np.delete(place, j, axis=0)
        first = others.max(axis=0)
        agree = np.where(others >= 0, _equal(ratings.answers, others, first), True).all(axis=0)
        told = (place[j] >= 0) & ((others >= 0).sum(axis=0) > 1) & agree
        if told.sum() >= LEAST_COMMON:
            who.append((names[j],))
            at.append(place[j, told])
            same.append(_equal(ratings.answers, place[j, told], first[told]))
    return Repeats(
        who=tuple(who),
        at=np.concatenate([NONE, *at]),
        test=np.repeat(np.arange(len(who)), [len(one) for one in at]),
        same=np.concatenate([NONE, *same]).astype(bool),
    )


def _equal(answers: NDArray[np.integer], one: Ints, other: Ints) -> Bools:
    return np.asarray((answers[one] == answers[other]).all(axis=-1))


def score_tests(
    structure: Structure, density: Density, mode: Mode, precision: Precision, repeats: Repeats
) -> tuple[Floats, Floats]:
    """Return the score of each test and its variance, (test,), which is infinite if not known."""
    moving = np.setdiff1d(np.arange(density.size), mode.held)
    steps = np.concatenate([np.zeros((1, density.size)), STEP * np.eye(density.size)[moving]])
    tables = tables_of_draws(structure, density.constrain(mode.x + steps))
    ratings, row = structure.ratings, structure.rows_of_ratings
    rated = row >= 0
    item, row = ratings.item[rated], row[rated]
    at = rated.cumsum()[repeats.at] - 1

    def look(one: Tables) -> tuple[Floats, Floats]:
        value, chance = states_by_difficulty(structure, one)
        inverse = np.exp(np.minimum(-one.response[:, row], LARGEST))
        return value, np.einsum("ads,das->a", chance[item], inverse)[at]

    looks = in_threads(look, tables, cores())
    value = np.stack([by_cluster for by_cluster, _ in looks], axis=1)
    slopes = (value[:, 1:] - value[:, :1]) / STEP
    tests, clusters = len(repeats.who), len(value)
    of_test = sparse.csr_array(
        (repeats.same.astype(float), (repeats.test, np.arange(len(at)))), shape=(tests, len(at))
    )
    total = of_test @ np.stack([inverse for _, inverse in looks], axis=1)
    explained = precision.solve((total[:, :1] - total[:, 1:]) / STEP)
    place = structure.pattern.cluster_of_items[item[at]], repeats.test
    scores = sparse.csr_array(
        (repeats.same * looks[0][1] - 1, place), shape=(clusters, tests)
    ).toarray()
    variance = ((scores - slopes @ explained.T) ** 2).sum(axis=0)
    unclear = variance <= LEAST_TOLD * (scores**2).sum(axis=0)
    return scores.sum(axis=0), np.where(unclear, np.inf, variance)
