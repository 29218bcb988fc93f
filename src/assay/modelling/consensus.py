"""What all raters share, whatever their recipes: the crowd whose consensus is the truth, priors of
its mean lean and of the names of classes, and its lean from the pool.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import NOT_AUDITED, Ratings
from assay.modelling.families import Family, family_class
from assay.modelling.families.class_names import ClassNamesPrior
from assay.modelling.families.lean import BinaryLeans, LeanPrior
from assay.modelling.families.pool_lean import (
    AnswerLeans,
    AnswerPoolLean,
    BinaryPoolLean,
    PoolLean,
)
from assay.modelling.rater_model import CategoricalRaterModel, RaterModel
from assay.modelling.spec import GOLD, GROUPS, Recipe


class JointPrior(Protocol):
    """A prior of several parameters together, which multiplies their own."""

    def log_density(self, values: Mapping[str, Any], xp: Any) -> Any:
        """Return the addition to the log prior, (..., term)."""
        ...

    def redraw(self, values: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, Floats]:
        """Turn parameters drawn without this prior into draws with it; return those that change."""
        ...


def crowd_shares(
    ratings: Ratings, reference: str | None, by_group: Mapping[str, Recipe]
) -> Floats | None:
    """Return each rater's share in the crowd whose consensus is the truth, (rater, label).

    These are the raters who answered the label, of the group ``reference`` if any. Raters with
    modelled scores do not count, nor do those with ``system_bias`` beside others without it: their
    leans differ by system. An audited label has no crowd. None if the truth is no consensus, or a
    family in the crowd has no leans.
    """
    if reference in (GOLD, GROUPS):
        return None
    told = {name for name, recipe in by_group.items() if recipe.family != "scored"}
    fair = {name for name in told if "system_bias" not in by_group[name].layers} or told
    crowd = fair if reference is None else told & {reference}
    if not all(family_class(by_group[name].family).leans for name in crowd):
        return None
    group = ratings.raters["group"].astype(str).to_numpy(object)
    answered = np.zeros((len(group), len(ratings.task.labels)))
    for label, said in enumerate(ratings.answers.T):
        answered[ratings.rater[said >= 0], label] = 1.0
    answered[~np.isin(group, list(crowd))] = 0.0
    audited = (ratings.audit != NOT_AUDITED).any(axis=0)
    return np.asarray(answered / np.maximum(answered.sum(axis=0), 1) * ~audited)


def told_by_raters(ratings: Ratings, reference: str | None, crowd: Floats) -> Bools:
    """Return whether nothing but the crowd of all raters tells the truth, (label,)."""
    known = (ratings.truth >= 0).any(axis=0)
    return np.asarray(crowd.any(axis=0) & ~known & (reference is None))


def joint_priors(parts: Sequence[RaterModel]) -> list[JointPrior]:
    """Return the priors of parameters of several raters, perhaps of several parts."""
    families = _families(parts)
    if not families:
        return []
    _, first = families[0]
    found: list[JointPrior] = []
    alone = np.asarray(first.raters.alone)
    leans, labels = _binary_leans(families, alone)
    if len(labels):
        found.append(LeanPrior(parts=leans, prior=first.priors["lean"]))
    every = ((prefix, family.average_raters()) for prefix, family in families)
    averages = [replace(one, prefix=prefix) for prefix, one in every if one is not None]
    if averages:
        layout, label = first.layout, np.array(first.layout.labels)
        weighed = np.any([one.weight.any(axis=1) for one in averages], axis=0)
        told = (layout.row_classes > 2) & (weighed & alone)[label]
        if told.any():
            found.append(
                ClassNamesPrior(
                    width=layout.width,
                    rows=np.flatnonzero(told),
                    right=np.array(layout.true_classes)[told],
                    label=label[told],
                    parts=averages,
                )
            )
    return found


def pool_leans(parts: Sequence[RaterModel]) -> list[PoolLean]:
    """Return how the raters' mean leans differ from their pool's, where raters define the truth.

    None if a part has no rater in the crowd: its raters see the boundary of the truth otherwise.
    """
    families = _families(parts)
    if not families or (len(parts) > 1 and not all(map(_counts, parts))):
        return []
    (_, first), found = families[0], list[PoolLean]()
    layout, crowd, spread = first.layout, _crowd(families), first.priors["lean_spread"]
    leans, labels = _binary_leans(families, crowd)
    if len(labels):
        names = tuple(layout.task.labels[n].name for n in labels)
        found.append(BinaryPoolLean(labels=labels, names=names, spread=spread, parts=leans))
    for n, classes in enumerate(layout.classes):
        if classes > 2 and crowd[n]:
            label = layout.task.labels[n]
            found.append(
                AnswerPoolLean(
                    labels=np.full(classes, n),
                    names=tuple(f"{label.name}: {name}" for name in label.classes),
                    spread=spread,
                    rows=np.flatnonzero(np.array(layout.labels) == n),
                    parts=[_answer_leans(prefix, family, n) for prefix, family in families],
                )
            )
    return found


def _families(parts: Sequence[RaterModel]) -> list[tuple[str, Family]]:
    """Return the families whose raters may lean together, with the prefixes of their parts."""
    return [
        (part.prefix, part.family)
        for part in parts
        if isinstance(part, CategoricalRaterModel)
        and part.family.leans
        and part.raters.crowd is not None
    ]


def _counts(part: RaterModel) -> bool:
    """Return whether some raters of a part belong to the crowd whose consensus is the truth."""
    return part.raters.crowd is not None and bool(part.raters.crowd.any())


def _crowd(families: Sequence[tuple[str, Family]]) -> Bools:
    """Return whether a label has a crowd whose consensus is its truth, (label,)."""
    crowds = [np.asarray(family.raters.crowd) for _, family in families]
    return np.asarray(np.concatenate(crowds).any(axis=0))


def _binary_leans(
    families: Sequence[tuple[str, Family]], some: Bools
) -> tuple[list[BinaryLeans], Ints]:
    """Return the leans of each part to the answers of ``some`` binary labels, and these labels."""
    binary = np.array(families[0][1].layout.classes) == 2
    every = ((prefix, family.binary_leans()) for prefix, family in families)
    leans = [replace(one, prefix=prefix) for prefix, one in every if one is not None]
    return [one.of_labels(some[binary]) for one in leans], np.flatnonzero(binary & some)


def _answer_leans(prefix: str, family: Family, label: int) -> AnswerLeans:
    return AnswerLeans(
        prefix=prefix,
        log_confusion=partial(family.log_confusion, xp=np),
        took=np.asarray(family.raters.crowd)[:, label] > 0,
        move=partial(family.lean_to, label),
    )
