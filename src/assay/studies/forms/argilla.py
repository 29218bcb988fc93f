"""The settings of an Argilla dataset for a task, as its client reads them from a file."""

import json
from collections.abc import Sequence
from typing import Any

from assay.data.states import label_order
from assay.data.task import Label, Task
from assay.studies.forms.words import rule_lines, when_asked
from assay.studies.judges.prompts import guidelines_of


def argilla_settings(task: Task, texts: Sequence[str]) -> str:
    """Return the settings of a dataset as JSON for ``argilla.Settings.from_json``.

    Argilla shows all questions. Those behind a gate are not required, and say when to answer.
    """
    fields = [
        {"name": name, "title": name, "required": True, "settings": {"type": "text"}}
        for name in texts
    ]
    settings = {
        "guidelines": _guidelines(task) or None,
        "fields": fields,
        "questions": [_question(task.labels[place]) for place in label_order(task)],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
    }
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _guidelines(task: Task) -> str:
    rules = "\n".join(f"- {line}" for line in rule_lines(task))
    return "\n\n".join(part for part in (guidelines_of(task) or task.description, rules) if part)


def _question(label: Label) -> dict[str, Any]:
    said = [label.description] if label.description else []
    said += [when_asked(label)] if label.asked_if else []
    options = [{"value": name, "text": name, "description": None} for name in label.classes]
    return {
        "name": label.name,
        "title": label.name,
        "description": " ".join(said) or None,
        "required": not label.asked_if,
        "settings": {"type": "label_selection", "options": options},
    }
