"""Label Studio's label config as a task: controls, their choices and conditions."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from assay._util.errors import TaskError
from assay.data.questions import Control, Gate, Kind, label_columns, task_of
from assay.data.task import Task

CHOSEN, UNCHOSEN = "choice-selected", "choice-unselected"
RATING_MOST = 5
"""Highest grade of a control of stars that does not specify it."""
SIDES = ("left", "right")
MOST_CHARACTERS = 1_000_000


def label_config_task(path: Path) -> Task:
    """Read the label config of a project (an XML file) as a task. A multiple choice becomes a label
    for each option; ``visibleWhen`` is a gate. Texts and regions are ignored.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > MOST_CHARACTERS or "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise TaskError(f"{path} is not a label config", code="label-config")
        root = ET.fromstring(text)
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"label config {path} cannot be read: {error}", code="label-config"
        ) from None
    except ET.ParseError as error:
        raise TaskError(f"label config {path} is not XML: {error}", code="label-config") from None
    controls = {control.name: control for control in _controls(root, ())}
    columns = label_columns(controls.values())
    if not columns:
        raise TaskError(
            f"label config {path} has no <Choices>, <Rating> or <Pairwise> about whole tasks",
            code="label-config",
        )
    return task_of(path.stem, controls, columns)


def _controls(element: ET.Element, gates: tuple[Gate, ...]) -> Iterator[Control]:
    """Yield the controls within an element, with the gates of all enclosing elements."""
    gates = (*gates, *_gates(element))
    name = element.get("name", "")
    if element.get("perRegion", "").lower() == "true":
        return
    match element.tag.lower():
        case "choices":
            several = element.get("choice", "single") == "multiple"
            kind: Kind = "choices" if several else "choice"
            options = tuple(dict.fromkeys(_options(element)))
            if several and not options:
                return  # the choices are in the data
            yield Control(name=name, kind=kind, options=options, gates=gates, told=bool(options))
        case "rating":
            most = int(element.get("maxRating", RATING_MOST))
            grades = tuple(str(grade) for grade in range(1, most + 1))
            yield Control(name=name, kind="number", options=grades, gates=gates, told=True)
        case "pairwise":
            yield Control(name=name, kind="choice", options=SIDES, gates=gates, told=True)
        case _:
            for child in element:
                yield from _controls(child, gates)


def _options(element: ET.Element) -> Iterator[str]:
    """Yield the names of choices in results: their alias, else their value."""
    for choice in element.iter():
        if choice.tag.lower() == "choice":
            word = choice.get("alias") or choice.get("value") or ""
            if word and not word.startswith("$"):
                yield word


def _gates(element: ET.Element) -> Iterator[Gate]:
    """Yield the condition under which an element is shown, if it depends on choices."""
    when = element.get("visibleWhen", "").lower()
    control = element.get("whenTagName", "")
    values = [part.strip() for part in element.get("whenChoiceValue", "").split(",")]
    chosen = tuple(value for value in values if value)
    if when in (CHOSEN, UNCHOSEN) and control and chosen:
        yield Gate(control=control, values=chosen, chosen=when == CHOSEN)
