"""Gates of a task as conditions of a form: which answers to earlier questions show a question."""

from itertools import product

import numpy as np

from assay.data.states import label_order
from assay.data.task import Label, Task

Conditions = dict[str, tuple[str, ...]]
"""For each earlier label, the classes that show a question; all labels must have one of theirs."""


def shown_if(task: Task, label: Label) -> Conditions | None:
    """Return the conditions under which a label is asked; empty if always.

    None if the gate is no conjunction of choices of single labels: forms can show nothing else.
    """
    own = _own_conditions(task, label)
    if own is None:
        return None
    found: Conditions = {}
    by_name = {one.name: one for one in task.labels}
    for name in own:
        above = shown_if(task, by_name[name])
        if above is None:
            return None
        for other, classes in (above | {name: own[name]}).items():
            found[other] = tuple(c for c in found.get(other, classes) if c in classes)
    places = {task.label_names[n]: place for place, n in enumerate(label_order(task))}
    return {name: found[name] for name in sorted(found, key=places.__getitem__)}


def _own_conditions(task: Task, label: Label) -> Conditions | None:
    """Return the conditions of the label's own gate."""
    if not label.asked_if:
        return {}
    gate = task.expression(label.asked_if)
    classes = [task.classes[name] for name in gate.labels]
    open_ = [
        codes
        for codes in product(*(range(len(of)) for of in classes))
        if bool(gate({n: np.array([c]) for n, c in zip(gate.labels, codes, strict=True)})[0])
    ]
    if not open_:
        return None
    parts = [sorted(set(column)) for column in zip(*open_, strict=True)]
    if len(open_) != np.prod([len(part) for part in parts]):
        return None  # such as `a or b`: no condition on each label alone
    found = {
        name: tuple(of[code] for code in part)
        for name, of, part in zip(gate.labels, classes, parts, strict=True)
    }
    return {n: c for n, c in found.items() if len(c) < len(task.classes[n])}
