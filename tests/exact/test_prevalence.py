"""Prevalence tables: probabilities, the base measure of gates, coding, contexts."""

import brute
import numpy as np
import pytest
from small import SHIPPED, draw_values, small_ratings, stacked, task_named, with_strengths

from assay.data.rules import NOT_ASKED
from assay.fits.latent_states import sample_states
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


def structure_of(task, prevalence: str = "loglinear", **options: object) -> Structure:
    return build_structure(
        small_ratings(task, 9, items=15, **options), make_spec(prevalence=prevalence)
    )


def zeros(structure: Structure) -> dict[str, np.ndarray]:
    return {k: np.zeros_like(v) for k, v in draw_values(structure, 1).items()}


@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_tables_add_up_to_one(name: str, prevalence: str):
    structure = structure_of(task_named(name), prevalence, systems=2, ranked=True, clusters=6)
    values = stacked(draw_values(structure, 2), 3)
    table = structure.prevalence.table(values, np)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-12)
    marginal = structure.prevalence.marginal(table, np)
    assert marginal.shape == (3, 2, len(structure.prevalence.space.states))
    np.testing.assert_allclose(marginal.sum(axis=-1), 1, atol=1e-12)


@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
def test_the_marginal_averages_places_and_clusters(prevalence: str):
    structure = structure_of(task_named("retrieval"), prevalence, systems=2, clusters=6)
    values = draw_values(structure, 3)
    found = structure.prevalence.marginal(structure.prevalence.table(values, np), np)
    panels = structure.ratings.panels
    each = [
        sum(w * np.array(p(u)) for u, w in brute.nodes(structure))
        for p in brute.prevalences(structure, values)
    ]
    for n, system in enumerate(structure.ratings.systems):
        expected = np.mean(
            [each[i] for i in panels.loc[panels["system"] == system, "item"]], axis=0
        )
        np.testing.assert_allclose(found[n], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["retrieval", "grounding", "gated"])
def test_forbidden_states_have_no_mass(name: str):
    task = task_named(name)
    structure = structure_of(task, known=True)
    hard = [r.expression for r in task.rules if r.truth == "hard"]
    states = [tuple(int(c) for c in s) for s in structure.prevalence.space.states]
    assert hard
    assert all(brute.holds(task, text, s) for text in hard for s in states)
    broken = [p for p in brute.paths(task) if not all(brute.holds(task, t, p) for t in hard)]
    assert broken
    assert not set(broken) & set(states)
    found = sample_states(
        structure, stacked(draw_values(structure, 4), 50), np.random.default_rng(1)
    )
    for i, known in enumerate(structure.ratings.truth):
        wrong = [
            any(k not in (brute.MISSING, c) for k, c in zip(known, s, strict=True)) for s in states
        ]
        assert not found.probabilities[i, wrong].any()
        assert not np.isin(found.states[:, i], np.flatnonzero(wrong)).any()


def test_base_measure_of_gates_gives_each_question_that_is_asked_equal_odds():
    structure = structure_of(task_named("ais"))
    table = structure.prevalence.table(zeros(structure), np)[0, 0]
    expected = {
        (1, NOT_ASKED, NOT_ASKED): 1 / 2,
        (0, 0, NOT_ASKED): 1 / 4,
        (0, 1, 0): 1 / 8,
        (0, 1, 1): 1 / 8,
    }
    found = {
        tuple(int(c) for c in s): p
        for s, p in zip(structure.prevalence.space.states, table, strict=True)
    }
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["retrieval", "grounding", "generation", "relevance", "single"])
def test_without_gates_the_base_measure_is_uniform(name: str):
    structure = structure_of(task_named(name))
    table = structure.prevalence.table(zeros(structure), np)
    np.testing.assert_allclose(table, 1 / table.shape[-1], atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 4, 7])
def test_classes_are_corners_of_a_simplex_with_edges_of_one(classes: int):
    task = task_named("single").with_classes({"label": tuple("abcdefg"[:classes])})
    corners = structure_of(task).prevalence.main[0]
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
    np.testing.assert_allclose(distance, 1 - np.eye(classes), atol=1e-12)
    np.testing.assert_allclose(corners.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("truth", ["hard", "soft", "off"])
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_no_column_is_collinear(name: str, truth: str):
    structure = structure_of(with_strengths(task_named(name), (truth,), ("off",)))
    prevalence = structure.prevalence
    columns = [
        np.ones((len(prevalence.main[0]), 1)),
        prevalence.main[0],
        prevalence.interactions[0],
    ]
    every = np.concatenate([*columns, prevalence.space.soft], axis=1)
    assert np.linalg.matrix_rank(every) == every.shape[1]


def test_a_soft_penalty_makes_its_states_rarer():
    structure = structure_of(with_strengths(task_named("retrieval"), ("soft",), ("off",)))
    values = zeros(structure) | {"penalty": np.array([np.log(4.0), 0.0])}
    table = structure.prevalence.table(values, np)[0, 0]
    breaks = structure.prevalence.space.soft[:, 0]
    assert table[breaks] == pytest.approx(table[~breaks][0] / 4)
