"""Prompts: the shipped ones, and those of a user, checked before anything is sent."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from refusals import refusal

import assay
from assay.data.task_files import catalogue_names
from assay.studies.judges.prompts import guidelines_of, load_prompt

ITEMS = pd.DataFrame(
    {"item": ["a"], "query_id": ["q"], "query": ["Who?"], "document": ["{query} {{x}} Ann."]}
)
TASKS = ("ais", "generation", "grounding", "relevance", "retrieval")


def first(items: pd.DataFrame, task: str, log: Path, **given: Any) -> str:
    found = assay.ask_model(items, task, model="m", log=log, dry_run=True, **given)
    return found.plan.first_text()


@pytest.mark.parametrize("name", catalogue_names("prompts"))
def test_each_shipped_prompt_loads_and_names_its_file(name: str) -> None:
    task = assay.load_task("relevance")
    prompt = (
        load_prompt(name, task) if name not in TASKS else load_prompt(None, assay.load_task(name))
    )
    assert prompt.name == name
    assert prompt.title
    assert prompt.columns or name == "judge"


@pytest.mark.parametrize("name", TASKS)
def test_each_task_has_guidelines_that_name_its_labels_and_end_up_in_its_prompt(
    name: str, tmp_path: Path
) -> None:
    task = assay.load_task(name)
    text = guidelines_of(task)
    assert text.startswith("# ")
    if name == "relevance":
        assert all(f"**{word}**" in text for word in task.labels[0].classes)
        return
    assert all(f"**{label}**" in text for label in task.label_names)
    prompt = load_prompt(None, task)
    items = pd.DataFrame({"item": ["a"]} | {slot: [f"<{slot}>"] for slot in prompt.columns})
    said = first(items, name, tmp_path / "log")
    assert text in said
    for slot in prompt.columns:
        assert f"<{slot}>" in said
    for label in task.labels:
        assert label.description in said
    for rule in task.rules:
        assert rule.expression in said


def test_braces_of_texts_stay_as_they_are(tmp_path: Path) -> None:
    assert "{query} {{x}} Ann." in first(ITEMS, "relevance", tmp_path / "log")


@pytest.mark.parametrize("reason", ["", "_reason"])
@pytest.mark.parametrize("definition", ["", "_definition"])
def test_the_prompts_of_relevance_differ_by_definition_and_reason(
    definition: str, reason: str, tmp_path: Path
) -> None:
    told = pd.DataFrame({"id": ["q"], "definition": ["Names of persons."]})
    said = first(
        ITEMS, "relevance", tmp_path / "log", prompt=f"relevance{definition}{reason}",
        definitions=told,
    )  # fmt: skip
    assert ("Names of persons." in said) == bool(definition)
    assert ("[Reason]" in said) == bool(reason)
    assert "<no or yes>" in said


def test_a_definition_is_needed_where_the_prompt_has_one(tmp_path: Path) -> None:
    given: dict[str, Any] = {"prompt": "relevance_definition"}
    with pytest.raises(assay.AssayError, check=refusal("texts-column")):
        first(ITEMS, "relevance", tmp_path / "log", **given)
    other = pd.DataFrame({"id": ["p"], "definition": ["Names."]})
    with pytest.raises(assay.AssayError, check=refusal("definitions-missing")):
        first(ITEMS, "relevance", tmp_path / "log", definitions=other, **given)
    beside = ITEMS.assign(definition="Names of cities.")
    assert "Names of cities." in first(beside, "relevance", tmp_path / "log", **given)


OWN = """
system = "Be brief."
user = "{passage} / {question} / {answer_format} / {{}}"
[slots]
passage = ["document"]
question = ["query"]
"""


def test_a_template_of_ones_own_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    said = first(ITEMS, "relevance", tmp_path / "log", prompt=path, confidence="none")
    assert said.endswith("Who? / Answer in this format, and put nothing else on these lines:\n"
                         "[Guess]: <no, partially or yes> / {}")  # fmt: skip
    found = assay.ask_model(
        ITEMS, "relevance", model="m", log=tmp_path / "log", dry_run=True, prompt=path,
        slots={"passage": "query_id"},
    )  # fmt: skip
    assert found.plan.sent["passage"] == "query_id"


@pytest.mark.parametrize(
    "change",
    [
        ("{passage}", "{passages}"),
        ("{passage}", "{passage.upper}"),
        ("{passage}", "{passage!r}"),
        ("{passage}", "{passage:>9}"),
        ("{passage}", "{}"),
        ("{passage}", "{0}"),
        ("{passage}", "{passage"),
        ("{passage} / ", ""),
        ("{answer_format}", ""),
        ("system =", "sytsem ="),
        ('"Be brief."', "7"),
        ('["document"]', '"document"'),
        ("user =", "users ="),
        ("[slots]", "[classes]\nrelevance = ['no', 'maybe']\n[slots]"),
        ("[slots]", "[classes]\nrelevant = ['no', 'yes']\n[slots]"),
        ("system =", 'kind = "chat"\nsystem ='),
        ("[slots]", "[slots"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(
    change: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(*change))
    with pytest.raises(assay.AssayError, check=refusal("prompt-file")):
        first(ITEMS, "relevance", tmp_path / "log", prompt=path)


def test_any_task_can_be_asked_with_the_columns_that_are_named(tmp_path: Path) -> None:
    task = tmp_path / "tone.toml"
    task.write_text(
        'name = "tone"\n[[labels]]\nname = "tone"\nclasses = ["rude", "plain", "kind"]\n'
        'description = "How the message sounds."\n'
    )
    items = pd.DataFrame({"item": ["a"], "message": ["Go away."], "tone": ["rude"]})
    said = first(items, str(task), tmp_path / "log", texts=["message"])
    assert "message:\nGo away." in said
    assert "rude, plain or kind" in said
    with pytest.raises(assay.AssayError, check=refusal("texts-column")):
        first(items, str(task), tmp_path / "log")


def test_a_task_whose_classes_come_from_the_data_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(assay.AssayError, check=refusal("open-classes")):
        first(ITEMS, "single", tmp_path / "log", texts=["query"])


@pytest.mark.parametrize(
    ("items", "code"),
    [
        (ITEMS.drop(columns="document"), "texts-column"),
        (ITEMS.drop(columns="item"), "texts-column"),
        (ITEMS.assign(document=" "), "texts-empty"),
        (pd.concat([ITEMS, ITEMS.assign(document="Other.")]), "texts-repeated"),
        (ITEMS.iloc[:0], "empty-file"),
    ],
)
def test_items_that_cannot_be_asked_about_are_refused(
    items: pd.DataFrame, code: str, tmp_path: Path
) -> None:
    with pytest.raises(assay.AssayError, check=refusal(code)):
        first(items, "relevance", tmp_path / "log")


def test_of_a_table_of_ratings_each_item_is_taken_once_without_its_raters(tmp_path: Path) -> None:
    rated = pd.concat(
        [ITEMS.assign(rater=name, relevance="yes", score=1) for name in ("Ann", "Bo")]
    )
    found = assay.ask_model(rated, "relevance", model="m", log=tmp_path / "log", dry_run=True)
    assert found.plan.to_send == 1
    assert list(found.ratings.columns)[:2] == ["item", "query_id"]
    assert "Bo" not in str(found.plan.first)
