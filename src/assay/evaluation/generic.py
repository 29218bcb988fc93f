"""Generic metrics: precision, recall, hits, MRR, nDCG, rates and means of any label that suits."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError, nearest
from assay._util.text import fixed
from assay._util.typing import Bools, Floats
from assay.data.directions import good_end
from assay.data.generic_metrics import (
    GenericName,
    generic_names,
    generic_problem,
    numbers_of,
    parse_generic,
)
from assay.data.task import Label, Task
from assay.evaluation.prevalence import prevalence_totals, prior_share, share_direction
from assay.evaluation.registry import EVEN, Better, Metric, MetricFunction
from assay.evaluation.retrieval import discounted_gain, reciprocal_rank
from assay.evaluation.shares import in_classes, share

Codes = NDArray[np.integer]
Chosen = frozenset[int]
"""Codes of the classes that count."""


def generic_metric(name: str, task: Task) -> Metric | None:
    """Return the generic metric of that name, such as ``rate[label]``; None for any other name."""
    read = parse_generic(name, task.label_names)
    if read is None:
        return None
    if problem := generic_problem(name, task):
        near = nearest(name, generic_names(task))
        go_on = {"metric": [near] if near else None}
        raise ModelError(problem, code="metric-unavailable", go_on=go_on)
    label = next(label for label in task.labels if label.name == read.label)
    if read.kind == "mean":
        return _mean(name, label)
    if read.kind == "ndcg":
        return _ndcg(name, read, label)
    return _of_event(name, read, label)


def _of_event(name: str, read: GenericName, label: Label) -> Metric:
    """Return a metric of the event that an item's class is one of those that count."""
    codes, said = _chosen(read, label)
    of = f"{label.name} {said}"
    where = "the list" if read.cut is None else f"the first {read.cut} ranks"
    share_of_items = f"Share of the items with {of}, where it applies."
    function, title, description = {
        "precision": (
            precision(codes, read.cut),
            "Precision@{k}",
            f"Share of the items of {where} with {of}, mean over lists.",
        ),
        "recall": (
            recall(codes, read.cut),
            "Recall@{k}",
            f"Share of a cluster's items with {of} that stand in {where}, mean over lists. The "
            "items are those of all lists of the cluster: what no list holds is not counted.",
        ),
        "hit": (
            hit(codes, read.cut),
            "Hit@{k}",
            f"Share of the lists with {of} for at least one item of {where}.",
        ),
        "mrr": (
            first_rank(codes, read.cut),
            "MRR" if read.cut is None else "MRR@{k}",
            f"One over the rank of the first item of {where} with {of}, 0 if none; mean over "
            "lists.",
        ),
        "rate": (prevalence_totals(codes), "Share", share_of_items),
        "prevalence": (prevalence_totals(codes), "Share", share_of_items),
    }[read.kind]
    # A share is called as the prevalence of its class is, since both are one number.
    is_share = title == "Share"
    event = of if is_share else _event(read, label)
    return Metric(
        name=name,
        function=function,
        kind="ratio" if is_share else "per_panel",
        labels=(label.name,),
        description=description,
        better=_direction(read, label, codes),
        additive=is_share or (read.kind, read.cut) == ("precision", None),
        title=f"{title.format(k=read.cut or 'k')} of {event}",
        unit="reciprocal rank" if read.kind == "mrr" else "share",
        pooled=read.kind == "recall",
        prior_share=prior_share(label, codes) if is_share else EVEN,
    )


def _chosen(read: GenericName, label: Label) -> tuple[Chosen, str]:
    """Return the codes of the classes that count (by default the second), and their words."""
    word = read.word if read.sign else label.classes[1]
    code, every = label.classes.index(word), range(len(label.classes))
    codes = {
        "": {code}, "=": {code}, "!=": {*every} - {code},
        ">=": {c for c in every if c >= code}, "<=": {c for c in every if c <= code},
    }[read.sign]  # fmt: skip
    return frozenset(codes), f"{read.sign or '='} {word}"


def _event(read: GenericName, label: Label) -> str:
    return f"{label.name} {read.sign} {read.word}" if read.sign else label.name


