"""Which classes of a label are the good ones, as ``better`` in its task file says."""

import json
from typing import Literal

from assay._util.errors import suggest
from assay._util.text import some
from assay.data.generic_metrics import graded
from assay.data.task import DIRECTIONS, Label


def good_class(label: Label) -> int | None:
    """Return the class that is best: the named one, or the end of an order; None if unknown."""
    if label.better in label.classes and label.better != "neither":
        return label.classes.index(label.better)
    if label.better in ("higher", "lower") and graded(label):
        return len(label.classes) - 1 if label.better == "higher" else 0
    return None


def good_end(label: Label) -> Literal["higher", "lower", "neither"]:
    """Return which end of an order is good: ``higher``, ``lower`` or ``neither``."""
    good, top = good_class(label), len(label.classes) - 1
    if good not in (0, top) or not graded(label):
        return "neither"
    return "higher" if good == top else "lower"


def way_to_direct(label: Label, word: str = "") -> str:
    """Say what to write into a task file; ``word`` is the class that may be good."""
    if len(label.classes) == 2:
        first, second = map(_quoted, label.classes)
        return f"`better = {second}` or `{first}`"
    if graded(label):
        return '`better = "higher"` or `"lower"`'
    return f"`better = {_quoted(word or label.classes[0])}` or another class"


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)


def direction_problem(label: Label) -> tuple[str, str] | None:
    """Return what is wrong with a label's direction, and the mend; None if nothing is.

    Labels whose classes come from the data pass until the data are read.
    """
    if not label.classes or good_class(label) is not None or label.better in ("", "neither"):
        return None
    said, classes = f"label {label.name}: better = {_quoted(label.better)}", list(label.classes)
    if label.better not in DIRECTIONS:
        return (
            f"{said} is neither higher, lower or neither, nor one of its classes",
            suggest(label.better, classes),
        )
    return (
        f"{said} says nothing, because its {len(classes)} classes have no order: {some(classes)}",
        f"name the good class in the task file, such as better = {_quoted(classes[0])}. If the "
        "classes have an order, list them there from the lowest, with ordered = true",
    )
