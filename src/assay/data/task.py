"""A task: the questions that raters answer and their logical relations."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from assay._util.errors import TaskError, suggest
from assay._util.text import some
from assay.data.rules import Expression, parse

TruthStrength = Literal["hard", "soft", "off"]
ResponseStrength = Literal["block", "warn", "off"]
TRUTH_STRENGTHS = ("hard", "soft", "off")
RESPONSE_STRENGTHS = ("block", "warn", "off")
DIRECTIONS = ("higher", "lower", "neither", "")
ROLES = ("item", "rater", "cluster", "panel", "rank", "system", "replicate")
MAX_CLASSES = 256


@dataclass(frozen=True, kw_only=True)
class Label:
    """One question of a task.

    classes : empty if they come from the data
    asked_if : the gate, a rule over other labels; empty if the label is always asked
    better : ``higher`` or ``lower`` if shares and means of the label have a direction: which end of
        its classes is good; or the good class; ``neither`` if all are alike
    """

    name: str
    classes: tuple[str, ...] = ("no", "yes")
    ordered: bool = False
    description: str = ""
    asked_if: str = ""
    better: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A logical relation between labels, with two separate strengths.

    truth : how far the truth obeys it
    response : what the interface does with answers that break it
    """

    name: str
    expression: str
    truth: TruthStrength = "hard"
    response: ResponseStrength = "block"
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Labels, gates, rules, metrics and the columns that data of this task usually have."""

    name: str
    labels: tuple[Label, ...]
    rules: tuple[Rule, ...] = ()
    description: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    max_states: int = 1024

    def __repr__(self) -> str:
        """Return the name and the labels, on one line."""
        return f"<assay.Task {self.name}: {some(self.label_names)}; see .labels and .rules>"

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in order."""
        return tuple(label.name for label in self.labels)

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """Classes of each label."""
        return {label.name: label.classes for label in self.labels}

    def expression(self, text: str) -> Expression:
        """Parse a rule over this task's labels."""
        return parse(text, self.classes)

    def with_classes(self, classes: Mapping[str, tuple[str, ...]]) -> "Task":
        """Return this task with the classes of some labels filled in from the data."""
        labels = tuple(
            replace(label, classes=tuple(classes.get(label.name, label.classes)))
            for label in self.labels
        )
        return replace(self, labels=labels)

    def with_responses(self, responses: Mapping[str, str]) -> "Task":
        """Return this task with other response strengths of rules, by their name or expression."""
        known = {key: r.name for r in self.rules for key in (r.name, r.expression)}
        for key, strength in responses.items():
            if key not in known:
                names = [r.name for r in self.rules]
                raise TaskError(
                    f"response: {key!r} is not a rule of task {self.name}; "
                    + (suggest(key, names) if names else "the task has no rules"),
                    code="unknown-rule",
                )
            if strength not in RESPONSE_STRENGTHS:
                raise TaskError(
                    f"response of rule {key!r}: {strength!r}; "
                    f"allowed: {', '.join(RESPONSE_STRENGTHS)}",
                    code="response-argument",
                )
        chosen = {known[key]: strength for key, strength in responses.items()}
        rules = tuple(
            replace(r, response=chosen.get(r.name, r.response))  # type: ignore[arg-type]
            for r in self.rules
        )
        return replace(self, rules=rules)

    def with_truths(self, truths: Mapping[str, TruthStrength]) -> "Task":
        """Return this task with other truth strengths of rules, by their name."""
        rules = tuple(replace(r, truth=truths.get(r.name, r.truth)) for r in self.rules)
        return replace(self, rules=rules)

    def to_json(self) -> str:
        """Serialise the task; :func:`~assay.data.task_files.task_from_json` is its inverse."""
        return json.dumps(asdict(self))
