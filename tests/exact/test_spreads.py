"""SDs at the mode of their own posterior: against that posterior, integrated by brute force."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import assay
from assay.inference.coordinates import NormalScores, normal_scores
from assay.inference.curvature import curvature
from assay.inference.density import Density, make_density, unconstrain
from assay.inference.group_sd_curvature import carry, offset_places, offset_slopes
from assay.inference.group_sds import maximise_group_sds, settle_again
from assay.inference.laplace import laplace_draws, laplace_log_density, mode_scale
from assay.inference.mode_search import find_modes
from assay.inference.modes import laplace_evidence
from assay.inference.optimise import FixedCoordinates, climb, hold, prior_centre, spreads_of
from assay.inference.partial_centring import informed
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

PRIORS = {
    "HalfNormal(0.7)": stats.halfnorm(scale=0.7),
    "Exponential(2)": stats.expon(scale=0.5),
    "Gamma(3, 2)": stats.gamma(3, scale=0.5),
}


def study(sd: str = "HalfNormal(1)", items: int = 150) -> tuple[Structure, Density]:
    """Twelve raters who differ, each of half of the items."""
    ratings = assay.simulate(
        "single", classes=("no", "yes"), n_items=items, n_raters=12, ratings_per_item=6, rng=4,
        priors={"sd": "HalfNormal(1)"},
    )  # fmt: skip
    spec = make_spec("hierarchical", "dirichlet", None, {"sd": sd})
    structure = build_structure(ratings, spec)
    return structure, make_density(structure)


@pytest.mark.parametrize("sd", PRIORS)
def test_scores_are_standard_normal_under_the_prior(sd: str) -> None:
    _, density = study(sd, items=10)
    scores = normal_scores(density, spreads_of(density))
    prior, values = PRIORS[sd], np.array([[1e-4, 0.03], [0.4, 0.9], [2.0, 3.5]])
    found = scores.scores(np.log(values))
    np.testing.assert_allclose(stats.norm.cdf(found), prior.cdf(values), rtol=1e-9)
    np.testing.assert_allclose(np.exp(scores.logs(found)), values, rtol=1e-9)
    slope, bend = scores.slopes(found)
    step = 1e-5
    ahead, behind = scores.logs(found + step), scores.logs(found - step)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-6)
    further = (scores.slopes(found + step)[0] - scores.slopes(found - step)[0]) / (2 * step)
    np.testing.assert_allclose(bend, further, rtol=1e-5)


def log_marginal(density: Density, x: np.ndarray, scores: NormalScores) -> Callable[..., float]:
    """Log posterior density of the scores of the SDs, all else integrated by importance sampling.

    From a multivariate t around the peak given the SDs, with the same noise for all of them.
    """
    still = scores.at
    free = np.delete(np.arange(density.size), still)
    noise = stats.multivariate_t(np.zeros(len(free)), np.eye(len(free)), df=8, seed=1).rvs(4000)
    weight = stats.multivariate_t(np.zeros(len(free)), np.eye(len(free)), df=8).logpdf(noise)

    def found(score: np.ndarray) -> float:
        there = x.copy()
        there[still] = scores.logs(score)
        there, _ = climb(FixedCoordinates(density, still), there)
        precision = curvature(density, there, still)
        assert precision is not None
        points = np.repeat(there[None], len(noise), axis=0)
        points[:, free] += precision.draws(noise)
        ratio = np.array([density(p)[0] for p in points]) - weight
        mass = np.log(np.mean(np.exp(ratio - ratio.max()))) + ratio.max()
        jacobian = np.log(scores.slopes(score)[0]).sum()
        return float(mass - 0.5 * precision.log_determinant + jacobian)

    return found


def test_the_mode_and_its_width_are_those_of_the_integrated_posterior() -> None:
    _, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    scores = spreads.scores
    score = scores.scores(x[scores.at])
    log_density = log_marginal(density, x, scores)
    width = np.sqrt(np.diag(np.linalg.inv(spreads.information)))
    peak = log_density(score)
    for n in range(len(score)):
        along = np.zeros(len(score))
        along[n] = 1 / np.sqrt(spreads.information[n, n])
        ahead, behind = log_density(score + along), log_density(score - along)
        bend = 2 * peak - ahead - behind
        # In units of the information: the slope is next to 0, the curvature next to 1.
        assert abs(ahead - behind) / 2 < 0.3
        assert bend == pytest.approx(1, abs=0.3)
    assert (width < 1).all()


def test_no_step_goes_where_the_evidence_is_lower() -> None:
    """Raters of whom little is known, and classes of unequal size: Newton's steps lead astray."""
    ratings = assay.simulate(
        "single", classes=("no", "yes"), n_items=2000, n_raters=400, ratings_per_item=3, rng=4
    )
    density = make_density(build_structure(ratings, make_spec("hierarchical", "dirichlet")))
    held, _ = hold(density, prior_centre(density))
    x, spreads = maximise_group_sds(density, held)
    still, scores = spreads.scores.at, spreads.scores

    def evidence(x: np.ndarray) -> float:
        precision = curvature(density, x, still)
        assert precision is not None
        slope, _ = scores.slopes(scores.scores(x[still]))
        return laplace_evidence(density(x)[0], precision, precision.size) + np.log(slope).sum()

    assert evidence(x) > evidence(held) + 10


