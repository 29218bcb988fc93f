"""The coordinates of the sampler: positive unknowns by their normal scores."""

import ctypes
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

import assay
from assay.inference.coordinates import Preconditioner, Start, arrays_of, exponential_scores
from assay.inference.density import make_density
from assay.inference.optimise import prior_centre
from assay.likelihood import density as densities
from assay.likelihood.c_functions import c_functions, cards
from assay.likelihood.compiling import compiled
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

PRIORS = {
    "half-normal": {"sd": "HalfNormal(0.6)"},
    "exponential": {"sd": "Exponential(2)"},
    "gamma": {"sd": "Gamma(3, 4)"},
}


@pytest.fixture(scope="module", params=PRIORS)
def walk(request: pytest.FixtureRequest) -> Preconditioner:
    ratings = assay.simulate("retrieval", n_items=20, n_raters=4, ratings_per_item=2, rng=1)
    spec = make_spec("hierarchical", "loglinear", None, PRIORS[request.param])
    density = make_density(build_structure(ratings, spec))
    rng = np.random.default_rng(2)
    # Steps of an unknown hang on its own number, and on some of those before.
    root = np.tril(rng.normal(0, 0.2, (density.size, density.size)), -1)
    root[rng.random(root.shape) < 0.7] = 0
    np.fill_diagonal(root, rng.uniform(0.2, 1.0, density.size))
    start = Start(centre=prior_centre(density), root=csr_array(root))
    return Preconditioner(density=density, start=start, draws=1, tune=1, target_accept=0.8)


def test_positive_unknowns_are_found(walk: Preconditioner) -> None:
    names = {walk.density.names()[n].split("[")[0] for n in walk.scores.at}
    assert "logit_sd" in names
    assert all(name.endswith("_sd") for name in names)


def test_the_prior_median_is_near_the_middle(walk: Preconditioner) -> None:
    at = walk.scores.at
    scores = walk.scores.scores(walk.start.centre[at])
    assert (np.abs(scores) < 0.5).all()


def test_the_score_of_the_compiled_code_is_that_of_the_exponential_distribution() -> None:
    log_of_score = compiled()(densities.log_of_score)
    scores = np.array([-8.0, -3.0, -0.1, 0.0, 0.2, 2.5, 7.0])
    found = np.array([log_of_score(score) for score in scores])
    expected = np.log(
        np.where(scores < 0, -np.log1p(-stats.norm.cdf(scores)), -stats.norm.logsf(scores))
    )
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9, atol=1e-12)
    step = 1e-5
    ahead = np.array([log_of_score(score + step) for score in scores])
    behind = np.array([log_of_score(score - step) for score in scores])
    slopes = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(found[:, 1], slopes[:, 0], rtol=1e-6)
    bend = (np.log(ahead[:, 1]) - np.log(behind[:, 1])) / (2 * step)
    np.testing.assert_allclose(found[:, 2], bend, rtol=1e-5, atol=1e-9)


def test_a_density_takes_no_address_to_another_process(walk: Preconditioner) -> None:
    value, gradient = walk.density(walk.start.centre)
    assert {"arrays", "_cards"} <= set(vars(walk.density))
    copy = pickle.loads(pickle.dumps(walk.density))
    assert not {"arrays", "_cards"} & set(vars(copy))
    again, by_x = copy(walk.start.centre)
    assert again == value
    np.testing.assert_array_equal(by_x, gradient)


def test_points_go_there_and_back(walk: Preconditioner) -> None:
    z = np.random.default_rng(3).standard_normal((6, walk.density.size))
    x, _ = walk.points(z)
    centre, root = walk.units
    at = walk.scores.at
    x[:, at] = exponential_scores(walk.density).scores(x[:, at])
    np.testing.assert_allclose(np.linalg.solve(root.toarray(), (x - centre).T).T, z, atol=1e-8)


def at_point(walk: Preconditioner, z: np.ndarray) -> tuple[float, np.ndarray]:
    """Call the compiled density as the sampler does."""
    arrays = arrays_of(walk)
    table, value, gradient = cards(*arrays), np.zeros(1), np.zeros(len(z))
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)
    found = call(c_functions()[0].address)(
        len(z), z.ctypes.data, gradient.ctypes.data, value.ctypes.data, table.ctypes.data
    )
    assert found == 0
    return float(value[0]), gradient


def test_the_sampler_sees_the_density_with_the_jacobian_of_the_scores(walk: Preconditioner) -> None:
    rng = np.random.default_rng(4)
    for z in rng.standard_normal((4, walk.density.size)):
        value, gradient = at_point(walk, z)
        x, jacobian = walk.points(z[None])
        assert value == pytest.approx(walk.density(x[0])[0] + jacobian[0], rel=1e-10)
        step = 1e-5
        for n in [*walk.scores.at, 0, len(z) - 1]:
            shift = np.zeros(len(z))
            shift[n] = step
            slope = (at_point(walk, z + shift)[0] - at_point(walk, z - shift)[0]) / (2 * step)
            assert gradient[n] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_draws_of_sds_that_nothing_informs_are_those_of_the_prior() -> None:
    ratings = assay.simulate(
        "single", classes=("no", "yes"), n_items=2, n_raters=2, ratings_per_item=1, rng=1
    )
    fit = assay.fit(
        ratings, priors={"sd": "HalfNormal(0.6)"}, draws=1000, tune=500, progress=False, rng=1
    )
    draws = fit.posterior["logit_sd"].values[:, ::10].reshape(-1, 2)
    for sd in draws.T:
        assert stats.kstest(sd, stats.halfnorm(scale=0.6).cdf).pvalue > 1e-3
