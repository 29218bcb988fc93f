"""Sessions: periods of time in which raters may change."""

import numpy as np
import pandas as pd

from assay._util.typing import Bools, Ints
from assay.data.ratings import Ratings

FEW_RATINGS = 10
"""Least number of a rater's ratings in a session that tell a change."""
MOST_SESSIONS = 12
"""Most sessions of a default with drift: more are dates rather than periods of work."""


def session_codes(ratings: Ratings) -> Ints:
    """Return the position of each rating's session; -1 if it is unknown."""
    return np.asarray(pd.Index(ratings.sessions).get_indexer(pd.Index(ratings.session)), np.int64)


def seen_to_change(ratings: Ratings) -> Bools:
    """Return which raters have enough ratings, without abstentions, in two sessions or more."""
    code, told = session_codes(ratings), ~ratings.abstained
    told &= code >= 0
    counts = np.zeros((len(ratings.raters), len(ratings.sessions)), np.int64)
    np.add.at(counts, (ratings.rater[told], code[told]), 1)
    return np.asarray((counts >= FEW_RATINGS).sum(axis=1) >= 2)


def show_drift(ratings: Ratings) -> bool:
    """Return whether the data of most raters tell a change between sessions. No rater may have
    rated an item in several, as drift takes such ratings for independent.
    """
    if not 2 <= len(ratings.sessions) <= MOST_SESSIONS:
        return False
    if (ratings.session[~ratings.abstained] == "").any() or (ratings.replicate > 0).any():
        return False
    enough = seen_to_change(ratings)
    return bool(2 * enough.sum() >= len(enough))
