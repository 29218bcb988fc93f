"""Continuous difficulty: the model's nodes against adaptive integration over x ~ Normal(0, 1)."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from small import draw_values

import assay
from assay.modelling.layers import difficulty_of
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def structure_of(raters: int) -> Structure:
    """Items of one binary label, each rated by everybody, of any number of right answers."""
    ratings = assay.simulate(
        "single",
        classes=("no", "yes"),
        n_items=12,
        n_raters=raters,
        ratings_per_item=raters,
        rng=1,
    )
    return build_structure(ratings, make_spec("one_coin + item_difficulty_continuous", "dirichlet"))


def values_of(structure: Structure, loading: float) -> dict[str, np.ndarray]:
    raters = len(structure.ratings.raters)
    return draw_values(structure, 1) | {
        "accuracy": np.linspace(0.7, 0.92, raters),
        "difficulty_rate": np.full((1, 1), loading),
    }


def error(structure: Structure, values: dict[str, np.ndarray]) -> float:
    """Of the log-likelihood, for the average item."""
    ratings, share = structure.ratings, values["state_share"][0]
    loading = float(values["difficulty_rate"][0, 0])
    total = 0.0
    for i in range(len(ratings.items)):
        rows = np.flatnonzero(ratings.item == i)
        said = [
            (float(values["accuracy"][j]), int(a))
            for j, a in zip(ratings.rater[rows], ratings.answers[rows, 0], strict=True)
        ]

        def density(x: float, said: list[tuple[float, int]] = said) -> float:
            seen = math.exp(-loading * math.exp(2 * x))
            right = [0.5 + seen * (accuracy - 0.5) for accuracy, _ in said]
            chance = [
                p * math.prod(r if a == s else 1 - r for r, (_, a) in zip(right, said, strict=True))
                for s, p in enumerate(share)
            ]
            return math.fsum(chance) * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

        pieces = [quad(density, a, a + 1, epsabs=1e-16, epsrel=1e-12)[0] for a in range(-10, 10)]
        total += math.log(math.fsum(pieces))
    return abs(structure.log_likelihood(values) - total) / len(ratings.items)


@pytest.mark.parametrize("raters", [3, 5, 10])
@pytest.mark.parametrize("loading", [0.1, 0.3, 1.0, 2.0])
def test_error_of_the_log_likelihood_of_an_item(raters: int, loading: float):
    """What the comment in the layer promises; 1 is two prior SDs."""
    structure = structure_of(raters)
    assert error(structure, values_of(structure, loading)) < 1e-6


@pytest.mark.parametrize("power", range(0, 9, 2))
def test_moments_of_the_normal(power: int):
    normal = difficulty_of({"item_difficulty_continuous"}, {})
    (weight,) = np.exp(normal.log_weight({}, np))
    double_factorial = np.prod(np.arange(power - 1, 0, -2)) if power else 1.0
    assert weight @ normal.positions**power == pytest.approx(double_factorial, rel=1e-9)
