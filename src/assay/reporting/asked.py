"""Section: what was asked."""

import pandas as pd

from assay._util.plurals import counted
from assay.data.task import Task
from assay.modelling.spec import IN_PART
from assay.reporting.material import Material
from assay.reporting.page import Block, Section, prose, table_of

TRUTH_WORDS = {
    "hard": "always true",
    "soft": "usually true; how often is learned",
    "off": "not assumed",
}
RESPONSE_WORDS = {
    "block": "the interface refused answers that break it",
    "warn": "the interface warned of answers that break it",
    "off": "the interface let answers break it",
}


def asked_section(material: Material) -> Section:
    """Say which questions raters answered, under which rules, and what the numbers are about."""
    task = material.ratings.task
    in_part = material.reference.endswith(IN_PART)
    known = f": {counted(material.n_known, 'item')}" if in_part else ""
    blocks: list[Block] = [
        prose(
            f"Task {task.name}. {task.description}",
            f"Truth means: {material.reference}{known}. Every number names its estimand: finite is "
            "about these items, population about clusters like these.",
        ),
        _labels_table(task),
    ]
    if task.rules:
        blocks.append(_rules_table(task))
    return Section(key="asked", title="What was asked", blocks=tuple(blocks))


def _labels_table(task: Task) -> Block:
    frame = pd.DataFrame(
        {
            "label": task.label_names,
            "classes": [(" < " if la.ordered else ", ").join(la.classes) for la in task.labels],
            "asked": [f"if {la.asked_if}" if la.asked_if else "always" for la in task.labels],
            "description": [la.description for la in task.labels],
        }
    )
    shown = {"label": "Label", "classes": "Classes", "asked": "Asked", "description": "Meaning"}
    return table_of("task_labels", "Labels", frame, shown)


def _rules_table(task: Task) -> Block:
    frame = pd.DataFrame(
        {
            "rule": [rule.expression for rule in task.rules],
            "truth": [TRUTH_WORDS[rule.truth] for rule in task.rules],
            "response": [RESPONSE_WORDS[rule.response] for rule in task.rules],
        }
    )
    shown = {"rule": "Rule", "truth": "Of the truth", "response": "Of the answers"}
    return table_of("task_rules", "Rules between labels", frame, shown)
