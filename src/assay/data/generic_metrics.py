"""The names of generic metrics, such as ``precision_at_k[relevant]``: a kind, perhaps a cut-off,
and in brackets a label, or a class of it, that counts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from assay._util.errors import suggest
from assay.data.class_words import NUMBER
from assay.data.task import Label, Task

Sign = Literal["", "=", "!=", ">=", "<="]
SIGNS: tuple[Sign, ...] = (">=", "<=", "!=", "=")
NAME = re.compile(
    r"(?:(?P<kind>precision|recall|hit)_at_(?P<at>k|[1-9]\d{0,4})"
    r"|(?P<ranked>mrr|ndcg)(?:_at_(?P<cut>[1-9]\d{0,4}))?"
    r"|(?P<plain>rate|prevalence|mean))\[(?P<of>.+)\]"
)
EVENTS = ("precision_at_k", "recall_at_k", "hit_at_k", "mrr", "rate")
"""Kinds that need the classes that count."""
GRADED = ("ndcg",)
NUMERIC = ("mean",)
KINDS = (*EVENTS, *GRADED, *NUMERIC)


@dataclass(frozen=True, kw_only=True)
class GenericName:
    """The parts of a generic metric's name.

    kind : precision, recall, hit, mrr, ndcg, rate, prevalence or mean
    cut : number of ranks that count; None for the whole list
    sign, word : how the class ``word`` chooses those that count; empty without a class
    """

    kind: str
    cut: int | None
    label: str
    sign: Sign = ""
    word: str = ""


def parse_generic(name: object, labels: Sequence[str]) -> GenericName | None:
    """Read the name of a generic metric; None if it is no such name."""
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return None
    kind = found["kind"] or found["ranked"] or found["plain"]
    at = found["at"] or found["cut"]
    cut = None if at in (None, "k") else int(at)
    label, sign, word = _event(found["of"], labels)
    return GenericName(kind=kind, cut=cut, label=label, sign=sign, word=word)


def _event(text: str, labels: Sequence[str]) -> tuple[str, Sign, str]:
    """Split the text in brackets into label, sign and class; a label's name may contain a sign."""
    if text in labels:
        return text, "", ""
    parts = [(text.partition(sign), sign) for sign in SIGNS if sign in text]
    known = [(p, sign) for p, sign in parts if p[0].strip() in labels]
    for (label, _, word), sign in known or parts:
        return label.strip(), sign, word.strip()
    return text, "", ""


def generic_problem(name: object, task: Task) -> str | None:
    """Return why a task cannot have a generic metric; None if it can, perhaps once data are read,
    or if the name is not generic.
    """
    read = parse_generic(name, task.label_names)
    if read is None:
        return None
    labels = {label.name: label for label in task.labels}
    if read.label not in labels:
        return (
            f"metric {name!r} needs the label {read.label}, but the task has only "
            f"{', '.join(labels)}"
        )
    label = labels[read.label]
    if not label.classes:
        return None
    if read.sign and read.word not in label.classes:
        near = suggest(read.word, list(label.classes))
        return f"metric {name!r}: {read.word} is not a class of {label.name}; {near}"
    return _unsuited(str(name), read, label)


def _unsuited(name: str, read: GenericName, label: Label) -> str | None:
    """Return which property of the label a metric needs; None if the label suits."""
    before = name.partition("[")[0]
    if read.kind in ("ndcg", "mean") and read.sign:
        return f"metric {name!r} counts all classes of a label. Write {before}[{label.name}]"
    if read.kind == "mean" and numbers_of(label) is None:
        return f"metric {name!r} needs numbers as classes, but {label.name} has {_classes(label)}"
    if read.kind == "ndcg" and not graded(label):
        return (
            f"metric {name!r} needs ordered classes. If the classes of {label.name} "
            f"({_classes(label)}) are ordered, write `ordered = true` in a task file"
        )
    if read.kind not in ("ndcg", "mean") and not read.sign and len(label.classes) != 2:
        sign = ">=" if graded(label) else "="
        return (
            f"metric {name!r} does not say which classes of {label.name} count. Write "
            f"{before}[{label.name}{sign}{label.classes[-1]}]"
        )
    if read.sign in (">=", "<=") and not graded(label):
        return (
            f"metric {name!r} needs ordered classes, but those of {label.name} "
            f"({_classes(label)}) have no order"
        )
    return None


def _classes(label: Label) -> str:
    return ", ".join(label.classes[:6]) + (", ..." if len(label.classes) > 6 else "")


def numbers_of(label: Label) -> tuple[float, ...] | None:
    """Return the classes of a label as numbers; None if one of them is no number."""
    if not label.classes or not all(NUMBER.fullmatch(word) for word in label.classes):
        return None
    return tuple(map(float, label.classes))


def graded(label: Label) -> bool:
    """Return whether later classes are higher: two classes, an order, or increasing numbers."""
    numbers = numbers_of(label) or ()
    rising = bool(numbers) and all(a < b for a, b in pairwise(numbers))
    return len(label.classes) == 2 or label.ordered or rising


def generic_names(task: Task) -> list[str]:
    """Name the generic metrics of a task, one of each kind that suits a label."""
    names = []
    for label in task.labels:
        events = [label.name]
        if len(label.classes) > 2:
            signs = ("=", ">=") if graded(label) else ("=",)
            events = [f"{label.name}{sign}{word}" for word in label.classes for sign in signs]
        names += [f"{kind}[{event}]" for kind in EVENTS for event in events]
        names += [f"{kind}[{label.name}]" for kind in (*GRADED, *NUMERIC)]
    return [name for name in names if generic_problem(name, task) is None]
