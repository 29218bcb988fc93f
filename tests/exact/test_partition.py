"""Likelihoods of pieces of the data add up, and large data take the same way as small ones."""

from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.fits import latent_states
from assay.fits.latent_states import sample_states
from assay.inference.curvature import neighbourhoods
from assay.inference.density import Density, make_density
from assay.inference.group_sds import precision_with_spreads
from assay.inference.laplace import mode_scale
from assay.inference.mode_search import (
    FORGOTTEN,
    find_modes,
    samples_of,
    seek_modes,
    starting_points,
)
from assay.inference.optimise import FixedCoordinates, climb, prior_centre
from assay.likelihood import partition
from assay.likelihood.partition import bundle_sizes, bundles_of_rows, cut, shares, take_bundles
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

STUDIES = {
    "items": {"n_items": 60},
    "clusters": {"n_items": 60, "n_systems": 2, "n_clusters": 15},
}
RECIPES = ("hierarchical", "dawid_skene + item_difficulty")
MISREAD = ("clusters", "hierarchical + misreading")


def study(
    name: str, recipe: str, times: int = 1, prevalence: str = "loglinear"
) -> tuple[Structure, Density]:
    sizes = {
        key: times * size if key != "n_systems" else size for key, size in STUDIES[name].items()
    }
    ratings = assay.simulate(
        "retrieval", **sizes, n_raters=8, ratings_per_item=2, missing=0.1, rng=3
    )
    structure = build_structure(ratings, make_spec(recipe, prevalence))
    return structure, make_density(structure)


@pytest.fixture(params=[*((s, r) for s in STUDIES for r in RECIPES), MISREAD], ids=str)
def studied(request: pytest.FixtureRequest) -> tuple[Structure, Density, np.ndarray]:
    structure, density = study(*request.param)
    x = np.random.default_rng(1).normal(size=density.size) * 0.5
    return structure, density, x


def test_pieces_add_up(studied, monkeypatch):
    _, density, x = studied
    monkeypatch.setattr(partition, "PIECE", 10)
    parts = replace(density, threads=3)
    assert len(parts.pieces) == 3
    value, gradient = density(x)
    other, also = parts(x)
    assert other == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(also, gradient, rtol=1e-9, atol=1e-9)


def test_pieces_hold_every_bundle_once(studied, monkeypatch):
    _, density, _ = studied
    monkeypatch.setattr(partition, "PIECE", 10)
    pieces = [piece for piece, _, _ in cut(density.data, 4)]
    assert sum(len(p.bundle_weight) for p in pieces) == len(density.data.bundle_weight)
    assert sum(p.bundle_weight.sum() for p in pieces) == density.data.bundle_weight.sum()
    assert sum(bundle_sizes(p).sum() for p in pieces) == bundle_sizes(density.data).sum()


def test_shares_are_runs_of_bundles_and_hold_each_once(studied, monkeypatch):
    _, density, _ = studied
    monkeypatch.setattr(partition, "PIECE", 10)
    every = shares(density.data)
    assert len(every) > 3
    terms = len(bundle_sizes(density.data))
    np.testing.assert_array_equal(np.concatenate(every), np.arange(terms))


@pytest.mark.parametrize("chosen", [np.arange(3, 9), np.array([8, 2, 3, 4])], ids=str)
def test_a_run_of_bundles_is_taken_as_any_others_are(studied, chosen, monkeypatch):
    _, density, _ = studied
    part, cells = take_bundles(density.data, chosen)
    monkeypatch.setattr(partition, "_span", lambda positions: positions)
    other, same = take_bundles(density.data, chosen)
    np.testing.assert_array_equal(cells, same)
    for name, one, two in zip(part._fields, part, other, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=name)
        assert one.dtype == two.dtype, name
        assert one.flags.c_contiguous, name


def test_a_run_of_items_is_not_copied(studied):
    _, density, _ = studied
    part, _ = take_bundles(density.data, np.arange(3, 9))
    alone = len(density.data.bundle_cells) == len(density.data.bundle_weight)
    assert np.shares_memory(part.rows, density.data.rows) == alone


def test_small_data_stay_in_one_piece(studied):
    _, density, _ = studied
    assert len(cut(density.data, 8)) == 1
    assert len(cut(density.data)) == 1


def test_bundles_of_rows_are_those_that_hold_them(studied):
    _, density, _ = studied
    data = density.data
    wanted = np.zeros(data.rows.max() + 1, bool)
    wanted[data.rows[:2]] = True
    found = bundles_of_rows(data, wanted)
    for b, is_found in enumerate(found):
        rows = take_bundles(data, np.array([b]))[0].rows
        assert is_found == wanted[rows].any()
    assert 0 < found.sum() < len(found)


def test_local_curvature_is_the_whole_one(studied, monkeypatch):
    _, density, x = studied
    monkeypatch.setattr("assay.inference.curvature.LARGE", 0)
    groups = neighbourhoods(density, x, np.arange(density.size))
    assert len(groups) > 2
    assert sorted(np.concatenate([g[0] for g in groups])) == list(range(density.size))
    whole = gradients(density, x)
    for unknowns, local in groups:
        np.testing.assert_allclose(
            gradients(local, x)[unknowns], whole[unknowns], rtol=1e-5, atol=1e-5
        )


