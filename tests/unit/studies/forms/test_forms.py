"""Forms of annotation tools: the labels, gates and rules of any task, and what a tool cannot do."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from refusals import refusal
from typer.testing import CliRunner

import assay
from assay.cli.program import app
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
