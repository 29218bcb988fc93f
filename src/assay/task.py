"""A task: what is believed about the questions that raters answer. Data, no behaviour.

A task file is TOML (``models/tasks/*.toml``); :func:`load_task` reads one by name or by path and
reports every problem in it at once.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from assay.catalogue import catalogue_names, catalogue_path
from assay.errors import TaskError, UnknownNameError, suggest
from assay.grammar import Expression, parse

TruthStrength = Literal["hard", "soft", "off"]
ResponseStrength = Literal["block", "warn", "off"]
TRUTH_STRENGTHS = ("hard", "soft", "off")
RESPONSE_STRENGTHS = ("block", "warn", "off")
ROLES = ("item", "cluster", "panel", "rank", "system")
MAX_CLASSES = 256


@dataclass(frozen=True, kw_only=True)
class Label:
    """One question of a task.

    ``classes`` is empty if they are to be taken from the data. ``asked_if`` is the gate: the text
    of a rule over other labels, empty if the label is always asked.
    """

    name: str
    classes: tuple[str, ...] = ("no", "yes")
    ordered: bool = False
    description: str = ""
    asked_if: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A logical relation between labels, with its two separate strengths (DESIGN: tasks)."""

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
        """Return this task with the response strength of some rules replaced.

        A rule is named by its name or by its expression.
        """
        known = {key: r.name for r in self.rules for key in (r.name, r.expression)}
        for key, strength in responses.items():
            if key not in known:
                names = [r.name for r in self.rules]
                raise TaskError(
                    f"response: {key!r} is no rule of task {self.name}; "
                    + (suggest(key, names) if names else "the task has no rules")
                )
            if strength not in RESPONSE_STRENGTHS:
                raise TaskError(
                    f"response of rule {key!r}: {strength!r}; "
                    f"allowed: {', '.join(RESPONSE_STRENGTHS)}"
                )
        chosen = {known[key]: strength for key, strength in responses.items()}
        rules = tuple(
            replace(r, response=chosen.get(r.name, r.response))  # type: ignore[arg-type]
            for r in self.rules
        )
        return replace(self, rules=rules)

    def with_truths(self, truths: Mapping[str, TruthStrength]) -> "Task":
        """Return this task with the truth strength of some rules replaced, by rule name."""
        rules = tuple(replace(r, truth=truths.get(r.name, r.truth)) for r in self.rules)
        return replace(self, rules=rules)

    def to_json(self) -> str:
        """Serialise the task; :func:`task_from_json` is its inverse."""
        return json.dumps(asdict(self))


def task_from_json(text: str) -> Task:
    """Rebuild a task from :meth:`Task.to_json`."""
    return _task_from_dict(json.loads(text), source="the fit's attributes")


