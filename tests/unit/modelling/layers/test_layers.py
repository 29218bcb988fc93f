"""Layers: what they add, what they leave alone, and what they refuse."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

import assay
from assay._util.errors import ModelError
from assay.inference.assumptions import stated_assumptions
from assay.inference.data_counts import count_data
from assay.modelling.layers import difficulty_of
from assay.modelling.priors import Prior
from assay.modelling.spec import make_spec
from assay.modelling.structure import Structure, build_structure

SHARE = {"hard_share": Prior(name="Beta", values=(1.0, 4.0))}
SEEN = (1 + np.sqrt(0.6) * np.array([1, 0, -1])) / 2
"""Shares of the answers to hard items that are no guesses at a rate of 1: Gauss and Legendre."""
DEGREES = -np.log(SEEN)
WEIGHT = np.array([5, 8, 5]) / 18


def structure_of(task: str = "retrieval", sessions: int = 1, **spec: object) -> Structure:
    ratings = assay.simulate(
        task,
        n_items=30,
        groups={"human": 2, "model": 3},
        ratings_per_item=4,
        n_systems=2,
        sessions=sessions,
        rng=1,
    )
    return build_structure(ratings, make_spec(**{"raters": "hierarchical"} | spec))


def values_of(structure: Structure, **given: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    values = structure.draw(rng)
    return values | {k: np.full_like(values[k], v) for k, v in given.items()}


# -- difficulty ----------------------------------------------------------------------


def test_without_a_layer_items_have_no_difficulty():
    none = difficulty_of({"drift"}, {})
    assert none.kind == "none"
    assert none.classes == 1
    assert none.parameters() == []


def test_easy_and_hard_items_have_the_share_that_is_given():
    classes = difficulty_of({"item_difficulty"}, SHARE)
    np.testing.assert_allclose(classes.positions, [0, *DEGREES])
    weight = np.exp(classes.log_weight({"hard_share": np.array([0.2, 0.7])}, np))
    np.testing.assert_allclose(weight, [[[0.8, *0.2 * WEIGHT]], [[0.3, *0.7 * WEIGHT]]])
    assert [p.name for p in classes.parameters()] == ["hard_share"]


def test_hard_items_of_fits_by_earlier_versions_are_as_hard_as_each_other():
    classes = difficulty_of({"item_difficulty"}, SHARE, degrees=1)
    assert classes.positions.tolist() == [0, 1]
    weight = np.exp(classes.log_weight({"hard_share": np.array([0.2, 0.7])}, np))
    np.testing.assert_allclose(weight, [[[0.8, 0.2]], [[0.3, 0.7]]])
    split = SHARE | {"hard_split": Prior(name="Dirichlet", values=(1.0,))}
    classes = difficulty_of({"item_difficulty"}, split, ("a", "b"), degrees=1)
    assert classes.positions.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    values = {"hard_share": np.array(0.4), "hard_split": np.array([0.5, 0.25, 0.25])}
    np.testing.assert_allclose(np.exp(classes.log_weight(values, np)), [[0.6, 0.2, 0.1, 0.1]])


def test_an_item_is_hard_on_one_label_alone_or_on_all():
    priors = SHARE | {"hard_split": Prior(name="Dirichlet", values=(1.0,))}
    classes = difficulty_of({"item_difficulty"}, priors, ("a", "b"))
    on_both = [[degree, degree] for degree in DEGREES]
    alone = np.diag(np.log([2, 2]))
    np.testing.assert_allclose(classes.positions, [[0, 0], *alone, *on_both])
    values = {"hard_share": np.array(0.4), "hard_split": np.array([0.5, 0.25, 0.25])}
    shares = [0.2, 0.1, *0.1 * WEIGHT]
    np.testing.assert_allclose(np.exp(classes.log_weight(values, np)), [[0.6, *shares]])
    np.testing.assert_allclose(classes.hard_shares(values, np), [shares])
    assert [p.shape for p in classes.parameters()] == [(), (3,)]
    chance = [0.1, 0.2, 0.3, *(0.3, 0.0, 0.1)]
    outputs = classes.by_item(np.array([chance]))
    np.testing.assert_allclose(outputs["hard"], [0.9])
    np.testing.assert_allclose(outputs["hard_on_label"], [[0.6, 0.7]])


def test_one_label_and_a_reference_have_one_kind_of_hard_items():
    single = assay.simulate("single", n_items=5, n_raters=3, classes=["no", "yes"], rng=1)
    for structure in (
        build_structure(single, make_spec("pooled + item_difficulty")),
        structure_of(raters="hierarchical + item_difficulty", reference="gold"),
    ):
        np.testing.assert_allclose(structure.difficulty.positions, [0, *DEGREES])
        assert "hard_split" not in {p.name for p in structure.parameters()}


def test_hard_on_one_label_alone_leaves_the_answers_to_others_as_they_are():
    structure = structure_of(raters="hierarchical + item_difficulty")
    values = {k: np.asarray(v)[None] for k, v in values_of(structure).items()}
    easy = structure.reliability(values)
    for label, place in enumerate(structure.difficulty.positions[1 : easy.shape[2] + 1]):
        hard = structure.reliability(values, place)
        others = np.arange(easy.shape[2]) != label
        np.testing.assert_allclose(hard[:, :, others], easy[:, :, others], rtol=1e-12)
        assert (hard[:, :, label] != easy[:, :, label]).any()


@pytest.mark.filterwarnings("ignore::assay._util.errors.FitWarning")
def test_fits_say_on_which_labels_items_are_hard():
    ratings = assay.simulate("ais", n_items=30, n_raters=4, ratings_per_item=4, rng=1)
    fit = assay.fit(ratings, method="map", draws=5, chains=1, starts=1, rng=1, progress=False)
    labels = fit["labels"]
    assert labels["hard"].dims == ("item",)
    assert labels["hard_on_label"].dims == ("item", "label")
    assert labels["label"].values.tolist() == list(ratings.task.label_names)
    assert (labels["hard_on_label"].max("label") <= labels["hard"] + 1e-12).all()
    assert (labels["hard_on_label"].sum("label") >= labels["hard"] - 1e-12).all()


def test_continuous_difficulty_has_the_mean_of_each_system():
    structure = structure_of("single", raters="hierarchical + item_difficulty_continuous")
    difficulty = structure.difficulty
    values = {"hard_share": np.array(0.3)}
    assert [p.name for p in replace(difficulty, systems=None).parameters()] == ["hard_share"]
    (weight,) = np.exp(replace(difficulty, systems=None).log_weight(values, np))
    assert weight @ difficulty.positions == pytest.approx(0.3)


def test_an_item_has_one_difficulty():
    with pytest.raises(ModelError, match="cannot be combined", check=refusal("two-difficulties")):
        structure_of(
            raters={
                "human": "pooled + item_difficulty",
                "model": "pooled + item_difficulty_continuous",
            }
        )


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c", "d")])
def test_half_of_the_answers_to_hard_items_are_guesses(classes: tuple[str, ...]):
    """With a rate of log 2; what lies between guessing and right is halved, for bad raters too."""
    ratings = assay.simulate("single", classes=classes, n_items=10, n_raters=3, rng=1)
    structure = build_structure(ratings, make_spec("one_coin + item_difficulty"))
    accuracy, count = np.array([0.95, 0.6, 0.1]), len(classes)
    values = values_of(structure, difficulty_rate=np.log(2)) | {"accuracy": accuracy}
    stacked = {name: np.asarray(value)[None] for name, value in values.items()}
    easy, hard, hardest = (
        np.diagonal(structure.reliability(stacked, position)[0, :, 0], axis1=1, axis2=2)
        for position in (0.0, 1.0, 500.0)
    )
    np.testing.assert_allclose(easy, np.tile(accuracy[:, None], count), atol=1e-12)
    np.testing.assert_allclose(hard, (easy + 1 / count) / 2, rtol=1e-12)
    np.testing.assert_allclose(hardest, 1 / count, atol=1e-12)
    assert structure.parts[0].tilt(values, 0.0, np) is None


def test_answers_are_guesses_in_proportion_to_continuous_difficulty():
    """Of the answers to an item of difficulty h, h (1 - e^-rate)."""
    ratings = assay.simulate("single", classes=("no", "yes"), n_items=10, n_raters=3, rng=1)
    structure = build_structure(ratings, make_spec("one_coin + item_difficulty_continuous"))
    accuracy = np.array([0.95, 0.6, 0.1])
    values = values_of(structure, difficulty_rate=np.log(4)) | {"accuracy": accuracy}
    stacked = {name: np.asarray(value)[None] for name, value in values.items()}
    for position, guesses in ((0.0, 0.0), (0.2, 0.15), (0.5, 0.375), (1.0, 0.75)):
        found = structure.reliability(stacked, position)[0, :, 0]
        expected = (1 - guesses) * accuracy + guesses / 2
        np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-12)
        np.testing.assert_allclose(found[:, 1, 1], expected, rtol=1e-12)


def test_guesses_have_the_bias_of_the_rater():
    """The mean of the rows: a rater who hardly ever says yes hardly ever guesses so."""
    two = {"n_raters": 2, "ratings_per_item": 2}
    ratings = assay.simulate("single", classes=("no", "yes"), n_items=10, **two, rng=1)
    structure = build_structure(ratings, make_spec("dawid_skene + item_difficulty"))
    table = np.array([[[0.99, 0.01], [0.7, 0.3]], [[0.8, 0.2], [0.4, 0.6]]])
    values = values_of(structure, difficulty_rate=np.log(4)) | {"confusion_2": table}
    hard = structure.reliability({k: np.asarray(v)[None] for k, v in values.items()}, 1.0)[0, :, 0]
    mean = table.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(hard, table / 4 + mean * 3 / 4, rtol=1e-12)


def test_a_group_without_the_layer_rates_hard_items_like_easy_ones():
    structure = structure_of(raters={"human": "pooled", "model": "pooled + item_difficulty"})
    tables = structure.tables(values_of(structure), np)
    human = structure.parts[0].repeats.count
    easy, *harder = tables.response
    assert len(harder) == 3 + len(DEGREES)
    for hard in harder:
        np.testing.assert_array_equal(easy[:human], hard[:human])
        assert (easy[human:] != hard[human:]).any()


# -- drift and bias ------------------------------------------------------------------


def test_a_walk_starts_at_nothing_and_adds_up():
    structure = structure_of(raters="hierarchical + drift", sessions=4)
    (part,) = structure.parts
    values = values_of(structure, drift_sd=0.5, drift_step=2.0, drift_lean_sd=0.0)
    walk = part.drift.walk(values, np)
    assert walk.shape == (5, 6, 4)
    np.testing.assert_allclose(walk, np.broadcast_to([0.0, 1.0, 2.0, 3.0], walk.shape))
    tilt = part.tilt(values, 0.0, np)
    np.testing.assert_allclose(tilt.added, np.tile([0.0, 1, 2, 3], 5)[:, None] * np.ones(6))
    assert part.unit_rater.tolist() == np.repeat(np.arange(5), 4).tolist()


def test_drift_needs_the_session_of_every_rating():
    with pytest.raises(ModelError, check=refusal("drift-sessions", unknown=120)):
        structure_of(raters="drift")
    ratings = structure_of(sessions=2).ratings
    session = ratings.session.copy()
    session[:3] = ""
    with pytest.raises(ModelError, check=refusal("drift-sessions", unknown=3)):
        build_structure(replace(ratings, session=session), make_spec("pooled + drift"))
    once = replace(ratings, session=np.full_like(session, "May"), sessions=("May",))
    with pytest.raises(ModelError, check=refusal("drift-sessions", sessions=1)):
        build_structure(once, make_spec("hierarchical + drift"))


def test_guesses_at_classes_without_order_are_not_for_raters_of_scores():
    """Their model takes the classes for ordered, and the middle one for half of all items."""
    with pytest.raises(ModelError, check=refusal("family-unfit", classes=3)):
        assay.simulate("single", classes=["a", "b", "c"], raters="scored", n_items=5, rng=1)
    few = assay.simulate("single", classes=["a", "b", "c"], n_items=5, n_raters=3, rng=1)
    with pytest.raises(ModelError, check=refusal("family-unfit", classes=3)):
        build_structure(few, make_spec("scored"))
    silent = replace(few, answers=np.full_like(few.answers, -1))
    assert len(build_structure(silent, make_spec("scored")).parts) == 1


def test_bias_by_system_needs_two_systems_and_answers_by_class():
    alone = assay.simulate("retrieval", n_items=10, rng=1)
    with pytest.raises(ModelError, check=refusal("too-few-systems")):
        build_structure(alone, make_spec("system_bias"))
    with pytest.raises(ModelError, check=refusal("layer-unfit")):
        structure_of(raters="scored + system_bias")


@pytest.mark.parametrize("family", ["mace", "scored", "joint"])
def test_lapses_stand_on_families_of_answers_that_have_none(family: str):
    with pytest.raises(ModelError, match=family, check=refusal("layer-unfit")):
        structure_of(raters=f"{family} + lapses")


def test_lapses_are_part_of_how_reliable_a_rater_is():
    """A rater who lapses half of the time is right when it looks, or when it guesses right."""
    structure = structure_of(raters="one_coin + lapses")
    sure = {"accuracy": 0.9, "lapse_mean": 0.0, "lapse_sd": 0.0}
    values = {
        name: value[None]
        for name, value in values_of(structure, **sure, strategy_mean=0.0, strategy_sd=0.0).items()
    }
    table = structure.parts[0].reliability(values)
    np.testing.assert_allclose(np.diagonal(table, axis1=-2, axis2=-1), 0.9 / 2 + 0.5 / 2)


def test_items_of_several_systems_have_no_bias():
    structure = structure_of(raters="one_coin + system_bias")
    ratings = structure.ratings
    both = ratings.panels[ratings.panels["item"] == 0].assign(system="system_2", rank=99)
    panels = pd.concat([ratings.panels, both], ignore_index=True)
    shared = build_structure(replace(ratings, panels=panels), structure.spec)
    (part,) = shared.parts
    own = {"system_bias_sd": 1.0, "system_bias_offset": 1.0, "system_bias_mean_sd": 0.0}
    tilt = part.tilt(values_of(shared, **own), 0.0, np)
    of_rating = tilt.added[part.unit]
    np.testing.assert_array_equal(of_rating[ratings.item == 0], 0)
    np.testing.assert_array_equal(of_rating[ratings.item != 0], 1)


def test_one_rater_of_a_group_has_no_mean_bias_beside_its_own():
    """The two would be one number with two priors."""
    ratings = assay.simulate("single", n_systems=2, groups={"model": 1, "person": 3}, rng=1)
    structure = build_structure(ratings, make_spec("hierarchical + system_bias"))
    shapes = {p.name: p.shape for p in structure.parameters()}
    assert shapes["system_bias_sd"] == (2, 1)
    assert shapes["system_bias_mean_sd"] == (1, 1)
    (part,) = structure.parts
    own = {"system_bias_sd": 0.0, "system_bias_mean_sd": 1.0, "system_bias_mean_offset": 1.0}
    tilt = part.tilt(values_of(structure, **own), 0.0, np)
    judge = (ratings.raters["group"] == "model").to_numpy()[ratings.rater]
    np.testing.assert_array_equal(tilt.added[part.unit][judge], 0)
    np.testing.assert_array_equal(tilt.added[part.unit][~judge], 1)
    one = build_structure(
        ratings, make_spec({"model": "hierarchical + system_bias", "person": "hierarchical"})
    )
    assert not [p.name for p in one.parameters() if "system_bias_mean" in p.name]


# -- perception ----------------------------------------------------------------------


def gamma(structure: Structure, values: dict[str, np.ndarray], kind: int) -> np.ndarray:
    """The matrix from truth to appearance."""
    blur, *looks = structure.tables(values, np).layer[kind]
    return np.diag(1 - blur) + blur[:, None] * np.array(looks)


def test_what_items_look_like_is_a_distribution_over_admissible_states():
    structure = structure_of("grounding", reference="gold")
    values = values_of(structure, misperceived=0.3)
    contexts = structure.prevalence.design.contexts
    assert len(structure.tables(values, np).layer) == 2 * contexts
    for kind in range(2 * contexts):
        np.testing.assert_allclose(gamma(structure, values, kind).sum(axis=1), 1)


def test_without_tilt_misperception_does_not_move_the_prevalence():
    structure = structure_of("retrieval", reference="gold")
    untilted = {"misperceived": 0.4, "appearance_tilt": 0.0, "appearance_by_state": 0.0}
    values = values_of(structure, **untilted)
    prevalence = structure.tables(values, np).prevalence
    share = np.exp(structure.prevalence.log_weight) @ prevalence
    for kind in range(2 * len(share)):
        here = share[kind % len(share)]
        np.testing.assert_allclose(here @ gamma(structure, values, kind), here, atol=1e-12)
    tilted = values_of(structure, **untilted | {"appearance_tilt": 1.0})
    assert np.abs(share[0] @ gamma(structure, tilted, 0) - share[0]).max() > 0.01


@pytest.mark.parametrize(
    ("raters", "alike"),
    [
        ("hierarchical", "The model assumes that human and model misperceive all items equally"),
        (
            {"human": "pooled", "model": "hierarchical + item_difficulty"},
            "The model assumes that human misperceive all",
        ),
        ("hierarchical + item_difficulty_continuous", ""),
    ],
)
def test_who_is_doubted_alike_is_said(raters: str | dict[str, str], alike: str):
    structure = structure_of(raters=raters, reference="gold")
    ratings = structure.ratings
    said = stated_assumptions(structure, count_data(ratings, structure.parts, ratings.systems))
    assert any("misperceive all items" in text for text in said) == bool(alike)
    assert any(text.startswith(alike) for text in said)


def test_hard_items_are_misperceived_more_often():
    structure = structure_of(raters="hierarchical + item_difficulty", reference="gold")
    values = values_of(structure, misperceived=0.2, misperceived_loading=1.0)
    blur = structure.tables(values, np).layer[0, :4, 0]
    # Odds of 1 to 4, by e to the power of the degree.
    np.testing.assert_allclose(blur, [0.2, *1 / (1 + 4 * SEEN)], rtol=1e-12)
