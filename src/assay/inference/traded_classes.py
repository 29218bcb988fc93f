"""Classes that trade places between two modes, in words: no average of such modes means anything.

Nothing but the prior says which of two such modes is the right one. What differs between them is
the names of some classes, and with these the prevalence and what raters are taken for.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from assay.data.task import Label
from assay.inference.peaks import Mode
from assay.modelling.model import Structure

Floats = NDArray[np.float64]
GAIN = 0.1
"""Share of the items on which two modes agree more once classes have traded places."""


def name_trades(
    structure: Structure, modes: Sequence[Mode], probabilities: Sequence[Floats]
) -> list[Mode]:
    """Say of each mode which classes have the places of others in the first.

    Parameters
    ----------
    structure : Structure
    modes : sequence of Mode
    probabilities : sequence of ndarray (item, state)
        What each mode says of the labels.
    """
    labels, states = structure.ratings.task.labels, structure.prevalence.space.states
    found = []
    for mode, there in zip(modes, probabilities, strict=True):
        words = [
            trade
            for n, label in enumerate(labels)
            if (trade := _trade(label, states[:, n], probabilities[0], there))
        ]
        found.append(replace(mode, trades=" and ".join(words)))
    return found


def _trade(label: Label, classes: NDArray[np.integer], here: Floats, there: Floats) -> str:
    """Say which classes of a label trade places between two modes; nothing if none clearly do."""
    member = np.arange(len(label.classes)) == classes[:, None]
    given = there @ member  # where gates close the label, no class
    both = (here @ member).T @ given
    asked = both.sum()
    _, names = linear_sum_assignment(both, maximize=True)
    moved = np.flatnonzero(names != np.arange(len(names)))
    if (both[moved, names[moved]].sum() - both[moved, moved].sum()) <= GAIN * asked:
        return ""
    *first, last = (label.classes[k] for k in moved)
    share = given.sum(axis=0) / given.sum()
    shares = ", ".join(f"{label.classes[k]} {share[k]:.2f}" for k in moved)
    return f"{', '.join(first)} and {last} of {label.name} trade places (shares there: {shares})"
