"""Coordinates of hierarchical blocks: one density by the change of variables, and its modes."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay import centring
from assay.centring import centre_informed
from assay.density import Density, make_density, settle, unconstrain
from assay.errors import FitWarning
from assay.model import Structure, build_structure
from assay.spec import make_spec


@pytest.fixture(params=["hierarchical", {"person": "hierarchical", "llm": "hierarchical"}], ids=str)
def studied(request: pytest.FixtureRequest) -> tuple[Structure, Density, Density]:
    """A structure with all hierarchical blocks, its density, and one with some blocks centred."""
    ratings = assay.simulate(
        "retrieval",
        groups={"person": 3, "llm": 2},
        n_items=40,
        n_systems=2,
        n_clusters=8,
        ratings_per_item=2,
        rng=1,
    )
    structure = build_structure(ratings, make_spec(request.param, "loglinear"))
    plain = make_density(structure)
    rng = np.random.default_rng(2)
    centred = {
        p.name: rng.integers(2, size=p.shape).astype(float) for p in plain.parameters if p.spread
    }
    assert len(centred) >= 3
    return structure, plain, make_density(structure, centred=centred)


def test_density_changes_by_the_jacobian(studied):
    _, plain, density = studied
    x = 0.5 * np.random.default_rng(3).standard_normal(density.size)
    values = density.constrain(x)
    jacobian = 0.0
    for p in density.parameters:
        if p.name in density.centred:
            sd = values[p.spread].reshape(-1)[np.broadcast_to(p.spread_at, p.shape)]
            jacobian -= (np.log(sd) * density.centred[p.name]).sum()
    assert density(x)[0] == pytest.approx(plain(unconstrain(plain, values))[0] + jacobian)


def test_gradient_is_that_of_differences(studied):
    _, _, density = studied
    x = 0.5 * np.random.default_rng(4).standard_normal(density.size)
    step = 1e-5 * np.eye(density.size)
    slopes = [(density(x + s)[0] - density(x - s)[0]) / 2e-5 for s in step]
    np.testing.assert_allclose(density(x)[1], slopes, rtol=1e-6, atol=1e-6)


def test_unconstrain_is_the_inverse(studied):
    _, _, density = studied
    x = np.random.default_rng(5).standard_normal(density.size)
    np.testing.assert_allclose(unconstrain(density, density.constrain(x)), x, atol=1e-12)
    many = np.stack([x, 2 * x])
    for name, values in density.constrain(many).items():
        np.testing.assert_allclose(values[1], density.constrain(2 * x)[name], err_msg=name)


def test_settled_points_keep_what_raters_do(studied):
    _, plain, density = studied
    x = 0.5 * np.random.default_rng(6).standard_normal(plain.size)
    before, after = plain.constrain(x), density.constrain(settle(plain, density, x))
    for p in density.parameters:
        if p.spread:
            owner = np.broadcast_to(p.spread_at, p.shape)
            was, now = (v[p.spread].reshape(-1)[owner] * v[p.name] for v in (before, after))
            np.testing.assert_allclose(now, was, err_msg=p.name)


def study(items: int) -> tuple[Structure, Density]:
    structure = build_structure(many(items), make_spec("hierarchical", "dirichlet"))
    return structure, make_density(structure)


def many(items: int) -> assay.Ratings:
    """Yes or no by 40 raters who differ, ten an item."""
    rng = np.random.default_rng(4)
    truth = rng.random(items) < 0.4
    right = 1 / (1 + np.exp(-rng.normal(1.4, 0.7, size=(2, 40))))
    rater = rng.random((items, 40)).argpartition(10, axis=1)[:, :10]
    correct = rng.random(rater.shape) < right[truth.astype(int)[:, None], rater]
    answer = np.where(correct, truth[:, None], ~truth[:, None]).astype(int)
    columns = {"item": np.repeat(np.arange(items), 10), "rater": rater.ravel()}
    return assay.read_ratings(pd.DataFrame(columns | {"label": answer.ravel()}), task="single")


def test_only_what_data_pin_down_is_centred():
    rng = np.random.default_rng(1)
    for items, expected in ((30, False), (6000, True)):
        density = centre_informed(*study(items), rng)
        assert ("logit_offset" in density.centred) == expected


def test_laplace_needs_them_where_data_are_plenty(monkeypatch):
    ratings = many(6000)
    options = {"prevalence": "dirichlet", "starts": 1, "draws": 300, "tune": 200, "chains": 2}

    def run(method: str) -> tuple[float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, method=method, progress=False, rng=1, **options)
        k_hat = json.loads(fit.attrs["diagnostics"]).get("k_hat", np.nan)
        return float(fit["posterior"]["logit_sd"].mean()), k_hat

    sd, k_hat = run("laplace")
    nuts, _ = run("nuts")
    assert k_hat < 0.7
    assert sd == pytest.approx(nuts, rel=0.15)
    monkeypatch.setattr(centring, "INFORMED", np.inf)
    sd, k_hat = run("laplace")
    assert k_hat is None or k_hat > 0.7
    assert sd > 1.5 * nuts
