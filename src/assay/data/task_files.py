"""Tasks from files: the shipped catalogue, and users' files."""

import json
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay._util.errors import TaskError, UnknownNameError, nearest, suggest
from assay._util.text import counted
from assay._util.toml_files import FileError, read_toml
from assay._util.validation import cut, written
from assay.data.directions import direction_problem
from assay.data.metric_names import lacking_labels
from assay.data.task import (
    MAX_CLASSES,
    RESPONSE_STRENGTHS,
    ROLES,
    TRUTH_STRENGTHS,
    Label,
    Rule,
    Task,
)


@cache
def models_folder() -> Path:
    """Return the folder of the catalogue: inside the wheel, or the checkout's ``models/``."""
    package = Path(str(files("assay")))
    shipped = package / "_models"
    return shipped if shipped.is_dir() else package.parents[1] / "models"


def catalogue_path(kind: str, name: str) -> Path:
    """Return the path of one file of the catalogue."""
    return models_folder() / kind / name


def catalogue_names(kind: str) -> list[str]:
    """Return the names of all entries of a kind (``tasks`` or ``raters``), sorted."""
    return list(_names(models_folder() / kind))


@cache
def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.toml"))


def catalogue_entry(kind: str, name: str, *, called: str) -> dict[str, Any]:
    """Read one entry of the catalogue; ``called`` is the word for its kind in the error."""
    names = catalogue_names(kind)
    if not isinstance(name, str) or name not in names:
        usual = _other_names(kind, names).get(str(name).lower())
        told = f"here it is {usual}" if usual else suggest(name, names, limit=len(names))
        raise UnknownNameError(
            f"no {called} is called {name!r}; {told}", code="unknown-catalogue-name"
        )
    return deepcopy(_entry(catalogue_path(kind, f"{name}.toml")))


