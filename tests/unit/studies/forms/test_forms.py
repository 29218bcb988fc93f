"""Forms of annotation tools, from any task; exports made with them have the answers of the task."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay.cli.program import app
from assay.data.ratings import Ratings
from assay.data.states import state_space
from assay.data.task import Label, Rule, Task
from assay.studies.forms import FORMS, make_form
from assay.studies.forms.conditions import shown_if

SHIPPED = ("ais", "generation", "grounding", "relevance", "retrieval")


GATED = Task(
    name="gated",
    labels=(
        # Deliberately after what it depends on stands here.
        Label(
            name="how bad", classes=("1", "2", "3"), ordered=True, asked_if="kind != ok and read"
        ),
        Label(name="kind", classes=("ok", "rude", "a < b & c"), asked_if="read"),
        Label(name="read", description='Can you "read" it?'),
        Label(name="either", asked_if="kind == rude or not read"),
    ),
)


def read_back(task: Task, folder: Path) -> Task:
    path = folder / "form.xml"
    path.write_text(make_form(task, "label-studio").text, encoding="utf-8")
    return assay.load_task(path)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_label_config_is_read_back_as_the_same_labels_and_answers(
    name: str, tmp_path: Path
) -> None:
    task = assay.load_task(name)
    again = read_back(task, tmp_path)
    assert again.classes == task.classes
    assert again.label_names == task.label_names
    # The answers that gates admit; rules are not the tool's.
    assert (state_space(again).paths == state_space(task).paths).all()


def test_gates_of_any_task_are_views_within_views(tmp_path: Path) -> None:
    again = read_back(GATED, tmp_path)
    assert set(again.label_names) == set(GATED.label_names)
    gates = {label.name: label.asked_if for label in again.labels}
    assert gates["read"] == ""
    assert gates["kind"] == "read == yes"
    assert gates["how bad"] == 'read == yes and (kind == rude or kind == "a < b & c")'
    # No conjunction: it is always shown, and the form says when to answer.
    assert gates["either"] == ""
    form = make_form(GATED, "label-studio")
    assert "Answer only if: kind == rude or not read." in form.text
    assert [note.code for note in form.notes] == ["form-without-gates"]


def test_conditions_hold_those_of_earlier_labels() -> None:
    assert shown_if(GATED, GATED.labels[0]) == {"read": ("yes",), "kind": ("rude", "a < b & c")}
    assert shown_if(GATED, GATED.labels[2]) == {}
    assert shown_if(GATED, GATED.labels[3]) is None


def test_a_class_with_a_comma_is_no_condition(tmp_path: Path) -> None:
    task = Task(
        name="t",
        labels=(
            Label(name="a", classes=("no, never", "yes")),
            Label(name="b", asked_if='a == "no, never"'),
        ),
    )
    assert {la.name: la.asked_if for la in read_back(task, tmp_path).labels}["b"] == ""
    assert "Answer only if" in make_form(task, "label-studio").text


@pytest.mark.parametrize("to", ["label-studio", "argilla"])
def test_rules_that_no_tool_blocks_are_shown_and_named(to: str) -> None:
    form = make_form(assay.load_task("retrieval"), to)
    (note,) = form.notes
    assert note.code == "form-without-rules"
    assert note.numbers == {"rules": 2}
    shown = form.text.replace("&gt;", ">")
    assert "evidence_sufficient -> topically_relevant" in shown
    assert "evidence_sufficient -> not misleading" in shown
    off = assay.load_task("retrieval").with_responses({"sufficient_is_relevant": "off"})
    assert make_form(off, to).notes[0].numbers == {"rules": 1}
    assert "evidence_sufficient -> topically_relevant" not in make_form(off, to).text.replace(
        "&gt;", ">"
    )


def test_what_a_form_names_is_what_read_ratings_takes(tmp_path: Path) -> None:
    """An annotation made with the form of ais, where gates hide questions."""
    config = tmp_path / "ais.xml"
    config.write_text(make_form(assay.load_task("ais"), "label-studio").text, encoding="utf-8")
    names = [e.get("name") for e in ET.parse(config).iter("Choices")]
    answers = [("no", "yes", "yes"), ("no", "no"), ("yes",)]
    tasks = [
        {
            "id": n,
            "data": {"output": "x"},
            "annotations": [
                {
                    "id": n,
                    "completed_by": 1,
                    "result": [
                        {
                            "from_name": name, "to_name": "context", "type": "choices",
                            "value": {"choices": [word]},
                        }
                        for name, word in zip(names, said, strict=False)
                    ],
                }
            ],
        }
        for n, said in enumerate(answers)
    ]  # fmt: skip
    export = tmp_path / "export.json"
    export.write_text(json.dumps(tasks))
    ratings = assay.read_ratings(export, task="ais")
    assert ratings.answers.tolist() == [[0, 1, 1], [0, 0, -2], [1, -2, -2]]


def test_argilla_settings_have_a_question_for_each_label() -> None:
    task = assay.load_task("ais")
    form = make_form(task, "argilla", ["context", "answer"])
    settings = json.loads(form.text)
    assert [field["name"] for field in settings["fields"]] == ["context", "answer"]
    questions = settings["questions"]
    assert [one["name"] for one in questions] == list(task.label_names)
    assert [one["required"] for one in questions] == [True, False, False]
    assert questions[2]["description"].endswith("Answer only if: interpretable.")
    assert [o["value"] for o in questions[0]["settings"]["options"]] == ["no", "yes"]
    assert settings["guidelines"].startswith("# Attribution")
    assert [note.code for note in form.notes] == ["form-without-gates"]


def test_guidelines_are_written_as_they_are() -> None:
    assert make_form(assay.load_task("ais"), "guidelines").text.startswith("# Attribution")
    with pytest.raises(assay.AssayError, check=refusal("guidelines-missing")):
        make_form(GATED, "guidelines")


@pytest.mark.parametrize("to", FORMS[:2])
def test_a_task_whose_classes_come_from_the_data_has_no_form(to: str) -> None:
    with pytest.raises(assay.AssayError, check=refusal("open-classes")):
        make_form(assay.load_task("single"), to)
    with pytest.raises(assay.AssayError, check=refusal("argument-choice")):
        make_form(GATED, "argila")


def test_the_command_writes_a_form_and_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["task", "export", "retrieval", "--to", "label-studio", "--text", "chunk_text"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "$chunk_text" in Path("retrieval.xml").read_text()
    assert "--response sufficient_is_relevant=off" in done.stderr
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "[file-exists]" in done.stderr
    done = CliRunner().invoke(app, [*words, "-o", "retrieval.xml"])
    assert done.exit_code == 0


def test_soft_rules_are_no_matter_of_the_form() -> None:
    rules = (Rule(name="r", expression="a -> b", response="off"),)
    task = Task(name="t", labels=(Label(name="a"), Label(name="b")), rules=rules)
    assert make_form(task, "argilla").notes == ()


OWN = """
name = "tone"

