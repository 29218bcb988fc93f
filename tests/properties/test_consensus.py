"""No difficulty of the items lets a model overrule the raters: properties of the likelihood.

Parameters are random, nothing is fitted. Raters are exchangeable where it says so: each has the
parameters of the first.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.task_files import load_task
from assay.fits.latent_states import sample_states
from assay.modelling.rater_model import CategoricalRaterModel
from assay.modelling.spec import DEFAULT_OF_MORE, DEFAULT_RATERS, make_spec, parse_recipe
from assay.modelling.structure import Structure, build_structure

LAYERS = (
    "item_difficulty",
    "item_difficulty_continuous",
    "item_difficulty_by_rater",
    "item_difficulty_by_class",
)
FAMILIES = (
    "hierarchical",
    "ability_bias",
    "dawid_skene",
    "one_coin",
    "class_conditional",
    "pooled",
    "mace",
    "ordinal",
    "hierarchical + lapses",
)
RECIPES = [
    f"{family} + {layer}"
    for family in FAMILIES
    for layer in LAYERS
    if family != "pooled" or "_by_" not in layer
]
SEEDS = range(40)
Values = dict[str, np.ndarray]


def test_the_defaults_are_among_the_recipes():
    assert {DEFAULT_RATERS, DEFAULT_OF_MORE} <= set(RECIPES)


def votes(counts: list[int], raters: int) -> Ratings:
    """One item for each number of raters who say yes."""
    rows = [
        {"item": f"i{n}", "rater": f"r{j}", "label": "yes" if j < k else "no"}
        for n, k in enumerate(counts)
        for j in range(raters)
    ]
    return assay.read_ratings(pd.DataFrame(rows), task="single")


def drawn(structure: Structure, seed: int, *, alike: bool) -> Values:
    """Parameters from their priors; SDs and rates are up to three times as large."""
    rng = np.random.default_rng(seed)
    values = {}
    for parameter in structure.parameters():
        value = parameter.draw(rng)
        if parameter.name.endswith(("_sd", "difficulty_rate")):
            value = value * rng.uniform(0, 3)
        if alike and "rater" in parameter.dims[:1]:
            value = np.broadcast_to(value[:1], value.shape).copy()
        if alike and "lapsing" in parameter.dims[:1]:
            value = np.broadcast_to(value[:1], value.shape).copy()
        values[parameter.name] = value
    return values


def stacked(values: Values) -> Values:
    return {name: value[None] for name, value in values.items()}


def log_bayes_factors(structure: Structure, values: Values) -> np.ndarray:
    """Of yes, for each item."""
    chance = sample_states(structure, stacked(values), np.random.default_rng(1)).probabilities
    before = structure.state_chances(stacked(values), np)[0, 0, 0]
    return np.log(chance[:, 1] / chance[:, 0]) - np.log(before[1] / before[0])


def rows(structure: Structure, values: Values, position: float) -> np.ndarray:
    """P(reported | true): (rater, label, true class, reported class)."""
    return structure.reliability(stacked(values), position)[0]


@pytest.mark.parametrize("recipe", RECIPES)
def test_who_of_exchangeable_raters_says_what_does_not_matter(recipe: str):
    ratings = votes([2, 4], 5)
    turned = votes([2, 4], 5)
    turned.answers[:5], turned.answers[5:] = ratings.answers[:5][::-1], ratings.answers[5:][::-1]
    first, second = (build_structure(r, make_spec(recipe)) for r in (ratings, turned))
    for seed in SEEDS[:5]:
        values = drawn(first, seed, alike=True)
        np.testing.assert_allclose(
            log_bayes_factors(first, values), log_bayes_factors(second, values), atol=1e-9
        )


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_more_of_exchangeable_raters_makes_an_answer_likelier(recipe: str):
    """Unless they are adversaries; both of the Bayes factor and of what suffices for it."""
    structure = build_structure(votes([0, 1, 2, 3, 4, 5], 5), make_spec(recipe))
    seen = 0
    for seed in SEEDS:
        values = drawn(structure, seed, alike=True)
        by = np.stack([rows(structure, values, x)[0, 0] for x in structure.difficulty.positions])
        if (by[:, 1, 1] < by[:, 0, 1]).any():  # adversaries
            continue
        seen += 1
        assert by[:, 1, 1].min() >= by[:, 0, 1].max() - 1e-12
        assert (np.diff(log_bayes_factors(structure, values)) >= -1e-6).all()
    assert seen > len(SEEDS) / 4


def symmetric(values: Values) -> Values:
    """Raters who are as often right about yes as about no."""
    found = dict(values)
    for name, value in values.items():
        if name in ("logit_mean", "logit_sd", "logit_offset", "accuracy", "difficulty_rate"):
            found[name] = np.broadcast_to(value[..., :1], value.shape)
        if name.startswith(("shift", "strategy")):
            found[name] = np.zeros_like(value)
        if name.startswith("confusion"):
            found[name] = np.stack([value[..., 0, :], value[..., 0, ::-1]], axis=-2)
    return found


@pytest.mark.parametrize("recipe", [r for r in RECIPES if "mace" not in r])
def test_a_tie_of_symmetric_raters_tells_no_more_than_how_hard_the_item_is(recipe: str):
    structure = build_structure(votes([2, 0], 4), make_spec(recipe))
    for seed in SEEDS[:10]:
        values = symmetric(drawn(structure, seed, alike=True))
        found = sample_states(structure, stacked(values), np.random.default_rng(1))
        easy = structure.prevalence.table(stacked(values), np)[0, 0, 0, 1]
        rate = values["difficulty_rate"].ravel()[0]
        hard = structure.difficulty.positions
        linear = 1 - hard * (1 - np.exp(-rate))
        kept = (np.exp(-rate * hard) if structure.difficulty.has_classes else linear) ** 2
        shares = kept * easy + (1 - kept) / 2
        tie, none = found.probabilities[:, 1] - found.difficulty @ shares
        assert tie == pytest.approx(0, abs=1e-9)
        assert none != pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "mace"])
def test_a_tie_of_guesses_is_a_tie_whatever_the_prevalence(family: str):
    structure = build_structure(votes([2, 1], 4), make_spec(f"{family} + item_difficulty"))
    prevalences = []
    for seed in SEEDS[:10]:
        values = symmetric(drawn(structure, seed, alike=True))
        values["hard_share"] = np.array(1 - 1e-13)
        values["difficulty_rate"] = np.full_like(values["difficulty_rate"], 60.0)
        found = sample_states(structure, stacked(values), np.random.default_rng(1))
        tie, fewer = np.log(found.probabilities[:, 1] / found.probabilities[:, 0])
        assert abs(tie) < 0.01
        assert fewer != tie
        prevalences.append(structure.prevalence.table(stacked(values), np)[0, 0, 0, 1])
    assert np.ptp(prevalences) > 0.5


def anonymous(counts: list[int], raters: int) -> Ratings:
    """One output for each number of raters who call it attributable; all else is agreed on."""
    rows = [
        {"item": f"i{n}", "rater": f"r{j}", "flagged": "no", "interpretable": "yes",
         "attributable": "yes" if j < k else "no"}
        for n, k in enumerate(counts)
        for j in range(raters)
    ]  # fmt: skip
    return assay.read_ratings(pd.DataFrame(rows), task="ais")


@pytest.mark.parametrize("family", ["hierarchical", "ability_bias", "pooled", "one_coin"])
def test_each_more_counts_on_a_label_that_alone_is_hard(family: str):
    """And where all hard items are hard on another label, it is as if none were hard."""
    recipe = f"{family} + item_difficulty"
    structure = build_structure(anonymous([0, 1, 2, 3, 4, 5], 5), make_spec(recipe))
    yes = structure.prevalence.space.states[:, 2] == 1
    no = structure.prevalence.space.states[:, 2] == 0
    seen = 0
    for seed in SEEDS:
        values = drawn(structure, seed, alike=True)
        table = rows(structure, values, 0.0)[0, 2]
        if table[1, 1] < table[0, 1]:  # adversaries
            continue
        seen += 1
        odds = []
        for kind in range(4):
            values["hard_split"] = np.eye(4)[kind]
            found = sample_states(
                structure, stacked(values), np.random.default_rng(1)
            ).probabilities
            odds.append(np.log(found[:, yes].sum(axis=1) / found[:, no].sum(axis=1)))
        for by_count in odds:
            assert (np.diff(by_count) >= -1e-6).all()
        # Split votes tell less if items are hard on this label.
        assert np.ptp(odds[2][1:-1]) <= np.ptp(odds[0][1:-1]) + 1e-6
    assert seen > len(SEEDS) / 4


def graded(raters: int) -> Ratings:
    """Items of which one rater more says 0, then 1, then 2, in place of another grade."""
    rows = [
        {"item": f"i{one}{other}{k}", "rater": f"r{j}", "grade": one if j < k else other}
        for one in range(3)
        for other in range(3)
        if one != other
        for k in range(raters + 1)
        for j in range(raters)
    ]
    return assay.read_ratings(pd.DataFrame(rows), item="item", rater="rater", labels=["grade"])


@pytest.mark.parametrize("layer", LAYERS[:2])
def test_each_more_rater_who_names_a_class_makes_it_likelier(layer: str):
    """Whatever the rates of answers, without confusions of their own."""
    raters = 4
    structure = build_structure(graded(raters), make_spec(f"ability_bias + {layer}"))
    layout = structure.parts[0].family.layout
    wrong = [layout.true_classes[row] != reported for row, reported in layout.cells]
    for seed in SEEDS:
        values = drawn(structure, seed, alike=True)
        values["answer_rate"] = values["answer_rate"] ** 3
        values["confusion_mean"][..., wrong] = 0
        by = np.stack([rows(structure, values, x)[0, 0] for x in structure.difficulty.positions])
        found = sample_states(structure, stacked(values), np.random.default_rng(1)).probabilities
        items = structure.ratings.items.index.astype(str)
        for one in range(3):
            others = [k for k in range(3) if k != one]
            assert by[:, one, one].min() >= by[:, others, one].max() - 1e-12
            for other in others:
                at = [items.get_loc(f"i{one}{other}{k}") for k in range(raters + 1)]
                odds = np.log(found[at, one][:, None] / found[at][:, others])
                assert (np.diff(odds, axis=0) >= -1e-6).all()


def test_an_answer_that_is_seldom_guessed_is_not_missed_where_it_is_right():
    structure = build_structure(graded(4), make_spec(DEFAULT_OF_MORE))
    values = drawn(structure, 1, alike=True)
    for name in ("confusion_mean", "ability_offset", "class_offset", "bias_offset"):
        values[name] = np.zeros_like(values[name])
    values["ability_mean"] = np.full_like(values["ability_mean"], 2.0)
    values["answer_rate"] = np.array([[1.0, 1e-3, 1.0]])
    chance = rows(structure, values, 0.0)[0, 0]
    assert chance[1, 1] == pytest.approx(np.exp(2.0) / (np.exp(2.0) + 3), rel=1e-3)
    assert chance[0, 1] < 1e-3


def contrasts(table: np.ndarray) -> np.ndarray:
    """How much the log odds of two answers differ between two true classes, of all pairs."""
    log = np.log(table)
    odds = log[..., :, None] - log[..., None, :]
    return odds[:, :, :, None] - odds[:, :, None, :]


@pytest.mark.parametrize("task", ["single", "retrieval", "relevance"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_hard_rows_lie_between_easier_ones(recipe: str, task: str):
    """Of every rater, adversaries too; at last they do not depend on the truth."""
    structure = structure_of(task, recipe)
    for seed in SEEDS[:10]:
        values = drawn(structure, seed, alike=False)
        places = np.unique(structure.difficulty.positions)  # of items that are hard on all labels
        by = [rows(structure, values, x) for x in places[:: max(1, len(places) // 6)]]
        for easier, harder in pairwise(by):
            if recipe.startswith("ability_bias") and task == "relevance":
                # With a bias kept, rows come nearer to each other in log odds, not one by one.
                if not recipe.endswith("by_class"):
                    assert (np.abs(contrasts(harder)) <= np.abs(contrasts(easier)) + 1e-9).all()
                continue
            low, high = np.nanmin(easier, axis=2), np.nanmax(easier, axis=2)
            assert not (harder < low[:, :, None] - 1e-9).any()
            assert not (harder > high[:, :, None] + 1e-9).any()
            if task == "single":
                youden = [b[:, 0, 1, 1] - b[:, 0, 0, 1] for b in (easier, harder)]
                assert (youden[0] * youden[1] >= -1e-12).all()
        for part in structure.parts:
            assert isinstance(part, CategoricalRaterModel)
            if "mace" not in recipe:  # its spam comes by the log odds
                last = rows(structure, endless(values), 1.0)
                assert np.nanmax(np.ptp(last, axis=2)) < 1e-9


def endless(values: Values) -> Values:
    """Difficulty of which nothing but guesses is left."""
    return (
        values
        | {
            name: np.full_like(value, 800.0)
            for name, value in values.items()
            if name.endswith("difficulty_rate")
        }
        | {name: np.zeros_like(value) for name, value in values.items() if name.endswith("rate_sd")}
    )


@cache
def structure_of(task: str, recipe: str) -> Structure:
    """A model of few ratings; what is looked at depends on its parameters alone."""
    options = {"classes": ("no", "yes")} if task == "single" else {}
    ratings = assay.simulate(task, n_items=6, n_raters=3, ratings_per_item=2, rng=0, **options)
    return build_structure(ratings, make_spec(recipe))


@pytest.mark.parametrize("task", ["retrieval", "grounding", "ais"])
@pytest.mark.parametrize("recipe", [r for r in RECIPES if "mace" not in r])
def test_what_is_recorded_of_the_hardest_items_does_not_depend_on_the_truth(recipe: str, task: str):
    """Behind an interface that blocks answers; under gates, of items that are asked the same."""
    states, structure = states_of(task), structure_of(task, recipe)
    (part,) = structure.parts
    for seed in SEEDS[:3]:
        values = stacked(endless(drawn(structure, seed, alike=False)))
        chance = part.label_chances(values, part.tilt(values, 1.0, np))[0]
        asked = states != NOT_ASKED
        for pattern in np.unique(asked, axis=0):
            same = chance[:, (asked == pattern).all(axis=1)]
            assert np.ptp(same, axis=1).max() < 1e-9


@pytest.mark.parametrize("recipe", [r for r in RECIPES if "lapses" not in r])
def test_the_sign_of_what_is_recorded_is_kept(recipe: str):
    """Of two states that differ in one label, behind an interface that blocks answers."""
    states = states_of("retrieval")
    pairs = [
        (a, b, n)
        for a in range(len(states))
        for b in range(len(states))
        for n in np.flatnonzero(states[a] != states[b])
        if (states[a] != states[b]).sum() == 1 and states[a, n] == 1
    ]
    assert pairs
    structure = structure_of("retrieval", recipe)
    (part,) = structure.parts
    for seed in SEEDS[:10]:
        values = stacked(drawn(structure, seed, alike=False))
        places = structure.difficulty.positions
        if not structure.difficulty.has_classes:
            places = places[[0, -1]]
        by = [part.label_chances(values, part.tilt(values, x, np))[0] for x in places]
        for a, b, n in pairs:
            easy, *harder = (chance[:, a, n, 1] - chance[:, b, n, 1] for chance in by)
            assert all((easy * hard >= -1e-12).all() for hard in harder)


def states_of(task: str) -> np.ndarray:
    from assay.data.states import state_space

    return np.asarray(state_space(load_task(task)).states)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("task", ["single", "retrieval"])
def test_scores_of_hard_items_tell_less(task: str, layer: str):
    """Likelihood ratios of the bins are less steep, and never turned."""
    for seed in SEEDS[:5]:
        options = {"classes": ("no", "yes")} if task == "single" else {}
        ratings = assay.simulate(
            task, n_items=9, n_raters=3, ratings_per_item=2, raters="scored", rng=seed, **options
        )
        structure = build_structure(ratings, make_spec(f"scored + {layer}"))
        values = drawn(structure, seed, alike=False)
        places = np.unique(structure.difficulty.positions)  # of items that are hard on all labels
        by = [rows(structure, values, x) for x in places]
        youden = [b[:, :, 1, 1] - b[:, :, 0, 1] for b in by]
        for easier, harder in pairwise(youden):
            assert (easier >= harder - 1e-9).all()
            assert (harder >= -1e-9).all()
        smallest = np.min([b[:, :, 1, 1] for b in by], axis=0)
        assert (smallest >= np.max([b[:, :, 0, 1] for b in by], axis=0) - 1e-9).all()


def test_recipes_have_one_layer_of_difficulty_each():
    assert all(
        sum(layer in LAYERS for layer in parse_recipe(recipe).layers) == 1 for recipe in RECIPES
    )
