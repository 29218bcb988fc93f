"""The truth of hard items: which labels keep their prevalence, and which have equal odds."""

from dataclasses import replace

import numpy as np
import pytest

from assay.data.states import StateSpace, state_space
from assay.data.task import Label, Rule, Task
from assay.data.task_files import load_task
from assay.modelling.layers.hard_truth import MAX_STATES, HardTruth

CERTAIN = 400.0
"""A rate at which all answers are guesses."""


def space_of(name: str) -> StateSpace:
    return state_space(load_task(name))


def hard_truth(space: StateSpace, hardness: float = 1.0, *, continuous: bool = False) -> HardTruth:
    """Of one class of items, as hard on each label."""
    hard = np.full((1, space.states.shape[1]), hardness)
    return HardTruth(space=space, hard=hard, continuous=continuous, wanted=True)


def table_of(
    space: StateSpace, rates: list[float], hardness: float = 1.0, *, continuous: bool = False
) -> np.ndarray:
    """Return the table of items that are as hard on all labels."""
    layer = hard_truth(space, hardness, continuous=continuous)
    return np.asarray(layer.table([np.array([rates])], np))[0]


def test_a_label_on_which_hard_items_are_no_harder_keeps_its_prevalence():
    space = space_of("generation")
    easy = np.random.default_rng(1).dirichlet(np.ones(len(space.states)))
    hard = easy @ table_of(space, [0.0, CERTAIN, 0.0, 0.0, 0.0])
    for n, codes in enumerate(space.states.T):
        share = 0.5 if n == 1 else easy[codes == 1].sum()
        assert hard[codes == 1].sum() == pytest.approx(share)


@pytest.mark.parametrize(
    ("hardness", "continuous", "seen"),
    [
        (1.0, False, 1 / 4),
        (0.5, False, 1 / 2),
        (2.0, False, 1 / 16),
        (1.0, True, 1 / 4),
        (0.5, True, 5 / 8),
        (0.2, True, 17 / 20),
        (0.0, False, 1.0),
        (0.0, True, 1.0),
    ],
)
def test_a_share_keeps_its_truth_by_how_hard_items_are(
    hardness: float, continuous: bool, seen: float
):
    """At a rate of log 4, w is 4^-h, or 1 - 3h/4; two answers are both no guess at w squared."""
    space = space_of("generation")
    easy = np.random.default_rng(1).dirichlet(np.ones(len(space.states)))
    rates = [0.0, np.log(4), 0.0, 0.0, 0.0]
    hard = easy @ table_of(space, rates, hardness, continuous=continuous)
    yes = space.states[:, 1] == 1
    expected = seen**2 * easy[yes].sum() + (1 - seen**2) / 2
    assert hard[yes].sum() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("continuous", "seen"), [(False, (1 / 2, 1)), (True, (5 / 8, 1))])
def test_groups_to_which_difficulty_matters_count_alike(
    continuous: bool, seen: tuple[float, float]
):
    space = space_of("generation")
    layer, easy = hard_truth(space, 0.5, continuous=continuous), np.eye(len(space.states))
    rates = [np.full((1, 5), np.log(4)), np.zeros((1, 5))]
    (found,) = np.asarray(layer.table(rates, np))
    kept = np.mean(np.square(seen))
    yes = space.states[:, 1] == 1
    expected = kept * easy[:, yes].sum(axis=1) + (1 - kept) / 2
    np.testing.assert_allclose(found[:, yes].sum(axis=1), expected, rtol=1e-12)


def test_guesses_about_what_is_asked_do_not_say_whether_it_is_asked():
    space = space_of("ais")
    easy = np.array([0.02, 0.08, 0.2, 0.7])
    hard = easy @ table_of(space, [CERTAIN] * 3)
    asked = space.states[:, 2] >= 0
    np.testing.assert_allclose(hard[~asked], easy[~asked])
    np.testing.assert_allclose(hard[asked], easy[asked].sum() / 2)


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("hardness", [0.3, 1.0])
@pytest.mark.parametrize("name", ["retrieval", "grounding", "ais", "generation"])
def test_rows_are_probabilities(name: str, hardness: float, continuous: bool):
    space = space_of(name)
    rates = np.random.default_rng(2).gamma(1.0, size=space.states.shape[1])
    table = table_of(space, rates.tolist(), hardness, continuous=continuous)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1)


def test_labels_tied_by_a_rule_move_together():
    labels = tuple(Label(name=name, classes=("no", "yes")) for name in ("a", "b"))
    rules = (Rule(name="there", expression="a -> b"), Rule(name="back", expression="b -> a"))
    task = Task(name="tied", labels=labels, rules=rules)
    np.testing.assert_allclose(table_of(state_space(task), [CERTAIN, 0.0]), 0.5)


def test_beyond_a_number_of_states_hard_items_are_like_the_others():
    states = np.array(np.unravel_index(np.arange(2 * MAX_STATES), (2, MAX_STATES))).T
    space = space_of("retrieval")
    big = replace(space, states=states.astype(np.int16))
    assert hard_truth(space).applies
    assert not hard_truth(big).applies
