"""Misread clusters: draws with the frequencies of the posterior, and answers with the model's."""

from dataclasses import replace
from itertools import product
from math import comb

import brute
import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from scipy import stats
from small import draw_values, small_ratings, stacked, task_named

import assay
from assay._util.errors import ModelError
from assay.data.misread_clusters import MANY_RATERS, number_of_readings
from assay.fits import answer_draws, latent_states
from assay.fits.latent_states import sample_states
from assay.fits.simulate import simulate_answers
from assay.likelihood import partition
from assay.modelling.readings import patterns
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

DRAWS = 8_000
SPEC = make_spec("hierarchical + misreading")
STRONG = {"misreading_loading": 4.0, "misreading_chance": 0.3}


def values_of(structure: Structure, seed: int) -> dict[str, np.ndarray]:
    """A draw of the prior, with misreadings that matter."""
    values = draw_values(structure, seed)
    return values | {name: np.full_like(values[name], value) for name, value in STRONG.items()}


def counted(found: np.ndarray, expected: np.ndarray) -> float:
    """p-value of codes against their probabilities; rare ones are merged."""
    seen = np.bincount(found, minlength=len(expected))
    rare = expected * len(found) < 5
    pairs = [(n, p) for n, p, few in zip(seen, expected, rare, strict=True) if not few]
    if expected[rare].sum() * len(found) >= 5:
        pairs.append((seen[rare].sum(), expected[rare].sum()))
    observed, share = np.transpose(pairs)
    return float(stats.chisquare(observed, share / share.sum() * observed.sum()).pvalue)


@pytest.mark.parametrize(
    ("raters", "count"), [(0, 1), (1, 3), (2, 9), (3, 19), (4, 9), (5, 11), (20, 41)]
)
def test_readings_have_at_most_two_who_misread_or_one_of_many(raters: int, count: int):
    found = patterns(raters)
    assert len(found) == len({tuple(row) for row in found}) == count == number_of_readings(raters)
    assert (found > 0).sum(axis=1).max(initial=0) == min(raters, 2 if raters <= MANY_RATERS else 1)
    assert not found[0].any()


@pytest.mark.parametrize("pieces", [False, True])
def test_drawn_states_of_a_cluster_depend_on_each_other(
    pieces: bool, monkeypatch: pytest.MonkeyPatch
):
    """P(both items of a cluster are relevant) against the sum over readings and nodes."""
    if pieces:
        monkeypatch.setattr(partition, "PIECE", 20)
    ratings = small_ratings(task_named("relevance"), 4, items=10, clusters=5)
    structure = build_structure(ratings, SPEC)
    assert (len(latent_states.shares(structure.pattern.data)) > 1) == pieces
    values = values_of(structure, 4)
    found = sample_states(structure, stacked(values, DRAWS), np.random.default_rng(4))
    given, prior = brute.evidence(structure, values)
    for items in brute.clusters(structure):
        table = np.zeros((3, 3))
        here = product(brute.nodes(structure), brute.readings(structure, values, items))
        for (u, w), (chance, read) in here:
            first, second = ((prior[i](u) * given(read)[i]).sum(axis=0) for i in items)
            table += w * chance * np.outer(first, second)
        pairs = found.states[:, items[0]] * 3 + found.states[:, items[1]]
        assert counted(pairs, (table / table.sum()).ravel()) > 1e-4
    expected = brute.state_probabilities(structure, values)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-9)


def pairs_of_items(clusters: int, raters: int) -> assay.Ratings:
    """Clusters of two items of two classes, which all raters rate."""
    rows = product(range(clusters), range(2), range(raters))
    frame = pd.DataFrame(rows, columns=["cluster", "place", "rater"])
    item = frame["cluster"].astype(str) + "-" + frame["place"].astype(str)
    frame = frame.assign(item=item, rater="r" + frame["rater"].astype(str), label="yes")
    frame.loc[frame.index % 7 == 0, "label"] = "no"
    return assay.read_ratings(frame, task="single", cluster="cluster")


def with_answers(structure: Structure, answers: np.ndarray) -> Structure:
    return build_structure(replace(structure.ratings, answers=answers), structure.spec)


