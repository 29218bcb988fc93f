"""Chains that went to a mode of no weight are made again; chains that explore are left alone."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.inference.density import Density, make_density
from assay.inference.mode_search import find_modes
from assay.inference.modes import Mode, distance, labels_at
from assay.inference.stray_chains import APART, TRIES, without_stray_chains
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

Study = tuple[Structure, Density, list[Mode]]


@pytest.fixture(scope="module")
def study() -> Study:
    """Labels that can be exchanged, at the price of raters who are mostly wrong."""
    ratings = assay.simulate("single", n_items=60, n_raters=6, ratings_per_item=5, rng=2)
    structure = build_structure(ratings, make_spec("hierarchical", "dirichlet"))
    density = make_density(structure)
    return structure, density, find_modes(structure, density, np.random.default_rng(1), starts=12)


def around(place: np.ndarray, chains: int = 1) -> np.ndarray:
    return place + 1e-3 * np.random.default_rng(3).standard_normal((chains, 30, len(place)))


def stats_of(x: np.ndarray, value: float) -> dict[str, np.ndarray]:
    return {"lp": np.full(x.shape[:2], value)}


def test_a_stray_chain_is_made_again_and_named(study: Study) -> None:
    structure, density, modes = study
    light = next(mode for mode in modes if mode.weight < 1e-3)
    home, away = around(modes[0].x), around(light.x)
    x = np.concatenate([home, away, home])
    tries = []

    def run(number: int):
        tries.append(number)
        return (away, stats_of(away, 7.0)) if number == 1 else (home, stats_of(home, 8.0))

    (found, stats), notes = without_stray_chains(
        structure, density, modes[:1], (x, stats_of(x, 0.0)), run
    )
    assert tries == [1, 2]
    np.testing.assert_array_equal(found, np.concatenate([home, home, home]))
    assert stats["lp"][:, 0].tolist() == [0.0, 8.0, 0.0]
    # It strayed into the same mode twice, which is said once.
    (note,) = notes
    assert note.code == "stray-chain-remade"
    assert note.numbers["chain"] == 2


def test_chains_at_home_are_left_alone(study: Study) -> None:
    structure, density, modes = study
    x = around(modes[0].x, chains=3)
    (found, _), notes = without_stray_chains(
        structure, density, modes[:1], (x, stats_of(x, 0.0)), lambda n: pytest.fail("made again")
    )
    np.testing.assert_array_equal(found, x)
    assert notes == []


def test_a_mode_of_weight_is_part_of_the_posterior(study: Study) -> None:
    structure, density, modes = study
    light = next(mode for mode in modes if mode.weight < 1e-3)
    x = around(modes[0].x)
    # Seen from the light mode, the heavy one is the other: it must not be thrown away.
    (found, _), notes = without_stray_chains(
        structure, density, [light], (x, stats_of(x, 0.0)), lambda n: pytest.fail("made again")
    )
    np.testing.assert_array_equal(found, x)
    assert notes == []


@pytest.fixture(scope="module")
def turned() -> Study:
    """Items of five good raters, of whose names of classes weak priors say little."""
    rng = np.random.default_rng(1)
    truth = rng.random(360) < 0.45
    said = truth[:, None] ^ (rng.random((360, 5)) > 0.85)
    item, rater = np.divmod(np.arange(said.size), 5)
    frame = pd.DataFrame({"item": item, "rater": rater, "label": said.ravel().astype(int)})
    ratings = assay.read_ratings(frame, task="single")
    structure = build_structure(ratings, make_spec("dawid_skene + item_difficulty"))
    density = make_density(structure)
    return structure, density, find_modes(structure, density, np.random.default_rng(1), starts=12)


def test_a_misnamed_mode_is_no_part_of_the_result_whatever_its_weight(turned: Study) -> None:
    structure, density, modes = turned
    heavy = next(mode for mode in modes if mode.misnamed)
    assert not modes[0].misnamed
    home, away = around(modes[0].x), around(heavy.x)
    (found, _), notes = without_stray_chains(
        structure, density, modes[:1], (away, stats_of(away, 0.0)), lambda n: ([*home], {})
    )
    np.testing.assert_array_equal(found, home)
    assert notes[0].code == "stray-chain-remade"
    assert "a mirror image" in notes[0]


def test_a_chain_that_never_stays_is_told_of(turned: Study) -> None:
    structure, density, modes = turned
    away = around(next(mode for mode in modes if mode.misnamed).x)
    tries = []

    def run(number: int):
        tries.append(number)
        return [*away], {}

    _, notes = without_stray_chains(structure, density, modes[:1], (away, stats_of(away, 0.0)), run)
    assert len(tries) == TRIES
    assert len(notes) == 2
    assert (notes[-1].code, notes[-1].level) == ("stray-chain", "warning")
    assert notes[-1].numbers == {"chain": 1}


@pytest.fixture(scope="module")
def drifted() -> Study:
    """A rare class of three that shared-out items can take the place of: few labels move."""
    rng = np.random.default_rng(1)
    truth = rng.choice(3, 200, p=(0.5, 0.47, 0.03))
    chances = np.array([[0.92, 0.05, 0.03], [0.05, 0.92, 0.03], [0.2, 0.2, 0.6]])
    shared = rng.random(200) < 0.15  # between the first two classes
    rows = []
    for item, true in enumerate(truth):
        chance = np.array([0.5, 0.47, 0.03]) if shared[item] and true < 2 else chances[true]
        answers = rng.choice(3, 8, p=chance)
        rows += [(f"{item:03d}", f"r{j}", "abc"[k]) for j, k in enumerate(answers)]
    ratings = assay.read_ratings(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), task="single"
    )
    structure = build_structure(ratings, make_spec("ability_bias"))
    density = make_density(structure)
    return structure, density, find_modes(structure, density, np.random.default_rng(1), starts=8)


def test_a_known_misnamed_mode_is_left_however_few_labels_differ(drifted: Study) -> None:
    structure, density, modes = drifted
    away = max((mode for mode in modes if mode.misnamed), key=lambda mode: mode.evidence)
    labels = [labels_at(structure, density, mode.x[None]) for mode in (modes[0], away)]
    assert distance(*labels) < APART
    x = np.concatenate([around(modes[0].x), around(away.x)])
    fresh = around(modes[0].x)
    (found, _), notes = without_stray_chains(
        structure, density, modes, (x, stats_of(x, 0.0)), lambda n: (fresh, stats_of(fresh, 0.0))
    )
    np.testing.assert_array_equal(found, np.concatenate([around(modes[0].x), fresh]))
    assert len(notes) == 1
    assert (notes[0].code, notes[0].numbers["chain"]) == ("stray-chain-remade", 2)
