"""The label config of a task for Label Studio, which shows a question when its gate is open."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from assay.data.label_config import CHOSEN
from assay.data.states import label_order
from assay.data.task import Label, Task
from assay.studies.forms.conditions import Conditions, shown_if
from assay.studies.forms.words import rule_lines, when_asked

SEPARATOR = ","
"""Separator of the classes of a condition."""


def label_config(task: Task, texts: Sequence[str]) -> str:
    """Return the label config of a task as XML. Questions behind a gate are not required: Label
    Studio cannot submit a form in which a hidden question is required.
    """
    root = ET.Element("View")
    for text in texts:
        ET.SubElement(root, "Header", value=text)
        ET.SubElement(root, "Text", name=text, value=f"${text}")
    for line in rule_lines(task):
        ET.SubElement(root, "Header", value=line, size="4")
    for place in label_order(task):
        _add_question(root, task, task.labels[place], texts[0])
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _add_question(root: ET.Element, task: Task, label: Label, shown: str) -> None:
    conditions = _showable(shown_if(task, label))
    within = root
    for name, classes in (conditions or {}).items():
        within = ET.SubElement(
            within, "View", visibleWhen=CHOSEN, whenTagName=name,
            whenChoiceValue=SEPARATOR.join(classes),
        )  # fmt: skip
    when = when_asked(label) if label.asked_if and conditions is None else ""
    said = ": ".join(part for part in (label.name, label.description) if part)
    ET.SubElement(within, "Header", value=f"{said} {when}".strip(), size="4")
    choices = ET.SubElement(within, "Choices", name=label.name, toName=shown, choice="single-radio")
    if not label.asked_if:
        choices.set("required", "true")
    for name in label.classes:
        ET.SubElement(choices, "Choice", value=name)


def _showable(conditions: Conditions | None) -> Conditions | None:
    """Return the conditions, or None if a class contains the separator."""
    if conditions is None or any(SEPARATOR in c for of in conditions.values() for c in of):
        return None
    return conditions
