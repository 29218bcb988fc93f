"""Classes that may mean something else than their names, by sums over items.

Only the prior names a latent class. A fit that denies most unanimous items their class has found
another meaning. Sums add over partitions. A third cause of ``class-drift``, a class that grows far
beyond its answers, is in :mod:`assay.inference.label_doubts`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay._util.errors import Note
from assay._util.sums import Sums
from assay._util.typing import Bools, Floats, Ints
from assay.data.majority_vote import rater_votes
from assay.data.states import MISSING
from assay.modelling.structure import Structure

VOTES = 3
"""Least number of raters of an item that count as unanimous."""
MIN_AGREED = 10
"""Least number of items on which raters agree, or answers of a class, for a comparison with a fit.
"""
DENIED = 0.5
"""Share of the agreed items with their class in the fit below which the fit denies it."""
CONSENSUS_VOTES = 2
"""Least number of equal votes from a reference group that make a consensus."""
MIN_RATIO_OF_ANSWERS = 1.5
"""Least ratio of another answer to the own answer, on items of a class."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelSums(Sums):
    """A label's classes in the answers and in a fit, as sums over items.

    known : items of known truth (class,)
    rated, items : items with an answer; expected items of each class among these (class,)
    answers : expected votes (column) on items of a class (row); a rater has one an item
    said : share of the answers, summed over rated items (class,)
    unanimous : items whose raters, at least ``VOTES``, all say the class, without known truth; and
        how many of them are of the class by the fit (class, 2)
    reference_answers : as ``answers``, of the reference group alone
    consensus : as ``unanimous``, for the majority of the reference group
    """

    known: Ints
    rated: int
    items: Floats
    answers: Floats
    said: Floats
    unanimous: Floats
    reference_answers: Floats
    consensus: Floats


def label_sums(structure: Structure, probabilities: Floats) -> list[LabelSums]:
    """Return the sums of each label, from state probabilities (item, state)."""
    ratings, states = structure.ratings, structure.prevalence.space.states
    group = ratings.raters["group"].to_numpy(object)
    mine = (group == structure.spec.reference)[ratings.rater]
    found = []
    for n, label in enumerate(ratings.task.labels):
        classes, said = len(label.classes), ratings.answers[:, n]
        held = probabilities @ (states[:, n, None] == np.arange(classes))
        votes = rater_votes(ratings, said, classes)
        of_group = rater_votes(ratings, np.where(mine, said, MISSING), classes)
        total, most = votes.sum(axis=1).round(), votes.max(axis=1)
        alike = (most >= VOTES) & (most == total) & (ratings.truth[:, n] < 0)
        top = of_group.max(axis=1)
        clear = (top >= CONSENSUS_VOTES) & (2 * top > of_group.sum(axis=1).round())
        rated = total > 0
        found.append(
            LabelSums(
                known=(ratings.truth[:, n, None] == np.arange(classes)).sum(axis=0),
                rated=int(rated.sum()),
                items=held[rated].sum(axis=0),
                answers=held.T @ votes,
                said=(votes[rated] / total[rated, None]).sum(axis=0),
                unanimous=_agreed(alike, votes, held),
                reference_answers=held.T @ of_group,
                consensus=_agreed(clear, of_group, held),
            )
        )
    return found


def _agreed(chosen: Bools, votes: Floats, held: Floats) -> Floats:
    """Count chosen items by their commonest answer, and those of that class by the fit."""
    items = np.flatnonzero(chosen)
    said = votes[items].argmax(axis=1)
    found = np.zeros((votes.shape[1], 2))
    np.add.at(found, said, np.column_stack([np.ones(len(items)), held[items, said]]))
    return found


class DriftedClass(NamedTuple):
    """A class that seems to have another meaning."""

    label: str
    name: str
    note: Note


def denied_labels(structure: Structure, sums: Sequence[LabelSums]) -> Iterator[DriftedClass]:
    """Yield the classes that a fit denies to most unanimous items.

    With a reference, a whole group may be wrong, so there is no warning.
    """
    if structure.spec.reference is not None:
        return
    remedy = "To settle this, give the truth of some items (`truth=`)"
    if any(found.known.any() for found in sums):
        remedy = "To choose between the fits, compare how well each predicts the known truth "
        remedy += "(assay.loo_gold)"
    for label, found in zip(structure.ratings.task.labels, sums, strict=True):
        for name, agreed in zip(label.classes, found.unanimous, strict=True):
            if numbers := _denied(agreed):
                text = (
                    f"All raters of {numbers['items']} items, {VOTES} or more of each, say "
                    f"{name!r} ({label.name}), but this fit assigns only {numbers['share']:.0%} of "
                    "these items to that class. The classes may mean something else than their "
                    "names (class drift), or all raters make the same error. Another recipe "
                    f"(`raters='hierarchical'`) may keep the meaning of the classes. {remedy}."
                )
                yield DriftedClass(
                    label.name, name, Note(text, code="class-drift", numbers=numbers)
                )


def reference_drifts(structure: Structure, sums: Sequence[LabelSums]) -> Iterator[DriftedClass]:
    """Yield the classes in which a fit contradicts the reference group's consensus.

    Single raters of the group may err. A class that most of them call otherwise has drifted.
    """
    reference = structure.spec.reference
    for label, found in zip(structure.ratings.task.labels, sums, strict=True):
        for k, name in enumerate(label.classes):
            given = found.reference_answers[k]
            most, total = int(given.argmax()), given.sum()
            seen, numbers = "", _denied(found.consensus[k])
            if total >= MIN_AGREED and given[most] > MIN_RATIO_OF_ANSWERS * given[k]:
                numbers = {"other": given[most] / total, "own": given[k] / total}
                seen = (
                    f"the group calls items that are {name!r} by this fit ({label.name}) "
                    f"{label.classes[most]!r} more often ({numbers['other']:.0%}) than {name!r} "
                    f"({numbers['own']:.0%})"
                )
            elif numbers:
                seen = (
                    f"this fit assigns only {numbers['share']:.0%} of the {numbers['items']} items "
                    f"that most of its raters call {name!r} ({label.name}) to that class"
                )
            if seen:
                text = (
                    f"The consensus of {reference} is the truth by definition, but {seen}. The "
                    "classes may mean something else than their names (class drift). To define "
                    "the classes, give the truth of some items (`truth=`) or prior counts, or use "
                    f"a recipe for {reference} without layers."
                )
                yield DriftedClass(
                    label.name, name, Note(text, code="class-drift", numbers=numbers)
                )


def _denied(agreed: Floats) -> dict[str, float]:
    """Return the agreed items of a class and its share of them in the fit, if it is denied."""
    items, held = int(agreed[0]), float(agreed[1])
    if items < MIN_AGREED or held >= DENIED * items:
        return {}
    return {"items": items, "share": held / items}
