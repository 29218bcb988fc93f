"""Layers, scores, repeated ratings, audits and mixed groups against brute force, by value."""

from dataclasses import replace

import brute
import numpy as np
import pytest
from small import (
    audited,
    draw_values,
    in_sessions,
    repeated,
    small_ratings,
    stacked,
    task_named,
    with_scores,
    with_strengths,
)

from assay.data.ratings import Ratings, take_ratings
from assay.fits.latent_states import sample_states
from assay.inference.density import make_density
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

TASKS = ("retrieval", "ais", "relevance", "gated")
DIFFICULTIES = (
    "item_difficulty",
    "item_difficulty_continuous",
    "item_difficulty_by_rater",
    "item_difficulty_by_class",
)
LAYERS = (
    "item_difficulty",
    "item_difficulty_continuous",
    "item_difficulty_by_rater",
    "item_difficulty_by_class",
    "drift",
    "system_bias",
    "item_difficulty + drift + system_bias",
    "lapses",
    "lapses + item_difficulty + drift + system_bias",
)
MIXED = (
    {"human": "hierarchical + drift", "model": "scored + item_difficulty"},
    {"human": "pooled + item_difficulty", "model": "one_coin + system_bias"},
    {"human": "mace", "model": "class_conditional + drift + item_difficulty"},
    {"human": "scored", "model": "ordinal + item_difficulty"},
    {"human": "mace + item_difficulty_by_rater", "model": "scored + item_difficulty_by_rater"},
    {"human": "mace + item_difficulty_by_class", "model": "scored + item_difficulty_by_class"},
    {"human": "pooled + lapses", "model": "hierarchical + lapses + item_difficulty"},
    {"human": "hierarchical + item_difficulty", "model": "scored + item_difficulty"},
)


def ratings_of(name: str, seed: int, *, scores: bool = False, **options: object) -> Ratings:
    """Sessions, systems, contexts, missing answers, known truth, repeated ratings."""
    base = {"items": 10, "systems": 2, "ranked": True, "missing": 0.1, "known": True}
    few = small_ratings(task_named(name), seed, **{**base, **options})
    few = in_sessions(repeated(few, seed, share=0.3), seed)
    return with_scores(few, seed) if scores else few


def check(ratings: Ratings, seed: int, **spec: object) -> Structure:
    """Likelihood of each cluster, states and difficulty: as Bayes' rule has them."""
    structure = build_structure(ratings, make_spec(**spec))
    values = draw_values(structure, seed)
    known = brute.evidence(structure, values)
    by_cluster = brute.log_likelihoods(structure, values, known=known)
    assert structure.log_likelihood(values) == pytest.approx(sum(by_cluster), rel=1e-11, abs=1e-9)
    found = sample_states(structure, stacked(values), np.random.default_rng(1))
    np.testing.assert_allclose(found.log_likelihood[0], by_cluster, rtol=1e-11, atol=1e-9)
    expected = brute.posterior(structure, values, known=known)
    np.testing.assert_allclose(found.probabilities, expected.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.difficulty, expected.sum(axis=2), atol=1e-9)
    return structure


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("name", TASKS)
def test_layers_on_the_default(name: str, layers: str):
    check(ratings_of(name, 3), 3, raters=f"hierarchical + {layers}")


@pytest.mark.parametrize("layers", ["halo", "halo + item_difficulty + lapses + drift"])
@pytest.mark.parametrize("family", ["hierarchical", "pooled", "ability_bias", "one_coin"])
@pytest.mark.parametrize("name", ["retrieval", "ais", "gated"])
def test_halo(name: str, family: str, layers: str):
    check(ratings_of(name, 3), 3, raters=f"{family} + {layers}")


@pytest.mark.parametrize(
    "spec",
    [
        {"raters": "hierarchical + misreading"},
        {"raters": "hierarchical + misreading", "prevalence": "dirichlet"},
        {"raters": "ability_bias + misreading + item_difficulty"},
        {"raters": "pooled + misreading + halo + lapses"},
        {"raters": "one_coin + misreading + drift + system_bias", "reference": "gold"},
        {"raters": {"human": "hierarchical + misreading", "model": "mace"}},
        {"raters": {"human": "dawid_skene + misreading", "model": "pooled + misreading"}},
    ],
)
@pytest.mark.parametrize(
    ("name", "clusters", "raters"), [("ais", 4, 4), ("gated", 4, 3), ("single", 3, 9)]
)
def test_misread_clusters(name: str, clusters: int, raters: int, spec: dict):
    if name == "single" and "halo" in str(spec):
        pytest.skip("halo needs several labels")
    check(ratings_of(name, 3, clusters=clusters, raters=raters), 3, **spec)