@cache
def _entry(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _other_names(kind: str, names: list[str]) -> dict[str, str]:
    """Map other names of entries to the names of the catalogue."""
    read = (catalogue_path(kind, f"{name}.toml").read_text(encoding="utf-8") for name in names)
    entries = (tomllib.loads(text) for text in read)
    return {other: e["name"] for e in entries for other in e.get("other_names", [])}


Entry = Mapping[str, Any]
"""A table of the file."""
MAX_STATES = 20_000
"""Largest number of states: tables of probabilities have a column for each."""
MAX_LABELS = 1_000
MAX_NAME = 500
"""Most characters of a name of a label, class, rule or column."""
MAX_TEXT = 20_000
"""Most characters of a description."""


def load_task(task: "str | Path | Task") -> Task:
    """Read a task by name (``retrieval``, ``grounding``, ...) or by the path of a TOML file.

    Parameters
    ----------
    task : str, path or Task
        Name of a shipped task, or a path that ends in ``.toml`` or in ``.xml`` (a label config of
        Label Studio). A task is returned unchanged.

    Returns
    -------
    Task

    Raises
    ------
    UnknownNameError
        If no shipped task has the name.
    TaskError
        If the file does not exist or has problems; the message lists all of them.

    Examples
    --------
    >>> load_task("retrieval").label_names
    ('topically_relevant', 'evidence_sufficient', 'misleading')
    """
    if isinstance(task, Task):
        return task
    if not isinstance(task, str | Path):
        raise TaskError(
            f"`task={written(task)}`; it must be a name, a path or a Task", code="argument-type"
        )
    path = Path(task)
    if path.suffix == ".xml":
        from assay.data.label_config import label_config_task  # imports Python's XML reader

        return label_config_task(path)
    if path.suffix != ".toml":
        names = catalogue_names("tasks")
        if str(task) not in names:
            raise UnknownNameError(
                f"no task is called {str(task)!r}; {suggest(str(task), names)} "
                "(give a file of your own by its path, which ends in .toml)",
                code="unknown-task",
                go_on={"task": nearest(task, names)},
            )
        path = catalogue_path("tasks", f"{task}.toml")
    try:
        data = read_toml(path)
    except FileError as error:
        beside = [str(one) for one in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        near = {} if path.exists() else {"task": nearest(path, beside)}
        raise TaskError(f"task file {path} {error}", code="task-file", go_on=near) from None
    data.setdefault("name", path.stem)
    return _read_task(data, source=f"task file {path}")


def task_from_json(text: str) -> Task:
    """Rebuild a task from :meth:`Task.to_json`."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise TaskError(f"{written(data)} is no task", code="task-file")
    return _read_task(data, source="the fit's attributes", stored=True)


def _read_task(data: Entry, *, source: str, stored: bool = False) -> Task:
    """Make a task of a parsed file, or refuse it with all its problems.

    A ``stored`` task has classes as in the data and is not checked for the labels of its metrics.
    """
    reader = _Reader(stored=stored)
    task = reader.task(data)
    reader.check_expressions(task)
    undirected: list[str] = []
    if not stored and task.labels:
        reader.problems += lacking_labels(task)
        undirected = ["; ".join(found) for found in map(direction_problem, task.labels) if found]
        reader.problems += undirected
    if reader.problems:
        lines = "\n".join(f"  - {p}" for p in reader.problems)
        raise TaskError(
            f"{counted(len(reader.problems), 'problem')} in {source}:\n{lines}",
            code="label-direction" if reader.problems == undirected else "task-file",
            numbers={"problems": len(reader.problems)},
        )
    return task


def _called(entry: Entry, otherwise: str) -> str:
    """Return the name of a table for a message, or its number."""
    name = entry.get("name", "")
    return (
        name if isinstance(name, str) and name.isprintable() and 0 < len(name) < 60 else otherwise
    )


def _may_name(value: object) -> bool:
    """Return whether a value can name a class: a text, or a number."""
    return (isinstance(value, str) and value != "") or type(value) in (int, float)


class _Reader:
    """Reads the tables of a task file and collects its problems."""

    def __init__(self, *, stored: bool) -> None:
        self.problems: list[str] = []
        self.stored = stored

    def task(self, data: Entry) -> Task:
        """Read the file, without the parts that have problems."""
        top = self._known(data, Task, "the file")
        labels, rules = self._labels(top.get("labels", [])), self._rules(top.get("rules", []))
        return Task(
            name=self._text(top, "name", "the file"),
            description=self._text(top, "description", "the file"),
            labels=labels,
            rules=rules,
            columns=self._columns(top.get("columns", {})),
            metrics=self._texts(top.get("metrics", ()), "metrics"),
            max_states=self._most(top.get("max_states", 1024)),
        )

    def _most(self, given: Any) -> int:
        if type(given) is int and 1 <= given <= MAX_STATES:
            return given
        self.problems.append(
            f"max_states = {written(given)}, but it must be a whole number from 1 to {MAX_STATES:,}"
        )
        return MAX_STATES

    def _text(self, entry: Entry, key: str, where: str, *, most: int = MAX_TEXT) -> str:
        """Return a text; a value of another type, or a longer one, is a problem."""
        value = entry.get(key, "")
        if not isinstance(value, str):
            self.problems.append(
                f"{where}: {key} = {written(value)}, but it must be a text in quotes"
            )
            return ""
        if len(value) > most:
            self.problems.append(
                f"{where}: {key} has {len(value):,} characters, but at most {most:,} are allowed"
            )
        return value

    def _name(self, entry: Entry, key: str, where: str) -> str:
        """Return a name: a short text without control characters."""
        value = self._text(entry, key, where, most=MAX_NAME)
        if not (value.isprintable() or self.stored):
            self.problems.append(f"{where}: {key} = {cut(value)} holds control characters")
        return value

    def _texts(self, given: Any, where: str) -> tuple[str, ...]:
        if isinstance(given, list | tuple) and all(isinstance(one, str) for one in given):
            return tuple(given)
        self.problems.append(
            f'{where} = {written(given)}, but it must be a list of texts, as in ["a"]'
        )
        return ()

    def check_expressions(self, task: Task) -> None:
        """Parse rules and gates over the labels of the task."""
        texts = [(f"rule {rule.name[:60]}", rule.expression) for rule in task.rules]
        gates = [label for label in task.labels if label.asked_if]
        texts += [(f"asked_if of label {label.name[:60]}", label.asked_if) for label in gates]
        for where, text in texts:
            if not isinstance(text, str):
                continue  # already reported
            try:
                task.expression(text)
            except TaskError as error:
                self.problems.append(f"{where}: {error}")

    def _labels(self, given: Any) -> tuple[Label, ...]:
        tables = enumerate(self._tables(given, "labels"), start=1)
        read = [self._label(entry, f"label {_called(entry, f'number {n}')}") for n, entry in tables]
        labels = tuple(label for label in read if label is not None)
        names = [label.name for label in labels]
        if len(labels) > MAX_LABELS:
            self.problems.append(
                f"{len(labels):,} labels, but at most {MAX_LABELS} are allowed. Split the task"
            )
        if not labels:
            self.problems.append("no labels. Write at least one [[labels]] table with a name")
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        self.problems += [f"label {name[:60]} is declared twice" for name in twice]
        return labels

    def _label(self, entry: Entry, where: str) -> Label | None:
        fields = self._known(entry, Label, where)
        if not isinstance(fields.get("name"), str) or not fields["name"]:
            self.problems.append(f"{where} has no name")
            return None
        self._name(fields, "name", where)
        for key in ("description", "asked_if"):
            self._text(fields, key, where)
        if not isinstance(fields.get("ordered", False), bool):
            self.problems.append(f"{where}: ordered must be true or false")
        if isinstance(fields.get("better"), int):
            fields["better"] = str(fields["better"])  # a class
        fields["better"] = self._text(fields, "better", where)
        listed = fields.get("classes", ("no", "yes"))
        if not isinstance(listed, list | tuple) or not all(map(_may_name, listed)):
            self.problems.append(
                f"{where}: classes must be a list of names, or [] to take them from the data"
            )
            return None
        classes = fields["classes"] = tuple(str(c) for c in listed)
        for name in classes:
            self._name({"class": name}, "class", where)
        if len(classes) == 1 or len(set(classes)) != len(classes):
            self.problems.append(f"{where}: classes must be at least two different names")
        if len(classes) > MAX_CLASSES:
            self.problems.append(
                f"{where}: {len(classes)} classes, but at most {MAX_CLASSES} are allowed"
            )
        return Label(**fields)

    def _rules(self, given: Any) -> tuple[Rule, ...]:
        tables = enumerate(self._tables(given, "rules"), start=1)
        read = [self._rule(entry, f"rule {_called(entry, str(n))}") for n, entry in tables]
        return tuple(rule for rule in read if rule is not None)

    def _rule(self, entry: Entry, where: str) -> Rule | None:
        fields = self._known(entry, Rule, where)
        if not isinstance(fields.get("expression"), str):
            self.problems.append(f"{where} has no expression")
            return None
        fields.setdefault("name", fields["expression"][:MAX_NAME])
        fields["name"] = self._name(fields, "name", where)
        for key in ("description", "expression"):
            self._text(fields, key, where)
        fields.setdefault("response", "block" if fields.get("truth", "hard") == "hard" else "off")
        for key, allowed in (("truth", TRUTH_STRENGTHS), ("response", RESPONSE_STRENGTHS)):
            if fields.get(key, allowed[0]) not in allowed:
                self.problems.append(
                    f"{where}: {key} = {written(fields[key])}; allowed: {', '.join(allowed)}"
                )
        return Rule(**fields)

    def _columns(self, given: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(given, dict):
            self.problems.append("columns must be a table")
            return {}
        self.problems += [
            f"unknown column role {cut(role)}; {suggest(role, ROLES)}"
            for role in given
            if role not in ROLES
        ]
        return {
            role: self._texts([names] if isinstance(names, str) else names, f"columns: {role}")
            for role, names in given.items()
            if role in ROLES
        }

    def _known(self, entry: Entry, kind: type, where: str) -> dict[str, Any]:
        """Return the keys that a dataclass has; others are problems."""
        names = list(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        self.problems += [
            f"unknown key {cut(key)} in {where}; {suggest(key, names)}"
            for key in entry
            if key not in names
        ]
        return {k: v for k, v in entry.items() if k in names}

    def _tables(self, value: Any, name: str) -> list[dict[str, Any]]:
        if isinstance(value, list | tuple) and all(isinstance(v, dict) for v in value):
            return list(value)
        self.problems.append(f"{name} must be a list of tables. Write [[{name}]]")
        return []
