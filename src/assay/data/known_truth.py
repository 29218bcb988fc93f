"""What gold and audits say of the truth of items, as masks over states."""

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import ModelError
from assay._util.grouping import sorted_rows
from assay.data.audits import contradiction, possible_states
from assay.data.ratings import Ratings


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
    possible = possible_states(ratings, states)
    packed, mask = sorted_rows(*np.packbits(possible, axis=1).T)
    masks = np.unpackbits(packed.astype(np.uint8), axis=1, count=possible.shape[1])
    if against := contradiction(ratings, possible):
        raise ModelError(against, code="audit-contradiction")
    return mask, np.where(masks, 0.0, -np.inf)
