"""What answers never or rarely break: rules between labels, and gates that close them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from assay.data.class_words import no_before_yes
from assay.data.ratings import Ratings
from assay.data.rules import PLAIN
from assay.data.states import MISSING
from assay.data.task import Label

FEWEST_EXPECTED = 5.0
"""Ratings that would break a rule if labels were independent, from which on few of them tell."""
RARE = 0.05
"""Of these: as many may break a rule that is worth a thought."""
MOST_CLASSES = 12
FEWEST_RATINGS = 10
"""With a class, from which on it shows whether it closes a label."""
MOSTLY = 0.95


@dataclass(frozen=True, kw_only=True)
class Regularity:
    """An expression over labels that answers keep to.

    Attributes
    ----------
    expression : str
    broken, ratings : int
        How many ratings break it, of those that could.
    expected : float
        How many would if the labels were independent; 0 of a gate.
    gates : str
        The label that is asked where the expression holds; empty of a rule.
    """

    expression: str
    broken: int
    ratings: int
    expected: float = 0.0
    gates: str = ""


def regular_rules(ratings: Ratings) -> list[Regularity]:
    """Return the rules between two labels that answers never or rarely break, the surest first."""
    labels = [
        (n, la) for n, la in enumerate(ratings.task.labels) if len(la.classes) <= MOST_CLASSES
    ]
    found: list[Regularity] = []
    for (n, one), (m, other) in combinations(labels, 2):
        found += _rules_between(one, other, ratings.answers[:, n], ratings.answers[:, m])
    return sorted(found, key=lambda rule: (rule.broken > 0, -rule.expected))


def _rules_between(
    one: Label, other: Label, first: NDArray[np.int16], second: NDArray[np.int16]
) -> Iterator[Regularity]:
    both = (first >= 0) & (second >= 0)
    table = np.zeros((len(one.classes), len(other.classes)))
    np.add.at(table, (first[both], second[both]), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / max(1.0, table.sum())
    for x, y in product(range(len(one.classes)), range(len(other.classes))):
        few = table[x, y] <= RARE * expected[x, y]
        if few and expected[x, y] >= FEWEST_EXPECTED:
            yield Regularity(
                expression=_never(one, x, other, y), broken=int(table[x, y]),
                ratings=int(min(rows[x], columns[y])), expected=float(expected[x, y]),
            )  # fmt: skip


def _never(one: Label, x: int, other: Label, y: int) -> str:
    """Say that two classes do not go together, from a yes to what follows where there is one."""
    if _is_binary(one) and x == 0 and _is_binary(other) and y == 0:
        return f"{_name(one)} or {_name(other)}"
    if _is_binary(one) and x == 0:
        one, x, other, y = other, y, one, x
    return f"{_is(one, x)} -> {_is_not(other, y)}"


def _is(label: Label, code: int) -> str:
    if _is_binary(label):
        return _name(label) if code else f"not {_name(label)}"
    return f"{_name(label)} == {quoted(label.classes[code])}"


def _is_not(label: Label, code: int) -> str:
    if _is_binary(label):
        return _is(label, 1 - code)
    return f"{_name(label)} != {quoted(label.classes[code])}"


def _is_binary(label: Label) -> bool:
    """Whether a bare name says yes."""
    return no_before_yes(label.classes)


def _name(label: Label) -> str:
    return quoted(label.name)


def quoted(name: str) -> str:
    """Write a name as rules do, in quotes if it needs them.

    Examples
    --------
    >>> quoted("tone"), quoted("tone of voice")
    ('tone', '"tone of voice"')
    """
    if PLAIN.fullmatch(name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


def regular_gates(ratings: Ratings) -> dict[str, Regularity]:
    """Return, by label, the gate that explains best where it has no answer."""
    task, answers = ratings.task, ratings.answers[~ratings.abstained]
    found: dict[str, Regularity] = {}
    for n, label in enumerate(task.labels):
        told = answers[:, n] != MISSING
        if told.all() or not told.any():
            continue
        gates = (
            gate
            for m, other in enumerate(task.labels)
            if m != n and (gate := _gate(other, answers[:, m], told, label.name))
        )
        best = min(gates, key=lambda gate: gate.broken, default=None)
        if best is not None:
            found[label.name] = best
    return found


def _gate(
    label: Label, answers: NDArray[np.int16], told: NDArray[np.bool_], gated: str
) -> Regularity | None:
    """Return the classes of a label that open another one; None if answers do not hang on it."""
    counts = np.bincount(answers[answers >= 0], minlength=len(label.classes))
    shares = np.bincount(answers[(answers >= 0) & told], minlength=len(counts)) / np.maximum(
        counts, 1
    )
    known = counts >= FEWEST_RATINGS
    opens, closes = known & (shares >= MOSTLY), known & (shares <= 1 - MOSTLY)
    if not opens.any() or not closes.any() or (known & ~opens & ~closes).any():
        return None
    open_, closed = np.flatnonzero(opens), np.flatnonzero(closes)
    broken = np.isin(answers, open_) & ~told | np.isin(answers, closed) & told
    if _is_binary(label) or len(open_) == 1:
        expression = " or ".join(_is(label, int(code)) for code in open_)
    elif len(closed) == 1:
        expression = _is_not(label, int(closed[0]))
    else:
        expression = " or ".join(_is(label, int(code)) for code in open_)
    return Regularity(
        expression=expression, broken=int(broken.sum()), ratings=int((answers >= 0).sum()),
        gates=gated,
    )  # fmt: skip