@pytest.mark.parametrize("layers", [name for name in LAYERS if "_by_" not in name])
def test_layers_on_raters_who_share_a_confusion(layers: str):
    check(ratings_of("ais", 3), 3, raters=f"pooled + {layers}")


def test_all_layers_together():
    """Continuous difficulty, drift, bias and perception, in clusters."""
    raters = "hierarchical + item_difficulty_continuous + drift + system_bias"
    check(ratings_of("ais", 3, clusters=5), 3, raters=raters, reference="gold")


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize(
    "family", ["ability_bias", "dawid_skene", "one_coin", "class_conditional", "mace"]
)
def test_layers_on_other_families(family: str, difficulty: str):
    for task in ("ais", "gated"):
        check(ratings_of(task, 4), 4, raters=f"{family} + {difficulty} + drift")


@pytest.mark.parametrize(
    "family", ["ability_bias", "dawid_skene", "one_coin", "class_conditional", "ordinal"]
)
def test_lapses_on_other_families(family: str):
    for task in ("retrieval", "relevance"):
        check(ratings_of(task, 4), 4, raters=f"{family} + lapses + item_difficulty_continuous")


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("family", ["joint", "ordinal"])
def test_layers_on_families_of_some_tasks(family: str, difficulty: str):
    check(ratings_of("retrieval", 4), 4, raters=f"{family} + {difficulty} + system_bias")


@pytest.mark.parametrize("clusters", [None, 5])
@pytest.mark.parametrize("reference", ["gold", "human"])
@pytest.mark.parametrize("name", TASKS)
def test_perception(name: str, reference: str, clusters: int | None):
    structure = check(ratings_of(name, 5, clusters=clusters), 5, reference=reference)
    assert structure.prevalence.design.contexts > 2
    layers = ("human", "model") if reference == "gold" else ("model",)
    assert structure.perception.groups == layers


@pytest.mark.parametrize("raters", ["hierarchical", "hierarchical + item_difficulty"])
@pytest.mark.parametrize("name", TASKS)
def test_perception_of_groups_without_a_reference_among_them(name: str, raters: str):
    ratings = ratings_of(name, 5, clusters=5)
    groups = [("a", "a", "b", "c")[j % 4] for j in range(len(ratings.raters))]
    ratings = replace(ratings, raters=ratings.raters.assign(group=groups))
    structure = check(ratings, 5, raters=raters, reference="groups")
    twice = {name for name in groups if groups.count(name) > 1}
    assert set(structure.perception.groups) == twice


@pytest.mark.parametrize("raters", ["pooled", "dawid_skene + item_difficulty", "mace", "scored"])
def test_perception_with_other_families(raters: str):
    ratings = ratings_of("retrieval", 6, scores=True)
    check(ratings, 6, raters=raters, reference="gold", prevalence="dirichlet")


@pytest.mark.parametrize("resolve", ["retry", "repair"])
def test_perception_under_warnings_and_soft_rules(resolve: str):
    task = with_strengths(task_named("retrieval"), ("soft", "hard"), ("warn", "block"))
    ratings = small_ratings(task, 6, items=14, missing=0.2, resolve=resolve, known=True)
    check(ratings, 6, reference="model", raters="hierarchical + item_difficulty")


@pytest.mark.parametrize("raters", ["scored", "scored + item_difficulty", "scored + drift"])
@pytest.mark.parametrize("name", [*TASKS, "ordered", "grounding"])
def test_scores(name: str, raters: str):
    check(ratings_of(name, 7, scores=True), 7, raters=raters)


@pytest.mark.parametrize("replicates", ["together", "independent"])
@pytest.mark.parametrize("raters", ["hierarchical", "pooled", "mace", "hierarchical + drift"])
@pytest.mark.parametrize("partial", ["lost", "draft"])
def test_repeated_ratings(partial: str, raters: str, replicates: str):
    few = small_ratings(task_named("gated"), 8, items=14, missing=0.1, partial=partial)
    ratings = in_sessions(repeated(few, 8, share=0.8), 8, sessions=2)
    structure = check(ratings, 8, raters=raters, replicates=replicates)
    names = {p.name for p in structure.parameters()}
    assert ("consistency_mean" in names) == (replicates == "together")