def gradients(density: Density, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Rows of the Hessian by central differences."""
    shifts = step * np.eye(len(x))
    return np.array([(density(x + s)[1] - density(x - s)[1]) / (2 * step) for s in shifts])


@pytest.mark.parametrize("name", STUDIES)
def test_modes_of_large_data_have_the_sds_of_a_sample(name, monkeypatch):
    structure, density = study(name, "hierarchical", times=6)
    monkeypatch.setattr("assay.inference.optimise.EACH", 0)
    for module in ("inference.optimise", "inference.curvature"):
        monkeypatch.setattr(f"assay.{module}.LARGE", 200)
    found = find_modes(structure, density, np.random.default_rng(1), starts=2)[0]
    rng = np.random.default_rng(1)
    sample = samples_of(density, rng)[0]
    points = starting_points(prior_centre(density), rng, 2)
    of_sample = seek_modes(structure, sample, points, rival=FORGOTTEN)
    still = found.spreads.scores.at
    assert any((found.x[still] == mode.x[still]).all() for mode in of_sample)
    # All else is at its mode given them, on all data.
    x, height = climb(FixedCoordinates(density, still), found.x)
    assert found.height == pytest.approx(height, abs=1e-4)
    scale = mode_scale(found)
    np.testing.assert_allclose(found.x / scale, x / scale, atol=0.01)
    again = precision_with_spreads(density, x, found.spreads)
    np.testing.assert_allclose(found.precision.variances, again.variances, rtol=0.02)


def test_modes_of_large_data_without_sds_are_those_of_small(monkeypatch):
    structure, density = study("items", "dawid_skene", times=6, prevalence="dirichlet")
    plain = find_modes(structure, density, np.random.default_rng(1), starts=2)[0]
    monkeypatch.setattr("assay.inference.optimise.EACH", 0)
    for module in ("inference.optimise", "inference.curvature"):
        monkeypatch.setattr(f"assay.{module}.LARGE", 200)
    found = find_modes(structure, density, np.random.default_rng(1), starts=2)[0]
    assert found.height == pytest.approx(plain.height, abs=1e-4)
    scale = mode_scale(plain)
    np.testing.assert_allclose(found.x / scale, plain.x / scale, atol=0.01)
    np.testing.assert_allclose(found.precision.variances, plain.precision.variances, rtol=0.02)


def test_states_recovered_in_pieces_are_the_same_posterior(studied, monkeypatch):
    structure, density, x = studied
    values = {k: v[None] for k, v in density.constrain(x).items()}
    whole = sample_states(structure, values, np.random.default_rng(1))
    monkeypatch.setattr(partition, "PIECE", 10)
    parts = sample_states(structure, values, np.random.default_rng(1))
    np.testing.assert_allclose(parts.probabilities, whole.probabilities, atol=1e-12)
    np.testing.assert_allclose(parts.difficulty, whole.difficulty, atol=1e-12)
    np.testing.assert_allclose(parts.log_likelihood, whole.log_likelihood, rtol=1e-12)
    many = {k: np.repeat(v, 3000, axis=0) for k, v in values.items()}
    drawn = sample_states(structure, many, np.random.default_rng(1)).states
    share = (drawn[:, :, None] == np.arange(whole.probabilities.shape[1])).mean(axis=0)
    np.testing.assert_allclose(share, whole.probabilities, atol=0.05)


@pytest.mark.parametrize("piece", [10, 20_000])
def test_draws_that_are_one_point_take_one_pass_and_stay_the_same_draws(
    studied, piece, monkeypatch
):
    structure, density, x = studied
    passes = []

    def counted(*arguments):
        passes.append(len(arguments))
        return nodes(*arguments)

    nodes = latent_states.bundle_nodes
    monkeypatch.setattr(latent_states, "bundle_nodes", counted)
    monkeypatch.setattr(latent_states, "cores", lambda: 1)
    monkeypatch.setattr(partition, "PIECE", piece)
    pieces = len(shares(structure.pattern.data))
    values = density.constrain(np.repeat(x[None], 4, axis=0))
    once = sample_states(structure, values, np.random.default_rng(1))
    assert len(passes) == pieces
    monkeypatch.setattr(latent_states, "_pairs_of_tables", table_by_table)
    every = sample_states(structure, values, np.random.default_rng(1))
    assert len(passes) == 5 * pieces
    np.testing.assert_array_equal(once.states, every.states)
    # Tables of several draws at once differ from those of one in the last bit.
    np.testing.assert_allclose(once.probabilities, every.probabilities, rtol=1e-13)
    np.testing.assert_allclose(once.difficulty, every.difficulty, rtol=1e-13)
    np.testing.assert_allclose(once.log_likelihood, every.log_likelihood, rtol=1e-13)


def table_by_table(structure, values, _):
    """Make the tables of every draw, whether or not draws are alike; a chunk for each."""
    for one in latent_states.tables_of_draws(structure, values):
        tables = [np.array(table, order="C") for table in one.by_state()]
        yield [(tables, tables)]
