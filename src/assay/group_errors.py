"""Whether raters of one group agree more than a fit expects: then they err together."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from assay.layers.reference import groups_tell
from assay.meetings import build_meetings
from assay.model import Structure
from assay.predictive import replicates

Floats = NDArray[np.float64]

REPLICATES = 99
MOST_RATINGS = 20_000
"""Of more ratings, replicates take longer than people wait: ``predictive_checks`` has them."""
CLEARLY = 0.02
"""By how much agreement within groups has to be above what is expected."""


def group_error_warnings(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> list[str]:
    """Say which rater groups err together, though the model takes raters to be independent.

    Agreement within a group minus that across groups is held against replicates of the answers:
    items that are hard for all raise both. Where the model has perception layers, nothing is said.

    Parameters
    ----------
    structure : Structure
    values : mapping of str to ndarray (draw, ...)
        Draws of the parameters.
    states : ndarray of int (draw, item)
    rng : numpy.random.Generator
    """
    ratings = structure.ratings
    if structure.spec.reference is not None or len(ratings.item) > MOST_RATINGS:
        return []
    meetings = build_meetings(ratings)
    if meetings is None:
        return []
    seen = _of_all_labels(meetings.counts(ratings.answers))
    every = replicates(structure, values, states, REPLICATES, rng)
    expected = np.stack([_of_all_labels(meetings.counts(answers)) for answers in every])
    excess, usual = seen[:-1] - seen[-1], expected[:, :-1] - expected[:, -1:]
    clear = (excess > usual.max(axis=0)) & (excess > usual.mean(axis=0) + CLEARLY)
    if not clear.any():
        return []
    names = [name for name, told in zip(meetings.groups, clear[:-1], strict=True) if told]
    line = int(clear.argmax())
    where = f"{names[0]}: " if len(names) > 1 else ""
    usually = expected[:, line].mean()
    among = "reference='groups' (what the groups agree on), " if groups_tell(ratings) else ""
    return [
        f"Raters of {', '.join(names) or 'one group'} agree with each other more than this model "
        f"expects ({where}{seen[line]:.0%} of pairs of answers for {usually:.0%}), "
        "beyond how far they agree with others: they err together and count as more witnesses "
        f"than they are, so that intervals are too narrow or miss the truth. {among}"
        "reference='gold' (known truth of some items), or a group whose consensus is the truth "
        "(reference=), would tell how often."
    ]


def _of_all_labels(counts: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
    """Share of the meetings that agree, over all labels: (group + 2,)."""
    met, alike = (count.sum(axis=1) for count in counts)
    return np.asarray(np.divide(alike, met, out=np.full(len(met), np.nan), where=met > 0))
