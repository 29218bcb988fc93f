"""Every task file of the catalogue loads, enumerates, round trips and names what exists."""

import pytest

from assay.data.rules import NOT_ASKED
from assay.data.states import state_space
from assay.data.task import ROLES, Task
from assay.data.task_files import catalogue_names, load_task, task_from_json
from assay.evaluation import metrics_for
from assay.evaluation.registry import registered

TASKS = catalogue_names("tasks")
STATES = {"ais": 4, "generation": 32, "grounding": 18, "relevance": 3, "retrieval": 5, "single": 2}
METRICS = {
    "ais": 3, "generation": 5, "grounding": 5, "relevance": 0, "retrieval": 6, "single": 0,
}  # fmt: skip


def complete(name: str) -> Task:
    """The task with all classes known; data bring those that the file leaves open."""
    task = load_task(name)
    open_labels = {la.name: ("no", "yes") for la in task.labels if not la.classes}
    return task.with_classes(open_labels)


def test_catalogue_has_the_shipped_tasks() -> None:
    assert sorted(STATES) == TASKS


@pytest.mark.parametrize("name", TASKS)
def test_file_name_is_task_name(name: str) -> None:
    assert load_task(name).name == name


@pytest.mark.parametrize("name", TASKS)
def test_task_describes_itself_its_labels_and_its_rules(name: str) -> None:
    task = load_task(name)
    assert task.description
    assert all(label.description for label in task.labels)
    assert all(rule.description for rule in task.rules)


@pytest.mark.parametrize("name", TASKS)
def test_number_of_states(name: str) -> None:
    assert len(state_space(complete(name)).states) == STATES[name]


@pytest.mark.parametrize("name", TASKS)
def test_state_names_are_unique(name: str) -> None:
    names = state_space(complete(name)).state_names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", TASKS)
def test_rules_hold_in_every_state_and_gates_close_the_rest(name: str) -> None:
    task = complete(name)
    states = state_space(task).states
    codes = {label: states[:, n] for n, label in enumerate(task.label_names)}
    for rule in task.rules:
        assert rule.truth != "hard" or task.expression(rule.expression)(codes).all()
    for label in task.labels:
        closed = codes[label.name] == NOT_ASKED
        expected = ~task.expression(label.asked_if)(codes) if label.asked_if else closed & False
        assert (closed == expected).all()


@pytest.mark.parametrize("name", TASKS)
def test_truth_is_recordable_under_the_default_response_strengths(name: str) -> None:
    space = state_space(complete(name))
    recordable = {tuple(path) for path in space.paths[~space.blocked].tolist()}
    assert {tuple(state) for state in space.states.tolist()} <= recordable


@pytest.mark.parametrize("name", TASKS)
def test_json_round_trip(name: str) -> None:
    for task in (load_task(name), complete(name)):
        assert task_from_json(task.to_json()) == task


@pytest.mark.parametrize("name", TASKS)
def test_columns_have_known_roles_and_names(name: str) -> None:
    columns = load_task(name).columns
    assert set(columns) <= set(ROLES)
    assert all(names and all(names) for names in columns.values())


@pytest.mark.parametrize("name", TASKS)
def test_metrics_are_distinct(name: str) -> None:
    metrics = load_task(name).metrics
    assert len(set(metrics)) == len(metrics) == METRICS[name]


@pytest.mark.parametrize("name", TASKS)
def test_metrics_are_registered_for_the_task(name: str) -> None:
    task = load_task(name)
    available = {metric.name for metric in metrics_for(task)}
    assert set(task.metrics) <= available
    assert all(registered(metric).lacks(task) == [] for metric in task.metrics)
