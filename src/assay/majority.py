"""Majority vote, label by label: the labels that most tools report."""

import numpy as np
from numpy.typing import NDArray

from assay.grammar import NOT_ASKED
from assay.ratings import Ratings
from assay.states import MISSING, Vectors


def majority_labels(ratings: Ratings) -> Vectors:
    """Return the most frequent answer to each label of each item, label by label.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    ndarray of int16 (item, label)
        Class codes; ``NOT_ASKED`` where most of the answers were closed by the rater's own;
        ``MISSING`` where nobody answered. A tie goes to the tied class that was given first, in
        the order of the ratings. The labels of an item together may break the task's rules.

    Examples
    --------
    A label's votes are counted on their own: two of three say yes.

    >>> import pandas as pd
    >>> from assay.reading import read_ratings
    >>> votes = pd.DataFrame({"item": "a", "rater": ["r", "s", "t"], "label": ["x", "y", "y"]})
    >>> ratings = read_ratings(votes, task="single")
    >>> [ratings.task.labels[0].classes[code] for code in majority_labels(ratings)[:, 0]]
    ['y']
    """
    winners = np.full((len(ratings.items), ratings.answers.shape[1]), MISSING, np.int16)
    for column, answers in enumerate(ratings.answers.T):
        given = np.flatnonzero(answers != MISSING)
        item, code = _winners(ratings.item[given], answers[given])
        winners[item, column] = code
    return winners


def _winners(
    item: NDArray[np.int64], answer: Vectors
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each item that has a vote, and its most frequent answer; ties to the one given first."""
    # From 0 on, so that one number holds item and answer.
    lowest = min(NOT_ASKED, MISSING)
    width = int(answer.max(initial=0)) - lowest + 1
    votes, first, counts = np.unique(
        item * width + (answer - lowest), return_index=True, return_counts=True
    )
    voted = votes // width
    order = np.lexsort((first, -counts, voted))
    best = order[np.r_[True, np.diff(voted[order]) > 0]] if len(order) else order
    return voted[best], votes[best] % width + lowest
