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


def table_of(space: StateSpace, rates: list[float]) -> np.ndarray:
    """Return the table of items that are hard on all labels."""
    hard = np.ones((1, space.states.shape[1]), bool)
    layer = HardTruth(space=space, hard=hard, wanted=True)
    return np.asarray(layer.table([np.array([rates])], np))[0]


def test_a_label_on_which_hard_items_are_no_harder_keeps_its_prevalence():
    space = space_of("generation")
    easy = np.random.default_rng(1).dirichlet(np.ones(len(space.states)))
    hard = easy @ table_of(space, [0.0, CERTAIN, 0.0, 0.0, 0.0])
    for n, codes in enumerate(space.states.T):
        share = 0.5 if n == 1 else easy[codes == 1].sum()
        assert hard[codes == 1].sum() == pytest.approx(share)


def test_guesses_about_what_is_asked_do_not_say_whether_it_is_asked():
    space = space_of("ais")
    easy = np.array([0.02, 0.08, 0.2, 0.7])
    hard = easy @ table_of(space, [CERTAIN] * 3)
    asked = space.states[:, 2] >= 0
    np.testing.assert_allclose(hard[~asked], easy[~asked])
    np.testing.assert_allclose(hard[asked], easy[asked].sum() / 2)


@pytest.mark.parametrize("name", ["retrieval", "grounding", "ais", "generation"])
def test_rows_are_probabilities(name: str):
    space = space_of(name)
    rates = np.random.default_rng(2).gamma(1.0, size=space.states.shape[1])
    table = table_of(space, rates.tolist())
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
    assert not HardTruth(
        space=big, hard=np.ones((1, big.states.shape[1]), bool), wanted=True
    ).applies
