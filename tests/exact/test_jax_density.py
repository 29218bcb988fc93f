"""The density in JAX is the density: value and gradient, for every task, family and layer."""

from dataclasses import replace

import numpy as np
import pytest
from small import (
    SHIPPED,
    audited,
    in_sessions,
    repeated,
    small_ratings,
    task_named,
    with_scores,
    with_strengths,
)

from assay import jax_density, jax_likelihood
from assay.density import make_density
from assay.errors import FitError
from assay.jax_density import JaxDensity, double_precision, make_jax_density
from assay.jax_likelihood import flatten_data
from assay.model import Structure, build_structure
from assay.ratings import Ratings
from assay.spec import make_spec

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("numpyro", reason="NumPyro is not installed")

RECIPES: dict[str, dict] = {
    "difficulty": {"raters": "hierarchical + item_difficulty"},
    "difficulty and drift": {"raters": "dawid_skene + item_difficulty + drift"},
    "continuous": {"raters": "one_coin + item_difficulty_continuous + system_bias"},
    "by rater": {"raters": "dawid_skene + item_difficulty_by_rater + drift"},
    "by class": {"raters": "hierarchical + item_difficulty_by_class + system_bias"},
    "drift": {"raters": "pooled + drift"},
    "lapses": {"raters": "hierarchical + lapses + item_difficulty"},
    "scores": {"raters": "scored + drift + item_difficulty"},
    "gold": {"reference": "gold"},
    "group": {"reference": "human", "raters": "class_conditional + item_difficulty + drift"},
    "mixed": {
        "reference": "human",
        "raters": {"human": "mace + drift", "model": "scored + item_difficulty"},
    },
    "joint": {"raters": "joint + item_difficulty", "prevalence": "dirichlet"},
    "ordinal": {"raters": "ordinal + system_bias", "replicates": "independent"},
}


def ratings_of(name: str, **options: object) -> Ratings:
    """Warned, blocked and soft rules, gates, missing answers, known truth, contexts, clusters."""
    task = with_strengths(task_named(name), ("hard", "soft"), ("block", "warn"))
    base = {"items": 14, "systems": 2, "clusters": 6, "missing": 0.15, "known": True}
    return small_ratings(task, 3, **{**base, **options})


def with_everything(name: str) -> Ratings:
    """Sessions, scores, replicates and audits besides."""
    few = ratings_of(name, items=11, clusters=4, ranked=True, missing=0.1)
    return audited(with_scores(in_sessions(repeated(few, 4, share=0.4), 4), 4), 4)


def at_once(density: JaxDensity, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and gradient, compiled with little optimisation, in half the time."""
    with double_precision():
        both = jax.value_and_grad(density.function, argnums=1)
        quick = jax.jit(both, compiler_options={"xla_backend_optimization_level": 0})
        value, gradient = quick(density.constants, x)
        return float(value), np.asarray(gradient)


def agree(structure: Structure, seed: int = 1) -> None:
    """The two densities, at a point with no structure."""
    density, other = make_density(structure), make_jax_density(structure)
    assert density.size == other.size
    x = 0.7 * np.random.default_rng(seed).standard_normal(density.size)
    value, gradient = density(x)
    found, along = at_once(other, x)
    assert found == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(along, gradient, rtol=1e-7, atol=1e-7)
    assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("name", [*SHIPPED, "gated"])
def test_every_task(name: str):
    agree(build_structure(ratings_of(name, resolve="repair"), make_spec()))


@pytest.mark.parametrize("partial", ["lost", "draft"])
@pytest.mark.parametrize(
    "family",
    ["ability_bias", "dawid_skene", "one_coin", "class_conditional", "pooled", "mace", "joint"],
)
def test_every_family(family: str, partial: str):
    agree(build_structure(ratings_of("gated", partial=partial), make_spec(family)))


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_layer(recipe: str):
    agree(build_structure(with_everything("gated"), make_spec(**RECIPES[recipe])))


@pytest.mark.parametrize("raters", ["pooled", "hierarchical + item_difficulty"])
def test_items_without_clusters(raters: str):
    ratings = ratings_of("ais", clusters=None, systems=3, ranked=True, strata=2)
    structure = build_structure(ratings, make_spec(raters, "dirichlet"))
    assert not structure.prevalence.has_clusters
    agree(structure)


@pytest.mark.parametrize("prior", ["HalfNormal(0.3)", "Exponential(2)", "Gamma(2, 3)"])
def test_priors_of_a_scale(prior: str):
    ratings = ratings_of("retrieval", items=5, systems=1, clusters=None)
    agree(build_structure(ratings, make_spec(priors={"sd": prior})))


def test_a_group_whose_raters_never_answer():
    ratings = ratings_of("retrieval")
    model = (ratings.raters["group"] == "model").to_numpy()[ratings.rater]
    silent = replace(
        ratings,
        answers=np.where(model[:, None], np.int16(-1), ratings.answers),
        abstained=model | ratings.abstained,
    )
    recipe = {"human": "hierarchical", "model": "hierarchical + item_difficulty"}
    agree(build_structure(silent, make_spec(recipe)))


def test_nodes_in_turns_are_the_nodes_at_once(monkeypatch: pytest.MonkeyPatch):
    structure = build_structure(ratings_of("retrieval"), make_spec("pooled"))
    monkeypatch.setattr(jax_likelihood, "CHUNK_NUMBERS", 300)
    assert 1 < 300 // flatten_data(structure.pattern.data).slot_cell.size < 49
    agree(structure)


def test_far_from_the_data_it_stays_a_number():
    """Chances far below the smallest number, as trajectories of a sampler meet them."""
    structure = build_structure(with_everything("retrieval"), make_spec(**RECIPES["difficulty"]))
    density, other = make_density(structure), make_jax_density(structure)
    x = 12 * np.random.default_rng(2).standard_normal(density.size)
    value, gradient = density(x)
    found, along = other(x)
    assert value < -1e3
    assert found == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(along, gradient, rtol=1e-6, atol=1e-6)


def test_blocks_hold_each_cell_once_in_its_context():
    structure = build_structure(
        ratings_of("retrieval", items=40, systems=3, ranked=True), make_spec()
    )
    data = structure.pattern.data
    flat = flatten_data(data)
    slot = np.empty(len(data.cell_context), np.int64)
    slot[data.bundle_cells] = flat.member_slot
    assert len(np.unique(slot)) == len(slot)
    np.testing.assert_array_equal(flat.slot_cell.ravel()[slot], np.arange(len(slot)))
    block = slot // flat.slot_cell.shape[1]
    np.testing.assert_array_equal(flat.block_context[block], data.cell_context)
    assert flat.slot_cell.size <= 2 * len(slot)


def test_the_rest_of_the_process_keeps_its_precision():
    before = jax.numpy.asarray(1.5).dtype
    density = make_jax_density(build_structure(ratings_of("single", items=5), make_spec("pooled")))
    value, gradient = density(np.zeros(density.size))
    assert isinstance(value, float)
    assert gradient.dtype == np.float64
    assert jax.numpy.asarray(1.5).dtype == before == np.float32


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    structure = build_structure(ratings_of("single", items=5), make_spec("pooled"))
    monkeypatch.setattr(jax_density, "find_spec", lambda name: None)
    with pytest.raises(FitError, match=r"needs jax and numpyro.*pip install 'assay\[jax\]'"):
        make_jax_density(structure)
