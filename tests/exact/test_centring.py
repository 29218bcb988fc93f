"""Coordinates of hierarchical blocks: one density by the change of variables, and its modes."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import assay
from assay._util.errors import FitWarning
from assay.inference.density import Centring, Density, make_density, unconstrain
from assay.inference.mode_search import find_modes
from assay.inference.optimise import FixedCoordinates, climb, spreads_of
from assay.inference.partial_centring import find_centred_modes, informed
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure


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
        p.name: Centring(
            rng.choice([0.0, 0.7, 30.0], size=p.shape),
            rng.normal(0, 2, size=p.shape),
            rng.uniform(0.3, 2, size=p.shape),
        )
        for p in plain.parameters
        if p.spread
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
            chosen = density.centred[p.name]
            jacobian -= 0.5 * np.log1p(chosen.information * (sd / chosen.sd) ** 2).sum()
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


def test_more_items_tell_more_of_each_offset():
    rng = np.random.default_rng(1)
    few, _ = find_centred_modes(*study(30), rng)
    assert np.median(few.centred["logit_offset"].information) < 1
    density, modes = find_centred_modes(*study(5000), rng)
    known = density.centred["logit_offset"].information
    assert np.median(known) > 9
    assert (known > 4).all()
    assert np.abs(np.delete(density(modes[0].x)[1], spreads_of(density))).max() < 1e-2


def test_a_sample_tells_of_the_whole():
    structure, density = study(300)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    once, again = (
        informed(density, mode.x, mode.spreads, times)["logit_offset"] for times in (1.0, 20.0)
    )
    np.testing.assert_allclose(again.information, 20 * once.information)
    # Data of the same kind point to the same place, however many they are.
    np.testing.assert_allclose(again.pull / again.information, once.pull / once.information)


def test_what_stands_for_an_offset_is_0_at_the_mode():
    structure, density = study(300)
    mode = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    moved = make_density(structure, centred=informed(density, mode.x, mode.spreads))
    x = unconstrain(moved, density.constrain(mode.x))
    first = moved.starts[[p.name for p in moved.parameters].index("logit_offset")]
    np.testing.assert_allclose(x[first : first + 80], 0, atol=1e-9)


def test_the_mean_does_not_pull_at_what_stands_for_the_offsets():
    """Given all else, the mode of each of them stays where it is when the mean moves."""
    density, modes = find_centred_modes(*study(300), np.random.default_rng(1))
    names = [p.name for p in density.parameters]
    blocks = [
        slice(*density.starts[names.index(n) : names.index(n) + 2])
        for n in ("logit_mean", "logit_offset")
    ]
    x, step = modes[0].x, 1e-4
    for n, position in enumerate(range(blocks[0].start, blocks[0].stop)):
        shift = step * (np.arange(density.size) == position)
        pull = (density(x + shift)[1] - density(x - shift)[1]) / (2 * step)
        own = np.array([
            (density(x + step * e)[1] - density(x - step * e)[1])[k] / (2 * step)
            for k, e in enumerate(np.eye(density.size))
        ])  # fmt: skip
        # In SDs of the offset's own, for a step of one SD of the mean alone.
        moved = (pull / np.sqrt(np.abs(own) * np.abs(own[position])))[blocks[1]].reshape(-1, 2)
        assert np.abs(moved[:, n]).max() < 0.05


def test_main_effects_do_not_pull_at_systems_that_many_items_tell_of():
    """What the data know is the sum of both, which stands in the vector."""
    ratings = assay.simulate("single", n_items=900, n_systems=6, ratings_per_item=3, rng=1)
    structure = build_structure(ratings, make_spec("hierarchical"))
    density, modes = find_centred_modes(
        structure, make_density(structure), np.random.default_rng(1)
    )
    names = [p.name for p in density.parameters]
    main, offsets = (
        np.arange(*density.starts[names.index(n) : names.index(n) + 2])
        for n in ("main", "system_offset")
    )
    x, step = modes[0].x, 1e-4
    bends = {
        n: (density(x + step * e)[1] - density(x - step * e)[1]) / (2 * step)
        for n, e in enumerate(np.eye(density.size))
        if n in {*main, *offsets}
    }
    for a in main:
        for b in offsets:
            share = bends[a][b] / np.sqrt(bends[a][a] * bends[b][b])
            assert abs(share) < 0.35


@pytest.mark.parametrize("differ", [False, True], ids=["equal raters", "raters who differ"])
def test_offsets_hang_in_no_funnel(differ):
    """What stands for an offset has an SD of about 1, whatever the SD of the raters is."""
    if differ:
        ratings = many(400)
    else:
        ratings = assay.simulate(
            "single", raters="one_coin", classes=("no", "yes"), n_items=400, n_raters=12,
            ratings_per_item=6, values={"accuracy": np.full(12, 0.8)}, prevalence="dirichlet",
            rng=1,
        )  # fmt: skip
    structure = build_structure(ratings, make_spec("hierarchical", "dirichlet"))
    density, modes = find_centred_modes(
        structure, make_density(structure), np.random.default_rng(1)
    )
    spread = spreads_of(density)
    first = density.starts[[p.name for p in density.parameters].index("logit_offset")]
    own, step = np.arange(first, first + 12), 1e-4
    for times in (0.1, 0.5, 1.0, 2.0):
        x = modes[0].x.copy()
        x[spread] += np.log(times)
        x = climb(FixedCoordinates(density, spread), x)[0]
        bends = [
            (density(x - step * e)[1] - density(x + step * e)[1])[k] / (2 * step)
            for k, e in zip(own, np.eye(density.size)[own], strict=True)
        ]
        np.testing.assert_allclose(bends, 1, atol=0.4)


def test_large_data_are_followed_in_the_coordinates_of_their_sample(monkeypatch):
    structure, density = study(300)
    plain = find_modes(structure, density, np.random.default_rng(1), starts=1)[0]
    for module in ("inference.optimise", "inference.curvature"):
        monkeypatch.setattr(f"assay.{module}.LARGE", 1000)
    found, modes = find_centred_modes(structure, density, np.random.default_rng(1))
    assert (found.centred["logit_offset"].information > 0).all()
    assert modes[0].precision is not None
    values, other = found.constrain(modes[0].x), density.constrain(plain.x)
    np.testing.assert_allclose(np.log(values["logit_sd"]), np.log(other["logit_sd"]), atol=0.4)
    np.testing.assert_allclose(values["logit_mean"], other["logit_mean"], atol=0.2)


@pytest.mark.usefixtures("departures_unsought")
def test_laplace_is_right_where_data_are_plenty():
    """Without hard items, of which these data have none: their share at 0 is nowhere normal."""
    ratings = many(5000)
    options = {
        "raters": "hierarchical", "prevalence": "dirichlet", "starts": 1, "draws": 300,
        "tune": 200, "chains": 2,
    }  # fmt: skip

    def run(method: str) -> tuple[float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, method=method, progress=False, rng=1, **options)
        k_hat = json.loads(fit.attrs["diagnostics"]).get("k_hat", np.nan)
        return float(fit["posterior"]["logit_sd"].mean()), k_hat

    sd, k_hat = run("laplace")
    nuts, _ = run("nuts")
    assert k_hat < 0.7
    assert sd == pytest.approx(nuts, rel=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("departures_unsought")
def test_laplace_does_not_hang_on_the_sample_that_modes_were_sought_on(monkeypatch):
    """Prevalences of labels in common with one SD of theirs, and raters who hardly differ."""
    ratings = assay.simulate("retrieval", n_items=4000, n_raters=15, ratings_per_item=3, rng=5)
    for module in ("inference.optimise", "inference.curvature"):
        monkeypatch.setattr(f"assay.{module}.LARGE", 2000)
    monkeypatch.setattr("assay.inference.optimise.EACH", 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        one, two = (
            assay.fit(
                ratings, raters="hierarchical", method="laplace", starts=1, draws=1000, rng=rng,
                progress=False,
            )["posterior"]
            for rng in (1, 2)
        )  # fmt: skip
    for name in ("main", "logit_mean", "logit_sd", "prevalence", "interaction_sd"):
        means, others = (f[name].mean(["chain", "draw"]).to_numpy() for f in (one, two))
        widths, theirs = (f[name].std(["chain", "draw"]).to_numpy() for f in (one, two))
        np.testing.assert_allclose(widths, theirs, rtol=0.15, err_msg=name)
        assert (np.abs(means - others) < 0.25 * widths).all(), name
