"""Whether raters of one group agree more than a fit expects: then they err together."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay.data.meetings import build_design, build_meetings, count_pairs
from assay.data.witnesses import ENOUGH, groups_tell
from assay.fits.predict import replicates
from assay.modelling.model import Structure

Floats = NDArray[np.float64]

REPLICATES = 99
MOST_RATINGS = 20_000
MOST_MEETINGS = 500_000
"""Of more ratings, or more meetings of two on an item, replicates take longer than people wait:
``predictive_checks`` has them."""
CLEARLY = 0.02
"""By how much agreement within a group has to be above what is expected."""


def group_error_warnings(
    structure: Structure,
    values: Mapping[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> list[Note]:
    """Say which rater groups err together, though the model takes raters to be independent.

    Agreement within a group, and what it has beyond that across groups, are held against replicates
    of the answers. The first alone would be more where items are hard for all; the second alone
    where a group looks at what others disagree on, which replicates do not follow. Where the model
    has perception layers, nothing is said.

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
    if count_pairs(ratings.item) > 2 * MOST_MEETINGS:
        return []
    meetings = build_meetings(ratings, build_design(ratings))
    if meetings is None:
        return []
    every = [ratings.answers, *replicates(structure, values, states, REPLICATES, rng)]
    shares = np.stack([_of_all_labels(meetings.counts(answers)) for answers in every])
    within, across = shares[:, :-1], shares[:, -1:]
    clear = _is_clear(within) & _is_clear(within - across)
    if not clear.any():
        return []
    names = [name for name, told in zip(meetings.groups, clear[:-1], strict=True) if told]
    line = int(clear.argmax())
    where = f"{names[0]}: " if len(names) > 1 else ""
    among = "reference='groups' (what the groups agree on), " if groups_tell(ratings) else ""
    text = (
        f"Raters of {', '.join(names) or 'one group'} agree with each other more than this model "
        f"expects ({where}{within[0, line]:.0%} of pairs of answers for "
        f"{within[1:, line].mean():.0%}), "
        "beyond how far they agree with others: they err together and count as more witnesses "
        f"than they are, so that intervals are too narrow or miss the truth. {among}"
        f"The known truth of {ENOUGH} items or more (reference='gold'), or a group whose consensus "
        "is the truth (reference=), would tell how often."
    )
    numbers = {"agreement": within[0, line], "expected": within[1:, line].mean()}
    return [Note(text, code="groups-err-together", numbers={**numbers, "items": ENOUGH})]


def _is_clear(shares: Floats) -> NDArray[np.bool_]:
    """Whether the first line, that of the data, is above those of all replicates: (group + 1,)."""
    usual = shares[1:]
    return np.asarray((shares[0] > usual.max(axis=0)) & (shares[0] > usual.mean(axis=0) + CLEARLY))


def _of_all_labels(counts: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
    """Share of the meetings that agree, over all labels: (group + 2,)."""
    met, alike = (count.sum(axis=1) for count in counts)
    return np.asarray(np.divide(alike, met, out=np.full(len(met), np.nan), where=met > 0))
