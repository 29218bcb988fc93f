"""Answers to the questions of an export: kinds of questions, cells of labels, and gates."""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools
from assay.data.questions import Column, Control, Gate, Kind, written
from assay.data.task import Label
from assay.io.list_cells import joined_answers

Value = str | int | float | tuple[str, ...]
Answers = Mapping[int, Value]
"""Answers to a question, by number of the rating."""
PERSON, MODEL = "person", "llm"
"""Groups of raters."""
SUBMITTED = "submitted"
"""Status of a rating that counts; all others are withdrawn."""
NO, YES = "no", "yes"
MOST_GRADES = 21
"""Most distinct whole numbers of a scale of grades: -10 to 10."""
MOST_NAMES = 50
"""Most distinct texts that can be classes."""
MOST_FEW = 6
"""Few enough options to be classes, however rarely chosen."""
REPEATED = 2
"""Fewest uses of a class on average; texts are mostly used once."""


def unused_name(name: str, taken: Container[str], *, first: int = 2, between: str = " ") -> str:
    """Return a name, numbered if it is taken: ``bias``, ``bias 2``, ``bias 3``."""
    free, number = name, first
    while free in taken:
        free, number = f"{name}{between}{number}", number + 1
    return free


def number_in(cell: object) -> float | None:
    """Return the number in a cell; None if it holds none."""
    try:
        return float(str(cell))
    except ValueError:
        return None