def _direction(read: GenericName, label: Label, codes: Chosen) -> Better:
    """Return which values are better, by the metric's kind and the label's own direction."""
    found = share_direction(label, codes)
    named = label.better in label.classes or label.better == "neither"
    if found != "neither" or read.kind in ("rate", "prevalence") or named:
        return found
    return "higher"


def _ndcg(name: str, read: GenericName, label: Label) -> Metric:
    where = "of the list" if read.cut is None else f"of the first {read.cut} ranks"
    top = len(label.classes) - 1
    return Metric(
        name=name,
        function=gain(read.cut),
        labels=(label.name,),
        description=(
            f"Discounted gain {where} over that of the best order of the same list, 0 without any "
            f"gain; mean over lists. The gain is 2^grade - 1, with the grades of {label.name} "
            f"from 0 ({label.classes[0]}) to {top} ({label.classes[top]})."
        ),
        better="lower" if good_end(label) == "lower" else "higher",
        title=f"nDCG{'' if read.cut is None else f'@{read.cut}'} of {label.name}",
        unit="share of the best order's gain",
    )


def _mean(name: str, label: Label) -> Metric:
    numbers = numbers_of(label) or ()
    low, high = min(numbers), max(numbers)
    return Metric(
        name=name,
        function=mean_of(numbers),
        kind="ratio",
        labels=(label.name,),
        description=f"Mean of {label.name} over the items, where it applies.",
        limits=(low, high),
        better=good_end(label),
        additive=True,
        title=f"Mean {label.name}",
        unit=f"points from {fixed(low, 0)} to {fixed(high, 0)}"
        if low.is_integer() and high.is_integer()
        else f"points from {low:g} to {high:g}",
    )


def _kept(mask: Bools, cut: int | None) -> Bools:
    """Return which places are within the first ranks."""
    return mask if cut is None else mask & (np.arange(mask.shape[-1]) < cut)


# Functions are cached by their arguments: a metric named twice is one metric, whose draws are kept.


@cache
def precision(codes: Chosen, cut: int | None) -> MetricFunction:
    """Return the share of items that count among the first ranks of a list."""

    def function(y: Codes, mask: Bools) -> Floats:
        with np.errstate(invalid="ignore"):  # a list with no item in the first ranks is undefined
            return share(in_classes(y, codes), _kept(mask, cut))

    return function


@cache
def recall(codes: Chosen, cut: int | None) -> MetricFunction:
    """Return the share of a cluster's items that count which stand in the first ranks."""

    def function(y: Codes, mask: Bools, pool: Bools) -> Floats:
        with np.errstate(invalid="ignore"):
            counts = in_classes(y, codes)
            found = (counts & _kept(mask, cut)).sum(axis=-1)
            return np.asarray(found / (counts & pool).sum(axis=-1))

    return function


@cache
def hit(codes: Chosen, cut: int | None) -> MetricFunction:
    """Return whether any item of the first ranks counts."""

    def function(y: Codes, mask: Bools) -> Bools:
        return np.asarray((in_classes(y, codes) & _kept(mask, cut)).any(axis=-1))

    return function


@cache
def first_rank(codes: Chosen, cut: int | None) -> MetricFunction:
    """Return one over the rank of the first item that counts; 0 if there is none."""

    def function(y: Codes, mask: Bools) -> Floats:
        return reciprocal_rank(in_classes(y, codes), _kept(mask, cut))

    return function


@cache
def gain(cut: int | None) -> MetricFunction:
    """Return discounted cumulative gain over that of the best order of the list."""

    def function(y: Codes, mask: Bools) -> Floats:
        return discounted_gain(y[..., 0], mask, cut)

    return function


@cache
def mean_of(numbers: tuple[float, ...]) -> Callable[[NDArray[Any], Bools], tuple[Floats, Floats]]:
    """Return the sum of the classes' numbers, and how many items have one."""
    values = np.array(numbers)

    def function(y: NDArray[Any], mask: Bools) -> tuple[Floats, Floats]:
        label = y[..., 0]
        applies = (label >= 0) & mask
        total = np.where(applies, values[np.maximum(label, 0)], 0.0).sum(axis=-1)
        return total, applies.sum(axis=-1).astype(float)

    return function
