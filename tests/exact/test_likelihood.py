"""Marginal log-likelihood = enumeration of states, answer vectors and completions."""

import brute
import numpy as np
import pytest
from small import (
    FAMILIES,
    SHIPPED,
    draw_values,
    resolved,
    small_ratings,
    task_named,
    with_strengths,
)

from assay.data.ratings import Ratings
from assay.data.states import state_space
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

EXACT = {"rel": 1e-11, "abs": 1e-9}


def agree(
    ratings: Ratings, seed: int, raters: str = "hierarchical", prevalence: str = "loglinear"
) -> None:
    structure = build_structure(ratings, make_spec(raters, prevalence))
    values = draw_values(structure, seed)
    expected = sum(brute.log_likelihoods(structure, values))
    assert structure.log_likelihood(values) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_states_and_paths_are_those_of_a_plain_search(name: str):
    task = task_named(name)
    space = state_space(task)
    assert sorted(map(tuple, space.states)) == sorted(brute.states(task))
    assert sorted(map(tuple, space.paths)) == sorted(brute.paths(task))
    assert [tuple(s) for s in space.states] == brute.states(task)  # the order that brute relies on


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_every_family_on_every_task(name: str, family: str, seed: int):
    agree(small_ratings(task_named(name), seed), seed, family)


@pytest.mark.parametrize("family", ["joint", "ordinal"])
@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize(
    ("name", "resolve"), resolved("retrieval", "grounding", "generation", "ais", "gated")
)
def test_families_of_some_tasks(name: str, resolve: str, partial: str, family: str):
    ratings = small_ratings(task_named(name), 6, missing=0.2, partial=partial, resolve=resolve)
    agree(ratings, 6, family)


@pytest.mark.parametrize("seed", range(3))
def test_ordered_classes(seed: int):
    agree(small_ratings(task_named("relevance"), seed, items=15), seed, "ordinal")


@pytest.mark.parametrize("resolve", ["retry", "repair"])
@pytest.mark.parametrize("response", ["block", "warn", "off", "mixed"])
@pytest.mark.parametrize("truth", ["hard", "soft", "off", "mixed"])
@pytest.mark.parametrize("name", ["retrieval", "grounding", "gated"])
def test_every_strength_of_rules(name: str, truth: str, response: str, resolve: str):
    truths = ("soft", "hard") if truth == "mixed" else (truth,)
    responses = ("warn", "block") if response == "mixed" else (response,)
    task = with_strengths(task_named(name), truths, responses)
    agree(small_ratings(task, 5, resolve=resolve, known=True), 5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize(("name", "resolve"), resolved(*SHIPPED, "gated"))
def test_missing_answers(name: str, partial: str, resolve: str, seed: int):
    task = task_named(name)
    ratings = small_ratings(task, seed, missing=0.3, partial=partial, resolve=resolve)
    agree(ratings, seed)


@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize("resolve", ["retry", "repair"])
@pytest.mark.parametrize("name", ["retrieval", "grounding", "gated"])
def test_missing_answers_under_warnings(name: str, resolve: str, partial: str):
    task = with_strengths(task_named(name), ("soft", "off"), ("warn", "block"))
    ratings = small_ratings(task, 8, missing=0.3, partial=partial, resolve=resolve)
    agree(ratings, 8, "dawid_skene")


@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize("name", ["ais", "gated"])
def test_missing_answers_without_active_rules(name: str, partial: str):
    task = with_strengths(task_named(name), ("off",), ("off",))
    agree(small_ratings(task, 2, items=20, missing=0.4, partial=partial), 2)


@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_known_truth_systems_ranks_and_strata(name: str, prevalence: str):
    ratings = small_ratings(
        task_named(name), 4, items=12, systems=3, ranked=True, strata=2, known=True
    )
    agree(ratings, 4, "hierarchical", prevalence)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_cluster_effects_on_the_models_own_nodes(name: str, seed: int):
    ratings = small_ratings(
        task_named(name), seed, items=18, clusters=6, systems=2, ranked=True, known=True
    )
    agree(ratings, seed)


@pytest.mark.parametrize("seed", range(2))
def test_a_dirichlet_prevalence_has_no_cluster_effect(seed: int):
    ratings = small_ratings(task_named("retrieval"), seed, items=18, clusters=6, systems=2)
    agree(ratings, seed, "hierarchical", "dirichlet")


def test_each_part_of_the_data_counts():
    """The comparisons above would be idle if the data or the parameters did not matter."""
    task = task_named("retrieval")
    ratings = small_ratings(task, 1, known=True, missing=0.2)
    structure = build_structure(ratings, make_spec())
    here = structure.log_likelihood(draw_values(structure, 1))
    elsewhere = structure.log_likelihood(draw_values(structure, 2))
    other = build_structure(small_ratings(task, 2, known=True, missing=0.2), make_spec())
    assert (
        len(
            {
                round(here, 6),
                round(elsewhere, 6),
                round(other.log_likelihood(draw_values(structure, 1)), 6),
            }
        )
        == 3
    )
    assert np.isfinite(here)
