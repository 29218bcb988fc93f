"""Questions of annotation tools as labels of a task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from assay.data.rules import PLAIN
from assay.data.task import Label, Task

Kind = Literal["choice", "choices", "number", "text"]
MOST_STATES = 4096
"""Largest number of class combinations of labels that are read together (12 options)."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Condition: one of ``values`` of another question was chosen, or was ``not chosen``."""

    control: str
    values: tuple[str, ...]
    chosen: bool = True


@dataclass(frozen=True, kw_only=True)
class Control:
    """A question, as known from the tool's settings or from its answers, which decide ``kind`` None
    and empty ``options``.

    gates : conditions that must all hold
    told : whether the tool's settings name the options
    inferred : whether the gates were found in the answers
    """

    name: str
    kind: Kind | None = None
    options: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    told: bool = False
    inferred: bool = False


@dataclass(frozen=True, kw_only=True)
class Column:
    """A label: its question, and the option that it stands for, if any."""

    name: str
    control: str
    option: str = ""


def written(value: object) -> str:
    """Write a class as text; whole numbers have no decimal point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def label_columns(controls: Iterable[Control], named: Iterable[str] = ()) -> list[Column]:
    """Return a label for each question, and one for each option of a multiple choice. The question
    prefixes an option that is not unique, or if ``named`` has the longer name.
    """
    known = set(named)
    controls = [control for control in controls if control.kind != "text"]
    words = [c.name for c in controls if c.kind != "choices"]
    words += [option for c in controls if c.kind == "choices" for option in c.options]
    alone = {word for word in words if words.count(word) == 1}
    columns = []
    for control in controls:
        if control.kind != "choices":
            columns.append(Column(name=control.name, control=control.name))
            continue
        for option in control.options:
            longer = f"{control.name}: {option}"
            name = longer if option not in alone or longer in known else option
            columns.append(Column(name=name, control=control.name, option=option))
    return columns


def within_reach(columns: Sequence[Column], controls: Mapping[str, Control],
                 uses: Mapping[str, int]) -> list[Column]:  # fmt: skip
    """Leave out labels of rare options while there are more than ``MOST_STATES`` states.

    ``uses`` counts the answers to each label, or the choices of an option.
    """
    kept = list(columns)
    while states_of(kept, controls) > MOST_STATES:
        options = [column for column in kept if column.option] or kept
        kept.remove(min(options, key=lambda column: uses.get(column.name, 0)))
    return kept


def states_of(columns: Iterable[Column], controls: Mapping[str, Control]) -> int:
    """Return the largest possible number of class combinations."""
    return prod(2 if c.option else max(2, len(controls[c.control].options)) for c in columns)


def labels_of(columns: Sequence[Column], controls: Mapping[str, Control]) -> tuple[Label, ...]:
    """Return the labels of a task, with their gates."""
    labels = []
    for column in columns:
        control = controls[column.control]
        gate = gate_text(control.gates, columns, controls)
        what = f"{control.name}: {column.option}" if column.option else control.name
        if column.option:
            labels.append(Label(name=column.name, asked_if=gate, description=what))
        else:
            labels.append(
                Label(
                    name=column.name, classes=control.options if control.told else (),
                    ordered=control.kind == "number", asked_if=gate, description=what,
                )
            )  # fmt: skip
    return tuple(labels)


def task_of(name: str, controls: Mapping[str, Control], columns: Sequence[Column]) -> Task:
    """Return the task of the questions."""
    most = max(Task.max_states, states_of(columns, controls))
    return Task(name=name, labels=labels_of(columns, controls), max_states=most)


def gate_text(
    gates: Sequence[Gate], columns: Sequence[Column], controls: Mapping[str, Control]
) -> str:
    """Write gates as the condition of a label; a gate on a label that is left out stays open."""
    parts = []
    for gate in gates:
        told = [_condition(value, gate.control, columns, controls) for value in gate.values]
        if not told or not all(told):
            continue
        either = " or ".join(told)
        if not gate.chosen:
            either = f"not ({either})"
        parts.append(either)
    if len(parts) < 2:
        return "".join(parts)
    return " and ".join(f"({part})" if " or " in part else part for part in parts)


def _condition(
    value: str, control: str, columns: Sequence[Column], controls: Mapping[str, Control]
) -> str:
    """Write the condition that an option was chosen."""
    for column in columns:
        if column.control == control and column.option == value:
            return quoted(column.name)
        if column.control == control and not column.option and value in controls[control].options:
            return f"{quoted(column.name)} == {quoted(value)}"
    return ""


def quoted(name: str) -> str:
    """Write a name as in rules: in quotes if it is not plain."""
    if PLAIN.fullmatch(name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'
