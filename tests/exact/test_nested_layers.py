"""Layers and families that contain simpler ones: the same log-likelihood at the nested point."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refusal
from small import draw_values, in_sessions, repeated, small_ratings, task_named, with_scores

from assay._util.errors import ModelError
from assay.data.ratings import Ratings
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

TASKS = ("retrieval", "ais", "relevance", "gated")
POINTS = {
    "item_difficulty, no loading": ("item_difficulty", {"difficulty_rate": 0.0}),
    "item_difficulty, no hard items": ("item_difficulty", {"hard_share": 1e-300}),
    "item_difficulty_continuous, no loading": (
        "item_difficulty_continuous",
        {"difficulty_rate": 0.0},
    ),
    "item_difficulty_by_rater, no loading": (
        "item_difficulty_by_rater",
        {"difficulty_rate": 0.0},
    ),
    "item_difficulty_by_class, no loading": (
        "item_difficulty_by_class",
        {"difficulty_rate": 0.0},
    ),
    "drift, no steps": ("drift", {"drift_step": 0.0, "drift_lean_step": 0.0}),
    "drift, steps of size 0": ("drift", {"drift_sd": 0.0, "drift_lean_sd": 0.0}),
    "lapses, none": ("lapses", {"lapse_mean": -700.0, "lapse_sd": 0.0}),
    "system_bias, none": ("system_bias", {"system_bias_sd": 0.0, "system_bias_mean_sd": 0.0}),
}
OF_SEVERAL_LABELS = {
    "hardly a share": {"halo_share": 1e-15},
    "no loading": {"halo_loading": 0.0},
}
TASK_OF_JOINT = ("retrieval", "ais", "gated")


def ratings_of(name: str, *, scores: bool = False, again: bool = False) -> Ratings:
    few = small_ratings(task_named(name), 6, items=14, systems=2, missing=0.1, known=True)
    few = repeated(few, 6) if again else few
    few = in_sessions(few, 6)
    return with_scores(few, 6) if scores else few


def both(ratings: Ratings, plain: dict, richer: dict) -> tuple[Structure, Structure]:
    specs = [make_spec(**{"raters": "hierarchical"} | spec) for spec in (plain, richer)]
    return tuple(build_structure(ratings, spec) for spec in specs)


def at(structure: Structure, values: dict, point: dict[str, float]) -> float:
    """Log-likelihood at the nested point; the values of the simpler model stay as they are."""
    every = draw_values(structure, 99) | values
    names = [k for k in every if any(k == p or k.endswith(f".{p}") for p in point)]
    assert {k.rsplit(".")[-1] for k in names} == set(point)
    fixed = {k: np.full_like(every[k], point[k.rsplit(".")[-1]]) for k in names}
    return structure.log_likelihood(every | fixed)


def agree(ratings: Ratings, plain: dict, richer: dict, point: dict[str, float]) -> None:
    """Equal at the point, and different a little way off."""
    simple, rich = both(ratings, plain, richer)
    values = draw_values(simple, 7)
    here = simple.log_likelihood(values)
    assert at(rich, values, point) == pytest.approx(here, abs=1e-9)
    away = rich.log_likelihood(draw_values(rich, 99) | values)
    assert away != pytest.approx(here, abs=1e-4)


@pytest.mark.parametrize("case", POINTS)
@pytest.mark.parametrize("name", TASKS)
def test_a_layer_that_does_nothing(name: str, case: str):
    layer, point = POINTS[case]
    agree(ratings_of(name), {}, {"raters": f"hierarchical + {layer}"}, point)


@pytest.mark.parametrize("name", TASKS)
def test_raters_of_a_group_whose_biases_have_no_mean(name: str):
    """With a mean of SD 0, and in a fit by an earlier version, each rater has a bias alone."""
    structure = build_structure(ratings_of(name), make_spec("hierarchical + system_bias"))
    values = draw_values(structure, 7)
    sd = "system_bias_mean_sd"
    alone = {k: v for k, v in values.items() if not k.startswith("system_bias_mean")}
    here = structure.log_likelihood(alone)
    none = values | {sd: np.zeros_like(values[sd])}
    assert structure.log_likelihood(none) == pytest.approx(here, abs=1e-9)
    assert structure.log_likelihood(values) != pytest.approx(here, abs=1e-4)


@pytest.mark.parametrize("case", OF_SEVERAL_LABELS)
@pytest.mark.parametrize("name", TASK_OF_JOINT)
def test_a_halo_that_does_nothing(name: str, case: str):
    richer = {"raters": "hierarchical + halo"}
    agree(ratings_of(name), {}, richer, OF_SEVERAL_LABELS[case])


@pytest.mark.parametrize("raters", ["hierarchical + halo", "joint + halo", "scored + halo"])
def test_a_halo_needs_several_labels_and_a_family_without_one(raters: str):
    task = "retrieval" if "joint" in raters else "relevance"
    with pytest.raises(ModelError, match="halo", check=refusal("layer-unfit")):
        both(ratings_of(task, scores="scored" in raters), {}, {"raters": raters})


@pytest.mark.parametrize("case", [c for c in POINTS if "bias" not in c and "lapses" not in c])
@pytest.mark.parametrize("family", ["scored", "mace", "ordinal"])
def test_on_other_families(family: str, case: str):
    layer, point = POINTS[case]
    ratings = ratings_of("relevance", scores=True)
    agree(ratings, {"raters": family}, {"raters": f"{family} + {layer}"}, point)


SHARED = [c for c in POINTS if c.startswith(("item_difficulty", "drift")) and "_by_" not in c]


@pytest.mark.parametrize("case", SHARED)
def test_on_raters_who_share_a_confusion(case: str):
    layer, point = POINTS[case]
    agree(ratings_of("relevance"), {"raters": "pooled"}, {"raters": f"pooled + {layer}"}, point)


@pytest.mark.parametrize("layer", ["item_difficulty_by_rater", "item_difficulty_by_class"])
def test_raters_who_are_all_alike_have_no_loadings_of_their_own(layer: str):
    with pytest.raises(ModelError, match=layer, check=refusal("layer-unfit")):
        both(ratings_of("relevance"), {}, {"raters": f"pooled + {layer}"})


@pytest.mark.parametrize("name", TASKS)
def test_raters_on_whom_difficulty_weighs_alike(name: str):
    """By rater, with an SD of 0, is continuous difficulty."""
    layers = [f"hierarchical + item_difficulty_{kind}" for kind in ("continuous", "by_rater")]
    plain, richer = ({"raters": raters} for raters in layers)
    agree(ratings_of(name), plain, richer, {"difficulty_rate_sd": 0.0})


@pytest.mark.parametrize("name", TASKS)
def test_classes_on_which_difficulty_weighs_alike(name: str):
    """By class, with the same loading for all classes of a label, is that by rater."""
    layers = [f"hierarchical + item_difficulty_{kind}" for kind in ("by_rater", "by_class")]
    simple, rich = both(ratings_of(name), *({"raters": raters} for raters in layers))
    values = draw_values(simple, 7)
    here = simple.log_likelihood(values)
    classes = [len(label.classes) for label in simple.ratings.task.labels]
    alike = np.repeat(values["difficulty_rate"], classes, axis=1)
    by_class = values | {"difficulty_rate": alike}
    assert rich.log_likelihood(by_class) == pytest.approx(here, abs=1e-9)
    by_class["difficulty_rate"] = alike * np.linspace(0.5, 2.0, alike.shape[1])
    assert rich.log_likelihood(by_class) != pytest.approx(here, abs=1e-4)


@pytest.mark.parametrize("name", TASKS)
def test_who_only_lapses_tells_nothing(name: str):
    """With every rating a lapse, truth and answers are independent."""
    structure = build_structure(ratings_of(name), make_spec("one_coin + lapses"))
    values = draw_values(structure, 8) | {"lapse_mean": np.full(2, 700.0)}
    values |= {"lapse_sd": np.zeros(2), "accuracy": np.full_like(values["accuracy"], 0.9)}
    other = values | {"accuracy": np.full_like(values["accuracy"], 0.6)}
    here, there = (structure.log_likelihood(v) for v in (values, other))
    assert here == pytest.approx(there, abs=1e-9)


@pytest.mark.parametrize("raters", ["hierarchical", "scored", "dawid_skene"])
@pytest.mark.parametrize("reference", ["gold", "human"])
@pytest.mark.parametrize("name", TASKS)
def test_who_misperceives_nothing_sees_the_truth(name: str, reference: str, raters: str):
    """Not of easy and hard items: a consensus has no truth of hard ones but by their raters."""
    point = {"misperceived": 0.0}
    ratings = ratings_of(name, scores=True)
    agree(ratings, {"raters": raters}, {"raters": raters, "reference": reference}, point)


@pytest.mark.parametrize("name", TASKS)
def test_who_misperceives_everything_tells_nothing(name: str):
    """With every item misperceived, ratings have a probability of their own, whatever is true."""
    structure = build_structure(ratings_of(name), make_spec("hierarchical", reference="human"))
    values = draw_values(structure, 8) | {"misperceived": np.ones(1)}
    # What a misperceived item is taken for would tell something about it.
    values |= {k: np.zeros_like(v) for k, v in values.items() if k == "appearance_by_state"}
    ratings, nothing = structure.ratings, np.int16(-1)
    model = (ratings.raters["group"] == "model").to_numpy()[ratings.rater][:, None]
    theirs = replace(
        ratings,
        answers=np.where(model, ratings.answers, nothing),
        truth=np.full_like(ratings.truth, nothing),
    )
    others = replace(ratings, answers=np.where(model, nothing, ratings.answers))
    apart = [build_structure(r, structure.spec).log_likelihood(values) for r in (theirs, others)]
    assert structure.log_likelihood(values) == pytest.approx(sum(apart), abs=1e-9)


@pytest.mark.parametrize("raters", ["hierarchical", "pooled", "mace", "scored"])
@pytest.mark.parametrize("name", TASKS)
def test_no_consistency_is_independence(name: str, raters: str):
    ratings = ratings_of(name, scores=True, again=True)
    plain = {"raters": raters, "replicates": "independent"}
    point = {"consistency_mean": -700.0, "consistency_sd": 0.0}
    agree(ratings, plain, {"raters": raters}, point)


@pytest.mark.parametrize("name", TASKS)
def test_no_copied_answers_are_independence(name: str):
    ratings = ratings_of(name)
    agree(ratings, {}, {"copies": {"r1": "r0", "r2": "r0"}}, {"copied": 0.0})


def test_full_consistency_counts_each_rater_once():
    """Copies tell nothing more, and a rater who contradicts itself is impossible."""
    few = small_ratings(task_named("retrieval"), 6, items=14)
    ratings = in_sessions(few, 6, sessions=1)
    again = np.repeat(np.arange(len(few.answers)), 2)
    fields = ("answers", "item", "rater", "session", "abstained")
    doubled = replace(
        ratings,
        **{name: getattr(ratings, name)[again] for name in fields},
        replicate=np.tile([0, 1], len(few.answers)),
        scores=np.full((len(again), 3), np.nan),
        audit=np.full((len(again), 3), -1, np.int8),
        seconds=np.full(len(again), np.nan),
    )
    once, twice = (build_structure(r, make_spec("hierarchical")) for r in (ratings, doubled))
    values = draw_values(twice, 3)
    sure = {"consistency_mean": 30.0, "consistency_sd": 0.0}
    values |= {name: np.full_like(values[name], value) for name, value in sure.items()}
    assert twice.log_likelihood(values) == pytest.approx(once.log_likelihood(values), abs=1e-9)


@pytest.mark.parametrize("name", TASK_OF_JOINT)
def test_joint_without_association_is_hierarchical(name: str):
    point = {"halo_offset": 0.0, "slip_offset": 0.0}
    agree(ratings_of(name), {"raters": "hierarchical"}, {"raters": "joint"}, point)


def test_mace_without_spam_is_a_crowd_of_perfect_copies():
    """Only items on which all agree can be; each then has the probability of its state."""
    few = small_ratings(task_named("relevance"), 2, items=10, raters=3)
    first = np.array([few.answers[few.item == i][0] if (few.item == i).any() else [0]
                      for i in range(10)], np.int16)  # fmt: skip
    agreed = replace(few, answers=first[few.item])
    structure = build_structure(agreed, make_spec("mace", "dirichlet"))
    values = draw_values(structure, 4) | {"spamming": np.full(3, 1e-300)}
    share = values["state_share"][0]
    rated = np.unique(few.item)
    expected = np.log(share[first[rated, 0]]).sum()
    assert structure.log_likelihood(values) == pytest.approx(expected, abs=1e-9)
    spam = values | {"spamming": np.full(3, 1 - 1e-13)}
    words = np.log(values["strategy_relevance"][few.rater, agreed.answers[:, 0]])
    assert structure.log_likelihood(spam) == pytest.approx(words.sum(), abs=1e-9)


@pytest.mark.parametrize("name", TASKS)
def test_items_that_are_hard_on_all_labels_or_on_none(name: str):
    """The limit in which no item is hard on one label alone; of one label there is nothing else."""
    ratings = ratings_of(name)
    structure = build_structure(ratings, make_spec("hierarchical + item_difficulty"))
    values, labels = draw_values(structure, 8), len(ratings.task.labels)
    difficulty = replace(structure.difficulty, labels=())
    together = replace(
        structure,
        difficulty=difficulty,
        hard_truth=replace(structure.hard_truth, hard=difficulty.hard_labels(labels)),
    )
    shared = values["hard_share_system_offset"]
    shared = shared if labels == 1 else shared[:, -1]
    one = together.log_likelihood(values | {"hard_share_system_offset": shared})
    if labels == 1:
        assert structure.log_likelihood(values) == one
        return
    assert structure.log_likelihood(values) != pytest.approx(one, abs=1e-6)
    values["hard_split"] = np.eye(labels + 1)[-1]
    assert structure.log_likelihood(values) == pytest.approx(one, abs=1e-9)
