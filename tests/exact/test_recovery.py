"""Recovered states: Bayes' rule by enumeration, and draws with those frequencies."""

import brute
import numpy as np
import pytest
from scipy import stats
from small import SHIPPED, draw_values, small_ratings, stacked, task_named

from assay.fits.latent_states import predict_states, running_prevalence, sample_states
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

DRAWS = 8_000


def structure_of(
    name: str, seed: int, prevalence: str = "loglinear", **options: object
) -> Structure:
    ratings = small_ratings(task_named(name), seed, missing=0.1, known=True, **options)
    return build_structure(ratings, make_spec(prevalence=prevalence))


@pytest.mark.parametrize("clusters", [None, 6])
@pytest.mark.parametrize("prevalence", ["loglinear", "dirichlet"])
@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_probabilities_and_log_likelihood(name: str, prevalence: str, clusters: int | None):
    structure = structure_of(name, 1, prevalence, items=15, systems=2, clusters=clusters)
    values = draw_values(structure, 1)
    found = sample_states(structure, stacked(values), np.random.default_rng(1))
    expected = brute.state_probabilities(structure, values)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)
    by_cluster = brute.log_likelihoods(structure, values)
    np.testing.assert_allclose(found.log_likelihood[0], by_cluster, atol=1e-9)
    assert found.log_likelihood.sum() == pytest.approx(structure.log_likelihood(values), abs=1e-9)


@pytest.mark.parametrize("clusters", [None, 6])
@pytest.mark.parametrize(
    "raters",
    ["hierarchical", "hierarchical + item_difficulty", "one_coin + item_difficulty_continuous"],
)
def test_what_else_is_seen_of_items_weighs_their_states(
    raters: str, clusters: int | None, monkeypatch: pytest.MonkeyPatch
):
    ratings = small_ratings(
        task_named("retrieval"), 4, missing=0.1, known=True, items=12, clusters=clusters
    )
    structure = build_structure(ratings, make_spec(raters))
    values, rng = draw_values(structure, 4), np.random.default_rng(4)
    kind, weight = rng.integers(3, size=len(ratings.items)), rng.random((3, 5))
    more = structure.with_evidence(kind, np.log(weight))
    plain = brute.parts
    monkeypatch.setattr(
        brute, "parts", lambda s, v, *read: plain(s, v, *read) * weight[kind][:, None, :]
    )
    found = sample_states(more, stacked(values), rng)
    expected = brute.state_probabilities(structure, values)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)
    by_cluster = brute.log_likelihoods(structure, values)
    np.testing.assert_allclose(found.log_likelihood[0], by_cluster, atol=1e-9)
    assert more.log_likelihood(values) == pytest.approx(sum(by_cluster), abs=1e-9)


def test_probabilities_are_averages_over_draws_of_the_parameters():
    structure = structure_of("retrieval", 2, items=15, clusters=6)
    two = [draw_values(structure, seed) for seed in (1, 2)]
    values = {k: np.stack([v[k] for v in two]) for k in two[0]}
    found = sample_states(structure, values, np.random.default_rng(1))
    expected = np.mean([brute.state_probabilities(structure, v) for v in two], axis=0)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)


def chi_squared(observed: np.ndarray, expected: np.ndarray) -> float:
    """p-value of counts against probabilities; rare outcomes are merged."""
    rare = expected * observed.sum() < 5
    assert observed[expected == 0].sum() == 0
    seen = np.append(observed[~rare], observed[rare].sum())
    hoped = np.append(expected[~rare], expected[rare].sum()) * observed.sum()
    keep = hoped > 0
    return float(stats.chisquare(seen[keep], hoped[keep] * seen.sum() / hoped[keep].sum()).pvalue)


@pytest.mark.parametrize("clusters", [None, 5])
def test_drawn_states_have_those_frequencies(clusters: int | None):
    structure = structure_of("retrieval", 3, items=10, clusters=clusters)
    values = draw_values(structure, 3)
    found = sample_states(structure, stacked(values, DRAWS), np.random.default_rng(3))
    expected = brute.state_probabilities(structure, values)
    p_values = [
        chi_squared(np.bincount(found.states[:, i], minlength=5), expected[i])
        for i in range(len(expected))
        if (expected[i] * DRAWS >= 5).sum() > 1
    ]
    assert len(p_values) >= 5
    assert min(p_values) > 1e-3 / len(p_values)


def test_drawn_states_of_a_cluster_depend_on_each_other():
    """P(both items of a cluster are relevant) against the sum over nodes."""
    structure = structure_of("relevance", 4, items=10, clusters=5)
    values = draw_values(structure, 4) | {"cluster_loading": np.array([2.5, 1.0])}
    found = sample_states(structure, stacked(values, DRAWS), np.random.default_rng(4))
    given, prior = brute.parts(structure, values), brute.by_difficulty(structure, values)
    for items in brute.clusters(structure):
        table = np.zeros((3, 3))
        for u, w in brute.nodes(structure):
            first, second = ((prior[i](u) * given[i]).sum(axis=0) for i in items)
            table += w * np.outer(first, second)
        pairs = found.states[:, items[0]] * 3 + found.states[:, items[1]]
        assert chi_squared(np.bincount(pairs, minlength=9), (table / table.sum()).ravel()) > 1e-4


def test_new_states_have_the_prevalence_of_their_context():
    structure = structure_of("retrieval", 5, items=10, clusters=5, systems=2)
    values = draw_values(structure, 5)
    drawn = predict_states(
        structure, running_prevalence(structure, stacked(values, DRAWS)), np.random.default_rng(5)
    )
    for i, prevalence in enumerate(brute.of_all_items(structure, values)):
        expected = sum(w * np.array(prevalence(u)) for u, w in brute.nodes(structure))
        assert chi_squared(np.bincount(drawn[:, i], minlength=5), expected) > 1e-4


def test_new_states_of_a_cluster_share_its_effect():
    structure = structure_of("relevance", 6, items=10, clusters=5)
    values = draw_values(structure, 6) | {"cluster_loading": np.array([3.0, 0.0])}
    drawn = predict_states(
        structure, running_prevalence(structure, stacked(values, DRAWS)), np.random.default_rng(6)
    )
    prior = brute.of_all_items(structure, values)
    first, second = brute.clusters(structure)[0]
    table = sum(w * np.outer(prior[first](u), prior[second](u)) for u, w in brute.nodes(structure))
    pairs = np.bincount(drawn[:, first] * 3 + drawn[:, second], minlength=9)
    assert chi_squared(pairs, np.ravel(table)) > 1e-4
    other = brute.clusters(structure)[1][0]
    apart = np.outer(np.bincount(drawn[:, first]), np.bincount(drawn[:, other])).ravel() / DRAWS**2
    assert (
        chi_squared(np.bincount(drawn[:, first] * 3 + drawn[:, other], minlength=9), apart) > 1e-4
    )
