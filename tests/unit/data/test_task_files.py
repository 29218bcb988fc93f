import re
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refusal

from assay._util.errors import AssayError, TaskError, UnknownNameError
from assay.data.states import state_space
from assay.data.task_files import catalogue_entry, catalogue_names, load_task, task_from_json
from assay.evaluation.select import choose_metrics, metrics_for

SHIPPED = ["ais", "generation", "grounding", "relevance", "retrieval", "single"]


def written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_the_shipped_tasks_are_there() -> None:
    assert catalogue_names("tasks") == SHIPPED


def test_what_a_caller_does_to_an_entry_stays_with_the_caller() -> None:
    first = catalogue_entry("raters", "hierarchical", called="family")
    first.clear()
    assert catalogue_entry("raters", "hierarchical", called="family")["name"] == "hierarchical"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_task_survives_json(name: str) -> None:
    task = load_task(name)
    if name == "single":
        task = task.with_classes({"label": ("x", "y")})
    assert task_from_json(task.to_json()) == task


def test_a_task_is_returned_as_it_is() -> None:
    task = load_task("ais")
    assert load_task(task) is task


def test_a_file_of_ones_own_takes_its_name_from_the_file(tmp_path: Path) -> None:
    task = load_task(written(tmp_path, '[[labels]]\nname = "good"\n'))
    assert (task.name, task.label_names, task.classes["good"]) == ("own", ("good",), ("no", "yes"))


def test_a_soft_rule_is_not_blocked_by_default(tmp_path: Path) -> None:
    text = '[[labels]]\nname="a"\n[[labels]]\nname="b"\n'
    text += '[[rules]]\nexpression="a -> b"\ntruth="soft"\n[[rules]]\nexpression="b -> a"\n'
    rules = load_task(written(tmp_path, text)).rules
    assert [(r.name, r.truth, r.response) for r in rules] == [
        ("a -> b", "soft", "off"),
        ("b -> a", "hard", "block"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[label]]\nname='a'", "'label' in the file; did you mean labels?"),
        ("[[labels]]\nname='a'\nclases=['x','y']", "did you mean classes?"),
        ("[[labels]]\nname=''", "name"),
        ("[[labels]]\nname='a'\n[[labels]]\nname='a'", "a is declared twice"),
        ("[[labels]]\nname='a'\nclasses=['x']", "two different"),
        ("[[labels]]\nname='a'\nclasses=['x','x']", "two different"),
        ("[[labels]]\nname='a'\nclasses='x'", "must be a list"),
        ("labels = 3", "list of tables"),
        ("", "no labels"),
        ("[[labels]]\nname='a'\nasked_if='b'", "names 'b'"),
        ("[[labels]]\nname='a'\n[[rules]]\ntruth='hard'", "expression"),
        (
            "[[labels]]\nname='a'\n[[rules]]\nexpression='a'\ntruth='hrad'",
            "allowed: hard, soft, off",
        ),
        ("[[labels]]\nname='a'\n[[rules]]\nexpression='a'\nresponse='stop'", "allowed: block"),
        ("[columns]\nqueri='q'\n[[labels]]\nname='a'", "unknown column role 'queri'"),
        ("[[labels]\n", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, check=refusal("task-file")) as caught:
        load_task(written(tmp_path, text))
    assert words in str(caught.value)


def test_all_problems_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    text = "[[labels]]\nname='a'\nclasses=['x']\n[[rules]]\nexpression='a -> b'\n"
    with pytest.raises(TaskError, check=refusal("task-file", problems=2)):
        load_task(written(tmp_path, text))


@pytest.mark.parametrize("better", ["higher", "lower", "knd"])
def test_a_better_end_of_classes_without_an_order_is_refused(better: str, tmp_path: Path) -> None:
    text = "[[labels]]\nname='tone'\nclasses=['rude', 'plain', 'kind']\nbetter = {}\n"
    with pytest.raises(TaskError, check=refusal("label-direction")) as caught:
        load_task(written(tmp_path, text.format(f"'{better}'")))
    if better == "knd":
        assert "did you mean kind?" in str(caught.value)
        return
    advised = re.search(r'such as better = ("\w+")', str(caught.value))
    assert advised is not None
    task = load_task(written(tmp_path, text.format(advised[1])))
    assert choose_metrics(task, "prevalence[tone=rude]")[0].better == "higher"
    ordered = load_task(written(tmp_path, text.format(f"'{better}'\nordered = true")))
    assert choose_metrics(ordered, "prevalence[tone=kind]")[0].better == better
    # A stored fit of an earlier version has no direction instead.
    old = replace(task, labels=(replace(task.labels[0], better=better),))
    assert choose_metrics(task_from_json(old.to_json()), "prevalence[tone=kind]")[0].better == (
        "neither"
    )


def test_a_class_called_higher_is_a_class(tmp_path: Path) -> None:
    text = "[[labels]]\nname='a'\nclasses=['higher', 'lower', 'same']\nbetter='higher'\n"
    task = load_task(written(tmp_path, text))
    better = {m.name: m.better for m in metrics_for(task)}
    assert better == {
        "prevalence[a=higher]": "higher",
        "prevalence[a=lower]": "neither",
        "prevalence[a=same]": "neither",
    }


def test_an_unknown_name_shows_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownNameError, match="did you mean grounding", check=refusal("unknown-task")
    ):
        load_task("groundin")