@pytest.mark.parametrize(("reference", "clusters"), [(None, 5), ("human", None)])
@pytest.mark.parametrize(
    "raters",
    [
        "hierarchical + item_difficulty + halo",
        "pooled + lapses",
        {"human": "hierarchical + drift", "model": "one_coin"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["retrieval", "ais", "gated"])
def test_copied_answers(name: str, raters: str, reference: str | None, clusters: int | None):
    """A chain of copiers, and one who is of another group than the source."""
    ratings = ratings_of(name, 6, clusters=clusters, items=20)
    copies = {"r2": "r0", "r3": "r2", "r1": "nobody"}
    structure = check(ratings, 6, raters=raters, reference=reference, copies=copies)
    shares = [p for p in structure.parameters() if p.name.endswith("copied")]
    assert sum(p.shape[0] for p in shares) == 2


def test_who_copies_in_all_ratings_counts_once():
    """Copies change nothing if every rating is one, and other answers are impossible."""
    ratings = small_ratings(task_named("retrieval"), 3, items=60, raters=3)
    source, copier = (np.flatnonzero(ratings.rater == j) for j in (0, 1))
    shared, at, to = np.intersect1d(ratings.item[source], ratings.item[copier], return_indices=True)
    assert len(shared) > 2
    answers = ratings.answers.copy()
    answers[copier[to]] = answers[source[at]]
    same = replace(ratings, answers=answers)
    both = build_structure(same, make_spec(copies={"r1": "r0"}))
    values = draw_values(both, 1) | {"copied": np.array([1 - 1e-15])}
    left = np.setdiff1d(np.arange(len(answers)), copier[to])
    fewer = build_structure(take_ratings(same, left), make_spec())
    assert both.log_likelihood(values) == pytest.approx(fewer.log_likelihood(values), abs=1e-9)
    other = build_structure(ratings, make_spec(copies={"r1": "r0"}))
    assert other.log_likelihood(values) < both.log_likelihood(values) - 30


@pytest.mark.parametrize("raters", MIXED, ids=lambda recipe: " | ".join(recipe.values()))
@pytest.mark.parametrize("name", TASKS)
def test_a_family_for_each_group(name: str, raters: dict[str, str]):
    # The loops take seconds where raters differ in difficulty: half of the items show the same.
    items = 6 if any("_by_" in recipe for recipe in raters.values()) else 10
    ratings = ratings_of(name, 9, scores=True, items=items, clusters=3 if items == 6 else 5)
    for reference in (None, "human"):
        check(ratings, 9, raters=raters, reference=reference)


@pytest.mark.parametrize("reference", [None, "gold"])
@pytest.mark.parametrize("name", [*TASKS, "grounding"])
def test_audits_and_gold(name: str, reference: str | None):
    few = small_ratings(task_named(name), 10, items=25, missing=0.1, known=True)
    ratings = audited(few, 10)
    assert {-2, -1, 0, 1} <= set(ratings.audit.ravel().tolist()) or len(few.task.labels) == 1
    structure = check(ratings, 10, reference=reference)
    blind = build_structure(replace(ratings, audit=np.full_like(ratings.audit, -1)), structure.spec)
    values = draw_values(structure, 10)
    assert structure.log_likelihood(values) < blind.log_likelihood(values) - 0.1


def test_clusters_and_systems_with_difficulty():
    ratings = ratings_of("retrieval", 11, items=18, clusters=6)
    check(ratings, 11, raters="hierarchical + item_difficulty")


def test_many_ratings_of_one_item_do_not_underflow():
    """Thousands of ratings of two items: products far below the smallest number."""
    few = small_ratings(task_named("retrieval"), 12, items=2, raters=2)
    rng, count = np.random.default_rng(12), 4000
    ratings = take_ratings(few, rng.integers(0, len(few.answers), count))
    ratings = replace(ratings, item=np.sort(rng.integers(0, 2, count)))
    spec = make_spec("item_difficulty", reference="human", replicates="independent")
    structure = build_structure(ratings, spec)
    values = draw_values(structure, 12)
    alone = [
        build_structure(take_ratings(ratings, ratings.item == i), spec).log_likelihood(values)
        for i in (0, 1)
    ]
    assert structure.log_likelihood(values) == pytest.approx(sum(alone), rel=1e-12)
    assert max(alone) < -745
    one = build_structure(take_ratings(ratings, [0]), spec).log_likelihood(values)
    assert one > -745


@pytest.mark.parametrize("raters", ["hierarchical", "mace", "joint + drift", "scored"])
def test_a_group_whose_raters_never_answer_tells_nothing(raters: str):
    ratings = ratings_of("retrieval", 13, scores=True)
    model = (ratings.raters["group"] == "model").to_numpy()[ratings.rater]
    silent = replace(
        ratings,
        answers=np.where(model[:, None], np.int16(-1), ratings.answers),
        scores=np.where(model[:, None], np.nan, ratings.scores),
        abstained=model | ratings.abstained,
    )
    without = take_ratings(silent, ~model)
    recipe = {"human": "hierarchical", "model": raters}
    structure = build_structure(silent, make_spec(recipe))
    values = draw_values(structure, 13)
    here = structure.log_likelihood(values)
    assert here == build_structure(without, structure.spec).log_likelihood(values)
    assert here == pytest.approx(sum(brute.log_likelihoods(structure, values)), abs=1e-9)
    assert np.isfinite(make_density(structure)(np.zeros(make_density(structure).size))[0])
