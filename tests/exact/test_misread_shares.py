"""Shares of misread clusters, by enumeration: of fits, of reliabilities and of the simulator."""

from dataclasses import replace
from itertools import product

import brute
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small import draw_values, in_sessions, repeated, small_ratings, stacked, task_named

import assay
from assay.data.misread_clusters import rows_with_readings
from assay.data.states import MISSING
from assay.fits.answer_draws import draw_answers
from assay.fits.datatree import posterior_dataset
from assay.modelling.layers import Halo
from assay.modelling.pymc_model import model_of
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

SPECS = (
    {"raters": "hierarchical + misreading"},
    {"raters": "hierarchical + misreading + lapses + halo"},
    {"raters": "pooled + misreading"},
    {"raters": "one_coin + misreading"},
    {"raters": {"human": "hierarchical + misreading", "model": "mace"}},
    {"raters": {"human": "dawid_skene + misreading", "model": "pooled + misreading"}},
)


def readings(structure: Structure, values: dict) -> list[list[tuple[float, tuple[int, ...]]]]:
    """The readings of each cluster, with their probabilities."""
    return [brute.readings(structure, values, items) for items in brute.clusters(structure)]


def clusters_of(structure: Structure, rater: int) -> list[int]:
    """Clusters with an answer of a rater."""
    ratings = structure.ratings
    shown = (ratings.answers != MISSING).any(axis=1) & (ratings.rater == rater)
    items = set(ratings.item[shown].tolist())
    return [n for n, members in enumerate(brute.clusters(structure)) if items & set(members)]


def misread(structure: Structure, every: list, raters: np.ndarray) -> float:
    """Share of their clusters that some raters misread."""
    found = [
        sum(chance for chance, read in every[c] if read[j])
        for j in raters
        for c in clusters_of(structure, j)
    ]
    return float(np.mean(found))


def built(spec: dict, raters: int, seed: int = 3) -> tuple[Structure, dict]:
    """Clusters of different numbers of raters, one of whom abstains, and large chances."""
    name = "retrieval" if "halo" in str(spec) else "relevance"
    few = small_ratings(task_named(name), seed, items=14, clusters=5, raters=raters)
    few = in_sessions(repeated(few, seed, share=0.3), seed)
    answers = few.answers.copy()
    answers[few.rater == raters - 1] = MISSING
    structure = build_structure(replace(few, answers=answers), make_spec(**spec))
    values = draw_values(structure, seed)
    rng = np.random.default_rng(seed)
    for key in values:
        if "misreading" in key:
            value = values[key]
            values[key] = rng.uniform(0.2, 0.5, value.shape) if "loading" not in key else value + 2
    return structure, values


@pytest.mark.parametrize("raters", [4, 6])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_fit_has_the_share_of_clusters_that_raters_misread(spec: dict, raters: int):
    structure, values = built(spec, raters)
    posterior = posterior_dataset(structure, stacked(values), 1)
    group = np.array([str(g) for g in structure.ratings.raters["group"]])
    alone = not isinstance(spec["raters"], str)
    every, checked = readings(structure, values), 0
    for part in structure.parts:
        if part.misreading is None:
            continue
        share = posterior[f"{part.prefix}misreading_share"][0, 0]
        for k, name in enumerate(share[share.dims[0]].values):
            here = group == part.name if alone else (group == name) | (name == "all")
            expected = misread(structure, every, np.flatnonzero(here))
            assert float(share[k]) == pytest.approx(expected, abs=1e-12)
            checked += 1
    assert checked


@pytest.mark.parametrize("raters", [4, 6])
@pytest.mark.parametrize("spec", [SPECS[0], SPECS[4]], ids=str)
def test_the_reliability_is_over_misread_clusters_as_often_as_they_are(spec: dict, raters: int):
    """P(reported | true class) of each rater, averaged over the readings of its clusters."""
    structure, values = built(spec, raters)
    every = readings(structure, values)
    states = brute.states(structure.ratings.task)
    for part in structure.parts:
        found = part.reliability(stacked(values))[0]
        chances = part.label_chances(stacked(values), part.tilt(part.own(values), 0.0, np))[0]
        for unit in range(len(part.unit_rater)):
            (rater,) = part.members[part.owners[:, unit]]
            if not clusters_of(structure, rater):
                continue
            here = [every[c] for c in clusters_of(structure, rater)]
            expected = np.zeros((len(states), len(states)))
            for direction in (-1, 0, 1):
                read = [direction] * len(structure.ratings.raters)
                chance = [sum(p for p, m in each if m[rater] == direction) for each in here]
                voice = brute.voices(structure, values, tuple(read))[rater]
                speaker = brute.speaker(structure, voice)
                said = [[speaker.probability(k, s) for k in states] for s in states]
                expected += np.mean(chance) * np.array(said)
            np.testing.assert_allclose(found[unit, 0], expected, atol=1e-9)
            np.testing.assert_allclose(chances[unit, :, 0], expected, atol=1e-9)


def test_raters_without_answers_have_the_share_of_their_group():
    """A group without answers misreads as many clusters as a rater does alone."""
    structure, values = built(SPECS[0], 4)
    first = structure.parts[0]
    shares = structure.readings.shares_of_groups(values, np)
    wrong = sum(share for share, direction in first.read_shares(values) if direction)
    assert not clusters_of(structure, 3)
    assert wrong[3] == pytest.approx(shares[structure.readings.group[3]], abs=1e-12)
    answers = structure.ratings.answers.copy()
    silent = structure.readings.group == structure.readings.group[3]
    answers[silent[structure.ratings.rater]] = MISSING
    mute = build_structure(replace(structure.ratings, answers=answers), structure.spec)
    found = mute.readings.shares_of_groups(values, np)[structure.readings.group[3]]
    assert found == values["misreading_chance"][structure.readings.group[3]]


