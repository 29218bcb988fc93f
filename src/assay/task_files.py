"""Tasks from files (``models/tasks/*.toml``): every problem in one is reported at once."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from assay.arguments import written
from assay.catalogue import catalogue_names, catalogue_path
from assay.errors import TaskError, UnknownNameError, suggest
from assay.metric_names import lacking_labels
from assay.plurals import counted
from assay.task import (
    MAX_CLASSES,
    RESPONSE_STRENGTHS,
    ROLES,
    TRUTH_STRENGTHS,
    Label,
    Rule,
    Task,
)

Entry = Mapping[str, Any]
"""A table of the file."""


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
    if not isinstance(task, str | Path):
        raise TaskError(f"task={written(task)}; it must be a name, a path or a Task")
    path = Path(task)
    if path.suffix != ".toml":
        names = catalogue_names("tasks")
        if str(task) not in names:
            raise UnknownNameError(
                f"no task is called {str(task)!r}; {suggest(str(task), names)} "
                "(a file of your own is given by its path, which ends in .toml)"
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
    return _read_task(data, source=f"task file {path}", from_file=True)


def task_from_json(text: str) -> Task:
    """Rebuild a task from :meth:`Task.to_json`."""
    return _read_task(json.loads(text), source="the fit's attributes")


def _read_task(data: Entry, *, source: str, from_file: bool = False) -> Task:
    """Make a task of a parsed file; only a file is asked for what its metrics need.

    Raises
    ------
    TaskError
        With all problems.
    """
    reader = _Reader()
    task = reader.task(data)
    reader.check_expressions(task)
    if from_file and task.labels:
        reader.problems += lacking_labels(task)
    if reader.problems:
        lines = "\n".join(f"  - {p}" for p in reader.problems)
        raise TaskError(f"{counted(len(reader.problems), 'problem')} in {source}:\n{lines}")
    return task


class _Reader:
    """Reads the tables of a task file, and collects what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def task(self, data: Entry) -> Task:
        """Read the file; what is wrong with it is left out."""
        top = self._known(data, Task, "the file")
        most = top.get("max_states", 1024)
        labels, rules = self._labels(top.get("labels", [])), self._rules(top.get("rules", []))
        columns = self._columns(top.get("columns", {}))
        if not isinstance(most, int):
            self.problems.append("max_states must be a whole number")
            most = 1024
        return Task(
            name=str(top.get("name", "")),
            description=str(top.get("description", "")),
            labels=labels,
            rules=rules,
            columns=columns,
            metrics=tuple(top.get("metrics", ())),
            max_states=most,
        )

    def check_expressions(self, task: Task) -> None:
        """Parse rules and gates over the labels of the task."""
        texts = [(f"rule {rule.name}", rule.expression) for rule in task.rules]
        gates = [label for label in task.labels if label.asked_if]
        texts += [(f"asked_if of label {label.name}", label.asked_if) for label in gates]
        for where, text in texts:
            try:
                task.expression(text)
            except TaskError as error:
                self.problems.append(f"{where}: {error}")

    def _labels(self, given: Any) -> tuple[Label, ...]:
        tables = enumerate(self._tables(given, "labels"), start=1)
        read = [
            self._label(entry, f"label {entry.get('name', f'number {n}')}") for n, entry in tables
        ]
        labels = tuple(label for label in read if label is not None)
        names = [label.name for label in labels]
        if not labels:
            self.problems.append("no labels; write at least one [[labels]] table with a name")
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        self.problems += [f"label {name} is declared twice" for name in twice]
        return labels

    def _label(self, entry: Entry, where: str) -> Label | None:
        fields = self._known(entry, Label, where)
        if not isinstance(fields.get("name"), str) or not fields["name"]:
            self.problems.append(f"{where} has no name")
            return None
        listed = fields.get("classes", ("no", "yes"))
        if not isinstance(listed, list | tuple):
            self.problems.append(
                f"{where}: classes must be a list of names, [] to take them from the data"
            )
            return None
        classes = fields["classes"] = tuple(str(c) for c in listed)
        if len(classes) == 1 or len(set(classes)) != len(classes):
            self.problems.append(f"{where}: classes must be at least two different names")
        if len(classes) > MAX_CLASSES:
            self.problems.append(
                f"{where}: {len(classes)} classes; at most {MAX_CLASSES} are allowed"
            )
        return Label(**fields)

    def _rules(self, given: Any) -> tuple[Rule, ...]:
        tables = enumerate(self._tables(given, "rules"), start=1)
        read = [self._rule(entry, f"rule {entry.get('name', n)}") for n, entry in tables]
        return tuple(rule for rule in read if rule is not None)

    def _rule(self, entry: Entry, where: str) -> Rule | None:
        fields = self._known(entry, Rule, where)
        if not isinstance(fields.get("expression"), str):
            self.problems.append(f"{where} has no expression")
            return None
        fields.setdefault("name", fields["expression"])
        fields.setdefault("response", "block" if fields.get("truth", "hard") == "hard" else "off")
        for key, allowed in (("truth", TRUTH_STRENGTHS), ("response", RESPONSE_STRENGTHS)):
            if fields.get(key, allowed[0]) not in allowed:
                self.problems.append(
                    f"rule {fields['name']}: {key} = {fields[key]!r}; allowed: {', '.join(allowed)}"
                )
        return Rule(**fields)

    def _columns(self, given: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(given, dict):
            self.problems.append("columns must be a table")
            return {}
        self.problems += [
            f"unknown column role {role!r}; {suggest(role, ROLES)}"
            for role in given
            if role not in ROLES
        ]
        return {k: tuple([v] if isinstance(v, str) else v) for k, v in given.items()}

    def _known(self, entry: Entry, kind: type, where: str) -> dict[str, Any]:
        """Return the keys that a dataclass has; others are problems."""
        names = list(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        self.problems += [
            f"unknown key {key!r} in {where}; {suggest(key, names)}"
            for key in entry
            if key not in names
        ]
        return {k: v for k, v in entry.items() if k in names}

    def _tables(self, value: Any, name: str) -> list[dict[str, Any]]:
        if isinstance(value, list | tuple) and all(isinstance(v, dict) for v in value):
            return list(value)
        self.problems.append(f"{name} must be a list of tables: write [[{name}]]")
        return []
