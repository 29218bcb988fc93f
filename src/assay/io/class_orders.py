"""The order of classes: of categories, of the words of a known scale, and of numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from assay._util.typing import Floats, Ints
from assay.data.class_words import canonical
from assay.data.generic_metrics import numbers_of
from assay.data.task import Label, Task
from assay.io.cells import WRITTEN, has_steps
from assay.io.names import CODES, GRADES, NO_ANSWER, WORDS, words_of
from assay.io.reading_log import Ledger

SCALES = [[level.split("|") for level in scale] for scale in WORDS["scales"]]
"""Scales of words, lowest first; each level has its spellings."""
FEWEST_OF_SCALE = 3
"""Fewest classes that make a scale of words."""
LEADING = re.compile(r"(\d+)(?:\s*[-\u2013=:.)(]\s*|\s+)(\D[^()]*)\)?|(\d+)")
"""A number, perhaps with the word for it: ``1 - very poor``."""
WITHOUT_ORDER = {"ordered": None}
"""Arguments to continue with if ``ordered=`` cannot be obeyed."""
FEWEST_DISPUTES, FEWEST_CLASSES = 30, 5
"""Fewest disagreeing pairs of ratings, and fewest classes, that can show an order."""
MOST_PERMUTED = 7
"""Most classes whose orders are all tried; of more classes, a sample is."""
SAMPLED = 2000
NEAR = 0.05
"""Of a scale: largest share of the orders of its classes that fit the disagreements as well."""


def in_order(label: Label, known: Sequence[str], ledger: Ledger) -> Label:
    """Return a label whose classes have the order of the ``known`` categories, if these are all;
    else that of the words of a known scale.
    """
    place = {canonical(name): n for n, name in enumerate(known)}
    if len(label.classes) < 2 or not all(canonical(name) in place for name in label.classes):
        return _order_of_words(label, ledger)
    classes = tuple(sorted(label.classes, key=lambda name: place[canonical(name)]))
    used = set(map(canonical, classes))
    idle = [name for name in known if canonical(name) not in used]
    ledger.note(
        f"the classes of {label.name} have the order of their categories: {', '.join(classes)}"
        + f"; no answer is {' or '.join(idle)}, so the label has no such class" * bool(idle),
        code="order-of-categories",
        classes=len(classes),
    )
    return replace(label, classes=classes, ordered=len(classes) > 2)


def _order_of_words(label: Label, ledger: Ledger) -> Label:
    """Return a label with its classes in order, if their words have a known one."""
    classes = known_order(label.classes)
    if label.ordered or classes is None:
        return label
    ledger.note(
        f"the classes of {label.name} are read as a scale, lowest first: {', '.join(classes)}. If "
        "they have no order, give `ordered=False`",
        code="word-scale",
        classes=len(classes),
    )
    return replace(label, classes=classes, ordered=True)


def known_order(classes: Sequence[str]) -> tuple[str, ...] | None:
    """Return three classes or more from lowest to highest; None if their words do not tell.

    All are of one known scale, or begin with numbers.

    >>> known_order(["Agree", "Strongly agree", "Neutral"])
    ('Neutral', 'Agree', 'Strongly agree')
    >>> known_order(["3 - excellent", "2", "1 - very poor"])
    ('1 - very poor', '2', '3 - excellent')
    """
    if len(classes) < FEWEST_OF_SCALE:
        return None
    if words := _words_in_order(classes):
        return words
    hits = [LEADING.fullmatch(name.strip()) for name in classes]
    numbers = [int(hit[1] or hit[3]) for hit in hits if hit]
    if len(numbers) < len(classes) or len(set(numbers)) < len(numbers):
        return None
    order = np.argsort(numbers)
    told = [hit[2] for hit in hits if hit and hit[1]]
    # Words of the ends alone, or words of a scale; those of all may be of categories.
    if len(told) == len(classes):
        rising = tuple(told[n].strip() for n in order)
        is_scale = _words_in_order(rising) == rising
    else:
        is_scale = bool(told)
    return tuple(classes[n] for n in order) if is_scale and has_steps(sorted(numbers)) else None


def _words_in_order(classes: Sequence[str]) -> tuple[str, ...] | None:
    """Return words of one known scale from lowest to highest; None if they are of none.

    A word that may mean no answer is no level between others.
    """
    for scale in SCALES:
        place = {word: n for n, level in enumerate(scale) for word in level}
        found = [place.get(_bare(name), -1) for name in classes]
        if -1 not in found and len(set(found)) == len(found):
            between = [c for c, n in zip(classes, found, strict=True) if n > min(found)]
            return (
                None
                if any(canonical(c) in NO_ANSWER for c in between)
                else tuple(classes[n] for n in np.argsort(found))
            )
    return None


def _bare(name: str) -> str:
    """Return a word of a scale as the known ones are written."""
    return " ".join(re.sub(r"[-_/().,']", " ", canonical(name)).split())


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

    Only labels that are ``found`` change. ``said`` has their words as the file writes them,
    ``item`` is a position (row,), ``answers`` are codes (row, label). ``asked`` is the caller's
    order; without it, numbers may be a scale only if ``guess``.
    """
    if asked is None and not guess:
        return task
    known = [la for la in task.labels if la.name in found]
    if asked and not any(la.ordered or numbers_of(la) for la in known):
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
        elif asked is False and label.name in found:
            label = replace(label, ordered=False)
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

    Raters who grade differ by little; of codes, other orders fit as well. None if data cannot tell.

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
