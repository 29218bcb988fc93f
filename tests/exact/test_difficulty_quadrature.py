"""Continuous difficulty: the model's nodes against adaptive integration over its Beta prior."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta
from small import draw_values

import assay
from assay.inference.density import make_density, unconstrain
from assay.modelling.layers import difficulty_of
from assay.modelling.layers.difficulty_nodes import CONCENTRATION, nodes_of
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

RECIPE = "one_coin + item_difficulty_continuous"


def structure_of(raters: int, recipe: str = RECIPE, items: int = 12) -> Structure:
    """Items of one binary label, each rated by everybody, of any number of right answers."""
    ratings = assay.simulate(
        "single",
        classes=("no", "yes"),
        n_items=items,
        n_raters=raters,
        ratings_per_item=raters,
        rng=1,
    )
    return build_structure(ratings, make_spec(recipe, "dirichlet"))


def values_of(structure: Structure, rate: float, mean: float) -> dict[str, np.ndarray]:
    raters = len(structure.ratings.raters)
    return draw_values(structure, 1) | {
        "accuracy": np.linspace(0.7, 0.92, raters),
        "difficulty_rate": np.full((1, 1), rate),
        "hard_share": np.array(mean),
    }


def log_likelihoods(structure: Structure, values: dict[str, np.ndarray]) -> np.ndarray:
    """Of each item, by adaptive integration."""
    ratings, share = structure.ratings, values["state_share"][0]
    rate, mean = float(values["difficulty_rate"][0, 0]), float(values["hard_share"])
    easy, hard = CONCENTRATION * (1 - mean), CONCENTRATION * mean
    found = []
    for i in range(len(ratings.items)):
        rows = np.flatnonzero(ratings.item == i)
        said = [
            (float(values["accuracy"][j]), int(a))
            for j, a in zip(ratings.rater[rows], ratings.answers[rows, 0], strict=True)
        ]

        def likelihood(h: float, said: list[tuple[float, int]] = said) -> float:
            seen = 1 - h * (1 - math.exp(-rate))
            right = [0.5 + seen * (accuracy - 0.5) for accuracy, _ in said]
            return math.fsum(
                (seen**2 * p + (1 - seen**2) / 2)
                * math.prod(r if a == s else 1 - r for r, (_, a) in zip(right, said, strict=True))
                for s, p in enumerate(share)
            )

        most = max(likelihood(h) for h in np.linspace(0, 1, 101))
        own = {"weight": "alg", "wvar": (hard - 1, easy - 1), "limit": 200}
        mass, _ = quad(
            lambda h, top=most, of=likelihood: of(h) / top,
            0,
            1,
            epsabs=1e-12,
            epsrel=1e-10,
            **own,
        )
        found.append(math.log(mass * most / beta(hard, easy)))
    return np.array(found)


@pytest.mark.parametrize("raters", [1, 3, 5, 10, 30])
@pytest.mark.parametrize("mean", [0.01, 0.2, 0.7])
@pytest.mark.parametrize("rate", [0.1, 1.0, 4.0])
def test_error_of_the_log_likelihood(raters: int, mean: float, rate: float):
    """Of the average item, below 1e-4; a rate of 4 is two prior SDs."""
    structure = structure_of(raters)
    values = values_of(structure, rate, mean)
    exact = log_likelihoods(structure, values).sum()
    assert structure.log_likelihood(values) == pytest.approx(exact, abs=12 * 1e-4)


@pytest.mark.parametrize("mean", [1e-9, 0.01, 0.2, 0.7, 1 - 1e-9])
@pytest.mark.parametrize("count", [5, 8, 16, 26, 40])
def test_moments_of_the_beta(count: int, mean: float):
    rule = nodes_of(count)
    weight = np.exp(rule.log_weight(np.log([1 - mean, mean]), np))
    assert (weight > 0).all()
    moment = 1.0
    for power in range(count):
        assert weight @ rule.positions**power == pytest.approx(moment, rel=1e-7)
        moment *= (CONCENTRATION * mean + power) / (CONCENTRATION + power)


def test_the_nodes_follow_the_number_of_answers():
    counts = [len(structure_of(n).difficulty.positions) for n in (1, 5, 10, 40)]
    assert counts == [4, 6, 7, 12]
    assert difficulty_of({"item_difficulty_continuous"}, {}, nodes=9).classes == 9


def test_no_difficulty_is_the_model_without():
    """In the limit of a mean of 0, as with a rate of 0."""
    plain = structure_of(5, "hierarchical")
    rich = structure_of(5, "hierarchical + item_difficulty_continuous")
    values = draw_values(rich, 3)
    expected = plain.log_likelihood(values)
    for none in ({"hard_share": np.array(1e-14)}, {"difficulty_rate": np.zeros((1, 1))}):
        assert rich.log_likelihood(values | none) == pytest.approx(expected, abs=1e-8)
    assert rich.log_likelihood(values) != pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("family", ["hierarchical", "ability_bias"])
def test_the_gradient_is_that_of_finite_differences(family: str):
    structure = structure_of(5, f"{family} + item_difficulty_continuous", 30)
    density = make_density(structure, threads=1)
    x = unconstrain(density, draw_values(structure, 5))
    gradient = density(x)[1]
    for n in range(density.size):
        step = np.zeros(density.size)
        step[n] = 1e-5
        moved = (density(x + step)[0] - density(x - step)[0]) / 2e-5
        assert gradient[n] == pytest.approx(moved, rel=1e-5, abs=1e-6)