def test_sds_do_not_leave_the_mode() -> None:
    _, density = study()
    held, _ = hold(density, prior_centre(density))
    free, _ = maximise_group_sds(density, held)
    still = spreads_of(density)
    assert np.abs(free[still] - held[still]).max() > 0.1
    x, _ = maximise_group_sds(density, held, lambda _: False)
    np.testing.assert_array_equal(x, held)
    # A step of which half is allowed goes so far.
    half = np.abs(free[still] - held[still]).max() / 2
    x, _ = maximise_group_sds(
        density, held, lambda at: np.abs(at[still] - held[still]).max() < half
    )
    assert 0 < np.abs(x[still] - held[still]).max() < half


def test_the_joint_mode_is_far_from_it() -> None:
    _, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    joint, _ = climb(density, x)
    width = np.sqrt(np.diag(np.linalg.inv(spreads.information)))
    at = spreads.scores.at
    gap = spreads.scores.scores(joint[at]) - spreads.scores.scores(x[at])
    assert (gap / width > 1.5).all()


def test_the_rest_is_at_its_mode_given_the_sds() -> None:
    _, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    assert np.abs(np.delete(density(x)[1], spreads.scores.at)).max() < 1e-3
    covariance = curvature(density, x, spreads.scores.at).covariance()
    other = np.delete(np.arange(density.size), spreads.scores.at)
    offset, _, mean = offset_places(density, spreads.scores.at)
    assert (mean >= 0).all()
    for variance, *pair in zip(spreads.variance, offset, mean, strict=True):
        rows = np.searchsorted(other, pair)
        alone = 1 / np.linalg.inv(covariance[np.ix_(rows, rows)])[0, 0]
        assert variance == pytest.approx(alone, rel=1e-6)


def test_what_is_known_of_the_sds_does_not_hang_on_the_coordinates() -> None:
    structure, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    moved = make_density(structure, centred=informed(density, x, spreads))
    there = unconstrain(moved, density.constrain(x))
    given = curvature(moved, there, spreads.scores.at)
    again, found, _ = settle_again(moved, there, spreads, given)
    np.testing.assert_array_equal(again, there)
    np.testing.assert_allclose(found.information, spreads.information, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.variance, spreads.variance, rtol=1e-5)


