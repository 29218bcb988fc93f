"""From a task to a form, from the form to an export, from the export to the same ratings."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.studies.forms import make_form

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