[[labels]]
name = "severity"
classes = ["1", "2", "3"]
ordered = true
asked_if = "kind != fine and readable"

[[labels]]
name = "kind"
classes = ["fine", "rude", "a < b & c"]
asked_if = "readable"

[[labels]]
name = "readable"
description = "Can you read \\"all\\" of it?"

[[labels]]
name = "either"
asked_if = "kind == rude or not readable"
"""
"""A task of a user: gates of gates, one that no form can show, and marks of XML in names."""


TASKS = ("ais", "generation", "grounding", "relevance", "retrieval", "own")


Answers = dict[str, str]


@pytest.fixture
def task(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    if request.param != "own":
        return str(request.param)
    (tmp_path / "tone.toml").write_text(OWN)
    return tmp_path / "tone.toml"


def words(ratings: Ratings) -> Iterator[tuple[str, str, Answers]]:
    """Yield item, rater and the class of each label that the rater answered."""
    task = ratings.task
    for row, answers in enumerate(ratings.answers):
        said = {
            label.name: label.classes[code]
            for label, code in zip(task.labels, answers, strict=True)
            if code >= 0
        }
        item, rater = ratings.item[row], ratings.rater[row]
        yield str(ratings.items.index[item]), str(ratings.raters.index[rater]), said


def shown(root: ET.Element, answers: Answers) -> Iterator[tuple[ET.Element, str]]:
    """Yield the questions that Label Studio shows, as the config says, with their answers."""
    for part in root:
        name = part.get("name", "")
        if part.tag == "View":
            chosen = answers.get(part.get("whenTagName", ""))
            if chosen in part.get("whenChoiceValue", "").split(","):
                yield from shown(part, answers)
        elif part.tag == "Choices" and name in answers:
            assert answers[name] in {choice.get("value") for choice in part}
            yield part, answers[name]
        elif part.tag == "Choices":
            assert part.get("required") != "true"


def label_studio_export(config: str, ratings: Ratings) -> list[dict[str, Any]]:
    """Write the export of a project with this config."""
    root = ET.fromstring(config)
    fields = [str(text.get("value")).removeprefix("$") for text in root.iter("Text")]
    tasks: dict[str, dict[str, Any]] = {}
    for n, (item, rater, said) in enumerate(words(ratings)):
        data = {"item": item} | {field: f"{field} of {item}" for field in fields}
        held = tasks.setdefault(item, {"id": len(tasks) + 1, "data": data, "annotations": []})
        result = [
            {
                "from_name": part.get("name"), "to_name": part.get("toName"), "type": "choices",
                "value": {"choices": [word]},
            }
            for part, word in shown(root, said)
        ]  # fmt: skip
        held["annotations"].append({"id": n, "completed_by": {"email": rater}, "result": result})
    return list(tasks.values())


def argilla_export(settings: str, ratings: Ratings) -> list[dict[str, Any]]:
    """Write the records of a dataset with these settings."""
    read = json.loads(settings)
    allowed = {
        question["name"]: {option["value"] for option in question["settings"]["options"]}
        for question in read["questions"]
    }
    required = {question["name"] for question in read["questions"] if question["required"]}
    records: dict[str, dict[str, Any]] = {}
    for item, rater, said in words(ratings):
        assert required <= set(said)
        fields = {field["name"]: f"of {item}" for field in read["fields"]}
        record = records.setdefault(
            item, {"id": item, "fields": fields, "responses": {}, "suggestions": {}}
        )
        for name, word in said.items():
            assert word in allowed[name]
            record["responses"].setdefault(name, []).append({"value": word, "user_id": rater})
    return list(records.values())


def answers_of(ratings: Ratings) -> dict[tuple[str, str], Answers]:
    return {(item, rater): said for item, rater, said in words(ratings)}


WRITERS = {"label-studio": label_studio_export, "argilla": argilla_export}


@pytest.mark.parametrize("to", WRITERS)
@pytest.mark.parametrize("task", TASKS, indirect=True)
def test_an_export_made_with_the_form_has_the_answers_of_the_task(
    task: str | Path, to: str, tmp_path: Path
) -> None:
    read: Task = assay.load_task(task)
    made = assay.simulate(read, n_items=40, n_raters=4, ratings_per_item=2, n_clusters=20, rng=1)
    export = tmp_path / "export.json"
    export.write_text(json.dumps(WRITERS[to](make_form(read, to).text, made)))
    again = assay.read_ratings(
        export, task=task, **({"item": "item"} if to == "label-studio" else {})
    )
    assert answers_of(again) == answers_of(made)
    # Gates that close a label are told from answers that are missing.
    closed = {tuple(row) for row in (made.answers == -2)}
    assert {tuple(row) for row in (again.answers == -2)} == closed
    assert (again.answers >= 0).any(axis=0).all()
    assert not np.any(again.abstained)


@pytest.mark.parametrize("task", TASKS, indirect=True)
def test_the_config_alone_is_enough_to_read_its_export(task: str | Path, tmp_path: Path) -> None:
    made = assay.simulate(task, n_items=30, n_raters=3, ratings_per_item=2, n_clusters=15, rng=2)
    config = tmp_path / "form.xml"
    config.write_text(make_form(assay.load_task(task), "label-studio").text, encoding="utf-8")
    export = tmp_path / "export.json"
    export.write_text(json.dumps(label_studio_export(config.read_text(encoding="utf-8"), made)))
    again = assay.read_ratings(export, task=config, item="item")
    found, expected = answers_of(again), answers_of(made)
    assert found == {key: dict(said) for key, said in expected.items()}