def test_sds_of_a_sample_go_where_all_data_have_them() -> None:
    structure, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    still = spreads.scores.at
    width = np.sqrt(np.diag(np.linalg.inv(spreads.information)))
    moved = make_density(structure, centred=informed(density, x, spreads))
    for shift in (-0.5, 0.3):
        start = unconstrain(moved, density.constrain(x))
        start[still] += shift
        start, _ = climb(FixedCoordinates(moved, still), start)
        given = curvature(moved, start, still)
        again, found, _ = settle_again(moved, start, spreads, given)
        gap = spreads.scores.scores(again[still]) - spreads.scores.scores(x[still])
        assert (np.abs(gap) < 0.25 * width).all()
        told = np.diag(found.information) / np.diag(spreads.information)
        np.testing.assert_allclose(told, 1, atol=0.2)
        assert np.abs(np.delete(moved(again)[1], still)).max() < 1e-2


def test_the_curvature_is_carried_to_other_sds() -> None:
    """In whatever coordinates it is known, and near what differences of gradients say there."""
    structure, density = study()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    still = spreads.scores.at
    moved = make_density(structure, centred=informed(density, x, spreads))
    there = unconstrain(moved, density.constrain(x))
    given = curvature(moved, there, still)
    stays = carry(moved, there, given, still, moved, there)
    np.testing.assert_allclose(stays.covariance(), given.covariance(), rtol=1e-8, atol=1e-10)
    other = carry(moved, there, given, still, density, x).covariance()
    known = curvature(density, x, still).covariance()
    np.testing.assert_allclose(other, known, rtol=1e-4, atol=1e-6)
    for shift in (-0.7, 0.5):
        away = there.copy()
        away[still] += shift
        away, _ = climb(FixedCoordinates(moved, still), away)
        plain = unconstrain(density, moved.constrain(away))
        carried = carry(density, x, curvature(density, x, still), still, density, plain)
        again = carry(moved, there, given, still, moved, away)
        for one, two, here, at in (
            (carried, curvature(density, plain, still), density, plain),
            (again, curvature(moved, away, still), moved, away),
        ):
            np.testing.assert_allclose(one.variances, two.variances, rtol=0.25)
            slopes = offset_slopes(here, at, still)
            variance = np.diag(slopes @ one.covariance() @ slopes.T)
            if here is density:
                known = variance
        np.testing.assert_allclose(variance, known, rtol=1e-6)


def test_draws_have_the_widths_and_the_density_that_they_say() -> None:
    structure, density = study()
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    scores = mode.spreads.scores
    x = laplace_draws(mode, 40_000, np.random.default_rng(2))
    drawn = scores.scores(x[:, scores.at])
    covariance = np.linalg.inv(mode.spreads.information)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03 * covariance.max())
    free = np.delete(np.arange(density.size), scores.at)
    width = x[:, free].std(axis=0)
    np.testing.assert_allclose(mode_scale(mode)[free], width, rtol=0.05)
    # The ratio of two densities of the same draws averages to 1: here that of a wider normal.
    centre, spread = x.mean(axis=0), 1.1**2 * np.cov(x.T)
    ratio = stats.multivariate_normal(centre, np.cov(x.T) * 0.8).logpdf(x)
    ratio = ratio - laplace_log_density(mode, x)
    assert spread.shape == (density.size,) * 2
    assert np.mean(np.exp(ratio)) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("sd", ["HalfNormal(0.02)", "Exponential(30)", "Gamma(2, 100)"])
def test_a_prior_far_from_the_data_gives_numbers(sd: str) -> None:
    _, density = study(sd)
    scores = normal_scores(density, spreads_of(density))
    extremes = np.log(np.array([[1e-200, 1e-8], [5.0, 1e6]]))
    found = scores.scores(extremes)
    assert np.isfinite(found).all()
    assert np.isfinite(scores.logs(found)).all()
    assert np.isfinite(scores.slopes(found)).all()
    x, spreads = maximise_group_sds(density, hold(density, prior_centre(density))[0])
    assert np.isfinite(x).all()
    assert (np.linalg.eigvalsh(spreads.information) > 1 - 1e-9).all()
