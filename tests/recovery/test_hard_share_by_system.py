"""Systems whose items are hard in different shares: each share is found, under any name."""

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.data.task_files import load_task
from assay.fits.view import FitView
from assay.modelling.layers.difficulty import DEGREES
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure

RECIPE = "hierarchical + item_difficulty"
NAMES = ("a", "b", "c")
SHARES = (0.05, 0.25, 0.7)


def study(seed: int, names: tuple[str, ...] = NAMES, items: int = 400) -> pd.DataFrame:
    """Votes of five raters on items of systems that are hard in given shares."""
    rng = np.random.default_rng(seed)
    lines = []
    for name, share in zip(names, SHARES, strict=True):
        hard, truth = rng.random(items) < share, rng.random(items) < 0.6
        right = np.where(hard, 0.6, 0.95)
        said = np.where(rng.random((5, items)) < right, truth, ~truth)
        lines += [
            {"item": f"{name}{i}", "rater": f"r{j}", "system": name, "label": "ny"[int(said[j, i])]}
            for i in range(items)
            for j in range(5)
        ]
    return pd.DataFrame(lines)


def read(table: pd.DataFrame) -> assay.Ratings:
    task = load_task("single").with_classes({"label": ("n", "y")})
    return assay.read_ratings(table, task=task)


def fit_of(table: pd.DataFrame, **more: object):
    return assay.fit(
        read(table), raters=RECIPE, method="map", draws=5, starts=2, rng=1, progress=False, **more
    )


def shares(fit) -> dict[str, float]:
    """Share of hard items by system at the mode."""
    structure, values = FitView.of(fit).structure, FitView.of(fit).draws
    by_context = structure.difficulty.hard_shares(values, np)[0].sum(axis=-1)
    systems = structure.difficulty.systems
    return dict(zip(systems.levels, systems.share.T @ by_context, strict=True))


def test_the_share_of_each_system_is_found():
    fit = fit_of(study(1))
    found = shares(fit)
    assert found["a"] < 0.15
    assert 0.1 < found["b"] < 0.4
    assert 0.5 < found["c"] < 0.85
    assert 0.5 < float(fit["posterior"]["hard_share_system_sd"].mean()) < 3


def test_names_of_systems_do_not_matter():
    """Systems under other names, and so in another order, have the same shares and labels."""
    first = study(2, items=100)
    other = dict(zip(NAMES, ("z", "m", "k"), strict=True))
    second = first.assign(system=first["system"].map(other))
    one, two = fit_of(first), fit_of(second)
    for name, share in shares(one).items():
        assert shares(two)[other[name]] == pytest.approx(share, abs=1e-3)
    chance = assay.label_probabilities(one)
    np.testing.assert_allclose(chance, assay.label_probabilities(two), atol=1e-3)


def test_the_likelihood_does_not_know_names():
    first = study(3, items=20)
    other = dict(zip(NAMES, ("z", "m", "k"), strict=True))
    second = first.assign(system=first["system"].map(other))
    one, two = (build_structure(read(t), make_spec(RECIPE)) for t in (first, second))
    rng = np.random.default_rng(1)
    values = {p.name: p.draw(rng) for p in one.parameters()}
    order = [list(other.values()).index(name) for name in two.difficulty.systems.levels]
    moved = {k: v[order] if k.endswith("system_offset") else v for k, v in values.items()}
    assert two.log_likelihood(moved) == pytest.approx(one.log_likelihood(values), rel=1e-12)
    assert one.log_likelihood(moved) != pytest.approx(one.log_likelihood(values), rel=1e-6)


def test_one_system_has_one_share():
    table = study(4, items=30)
    for few in (table[table["system"] == "a"], table.drop(columns="system")):
        names = {p.name for p in build_structure(read(few), make_spec(RECIPE)).parameters()}
        assert "hard_share" in names
        assert not {name for name in names if name.startswith("hard_share_system")}


def test_a_fit_of_before_has_one_share_for_all_systems_and_one_degree():
    fit = fit_of(study(5, items=100))
    before = fit.copy()
    own = ["hard_share_system_sd", "hard_share_system_offset"]
    before["posterior"] = fit["posterior"].to_dataset().drop_vars(own)
    before.attrs["schema_version"] = 2
    now, then = FitView.of(fit).structure, FitView.of(before).structure
    assert now.difficulty.systems is not None
    assert then.difficulty.systems is None
    assert (now.difficulty.classes, then.difficulty.classes) == (1 + DEGREES, 2)
    assert now.joint_priors
    assert not then.joint_priors
    assert assay.summarize(assay.metrics(before)).notna().all()["mean"]


def test_the_prior_of_the_differences_is_refused_with_one_system():
    table = study(6, items=10)
    with pytest.raises(
        ModelError, match="not of two systems or more", check=refusal("prior-unused")
    ):
        fit_of(table[table["system"] == "a"], priors={"hard_share_system_sd": "HalfNormal(2)"})
