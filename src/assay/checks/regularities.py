"""Rules between labels, and gates, that answers rarely break."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools
from assay.data.class_words import no_before_yes
from assay.data.questions import quoted
from assay.data.ratings import Ratings
from assay.data.states import MISSING
from assay.data.task import Label

FEWEST_EXPECTED = 5.0
"""Ratings expected to break a rule if labels were independent, from which a rule is considered."""
RARE = 0.05
"""Share of these that may break a proposed rule."""
MOST_CLASSES = 12
FEWEST_RATINGS = 10
"""Ratings with a class from which it can show whether it closes a label."""
MOSTLY = 0.95


@dataclass(frozen=True, kw_only=True)
class Regularity:
    """An expression over labels that answers obey.

    broken, ratings, expected : ratings that break it; that could; that would if labels were
        independent (0 for a gate)
    gates : the label that is asked where the expression holds; empty for a rule
    """

    expression: str
    broken: int
    ratings: int
    expected: float = 0.0
    gates: str = ""


def regular_rules(ratings: Ratings) -> list[Regularity]:
    """Return the rules between two labels that answers rarely break, the most certain first."""
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
    """Write the rule that two classes exclude each other, from a yes if possible."""
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
    """Return whether the label's name alone means yes."""
    return no_before_yes(label.classes)


def _name(label: Label) -> str:
    return quoted(label.name)


def regular_gates(ratings: Ratings) -> dict[str, Regularity]:
    """Return, by label, the gate that best explains its missing answers."""
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


def _gate(label: Label, answers: NDArray[np.int16], told: Bools, gated: str) -> Regularity | None:
    """Return the classes of a label that open another one; None if answers do not depend on it."""
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
