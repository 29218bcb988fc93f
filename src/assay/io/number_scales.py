"""Classes that are numbers: a scale with an order, such as grades, or only codes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from assay._util.typing import Floats, Ints
from assay.data.generic_metrics import numbers_of
from assay.data.task import Label, Task
from assay.io.cells import WRITTEN
from assay.io.names import CODES, GRADES, words_of
from assay.io.reading_log import Ledger

WITHOUT_ORDER = {"ordered": None}
"""Arguments to continue with if ``ordered=`` cannot be obeyed."""
HIGHEST, HIGHEST_OF_FEW_STEPS = 10, 100
"""Highest number of a scale in small steps, and of one in steps of 5, 10, 20 or 25."""
WIDEST_GAP = 2
"""Largest gap of a scale, in steps, or in points if steps are fractions.

Rare grades may be missing, but at the ends of whole numbers, 9 may stand for no answer.
"""
FEWEST_DISPUTES, FEWEST_CLASSES = 30, 5
"""Fewest disagreeing pairs of ratings, and fewest classes, that can show an order."""
MOST_PERMUTED = 7
"""Most classes whose orders are all tried; of more classes, a sample is."""
SAMPLED = 2000
NEAR = 0.05
"""Of a scale: largest share of the orders of its classes that fit the disagreements as well."""


def with_scales(
    task: Task,
    found: Sequence[str],
    said: Mapping[str, Sequence[str]],
    item: Ints,
    answers: Ints,
    ledger: Ledger,
    *,
    asked: bool | None,
    guess: bool,
) -> Task:
    """Give labels an order whose classes are numbers of a scale; a note says how each is read.

    Only labels that are ``found`` in the data change. ``said`` has the words of each label as the
    file writes them, ``item`` is a position (row,), and ``answers`` are codes (row, label).
    ``asked`` is what the caller says of the order; if nothing, numbers may be read as a scale only
    if ``guess``.
    """
    if asked is None and not guess:
        return task
    if asked and not any(numbers_of(la) for la in task.labels if la.name in found):
        ledger.problem(
            "order-of-words",
            f"`ordered=True` orders numbers, but the classes of {', '.join(found)} are words"
            if found
            else f"`ordered=True` is for classes that the data define, but task {task.name} lists "
            "them",
            mend="write the classes in their order, and ordered = true, into a task file",
            go_on=WITHOUT_ORDER,
        )
        return task
    labels = []
    for n, label in enumerate(task.labels):
        numbers = numbers_of(label) if label.name in found and len(label.classes) > 2 else None
        if numbers is not None and asked is not None:
            label = replace(label, ordered=asked)
        elif numbers is not None and not label.ordered:
            codes = np.asarray(answers[:, n])
            is_scale = _is_scale(label, numbers, said.get(label.name, ()), item, codes)
            label = replace(label, ordered=is_scale)
            _note_reading(label, ledger)
        labels.append(label)
    return replace(task, labels=tuple(labels))


def _is_scale(
    label: Label, numbers: Sequence[float], said: Sequence[str], item: Ints, codes: Ints
) -> bool:
    """Whether numbers are a scale: by their steps, the name, or else how raters disagree."""
    if any(WRITTEN.search(word) for word in said) or not has_steps(numbers):
        return False
    if not all(number.is_integer() for number in numbers):
        return True
    words = set(words_of(label.name))
    if words & GRADES:
        return True
    fit = orders_that_fit(_disputes(item, codes, len(numbers)))
    return not words & CODES if fit is None else fit <= NEAR


def has_steps(numbers: Sequence[float]) -> bool:
    """Whether rising numbers are those of a scale: in equal steps, with few gaps, not high.

    Examples
    --------
    >>> has_steps((1, 1.5, 2, 3)), has_steps((1, 2, 3, 4, 5)), has_steps((0, 25, 50, 75, 100))
    (True, True, True)
    >>> has_steps((1, 2, 3, 9)), has_steps((101, 102, 103)), has_steps((3, 17, 40))
    (False, False, False)
    """
    hundredths = np.round(np.asarray(numbers, float) * 100)
    if not np.allclose(hundredths, np.asarray(numbers, float) * 100):
        return False
    steps = np.diff(hundredths).astype(np.int64)
    step = int(np.gcd.reduce(steps))
    if not step or step % 5 or (hundredths[0] % step):
        return False
    highest = HIGHEST_OF_FEW_STEPS if step >= 500 else HIGHEST
    lowest = -highest / 2 if numbers[0] < 0 else 0
    if not (lowest <= numbers[0] and numbers[-1] <= highest):
        return False
    gaps = steps // step
    if step < 100:
        return bool(gaps.max() * step <= 100 * WIDEST_GAP)
    return bool(gaps.max() <= WIDEST_GAP and gaps[0] == gaps[-1] == 1)


def _disputes(item: Ints, codes: Ints, size: int) -> Floats:
    """Count the pairs of different answers to one item (class, class)."""
    given = (codes >= 0) & (item >= 0)
    items, place = np.unique(item[given], return_inverse=True)
    table = np.zeros((len(items), size))
    np.add.at(table, (place, codes[given]), 1)
    pairs = table.T @ table
    np.fill_diagonal(pairs, 0)
    return np.asarray(pairs, float)


def orders_that_fit(disputes: Floats) -> float | None:
    """Return the share of orders of the classes that fit the disagreements as well as the numbers.

    Raters who grade differ by little: the mean distance between different answers to one item is
    small. Of codes, other orders fit as well. None if the data cannot tell.

    Examples
    --------
    >>> near = 20 * (np.eye(5, k=1) + np.eye(5, k=-1))  # raters differ by one
    >>> round(orders_that_fit(near), 2), orders_that_fit(near[:3, :3])
    (0.02, None)
    """
    size = len(disputes)
    if size < FEWEST_CLASSES or disputes.sum() / 2 < FEWEST_DISPUTES:
        return None
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    if size <= MOST_PERMUTED:
        orders = np.array(list(permutations(range(size))))
    else:
        rng = np.random.default_rng(1)
        orders = rng.permuted(np.tile(np.arange(size), (SAMPLED, 1)), axis=1)
    distances = (apart[orders[:, :, None], orders[:, None, :]] * disputes).sum(axis=(1, 2))
    return float(np.mean(distances <= (apart * disputes).sum()))


def _note_reading(label: Label, ledger: Ledger) -> None:
    """Note that numbers were read as a scale, or as codes."""
    words, scale = label.classes, "a scale, with an order and a mean. If they are codes"
    shown = ", ".join(words) if len(words) <= 5 else f"{words[0]}, {words[1]}, ..., {words[-1]}"
    read = scale if label.ordered else "codes, without an order. If they are grades"
    ledger.note(
        f"the numbers of {label.name} ({shown}) are read as {read}, "
        f"give `ordered={not label.ordered}`",
        code="number-scale" if label.ordered else "number-codes",
        classes=len(words),
    )
