"""What gold and audits say of the truth of items, as masks over states."""

import numpy as np
from numpy.typing import NDArray

from assay.checking.audits import against_gold
from assay.errors import ModelError
from assay.plurals import counted, some
from assay.ratings import AUDITED_RIGHT, AUDITED_WRONG, SOME_WRONG, Ratings
from assay.reading.ids import sorted_rows
from assay.states import MISSING


def truth_masks(
    ratings: Ratings, states: NDArray[np.int16]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return which states agree with what is known of each item.

    Returns
    -------
    mask : ndarray of int (item,)
        Which mask each item has.
    masks : ndarray (mask, state)
        0 where the state agrees with what is known, -inf elsewhere.

    Raises
    ------
    ModelError
        If no state agrees with all that is known of an item.
    """
    known, which = sorted_rows(*ratings.truth.T)
    agrees = ((known[:, None, :] == MISSING) | (known[:, None, :] == states[None])).all(axis=-1)
    possible = agrees[which]
    for finding, same in ((AUDITED_RIGHT, True), (AUDITED_WRONG, False)):
        rating, label = np.nonzero((ratings.audit == finding) & (ratings.answers >= 0))
        fits = (ratings.answers[rating, label][:, None] == states[:, label].T) == same
        np.logical_and.at(possible, ratings.item[rating], fits)
    for rating in np.flatnonzero((ratings.audit == SOME_WRONG).any(axis=1)):
        given = np.flatnonzero(ratings.answers[rating] >= 0)
        differs = states[:, given] != ratings.answers[rating, given]
        possible[ratings.item[rating]] &= differs.any(axis=1)
    packed, mask = sorted_rows(*np.packbits(possible, axis=1).T)
    masks = np.unpackbits(packed.astype(np.uint8), axis=1, count=possible.shape[1])
    none = np.flatnonzero(~possible.any(axis=1))
    if len(none):
        if against := against_gold(ratings):
            raise ModelError(against)
        raise ModelError(
            f"what is known of the truth of {counted(len(none), 'item')} is no state that the "
            "task's rules admit, or audits contradict it or each other: "
            f"{some([str(name) for name in ratings.items.index[none]])}. Of two answers that "
            "differ at most one is right: mend or clear the truth and the audits of these items"
        )
    return mask, np.where(masks, 0.0, -np.inf)