@pytest.mark.parametrize("raters", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_clusters_show_each_pattern_as_often_as_its_likelihood_says(raters: int):
    """And a share of misread clusters that is a little wrong shows."""
    many = build_structure(pairs_of_items(40_000, raters), SPEC)
    values = values_of(many, 2)
    drawn = simulate_answers(many, values, np.random.default_rng(3)).answers[:, 0]
    bits = 2 ** np.arange(2 * raters)
    seen = drawn.reshape(-1, 2 * raters) @ bits
    every = np.array(list(product((0, 1), repeat=2 * raters)), np.int16)[:, ::-1]
    each = build_structure(pairs_of_items(len(every), raters), SPEC)
    each = with_answers(each, every.reshape(-1, 1))

    def chances(values: dict) -> np.ndarray:
        return np.exp(brute.log_likelihoods(each, values))

    assert chances(values).sum() == pytest.approx(1, abs=1e-9)
    assert counted(seen, chances(values)) > 1e-3
    wrong = values | {"misreading_chance": np.array([0.2])}
    assert counted(seen, chances(wrong)) < 1e-6


def test_misreading_needs_clusters_of_several_items():
    alone = small_ratings(task_named("relevance"), 1)
    with pytest.raises(ModelError, match="clusters of several", check=refusal("layer-unfit")):
        build_structure(alone, SPEC)


@pytest.mark.parametrize("point", ["misreading_chance", "misreading_loading"])
def test_without_misreadings_the_model_is_the_simpler_one(point: str):
    ratings = small_ratings(task_named("retrieval"), 6, items=14, systems=2, clusters=5)
    simple = build_structure(ratings, make_spec("hierarchical"))
    rich = build_structure(ratings, SPEC)
    values = draw_values(rich, 7)
    none = values | {point: values[point] * 0 + (1e-15 if "chance" in point else 0.0)}
    shared = {name: values[name] for name in (p.name for p in simple.parameters())}
    expected = simple.log_likelihood(shared)
    assert rich.log_likelihood(none) == pytest.approx(expected, abs=1e-9)
    assert abs(rich.log_likelihood(values) - expected) > 1e-4


def with_a_rater_who_abstains(raters: int, clusters: int) -> Structure:
    """Clusters of two items, of which the last of ``raters`` answers none."""
    ratings = pairs_of_items(clusters, raters)
    answers = np.where((ratings.rater == raters - 1)[:, None], -1, ratings.answers)
    return build_structure(replace(ratings, answers=answers.astype(np.int16)), SPEC)


@pytest.mark.parametrize(("raters", "most"), [(3, 2), (4, 2), (6, 1)])
def test_reliability_has_the_share_of_clusters_that_raters_misread(raters: int, most: int):
    """Few raters misread a cluster at once, so the share is below that of a rater alone."""
    structure = with_a_rater_who_abstains(raters, 3)
    values = values_of(structure, 2)
    odds, total = 0.3 / 0.7, raters - 1
    chance = np.array([comb(total, k) * odds**k for k in range(most + 1)])
    share = float(chance @ np.arange(most + 1) / chance.sum() / total)
    found = structure.readings.shares_of_groups(values, np)
    assert found == pytest.approx(share, abs=1e-12)
    right, down, up = (
        np.exp(structure.parts[0]._components(values, None, np, way)[0][1]) for way in (0, -1, 1)
    )
    mean = (1 - share) * right + share / 2 * (down + up)
    found = structure.parts[0].reliability({name: value[None] for name, value in values.items()})
    np.testing.assert_allclose(found[0, :, 0], mean[:, :2], atol=1e-9)


@pytest.mark.parametrize("raters", [4, 6])
def test_raters_without_answers_do_not_count_when_answers_are_drawn(raters: int):
    structure = with_a_rater_who_abstains(raters, 4_000)
    values = stacked(values_of(structure, 2), 1)
    answered = structure.ratings.answers >= 0
    told = answered.any(axis=1)
    read = answer_draws._draw_readings(structure, values, answered, np.random.default_rng(5))
    share = structure.readings.shares_of_groups(values, np)[0, 0]
    assert (read[told] > 0).mean() == pytest.approx(share, abs=4 * (share / 12_000) ** 0.5)
    assert not read[~told].any()
