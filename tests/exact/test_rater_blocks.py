"""Precisions from products with vectors alone: equal to the same matrix, held as one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import assay
from assay.inference.curvature import curvature, lanczos, owners, rater_blocks
from assay.inference.density import Density, make_density
from assay.inference.group_sds import GroupSDs, maximise_group_sds
from assay.inference.laplace import laplace_draws, laplace_log_density, mode_root
from assay.inference.mode_search import find_modes
from assay.inference.optimise import climb, hold, prior_centre, spreads_of
from assay.inference.precision import Dense, Precision, Regressed, beside, dense
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

STUDIES: dict[str, tuple[dict[str, Any], str]] = {
    "hierarchical": ({"classes": ("no", "yes"), "ratings_per_item": 3}, "hierarchical"),
    "three classes": ({"classes": tuple("abc"), "ratings_per_item": 5}, "dawid_skene"),
    "spammers": ({"classes": tuple("abc"), "ratings_per_item": 4}, "mace"),
    "ability and bias": ({"classes": tuple("abc"), "ratings_per_item": 4}, "ability_bias"),
    "difficulty": ({"ratings_per_item": 6}, "hierarchical + item_difficulty"),
}


def study(name: str) -> tuple[Structure, Density]:
    design, raters = STUDIES[name]
    ratings = assay.simulate("single", n_items=200, n_raters=30, rng=3, **design)
    structure = build_structure(ratings, make_spec(raters, "dirichlet"))
    return structure, make_density(structure)


def settled(density: Density, x: np.ndarray) -> tuple[np.ndarray, GroupSDs]:
    found = maximise_group_sds(density, x)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def unheld(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave many vectors to products, as where the matrix is too large to hold."""
    monkeypatch.setattr("assay.inference.curvature.MAX_HELD", 0)


@pytest.fixture(scope="module", params=STUDIES)
def both(request: pytest.FixtureRequest) -> tuple[Dense, Precision]:
    """Return the curvature at a mode, as one matrix and by raters."""
    _, density = study(request.param)
    x, _ = hold(density, prior_centre(density))
    still = spreads_of(density)
    one = curvature(density, x, still)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.inference.curvature.MAX_DENSE", 5)
        blocks = curvature(density, x, still)
    assert isinstance(one, Dense)
    assert blocks is not None
    assert not isinstance(blocks, Dense)
    return one, blocks


