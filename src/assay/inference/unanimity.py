"""Whether a fit takes for true what all raters of an item say, in words.

Raters who all say the same are the best evidence there is without known truth. A fit that takes
most of such items for something else has found another meaning of its classes that explains the
answers better, as a recipe can whose errors are too tame for the data: chains agree on it.
"""

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay.data.ratings import Ratings
from assay.modelling.model import Structure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

VOTES = 3
"""Raters who say the same of an item, and none who says otherwise, from which on that counts."""
ITEMS = 10
"""Such items of a class, from which on a fit is held against them."""
MOST = 0.5


def label_votes(ratings: Ratings, answers: NDArray[np.integer], classes: int) -> Ints:
    """Count the raters of each item who give each answer (rating,) to a label: (item, class).

    A rater who repeats an answer to an item counts once; answers below 0 are none.
    """
    told = np.flatnonzero(answers >= 0)
    if ratings.replicate.any():
        pair = ratings.item[told] * len(ratings.raters) + ratings.rater[told]
        told = told[np.unique(pair * classes + answers[told], return_index=True)[1]]
    cell = ratings.item[told] * classes + answers[told]
    size = len(ratings.items), classes
    return np.bincount(cell, minlength=size[0] * classes).reshape(size)


def unanimity_warnings(structure: Structure, probabilities: Floats) -> list[Note]:
    """Say which classes a fit denies to most of the items of which all raters say so.

    Parameters
    ----------
    structure : Structure
    probabilities : ndarray (item, state)
        Posterior probabilities of the states.
    """
    return [text for _, _, text in denied_labels(structure, probabilities)]


def denied_labels(
    structure: Structure, probabilities: Floats
) -> list[tuple[str, tuple[str, ...], Note]]:
    """Name classes that a fit denies to most of the items of which all raters say so.

    Items whose truth is known are left out. Where a reference says what is true, a whole group may
    be wrong, and nothing is said.

    Returns
    -------
    list of tuple
        Label, class, and what is to be said of it.
    """
    ratings = structure.ratings
    if structure.spec.reference is not None:
        return []
    states = structure.prevalence.space.states
    found: list[tuple[str, tuple[str, ...], Note]] = []
    tells = "the truth of some items (truth=) would tell"
    if ratings.has_truth.any():
        tells = "assay.loo_gold of both fits tells which of them foretells the known truth"
    for n, label in enumerate(ratings.task.labels):
        votes = label_votes(ratings, ratings.answers[:, n], len(label.classes))
        alike = (votes.max(axis=1) >= VOTES) & (votes.max(axis=1) == votes.sum(axis=1))
        alike &= ratings.truth[:, n] < 0
        for k, name in enumerate(label.classes):
            here = alike & (votes[:, k] > 0)
            held = probabilities[here][:, states[:, n] == k].sum(axis=1)
            if here.sum() >= ITEMS and held.mean() < MOST:
                text = (
                    f"All raters of {here.sum()} items, {VOTES} or more of each, say {name!r} "
                    f"({label.name}), and this fit takes {held.mean():.0%} of these items for it: "
                    "what its classes stand for is something else than their names, or all raters "
                    "err alike. Another recipe (raters='hierarchical') may explain the answers as "
                    f"they are meant; {tells}."
                )
                numbers = {"items": here.sum(), "share": held.mean()}
                note = Note(text, code="class-drift", numbers=numbers)
                found.append((label.name, (name,), note))
    return found