@pytest.mark.slow
def test_a_model_in_pymc_has_the_share_too():
    import pymc as pm

    structure, values = built(SPECS[5], 4)
    model = model_of(structure)
    names = ["human.misreading_share", "model.misreading_share"]
    found = pm.draw([model[name] for name in names], random_seed=1)
    assert all(((share > 0) & (share < 1)).all() for share in found)
    assert structure.derived(values, np).keys() >= set(names)


def panels(clusters: int, raters: int, *, abstains: bool) -> assay.Ratings:
    """Clusters of two items of two classes, rated by some people and a model.

    Perhaps the last person abstains everywhere.
    """
    rows = product(range(clusters), range(2), range(raters + 1))
    frame = pd.DataFrame(rows, columns=["cluster", "place", "rater"])
    item = frame["cluster"].astype(str) + "-" + frame["place"].astype(str)
    group = np.where(frame["rater"] < raters, "human", "model")
    name = "r" + frame["rater"].astype(str)
    frame = frame.assign(item=item, label="yes", group=group)
    frame.loc[frame.index % 7 == 0, "label"] = "no"
    ratings = assay.read_ratings(
        frame.assign(rater=name), task="single", cluster="cluster", group="group"
    )
    answers = ratings.answers.copy()
    if abstains:
        answers[ratings.rater == raters - 1] = MISSING
    return replace(ratings, answers=answers)


@pytest.mark.parametrize(("raters", "abstains"), [(3, False), (3, True), (4, True)])
@pytest.mark.parametrize("model", ["hierarchical + misreading", "hierarchical"])
def test_answers_are_drawn_as_often_as_likely(model: str, raters: int, abstains: bool):
    """Only raters with answers, and with the layer, count for how many may misread a cluster."""
    spec = make_spec({"human": "hierarchical + misreading", "model": model})
    many = build_structure(panels(20_000, raters, abstains=abstains), spec)
    values = draw_values(many, 2)
    for name, value in values.items():
        if "misreading" in name:
            values[name] = np.full_like(value, 5.0 if "loading" in name else 0.4)
    rng = np.random.default_rng(3)
    states = np.zeros(len(many.ratings.items), np.int16)
    truth = many.prevalence.space.states[0]
    drawn, _ = draw_answers(many, stacked(values), states, rng)
    one = build_structure(panels(1, raters, abstains=abstains), spec)
    (every,) = readings(one, values)
    said = (one.ratings.answers != MISSING)[:, 0]
    bits = 2 ** np.arange(said.sum())
    seen = np.bincount(
        drawn[drawn != MISSING].reshape(-1, said.sum()) @ bits, minlength=2 ** len(bits)
    )
    expected = np.zeros(2 ** len(bits))
    for chance, read in every:
        voices = brute.voices(one, values, read)
        yes = [
            brute.speaker(one, voices[j]).probability((1,), tuple(truth.tolist()))
            for j in one.ratings.rater[said]
        ]
        for code in range(len(expected)):
            each = [p if code & bit else 1 - p for p, bit in zip(yes, bits, strict=True)]
            expected[code] += chance * np.prod(each)
    assert expected.sum() == pytest.approx(1, abs=1e-12)
    often = expected * seen.sum() >= 5
    pairs = [(seen[often], expected[often]), (seen[~often].sum(), expected[~often].sum())]
    observed, share = (np.hstack(one) for one in zip(*pairs, strict=True))
    kept = share * seen.sum() >= 5
    observed, share = observed[kept], share[kept] / share[kept].sum()
    assert stats.chisquare(observed, share * observed.sum()).pvalue > 1e-3


def test_large_chances_draw_at_once():
    """Nearly all clusters are misread; draws with more misreaders are not made and thrown away."""
    many = build_structure(panels(50, 30, abstains=False), make_spec("hierarchical + misreading"))
    values = draw_values(many, 2)
    values["misreading_chance"] = np.full_like(values["misreading_chance"], 1.0)
    states = np.zeros(len(many.ratings.items), np.int16)
    drawn, _ = draw_answers(many, stacked(values), states, np.random.default_rng(1))
    assert (drawn >= 0).all()


@pytest.mark.parametrize("abstains", [False, True])
def test_rows_with_readings_are_those_of_the_likelihood(abstains: bool):
    ratings = panels(6, 4, abstains=abstains)
    spec = make_spec({"human": "hierarchical + misreading", "model": "hierarchical"})
    structure = build_structure(ratings, spec)
    shown = np.bincount(ratings.item[(ratings.answers != MISSING)[:, 0]])
    each = readings(structure, draw_values(structure, 1))
    items = brute.clusters(structure)
    expected = sum(len(r) * shown[i].sum() for r, i in zip(each, items, strict=True))
    people = (ratings.raters["group"] == "human").to_numpy()
    assert rows_with_readings(ratings, people) == expected


@pytest.mark.parametrize("name", ["halo_share", "misreading_chance"])
@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_certain_impression_keeps_finite_logarithms(name: str, chance: float):
    ratings = small_ratings(task_named("retrieval"), 6, items=14, clusters=5)
    structure = build_structure(ratings, make_spec("hierarchical + halo + misreading"))
    values = draw_values(structure, 7)
    values[name] = np.full_like(values[name], chance)
    tables = structure.tables(values, np)
    assert np.isfinite(tables.response).all()
    assert np.isfinite(tables.reading).all()
    halo = structure.parts[0].halo
    assert isinstance(halo, Halo)
    unit = structure.parts[0].family.components(values, structure.parts[0].unit_rater, None, np)
    assert all(np.isfinite(weight).all() for weight, _ in halo.mix(unit, values, np))
