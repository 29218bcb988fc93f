"""The questions of an export: what kind each is, its classes, its gate, and the labels it becomes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from assay.data.task import Label
from assay.io.annotation_controls import Answers, Column, Control, Kind, Value, written
from assay.io.annotation_gates import gate_text

NO, YES = "no", "yes"
MOST_GRADES = 21
"""Different whole numbers that are still grades: those of a scale from -10 to 10."""
MOST_NAMES = 50
"""Different texts that are still classes."""
REPEATED = 2
"""How often classes are used at least, on average: what is written once is a text."""
MOST_STATES = 4096
"""Combinations of classes up to which labels are read together: those of 12 options."""


def told_controls(
    said: Mapping[str, Answers], truth: Iterable[Mapping[str, Value]], known: Mapping[str, Control]
) -> dict[str, Control]:
    """Return every question that was answered, with its kind and options.

    Parameters
    ----------
    said : mapping of str to mapping
        The answers of each question, by the number of the rating.
    truth : iterable of mapping
        What is known of items, by question.
    known : mapping of str to Control
        What the tool's settings say.
    """
    more: dict[str, list[Value]] = {}
    for answers in truth:
        for name, value in answers.items():
            more.setdefault(name, []).append(value)
    names = [*(n for n in known if n in said or n in more), *(n for n in said if n not in known)]
    names += [n for n in more if n not in names]
    return {
        name: _told(known.get(name, Control(name=name)), [*said.get(name, {}).values(),
                                                          *more.get(name, [])])
        for name in names
    }  # fmt: skip


def _told(control: Control, values: Sequence[Value]) -> Control:
    """Complete a question by its answers."""
    kind = control.kind or _kind(values)
    if kind == "text":
        return replace(control, kind=kind)
    counts: dict[str, int] = {}
    for value in values:
        for part in value if isinstance(value, tuple) else (value,):
            word = written(part)
            counts[word] = counts.get(word, 0) + 1
    order = sorted(counts, key=float) if kind == "number" else sorted(counts)
    options = [*control.options, *(word for word in order if word not in control.options)]
    return replace(control, kind=kind, options=tuple(options))


def _kind(values: Sequence[Value]) -> Kind:
    """Say what kind of question has such answers."""
    lists = [value for value in values if isinstance(value, tuple)]
    if lists:
        return "choices" if any(len(value) != 1 for value in lists) else "choice"
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) == len(values):
        grades = {float(number) for number in numbers}
        whole = all(grade.is_integer() for grade in grades)
        return "number" if whole and len(grades) <= MOST_GRADES else "text"
    names = len(set(map(written, values)))
    few = names <= MOST_NAMES and (names * REPEATED <= len(values) or names <= REPEATED)
    return "choice" if few else "text"


def label_columns(controls: Iterable[Control], taken: Iterable[str] = ()) -> list[Column]:
    """Return a label for each question, and one for each option of a choice of several.

    A label of an option has its name, and that of its question before it where others have it too.
    """
    controls = [control for control in controls if control.kind != "text"]
    words = [c.name for c in controls if c.kind != "choices"]
    words += [option for c in controls if c.kind == "choices" for option in c.options]
    alone = {word for word in words if words.count(word) == 1} - set(taken)
    columns = []
    for control in controls:
        if control.kind != "choices":
            columns.append(Column(name=control.name, control=control.name))
            continue
        for option in control.options:
            name = option if option in alone else f"{control.name}: {option}"
            columns.append(Column(name=name, control=control.name, option=option))
    return columns


def within_reach(columns: Sequence[Column], controls: Mapping[str, Control],
                 uses: Mapping[str, int]) -> list[Column]:  # fmt: skip
    """Leave out the labels with which there would be too many states: those of rare options.

    Parameters
    ----------
    columns : sequence of Column
    controls : mapping of str to Control
    uses : mapping of str to int
        How often each label was answered; of an option, how often it was chosen.
    """
    kept = list(columns)
    while states_of(kept, controls) > MOST_STATES:
        options = [column for column in kept if column.option] or kept
        kept.remove(min(options, key=lambda column: uses.get(column.name, 0)))
    return kept


def states_of(columns: Iterable[Column], controls: Mapping[str, Control]) -> int:
    """Return how many combinations of classes there are at most."""
    return prod(2 if c.option else max(2, len(controls[c.control].options)) for c in columns)


def cells_of(column: Column, answers: Answers, silent: NDArray[np.bool_], rows: int) -> list[str]:
    """Return the cells of a label: a class, or nothing.

    Parameters
    ----------
    column : Column
    answers : mapping of int to value
        The answers to its question, by the number of the rating.
    silent : ndarray of bool (rating,)
        The ratings that choose none of several options by leaving the question open.
    rows : int
    """
    found = [""] * rows
    if not column.option:
        for row, value in answers.items():
            found[row] = one_class(value)
        return found
    for row in np.flatnonzero(silent):
        found[row] = NO
    for row, value in answers.items():
        found[row] = YES if column.option in chosen(value) else NO
    return found


def chosen(value: Value) -> Sequence[str]:
    """Return the options of an answer to a choice of several."""
    return value if isinstance(value, tuple) else (written(value),)


def one_class(value: Value) -> str:
    """Return the class of an answer; several choices of what is one choice stay together."""
    if isinstance(value, tuple):
        return written(value[0]) if len(value) == 1 else ""
    return written(value)


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
