"""Gates of questions, inferred from unanswered questions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools
from assay.data.questions import Control, Gate, written
from assay.io.annotation_answers import Answers

LIKELY_CHANCE = 1e-3
"""``(1 - share answered) ** number`` below this means that open questions are no chance."""
LEAST_SHARE = 0.5
"""Smallest share of the ratings behind an open gate that answer the question."""


def with_found_gates(
    controls: Mapping[str, Control], said: Mapping[str, Answers], asked: Bools, raters: NDArray[Any]
) -> dict[str, Control]:
    """Add inferred gates: questions that are only answered after some answers to another.

    ``asked`` ratings answer something: withdrawn ones tell nothing of gates. Likewise, raters who
    never answer a question tell nothing of its gate.
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