def load_task(task: "str | Path | Task") -> Task:
    """Read a task by name (``retrieval``, ``grounding``, ...) or by the path of a TOML file.

    Parameters
    ----------
    task : str, path or Task
        A shipped task's name, a path that ends in ``.toml``, or a task (returned as it is).

    Returns
    -------
    Task

    Raises
    ------
    UnknownNameError
        If no shipped task has the name.
    TaskError
        If the file does not exist or has a problem; the message lists all of them.

    Examples
    --------
    >>> load_task("retrieval").label_names
    ('topically_relevant', 'evidence_sufficient', 'misleading')
    """
    if isinstance(task, Task):
        return task
    path = Path(task)
    if path.suffix != ".toml":
        names = catalogue_names("tasks")
        if str(task) not in names:
            raise UnknownNameError(
                f"no task is called {str(task)!r}; {suggest(str(task), names)} "
                "A file of your own is given by its path, which ends in .toml"
            )
        path = catalogue_path("tasks", f"{task}.toml")
    try:
        # Accents composed as the readers compose them, so that names are found in the data.
        data = tomllib.loads(normalize("NFC", path.read_text(encoding="utf-8")))
    except OSError as error:
        raise TaskError(f"task file {path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"task file {path} is not valid TOML: {error}") from None
    data.setdefault("name", path.stem)
    return _task_from_dict(data, source=f"task file {path}")


def _task_from_dict(data: Mapping[str, Any], *, source: str) -> Task:
    """Validate a parsed task file, collecting every problem before raising."""
    problems: list[str] = []

    def known(entry: Mapping[str, Any], allowed: type, where: str) -> dict[str, Any]:
        names = list(allowed.__dataclass_fields__)  # type: ignore[attr-defined]
        for key in entry:
            if key not in names:
                problems.append(f"unknown key {key!r} in {where}; {suggest(key, names)}")
        return {k: v for k, v in entry.items() if k in names}

    top = known(data, Task, "the file")
    labels: list[Label] = []
    for n, entry in enumerate(_tables(top.get("labels", []), "labels", problems), start=1):
        where = f"label {entry.get('name', f'number {n}')}"
        fields = known(entry, Label, where)
        if not isinstance(fields.get("name"), str) or not fields["name"]:
            problems.append(f"{where} has no name")
            continue
        listed = fields.get("classes", ("no", "yes"))
        if not isinstance(listed, list | tuple):
            problems.append(
                f"{where}: classes must be a list of names, [] to take them from the data"
            )
            continue
        fields["classes"] = tuple(str(c) for c in listed)
        classes = fields["classes"]
        if len(classes) == 1 or len(set(classes)) != len(classes):
            problems.append(f"{where}: classes must be at least two different names")
        if len(classes) > MAX_CLASSES:
            problems.append(f"{where}: {len(classes)} classes; at most {MAX_CLASSES} are allowed")
        labels.append(Label(**fields))
    names = [label.name for label in labels]
    if not labels:
        problems.append("no labels; write at least one [[labels]] table with a name")
    problems += [
        f"label {name} is declared twice" for name in {n for n in names if names.count(n) > 1}
    ]

    rules: list[Rule] = []
    for n, entry in enumerate(_tables(top.get("rules", []), "rules", problems), start=1):
        fields = known(entry, Rule, f"rule {entry.get('name', n)}")
        if not isinstance(fields.get("expression"), str):
            problems.append(f"rule {entry.get('name', n)} has no expression")
            continue
        fields.setdefault("name", fields["expression"])
        fields.setdefault("response", "block" if fields.get("truth", "hard") == "hard" else "off")
        for key, allowed in (("truth", TRUTH_STRENGTHS), ("response", RESPONSE_STRENGTHS)):
            if fields.get(key, allowed[0]) not in allowed:
                problems.append(
                    f"rule {fields['name']}: {key} = {fields[key]!r}; allowed: {', '.join(allowed)}"
                )
        rules.append(Rule(**fields))

    columns = top.get("columns", {})
    if not isinstance(columns, dict):
        problems.append("columns must be a table")
        columns = {}
    problems += [
        f"unknown column role {k!r}; {suggest(k, ROLES)}" for k in columns if k not in ROLES
    ]
    if not isinstance(top.get("max_states", 1024), int):
        problems.append("max_states must be a whole number")
        top.pop("max_states")
    task = Task(
        name=str(top.get("name", "")),
        description=str(top.get("description", "")),
        labels=tuple(labels),
        rules=tuple(rules),
        columns={k: tuple([v] if isinstance(v, str) else v) for k, v in columns.items()},
        metrics=tuple(top.get("metrics", ())),
        max_states=top.get("max_states", 1024),
    )
    texts = [(f"rule {r.name}", r.expression) for r in rules]
    texts += [(f"asked_if of label {la.name}", la.asked_if) for la in labels if la.asked_if]
    for where, text in texts:
        try:
            task.expression(text)
        except TaskError as error:
            problems.append(f"{where}: {error}")
    if problems:
        lines = "\n".join(f"  - {p}" for p in problems)
        raise TaskError(f"{len(problems)} problem{'s' * (len(problems) > 1)} in {source}:\n{lines}")
    return task


def _tables(value: Any, name: str, problems: list[str]) -> list[dict[str, Any]]:
    if isinstance(value, list | tuple) and all(isinstance(v, dict) for v in value):
        return list(value)
    problems.append(f"{name} must be a list of tables: write [[{name}]]")
    return []
