"""Prevalence metrics: the share of a class among the items to which a label applies."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numpy.typing import NDArray

from assay._util.typing import Bools, Ints
from assay.data.class_words import no_before_yes
from assay.data.directions import good_class, good_end
from assay.data.task import Label, Task
from assay.evaluation.registry import EVEN, Better, Metric
from assay.evaluation.shares import in_classes

Totals = tuple[Ints, Ints]


@cache
def prevalence_totals(codes: frozenset[int]) -> Callable[[NDArray[Any], Bools], Totals]:
    """Return the metric function that counts the items in some classes of one label.

    It is cached: equal metrics must have the same function.
    """

    def totals(y: NDArray[Any], mask: Bools) -> Totals:
        applies = (y[..., 0] >= 0) & mask
        return (in_classes(y, codes) & applies).sum(axis=-1), applies.sum(axis=-1)

    return totals


def share_direction(label: Label, codes: frozenset[int]) -> Better:
    """Return which shares of these classes are better, if the label says which class is good.
    Ordered classes in between, and both ends together, are better neither way.
    """
    good, end = good_class(label), good_end(label)
    if good is None:
        return "neither"
    if end == "neither":
        others = set(range(len(label.classes))) - {good}
        return "higher" if codes == {good} else "lower" if codes == others else "neither"
    top, bottom = len(label.classes) - 1 in codes, 0 in codes
    if top == bottom:
        return "neither"
    return "higher" if (end == "higher") == top else "lower"


def prior_share(label: Label, codes: frozenset[int]) -> float:
    """Return the prior share of these classes: 1/K of one of K, 1 - 1/K of the others, else 1/2."""
    count = len(label.classes)
    return len(codes) / count if len(codes) in (1, count - 1) else EVEN


def prevalence_metrics(task: Task, *, other: bool = False) -> list[Metric]:
    """Return the share of each class of each label, where it applies.

    With ``other``, the share of all classes but that one.
    """
    sign = "!=" if other else "="
    return [
        Metric(
            name=f"prevalence[{label.name}{sign}{word}]",
            function=prevalence_totals(codes),
            kind="ratio",
            labels=(label.name,),
            description=f"Share of the items with {label.name} {sign} {word}, where it applies.",
            better=share_direction(label, codes),
            additive=True,
            title=f"Share of {label.name} {sign} {word}",
            prior_share=prior_share(label, codes),
        )
        for label in task.labels
        for code, word in enumerate(label.classes)
        for codes in [frozenset({*range(len(label.classes))} - {code} if other else {code})]
    ]


def telling_shares(task: Task) -> list[Metric]:
    """Return the class shares; of two classes only one, as the other follows from it.

    It is that of a plain "yes" or 1, else of the good class, else of the first.
    """
    names = {
        f"prevalence[{label.name}={label.classes[code]}]"
        for label in task.labels
        for code in ([_told(label)] if len(label.classes) == 2 else range(len(label.classes)))
    }
    return [one for one in prevalence_metrics(task) if one.name in names]


def _told(label: Label) -> int:
    """Return the class of two whose share is told."""
    return 1 if no_before_yes(label.classes) else good_class(label) or 0
