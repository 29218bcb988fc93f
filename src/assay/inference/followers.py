r"""Score tests, at the mode of a fit, of raters who join others who agree.

Rater :math:`j` may repeat the answer :math:`y_i^*` of all others to an item, where two or more
agree, with probability :math:`\varepsilon`. At :math:`\varepsilon = 0`, the derivative of the log
likelihood is a sum over these items of

.. math:: u_i = \frac{[y_{ij} = y_i^*]}{p(y_{ij} \mid y_{-ij})} - 1, \qquad
          \frac{1}{p(y_{ij} \mid y_{-ij})} = \sum_{d, s} \frac{p(d, s \mid y)}{p_d(y_{ij} \mid s)}

with state :math:`s` and difficulty :math:`d`. With the sums :math:`U_c` of clusters, the gradients
:math:`G_c` of their log likelihoods by the unknowns :math:`\varphi`, and the precision :math:`H` at
the mode, the test is

.. math:: z = \sum_c E_c \Big/ \Big(\sum_c E_c^2\Big)^{1/2}, \qquad
          E_c = U_c + \frac{\partial \sum_c U_c}{\partial \varphi} H^{-1} G_c

(Boos 1992, The American Statistician 46, 327-333). The gradients do not add up to 0, since the
prior pulls at the mode: without them, very good raters would seem to follow others.
"""

from dataclasses import dataclass

import numpy as np
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

SIZE = 0.005
"""Chance of a false alarm, over all raters."""
LEAST_RATERS = 4
"""Of three raters, two who agree and a third who joins them are any three who are mostly right."""
LEAST_KNOWN = 0.02
"""Least part of a score's variance that the unknowns do not explain.

Below it, the answers hardly tell a follower from a rater of another reliability.
"""
LARGEST = 600.0
"""Largest negative log probability of an answer: a state that it excludes has none itself."""
STEP = 1e-4
"""Step of the derivatives, on unconstrained values."""
MOST_STEPS = 200_000_000
"""Most unknowns times entries of the items' tables: some ten seconds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Following:
    """Ratings of items on which two or more other raters agree.

    raters : the tested raters
    at, test : position of each rating, and that of its rater among ``raters``
    same : whether it is equal to the others' answer
    """

    raters: tuple[str, ...]
    at: Ints
    test: Ints
    same: Bools


def find_followers(structure: Structure, density: Density, mode: Mode) -> list[Departure]:
    """Return the rater who joins others more often than the model explains, if there is one."""
    if not _can_be_tested(structure, density):
        return []
    following = find_following(structure)
    precision = mode.given_spreads or curvature(density, mode.x, mode.held)
    if not following.raters or precision is None:
        return []
    score, variance = score_tests(structure, density, mode, precision, following)
    z = score / np.sqrt(variance)
    first = int(z.argmax())
    p = len(z) * float(ndtr(-z[first]))
    if p >= SIZE:
        return []
    share = min(1.0, float(score[first] / variance[first]))
    who = (following.raters[first],)
    return [Departure(code="dependent-raters", p=p, size=share, who=who)]


def _can_be_tested(structure: Structure, density: Density) -> bool:
    """Return whether raters have names, all answers enter by rater, and the test is quick."""
    pattern, entries = structure.pattern, structure.prevalence.log_weight.size
    entries *= len(structure.prevalence.space.states) * structure.difficulty.classes
    return (
        len(structure.ratings.raters) >= LEAST_RATERS
        and UNNAMED not in set(structure.ratings.raters["group"])
        and all(isinstance(part, CategoricalRaterModel) for part in structure.parts)
        and not structure.perception.groups
        and pattern.cases is None
        and density.size * pattern.items * entries <= MOST_STEPS
    )


def find_following(structure: Structure) -> Following:
    """Return the ratings that may follow others, of raters with enough of them."""
    ratings, row = structure.ratings, structure.rows_of_ratings
    rated = np.flatnonzero((row >= 0) & (ratings.replicate == 0))
    place = np.full((len(ratings.raters), len(ratings.items)), -1)
    place[ratings.rater[rated], ratings.item[rated]] = rated
    names, at, same = [], [NONE], [NONE]
    for j, name in enumerate(ratings.raters.index):
        others = np.delete(place, j, axis=0)
        one = others.max(axis=0)
        equal = (ratings.answers[others] == ratings.answers[one]).all(axis=-1)
        agree = (equal | (others < 0)).all(axis=0) & ((others >= 0).sum(axis=0) > 1)
        told = agree & (place[j] >= 0)
        if told.sum() >= LEAST_COMMON:
            own = place[j, told]
            names.append(str(name))
            at.append(own)
            same.append((ratings.answers[own] == ratings.answers[one[told]]).all(axis=-1))
    return Following(
        raters=tuple(names),
        at=np.concatenate(at),
        test=np.repeat(np.arange(len(names)), [len(own) for own in at[1:]]),
        same=np.concatenate(same).astype(bool),
    )


def score_tests(
    structure: Structure, density: Density, mode: Mode, precision: Precision, following: Following
) -> tuple[Floats, Floats]:
    """Return the score of each test and its variance, (test,), which is infinite if not known."""
    moving = np.setdiff1d(np.arange(density.size), mode.held)
    steps = np.concatenate([np.zeros((1, density.size)), STEP * np.eye(density.size)[moving]])
    tables = tables_of_draws(structure, density.constrain(mode.x + steps))
    item = structure.ratings.item[following.at]
    row = structure.rows_of_ratings[following.at]

    def look(one: Tables) -> tuple[Floats, Floats]:
        value, chance = states_by_difficulty(structure, one)
        inverse = np.exp(np.minimum(-one.response[:, row], LARGEST))
        return value, following.same * np.einsum("ads,das->a", chance[item], inverse) - 1

    looks = in_threads(look, tables, cores())
    value, terms = (np.stack(parts) for parts in zip(*looks, strict=True))
    tests, clusters = len(following.raters), value.shape[1]
    total = np.stack([np.bincount(following.test, one, minlength=tests) for one in terms])
    slopes, explained = (value[1:] - value[0]) / STEP, (total[0] - total[1:]) / STEP
    scores = np.zeros((clusters, tests))
    np.add.at(scores, (structure.pattern.cluster_of_items[item], following.test), terms[0])
    left = scores - slopes.T @ precision.solve(explained.T).T
    variance = (left**2).sum(axis=0)
    unclear = variance <= LEAST_KNOWN * (scores**2).sum(axis=0)
    return left.sum(axis=0), np.where(unclear, np.inf, variance)
