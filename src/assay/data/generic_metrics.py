"""Generic metrics: the language of their names, and which of them suit a label.

``precision_at_k[relevant]`` is a kind, which may have a cut-off, and what counts, in brackets: a
binary label, or a class of a label. Functions are elsewhere; a task file names metrics long before
any is computed.
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
"""Kinds that need to know which classes count."""
GRADED = ("ndcg",)
NUMERIC = ("mean",)
KINDS = (*EVENTS, *GRADED, *NUMERIC)


@dataclass(frozen=True, kw_only=True)
class GenericName:
    """What the name of a generic metric says.

    Attributes
    ----------
    kind : str
        One of precision, recall, hit, mrr, ndcg, rate, prevalence and mean.
    cut : int or None
        Only the items of the first so many ranks count; None for the whole list.
    label : str
    sign : str
        How ``word`` chooses the classes that count; empty if the name has no class.
    word : str
        The class.
    """

    kind: str
    cut: int | None
    label: str
    sign: Sign = ""
    word: str = ""


def parse_generic(name: object, labels: Sequence[str]) -> GenericName | None:
    """Read the name of a generic metric; None if it is no such name.

    Examples
    --------
    >>> parse_generic("recall_at_5[grade>=good]", ["grade"])
    GenericName(kind='recall', cut=5, label='grade', sign='>=', word='good')
    >>> parse_generic("ndcg_at_k", ["grade"]) is None
    True
    """
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return None
    kind = found["kind"] or found["ranked"] or found["plain"]
    at = found["at"] or found["cut"]
    cut = None if at in (None, "k") else int(at)
    label, sign, word = _event(found["of"], labels)
    return GenericName(kind=kind, cut=cut, label=label, sign=sign, word=word)


def _event(text: str, labels: Sequence[str]) -> tuple[str, Sign, str]:
    """Split what stands in the brackets; a label's own name may hold a sign."""
    if text in labels:
        return text, "", ""
    parts = [(text.partition(sign), sign) for sign in SIGNS if sign in text]
    known = [(p, sign) for p, sign in parts if p[0].strip() in labels]
    for (label, _, word), sign in known or parts:
        return label.strip(), sign, word.strip()
    return text, "", ""


def generic_problem(name: object, task: Task) -> str | None:
    """Say why a task cannot have a generic metric; None if it can, or the name is no generic one.

    Labels whose classes come from the data are not judged before these are read.

    Examples
    --------
    >>> task = Task(name="t", labels=(Label(name="tone", classes=("rude", "plain", "kind")),))
    >>> generic_problem("rate[tone=kind]", task) is None
    True
    >>> generic_problem("rate[tone]", task)
    "metric 'rate[tone]' does not say which classes of tone count; write rate[tone=kind]"
    """
    read = parse_generic(name, task.label_names)
    if read is None:
        return None
    labels = {label.name: label for label in task.labels}
    if read.label not in labels:
        return (
            f"metric {name!r} needs the label {read.label}, which the task does not have; its "
            f"labels: {', '.join(labels)}"
        )
    label = labels[read.label]
    if not label.classes:
        return None
    if read.sign and read.word not in label.classes:
        near = suggest(read.word, list(label.classes))
        return f"metric {name!r}: {read.word} is no class of {label.name}; {near}"
    return _unsuited(str(name), read, label)


def _unsuited(name: str, read: GenericName, label: Label) -> str | None:
    """Say what a metric needs of a label that it does not have."""
    before = name.partition("[")[0]
    if read.kind in ("ndcg", "mean") and read.sign:
        return f"metric {name!r} counts all classes of a label; write {before}[{label.name}]"
    if read.kind == "mean" and numbers_of(label) is None:
        return f"metric {name!r} needs classes that are numbers; {label.name} has {_classes(label)}"
    if read.kind == "ndcg" and not graded(label):
        return (
            f"metric {name!r} needs classes in an order; say `ordered = true` of {label.name}, "
            f"whose classes are {_classes(label)}, in a task file"
        )
    if read.kind not in ("ndcg", "mean") and not read.sign and len(label.classes) != 2:
        sign = ">=" if graded(label) else "="
        return (
            f"metric {name!r} does not say which classes of {label.name} count; write "
            f"{before}[{label.name}{sign}{label.classes[-1]}]"
        )
    if read.sign in (">=", "<=") and not graded(label):
        return (
            f"metric {name!r} needs classes in an order, and those of {label.name} "
            f"({_classes(label)}) have none"
        )
    return None


def _classes(label: Label) -> str:
    return ", ".join(label.classes[:6]) + (", ..." if len(label.classes) > 6 else "")


def numbers_of(label: Label) -> tuple[float, ...] | None:
    """Return the numbers that the classes of a label are; None if one of them is none.

    Examples
    --------
    >>> numbers_of(Label(name="stars", classes=("1", "2", "5")))
    (1.0, 2.0, 5.0)
    """
    if not label.classes or not all(NUMBER.fullmatch(word) for word in label.classes):
        return None
    return tuple(map(float, label.classes))


def graded(label: Label) -> bool:
    """Whether a later class of a label is a higher one: two classes, an order, rising numbers."""
    numbers = numbers_of(label) or ()
    rising = bool(numbers) and all(a < b for a, b in pairwise(numbers))
    return len(label.classes) == 2 or label.ordered or rising


def generic_names(task: Task) -> list[str]:
    """Name the generic metrics of a task, one of each kind that suits a label.

    Examples
    --------
    >>> generic_names(Task(name="t", labels=(Label(name="stars", classes=("1", "2", "3")),)))[-2:]
    ['ndcg[stars]', 'mean[stars]']
    """
    names = []
    for label in task.labels:
        events = [label.name]
        if len(label.classes) > 2:
            signs = ("=", ">=") if graded(label) else ("=",)
            events = [f"{label.name}{sign}{word}" for word in label.classes for sign in signs]
        names += [f"{kind}[{event}]" for kind in EVENTS for event in events]
        names += [f"{kind}[{label.name}]" for kind in (*GRADED, *NUMERIC)]
    return [name for name in names if generic_problem(name, task) is None]