def test_solutions_and_lengths_are_those_of_the_matrix(both: tuple[Dense, Precision]) -> None:
    one, blocks = both
    vectors = np.random.default_rng(1).standard_normal((8, one.size))
    expected = one.solve(vectors)
    np.testing.assert_allclose(blocks.solve(vectors), expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(blocks.quadratic(vectors), one.quadratic(vectors), rtol=1e-5)
    # The determinant and the variances are estimates.
    assert blocks.log_determinant == pytest.approx(one.log_determinant, abs=0.5)
    np.testing.assert_allclose(np.sqrt(blocks.variances / one.variances), 1, atol=0.15)


def test_covariances_of_blocks_are_parts_of_the_whole(both: tuple[Dense, Precision]) -> None:
    one, blocks = both
    whole = one.covariance()
    width = np.sqrt(np.outer(np.diag(whole), np.diag(whole)))
    assert isinstance(blocks, Regressed)
    several = [blocks.first, blocks.others[:1], np.array([blocks.others[0], *blocks.first[::-1]])]
    for block, found in zip(several, blocks.covariances(several), strict=True):
        at = np.ix_(block, block)
        # What a rater learns from the others is left out of the rater's own block.
        mixed = np.isin(block, blocks.others).any()
        np.testing.assert_allclose(
            found / width[at], (whole / width)[at], atol=0.15 if mixed else 1e-4
        )


def test_steps_of_many_raters_go_where_those_of_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What raters share is correlated: steps along single unknowns would cross its ridges."""
    structure, density = study("ability and bias")
    one = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    blocks = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    known, found = (mode_root(density, mode).toarray() for mode in (one, blocks))
    known, found = known @ known.T, found @ found.T
    width = np.sqrt(np.outer(np.diag(known), np.diag(known)))
    assert np.abs(known / width - np.eye(density.size)).max() > 0.5
    np.testing.assert_allclose(found / width, known / width, atol=0.2)


def test_draws_have_the_covariance_of_the_matrix(both: tuple[Dense, Precision]) -> None:
    one, blocks = both
    noise = np.random.default_rng(2).standard_normal((1000, one.size))
    draws = blocks.draws(noise)
    # In the coordinates in which the matrix is the identity, the draws are standard normal.
    white = draws @ one.factor.T
    assert 1e-3 < stats.chi2(white.size).cdf((white**2).sum()) < 1 - 1e-3
    eigenvalues = np.linalg.eigvalsh(np.cov(white.T))
    widest = (1 + np.sqrt(one.size / len(white))) ** 2
    assert eigenvalues.max() < 1.05 * widest
    assert eigenvalues.min() > (2 - np.sqrt(widest)) ** 2 / 1.05


def test_many_draws_come_from_the_matrix_if_it_can_be_held(
    both: tuple[Dense, Precision], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = both[1]
    assert isinstance(blocks, Regressed)
    many = np.random.default_rng(8).standard_normal((1000, blocks.given.size))
    slow = blocks.given.quadratic(many)
    monkeypatch.setattr("assay.inference.curvature.MAX_HELD", 10_000)
    given = replace(blocks.given)
    np.testing.assert_allclose(given.quadratic(many), slow, rtol=1e-6)
    # A draw is as far from the centre as its noise, in units of the precision.
    np.testing.assert_allclose(given.quadratic(given.draws(many)), (many**2).sum(1), rtol=1e-8)


def test_walks_are_each_others_transposes(both: tuple[Dense, Precision]) -> None:
    for precision in (*both, beside(both[1], np.array([0, 7]))):
        z, gradient = np.random.default_rng(3).standard_normal((2, precision.size))
        assert precision.walk(z) @ gradient == pytest.approx(z @ precision.walk_back(gradient))


def test_twice_the_precision(both: tuple[Dense, Precision]) -> None:
    for precision in both:
        twice = precision.times(2.0)
        x = np.random.default_rng(4).standard_normal((1, precision.size))
        assert twice.quadratic(x)[0] == pytest.approx(2 * precision.quadratic(x)[0])
        more = twice.log_determinant - precision.log_determinant
        assert more == pytest.approx(precision.size * np.log(2), abs=1e-6)
        np.testing.assert_allclose(twice.variances, precision.variances / 2, rtol=1e-4)


def test_sds_settle_where_they_do_with_the_whole_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    _, density = study("hierarchical")
    x, _ = hold(density, prior_centre(density))
    _, spreads = settled(density, x)
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    _, again = settled(density, x)
    np.testing.assert_allclose(again.information, spreads.information, atol=1e-3)
    np.testing.assert_allclose(again.variance, spreads.variance, rtol=1e-3)


def test_sds_of_many_offsets_settle_near_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """From random signs: widths within 0.23 in ten sets, and within 0.03 in eight of them."""
    ratings = assay.simulate(
        "single", classes=("no", "yes"), n_items=1500, n_raters=300, ratings_per_item=3, rng=4
    )
    density = make_density(build_structure(ratings, make_spec("hierarchical", "dirichlet")))
    x, _ = hold(density, prior_centre(density))
    at, spreads = settled(density, x)
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    again, estimated = settled(density, x)
    still = spreads.scores.at
    width, other = (np.sqrt(np.diag(np.linalg.inv(s.information))) for s in (spreads, estimated))
    np.testing.assert_allclose(other, width, rtol=0.25)
    gap = spreads.scores.scores(again[still]) - spreads.scores.scores(at[still])
    assert (np.abs(gap) < 0.7 * width).all()


@pytest.mark.usefixtures("departures_unsought")
def test_a_fit_by_raters_is_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = assay.simulate("retrieval", n_items=150, n_raters=15, ratings_per_item=5, rng=5)

    def fit() -> np.ndarray:
        with pytest.warns(assay.FitWarning, match=r"\[laplace-(rough|wrong)\]$"):
            found = assay.fit(
                ratings, method="laplace", draws=500, chains=1, starts=1, progress=False
            )
        return assay.label_probabilities(found).values

    one = fit()
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    np.testing.assert_allclose(fit(), one, atol=0.04)


def test_the_density_of_draws_is_that_of_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    structure, density = study("hierarchical")
    one = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    blocks = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    x = laplace_draws(blocks, 50, np.random.default_rng(2))
    logs = laplace_log_density(blocks, x)
    difference = logs - laplace_log_density(one, x)
    assert difference.mean() == pytest.approx(0, abs=1.0)
    assert difference.std() < 0.2 * logs.std()


def test_numbers_of_one_rater_are_found_by_their_dims() -> None:
    _, density = study("hierarchical")
    owner = owners(density)
    names = density.names()
    for n, name in enumerate(names):
        assert (owner[n] >= 0) == name.startswith("logit_offset")
    rater = [name.split("[")[1].split(",")[0] for name in names if name.startswith("logit_offset")]
    whose = owner[owner >= 0]
    assert len(set(zip(rater, whose, strict=True))) == len(set(rater)) == len(set(whose)) == 30


def test_what_is_not_positive_definite_is_refused() -> None:
    rng = np.random.default_rng(6)
    matrix = np.diag(rng.uniform(1, 2, 40))
    owner = np.repeat(np.arange(20), 2)
    assert rater_blocks(lambda v: matrix @ v, owner, 1) is not None
    # Two raters whose numbers pull at each other harder than anything holds them.
    matrix[0, 3] = matrix[3, 0] = 5.0
    assert rater_blocks(lambda v: matrix @ v, owner, 1) is None
    assert dense(matrix.copy()) is None


def test_a_density_with_no_numbers_of_raters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = assay.simulate("single", classes=tuple("abc"), n_items=40, n_raters=4, rng=1)
    density = make_density(build_structure(ratings, make_spec("pooled", "dirichlet")))
    x, _ = climb(density, prior_centre(density))
    assert curvature(density, x) is not None
    monkeypatch.setattr("assay.inference.curvature.MAX_DENSE", 5)
    assert curvature(density, x) is None


def test_lanczos_has_the_inverse_root() -> None:
    rng = np.random.default_rng(7)
    q, _ = np.linalg.qr(rng.standard_normal((60, 60)))
    values = rng.uniform(0.3, 1.6, 60)
    matrix, z = (q * values) @ q.T, rng.standard_normal(60)
    found = lanczos(lambda v: matrix @ v, z)
    expected = (q / np.sqrt(values)) @ q.T @ z
    assert np.linalg.norm(found.inverse_root() - expected) < 1e-3 * np.linalg.norm(expected)
    logs = (q * (np.log(values) - values + 1)) @ q.T
    assert found.log_form() == pytest.approx(z @ logs @ z, rel=1e-2)
