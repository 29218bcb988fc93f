"""The cluster effect: fixed nodes against adaptive integration over u ~ Normal(0, 1)."""

from dataclasses import replace

import brute
import numpy as np
import pytest
from small import SHIPPED, draw_values, small_ratings, task_named

from assay.modelling.prevalence.design import normal_quadrature
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def clustered(name: str, seed: int) -> Structure:
    ratings = small_ratings(task_named(name), seed, items=18, clusters=6, missing=0.1)
    return build_structure(ratings, make_spec())


def error(structure: Structure, values: dict[str, np.ndarray]) -> float:
    exact = sum(brute.log_likelihoods(structure, values, adaptive=True))
    return abs(structure.log_likelihood(values) - exact)


def with_loadings(structure: Structure, size: float, seed: int) -> dict[str, np.ndarray]:
    values = draw_values(structure, seed)
    signs = np.sign(np.random.default_rng(seed).standard_normal(values["cluster_loading"].shape))
    return values | {"cluster_loading": size * signs}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SHIPPED)
def test_loadings_from_their_prior(name: str, seed: int):
    structure = clustered(name, seed)
    assert error(structure, draw_values(structure, seed)) < 1e-9


@pytest.mark.parametrize(
    ("size", "bound"), [(0.3, 1e-10), (1.0, 1e-9), (1.5, 1e-7), (2.0, 1e-5), (3.0, 1e-2)]
)
@pytest.mark.parametrize("name", ["single", "retrieval", "ais", "grounding"])
def test_large_loadings_on_every_label_at_once(name: str, size: float, bound: float):
    """What the quadrature's docstring promises, with room; 3 is 2.5 prior SDs on each label."""
    structure = clustered(name, 3)
    assert error(structure, with_loadings(structure, size, 3)) < bound


def test_one_label_with_a_loading_of_three():
    """The error belongs to the log odds between states; one label alone is integrated well."""
    structure = clustered("relevance", 1)
    values = draw_values(structure, 1)
    values["cluster_loading"] = np.array([3.0, 0.0])
    assert error(structure, values) < 1e-9


def test_the_error_falls_with_the_step():
    structure = clustered("retrieval", 3)
    values = with_loadings(structure, 3.0, 3)
    design, errors = structure.prevalence.design, []
    for step in (0.8, 0.4, 0.2, 0.1):
        nodes, log_weight = normal_quadrature(step=step)
        finer = replace(design, nodes=nodes, log_weight=log_weight)
        prevalence = replace(structure.prevalence, design=finer)
        errors.append(error(replace(structure, prevalence=prevalence), values))
    assert errors[0] > 10 * errors[1] > 100 * errors[2] > 1000 * errors[3]


@pytest.mark.parametrize("power", range(0, 13, 2))
def test_moments_of_the_normal(power: int):
    nodes, log_weight = normal_quadrature()
    double_factorial = np.prod(np.arange(power - 1, 0, -2)) if power else 1.0
    assert np.exp(log_weight) @ nodes**power == pytest.approx(double_factorial, rel=1e-9)
    assert np.exp(log_weight) @ nodes ** (power + 1) == pytest.approx(0, abs=1e-9)
