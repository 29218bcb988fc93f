"""Confusions of each rater family a second time, from parameters by name."""

import math
from collections.abc import Callable

import numpy as np

from assay.model import Structure
from assay.task import Task

Confusion = list[list[list[float]]]  # [label][true class][reported class]


def confusions(structure: Structure, values: dict[str, np.ndarray]) -> list[Confusion]:
    """Confusion of each rater: [rater][label][true][reported]."""
    task, ratings = structure.ratings.task, structure.ratings
    groups = sorted(set(ratings.raters["group"]))
    make = FAMILIES[structure.spec.raters]
    return [
        make(task, values, j, groups.index(group))
        for j, group in enumerate(ratings.raters["group"])
    ]


def _spread(accuracy: float, true: int, classes: int) -> list[float]:
    return [accuracy if k == true else (1 - accuracy) / (classes - 1) for k in range(classes)]


def _one_coin(task: Task, values: dict, j: int, g: int) -> Confusion:
    return [
        [_spread(values["accuracy"][j], k, len(la.classes)) for k in range(len(la.classes))]
        for la in task.labels
    ]


def _class_conditional(task: Task, values: dict, j: int, g: int) -> Confusion:
    rows = iter(values["accuracy"][j])
    return [
        [_spread(next(rows), k, len(la.classes)) for k in range(len(la.classes))]
        for la in task.labels
    ]


def _from_rows(task: Task, blocks: dict[int, np.ndarray]) -> Confusion:
    rows = {classes: iter(block) for classes, block in blocks.items()}
    return [[list(next(rows[len(la.classes)])) for _ in la.classes] for la in task.labels]


def _dawid_skene(task: Task, values: dict, j: int, g: int) -> Confusion:
    blocks = {k: values[f"confusion_{k}"][j] for k in {len(la.classes) for la in task.labels}}
    return _from_rows(task, blocks)


def _pooled(task: Task, values: dict, j: int, g: int) -> Confusion:
    return _from_rows(
        task, {k: values[f"confusion_{k}"] for k in {len(la.classes) for la in task.labels}}
    )


def _hierarchical(task: Task, values: dict, j: int, g: int) -> Confusion:
    mean, sd, offset = (values[f"logit_{n}"] for n in ("mean", "sd", "offset"))
    cells = iter(mean[g] + sd[g] * offset[j])
    table = []
    for la in task.labels:
        rows = []
        for true in range(len(la.classes)):
            if len(la.classes) == 2:
                right = 1 / (1 + math.exp(-next(cells)))
                rows.append(_spread(right, true, 2))
            else:
                odds = [math.exp(next(cells)) for _ in la.classes]
                rows.append([o / math.fsum(odds) for o in odds])
        table.append(rows)
    return table


FAMILIES: dict[str, Callable[[Task, dict, int, int], Confusion]] = {
    "one_coin": _one_coin,
    "class_conditional": _class_conditional,
    "dawid_skene": _dawid_skene,
    "pooled": _pooled,
    "hierarchical": _hierarchical,
}