def test_responses_are_set_by_name_or_expression() -> None:
    task = load_task("retrieval")
    by_name = task.with_responses({"sufficient_is_relevant": "warn"})
    by_text = task.with_responses({"evidence_sufficient -> topically_relevant": "warn"})
    assert by_name == by_text
    assert [r.response for r in by_name.rules] == ["warn", "block"]
    assert [r.response for r in task.rules] == ["block", "block"]


def test_a_response_that_is_none_is_refused() -> None:
    with pytest.raises(TaskError, check=refusal("response-argument")):
        load_task("retrieval").with_responses({"sufficient_is_relevant": "forbid"})


LABEL = "[[labels]]\nname = 'a'\n"


TASKS = {
    LABEL + "asked_if = 3": "asked_if = 3",
    LABEL + "asked_if = ['a']": "asked_if = ['a']",
    LABEL + "ordered = 'yes'": "ordered",
    LABEL + "description = 3": "description = 3",
    LABEL + "classes = [['x'], ['y']]": "list of names",
    LABEL + "classes = [1979-05-27, 1979-05-28]": "list of names",
    LABEL + "classes = [true, false]": "list of names",
    LABEL + "classes = ['', 'x']": "list of names",
    LABEL + "classes = ['x\\u0000', 'y']".replace("'x\\u0000'", '"x\\u0000"'): "control characters",
    '[[labels]]\nname = "a\\u001b[2J"': "control characters",
    "[[labels]]\nname = '" + "a" * 1000 + "'": "1,000 characters",
    "[[labels]]\nname = 1979-05-27": "has no name",
    "[[labels]]\nname = ['a']": "has no name",
    "metrics = 3\n" + LABEL: "metrics = 3",
    "metrics = [3]\n" + LABEL: "metrics = [3]",
    "metrics = 'a'\n" + LABEL: "metrics = 'a'",
    "name = 3\n" + LABEL: "name = 3",
    "description = 1979-05-27\n" + LABEL: "description = datetime.date(1979, 5, 27)",
    "max_states = 10000000\n" + LABEL: "1 to 20,000",
    "max_states = 0\n" + LABEL: "1 to 20,000",
    "max_states = true\n" + LABEL: "1 to 20,000",
    "max_states = 1.5\n" + LABEL: "1 to 20,000",
    "max_states = " + "9" * 5000 + "\n" + LABEL: "not valid TOML",
    "[columns]\nitem = 3\n" + LABEL: "columns: item = 3",
    "[columns]\nitem = [3]\n" + LABEL: "columns: item = [3]",
    "columns = 3\n" + LABEL: "columns",
    "a = " + "[" * 5000 + "]" * 5000: "nested",
    "a = '" + "x" * 2_000_000 + "'": "1,048,576 bytes",
    LABEL + "[[rules]]\nexpression = 3": "has no expression",
    LABEL + "[[rules]]\nexpression = 'a'\nname = 3": "name = 3",
    LABEL + "[[rules]]\nexpression = 'a'\ntruth = ['hard']": "truth = ['hard']; allowed",
    LABEL + "[[rules]]\nexpression = 'a'\ntruth = 3": "truth = 3; allowed",
    LABEL + "[[rules]]\nexpression = '" + "not " * 100_000 + "a'": "400,001 characters",
    LABEL + "[[rules]]\nexpression = '" + "not " * 2_000 + "a'": "100 operators",
    LABEL + "[[rules]]\nexpression = '" + "(" * 4_000 + "a" + ")" * 4_000 + "'": "100 operators",
    LABEL + "classes = []\n[[rules]]\nexpression = 'a'": "classes come from",
    "".join(f"[[labels]]\nname = 'a{n}'\n" for n in range(1_200)): "1,200 labels",
}


@pytest.mark.parametrize("text", TASKS, ids=range(len(TASKS)))
def test_a_task_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    if "(((" in text:  # brackets alone are no operators
        assert load_task(path).rules
        return
    with pytest.raises(AssayError) as caught:
        load_task(path)
    assert caught.value.code == "task-file"
    assert TASKS[text] in str(caught.value)
    assert "own.toml" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_task_of_many_states_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    classes = ", ".join(f"'c{n}'" for n in range(256))
    path.write_text(
        "max_states = 20000\n"
        + "".join(f"[[labels]]\nname = 'a{n}'\nclasses = [{classes}]\n" for n in range(9))
    )
    with pytest.raises(AssayError, check=refusal("too-many-states", most=20000)):
        state_space(load_task(path))