def told_controls(
    said: Mapping[str, Answers], truth: Iterable[Mapping[str, Value]], known: Mapping[str, Control]
) -> dict[str, Control]:
    """Return every answered question with its kind and options, from answers (``said``, by question
    and rating), truth, and what the tool's settings say (``known``).
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


def split_answers(answers: dict[int, Value]) -> None:
    """Split texts that join several options into tuples, in place."""
    words = {value for value in answers.values() if isinstance(value, str)}
    found = joined_answers(sorted(words), Label(name="answers", classes=()))
    if found is None or found.votes:
        return
    for row, value in answers.items():
        if isinstance(value, str):
            parts = [part.strip() for part in value.split(found.separator)]
            answers[row] = tuple(part for part in parts if part)


def _told(control: Control, values: Sequence[Value]) -> Control:
    """Complete a question from its answers."""
    kind = control.kind or _kind(values)
    if kind == "text":
        return replace(control, kind=kind)
    words = {word for value in values for word in _words(value)}
    order = sorted(words, key=float) if kind == "number" else sorted(words)
    options = [*control.options, *(word for word in order if word not in control.options)]
    return replace(control, kind=kind, options=tuple(options))


def _kind(values: Sequence[Value]) -> Kind:
    """Return the kind of question that has such answers."""
    lists = [value for value in values if isinstance(value, tuple)]
    if lists:
        several = any(len(value) > 1 for value in lists)
        uses = Counter(part for value in values for part in chosen(value))
        named = len(uses) <= MOST_NAMES and (
            len(uses) * REPEATED <= uses.total() or len(uses) <= REPEATED * MOST_FEW
        )
        return "text" if several and not named else "choices" if several else "choice"
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) == len(values):
        grades = {float(n) for n in numbers if isinstance(n, int | float)}
        whole = all(grade.is_integer() for grade in grades)
        return "number" if whole and len(grades) <= MOST_GRADES else "text"
    names = len(set(map(written, values)))
    few = names <= MOST_NAMES and (names * REPEATED <= len(values) or names <= REPEATED)
    return "choice" if few else "text"


def cells_of(column: Column, answers: Answers, silent: Bools, rows: int) -> list[str]:
    """Return the cells of a label; ``silent`` ratings left the question open, so chose nothing."""
    found = [""] * rows
    if not column.option:
        for row, value in answers.items():
            found[row] = one_class(value)
        return found
    for silent_row in np.flatnonzero(silent):
        found[silent_row] = NO
    for row, value in answers.items():
        found[row] = YES if column.option in chosen(value) else NO
    return found


def chosen(value: Value) -> Sequence[str]:
    """Return the options of an answer to a multiple choice."""
    return value if isinstance(value, tuple) else (written(value),)


def one_or_several(cell: str) -> Value:
    """Return a cell, or the tuple of options if it is a JSON list."""
    if cell.startswith("[") and cell.endswith("]"):
        try:
            held = json.loads(cell)
        except ValueError:
            return cell
        if isinstance(held, list) and all(isinstance(one, str | int) for one in held):
            return tuple(map(str, held))
    return cell


def one_class(value: Value) -> str:
    """Return the class of a single choice; empty if several were chosen."""
    if isinstance(value, tuple):
        return written(value[0]) if len(value) == 1 else ""
    return written(value)


LIKELY_CHANCE = 1e-3
"""``(1 - share answered) ** number`` below this means that open questions are no chance."""
LEAST_SHARE = 0.5
"""Smallest share of the ratings behind an open gate that answer the question."""


def with_found_gates(
    controls: Mapping[str, Control], said: Mapping[str, Answers], asked: Bools, raters: NDArray[Any]
) -> dict[str, Control]:
    """Add inferred gates: questions answered only after some answers to another. Ratings that
    answer nothing (not ``asked``), and raters who never answer a question, tell nothing.
    """
    everything = asked
    given = {name: _mask(said.get(name, {}), len(asked)) for name in controls}
    found = dict(controls)
    for name, control in controls.items():
        asked = everything & np.isin(raters, np.unique(raters[given[name]]))
        missing = int((asked & ~given[name]).sum())
        if control.gates or control.kind == "text" or not missing:
            continue
        fewest, best = missing, None
        for other, parent in controls.items():
            if other == name or parent.kind == "text" or _hangs_on(found, other, name):
                continue
            gate = _gate(parent, said.get(other, {}), given[name], asked)
            if gate is None:
                continue
            opened = _opened(gate, said.get(other, {}), len(asked))
            left = int((asked & opened & ~given[name]).sum())
            # Of two parents that explain as much, the first one.
            if left < fewest:
                fewest, best = left, gate
        if best is not None:
            found[name] = replace(control, gates=(best,), inferred=True)
    return found


def open_to(control: Control, said: Mapping[str, Answers], rows: int) -> Bools:
    """Return the ratings whose answers open all gates of a question, (rating,)."""
    opened = np.ones(rows, bool)
    for gate in control.gates:
        answers = said.get(gate.control, {})
        met = _opened(gate, answers, rows)
        opened &= met if gate.chosen else _mask(answers, rows) & ~met
    return opened


def _mask(answers: Answers, rows: int) -> Bools:
    mask = np.zeros(rows, bool)
    mask[list(answers)] = True
    return mask


def _hangs_on(controls: Mapping[str, Control], name: str, other: str) -> bool:
    """Whether the gate of a question depends on another, directly or indirectly."""
    parents = [gate.control for gate in controls[name].gates]
    return other in parents or any(_hangs_on(controls, parent, other) for parent in parents)


def _opened(gate: Gate, answers: Answers, rows: int) -> Bools:
    """Return the ratings whose answers open a gate."""
    mask = np.zeros(rows, bool)
    values = set(gate.values)
    mask[[row for row, value in answers.items() if not values.isdisjoint(_words(value))]] = True
    return mask


def _words(value: object) -> list[str]:
    return [written(part) for part in (value if isinstance(value, tuple) else (value,))]


def _gate(parent: Control, answers: Answers, given: Bools, asked: Bools) -> Gate | None:
    """Return the gate on a parent's answers that explains all unanswered questions, or None."""
    if parent.kind == "choices":
        sets: list[tuple[str, ...]] = [(option,) for option in parent.options]
    else:
        kept = {
            w for row in np.flatnonzero(given & asked) for w in _words(answers.get(int(row), ()))
        }
        sets = [tuple(option for option in parent.options if option in kept)]
    answered = _mask(answers, len(asked)) & asked
    if (given & asked & ~answered).any():
        return None  # answered without an answer to the parent
    for values in sets:
        gate = Gate(control=parent.name, values=values)
        opened = _opened(gate, answers, len(asked)) & asked
        closed = answered & ~opened
        if not opened.any() or (given & closed).any():
            continue
        share = (given[opened].sum() + 1) / (opened.sum() + 2)
        if share >= LEAST_SHARE and (1 - share) ** int(closed.sum()) < LIKELY_CHANCE:
            return gate
    return None
