from itertools import product
from pathlib import Path

import numpy as np
import pytest
from refusals import refusal

from assay._util.errors import TaskError
from assay.data.rules import NOT_ASKED
from assay.data.states import label_order, state_space, vector_name
from assay.data.task import Label, Rule, Task
from assay.data.task_files import load_task

CIRCLE = (Label(name="a", asked_if="b"), Label(name="b", asked_if="a"))
NEVER = Rule(name="r", expression="a and not a")
A, B, C = Label(name="a"), Label(name="b"), Label(name="c", classes=("x", "y", "z"))


@pytest.mark.parametrize(
    ("name", "states", "paths", "blocked"),
    [
        ("retrieval", 5, 8, 3),
        ("grounding", 18, 32, 14),
        ("generation", 32, 32, 0),
        ("ais", 4, 4, 0),
        ("relevance", 3, 3, 0),
    ],
)
def test_sizes_of_the_shipped_tasks(name: str, states: int, paths: int, blocked: int) -> None:
    space = state_space(load_task(name))
    assert (len(space.states), len(space.paths), space.blocked.sum()) == (states, paths, blocked)


def test_states_are_those_of_brute_force() -> None:
    rule = Rule(name="r", expression="a -> c == y or b")
    task = Task(name="t", labels=(A, B, C), rules=(rule,))
    expected = [v for v in product(range(2), range(2), range(3)) if not v[0] or v[2] == 1 or v[1]]
    assert state_space(task).states.tolist() == [list(v) for v in expected]


def test_gates_mark_what_is_not_asked() -> None:
    assert state_space(load_task("ais")).states.tolist() == [
        [0, 0, NOT_ASKED],
        [0, 1, 0],
        [0, 1, 1],
        [1, NOT_ASKED, NOT_ASKED],
    ]


def test_strengths_of_rules_are_kept_apart() -> None:
    rule = Rule(name="r", expression="a -> b", truth="soft", response="warn")
    space = state_space(Task(name="t", labels=(A, B), rules=(rule,)))
    assert len(space.states) == 4
    assert space.soft[:, 0].tolist() == [False, False, True, False]
    assert space.warned[:, 0].tolist() == [False, False, True, False]
    assert not space.blocked.any()
    assert (space.soft_names, space.warned_names) == (("r",), ("r",))


def test_a_gate_may_name_a_later_label() -> None:
    gated = Label(name="a", asked_if="b")
    task = Task(name="t", labels=(gated, B))
    assert label_order(task) == [1, 0]
    assert {tuple(s) for s in state_space(task).states} == {(NOT_ASKED, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize(
    ("task", "words", "code"),
    [
        (Task(name="t", labels=CIRCLE), "circle", "gates-in-circle"),
        (Task(name="t", labels=(A,), rules=(NEVER,)), "contradict", "rules-contradict"),
        (
            Task(name="t", labels=(A,), rules=(Rule(name="r", expression="a"),)),
            "a is no",
            "rules-exclude-class",
        ),
        (Task(name="t", labels=(A, B, C), max_states=11), "more than 11 states", "too-many-states"),
        (
            Task(name="t", labels=(Label(name="a", classes=()),)),
            "Read ratings",
            "open-classes",
        ),
        (
            Task(
                name="t",
                labels=(A,),
                rules=(Rule(name="r", expression="a and not a", truth="off", response="block"),),
            ),
            "no answer",
            "rules-block-all",
        ),
    ],
)
def test_an_impossible_task_is_refused_in_words(task: Task, words: str, code: str) -> None:
    with pytest.raises(TaskError, match=words, check=refusal(code)):
        state_space(task)


def test_names_are_readable() -> None:
    task = Task(name="t", labels=(A, C))
    assert vector_name(task, np.array([1, 2])) == "a, c=z"
    assert vector_name(task, np.array([-1, NOT_ASKED])) == "a=?"
    assert vector_name(load_task("relevance"), np.array([1])) == "partially"


def test_the_space_of_a_task_is_computed_once(tmp_path: Path) -> None:
    assert state_space(load_task("ais")) is state_space(load_task("ais"))
