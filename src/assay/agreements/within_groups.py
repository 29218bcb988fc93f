"""Agreement of the raters of one group with each other, and of raters of different groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.agreements.design import build_design
from assay.ratings import Ratings
from assay.states import Vectors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupMeetings:
    """Which two ratings of an item meet, and whether their raters are of one group.

    Attributes
    ----------
    groups : tuple of str
        Rater groups of whom two raters met.
    left, right : ndarray of int (meeting,)
        Positions in the ratings.
    kind : ndarray of int (meeting,)
        The group of both, or the number of groups where they are of two.
    """

    groups: tuple[str, ...]
    left: Ints
    right: Ints
    kind: Ints

    def percent(self, answers: Vectors) -> Floats:
        """Share of the meetings of two who were asked and answered alike: (group + 2, label).

        The last lines are those of meetings within any group, and across groups; NaN where nobody
        met.
        """
        groups, labels = len(self.groups), answers.shape[1]
        found = np.full((groups + 2, labels), np.nan)
        for label in range(labels):
            one, other = answers[self.left, label], answers[self.right, label]
            both = (one >= 0) & (other >= 0)
            met = _with_sum(np.bincount(self.kind[both], minlength=groups + 1))
            alike = _with_sum(np.bincount(self.kind[both & (one == other)], minlength=groups + 1))
            np.divide(alike, met, out=found[:, label], where=met > 0)
        return found


def _with_sum(counts: Ints) -> Ints:
    """Put the sum of all groups before what is across them."""
    return np.concatenate([counts[:-1], counts[:-1].sum(keepdims=True), counts[-1:]])


def build_meetings(ratings: Ratings) -> GroupMeetings | None:
    """Find the meetings of raters; None if all raters are of one group."""
    design = build_design(ratings)
    names, group = np.unique(ratings.raters["group"].astype(str), return_inverse=True)
    left, right = group[design.raters].T
    same = left == right
    within = np.unique(left[same])
    if same.all() or not len(within):
        return None
    kind = np.where(same, np.searchsorted(within, left), len(within))
    return GroupMeetings(
        groups=tuple(names[within].tolist()),
        left=design.first[design.left],
        right=design.first[design.right],
        kind=kind[design.pair].astype(np.int64),
    )
