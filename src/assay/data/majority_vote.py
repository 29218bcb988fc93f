"""Majority vote, label by label: the labels that most tools report."""

import numpy as np
from numpy.typing import NDArray

from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, label_order
from assay.data.task import Task


def majority_labels(ratings: Ratings) -> Vectors:
    """Return the most frequent answer to each label of each item, label by label.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    ndarray of int16 (item, label)
        Class codes; ``NOT_ASKED`` where the winners of the labels before close the gate;
        ``MISSING`` where nobody answered, or nobody answered what the gate asks. A tie goes to
        the tied class that was given first, in the order of the ratings. The labels of an item
        together may break the task's rules.

    Notes
    -----
    A vote is an answer. A rater whose own answers closed a question was not asked it and has no
    vote on it: of five raters of whom three find an output interpretable, and two of these
    attributable, the vote is interpretable and attributable, two to one. Whether a question is
    asked of an item is decided by the winners of the questions before it, in the order of the
    gates, so that the shares of a study are nested: of all outputs, of the interpretable.

    Examples
    --------
    A label's votes are counted on their own: two of three say yes.

    >>> import pandas as pd
    >>> from assay.io import read_ratings
    >>> votes = pd.DataFrame({"item": "a", "rater": ["r", "s", "t"], "label": ["x", "y", "y"]})
    >>> ratings = read_ratings(votes, task="single")
    >>> [ratings.task.labels[0].classes[code] for code in majority_labels(ratings)[:, 0]]
    ['y']
    """
    winners = np.full((len(ratings.items), ratings.answers.shape[1]), MISSING, np.int16)
    for column, answers in enumerate(ratings.answers.T):
        given = np.flatnonzero(answers >= 0)
        item, code = _winners(ratings.item[given], answers[given])
        winners[item, column] = code
    return close_gates(ratings.task, winners)


def close_gates(task: Task, winners: Vectors) -> Vectors:
    """Take the votes on a label from the items of which it is not asked.

    Parameters
    ----------
    task : Task
    winners : ndarray of int16 (item, label)
        Class codes, ``MISSING`` where there is no winner.

    Returns
    -------
    ndarray of int16 (item, label)
        ``NOT_ASKED`` where the winners of the labels before close the gate, ``MISSING`` where one
        that the gate asks has no winner.

    Examples
    --------
    >>> from assay.data.task_files import load_task
    >>> close_gates(load_task("ais"), np.array([[1, 1, 0], [0, 0, 1]], np.int16)).tolist()
    [[1, -2, -2], [0, 0, -2]]
    """
    closed = winners.copy()
    for column in label_order(task):
        label = task.labels[column]
        if label.asked_if:
            gate = task.expression(label.asked_if)
            before = {name: closed[:, task.label_names.index(name)] for name in gate.labels}
            unknown = np.any([codes == MISSING for codes in before.values()], axis=0)
            closed[~gate(before), column] = NOT_ASKED
            closed[unknown, column] = MISSING
    return closed


def _winners(
    item: NDArray[np.int64], answer: Vectors
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each item that has a vote, and its most frequent answer; ties to the one given first."""
    width = int(answer.max(initial=0)) + 1
    votes, first, counts = np.unique(item * width + answer, return_index=True, return_counts=True)
    voted = votes // width
    order = np.lexsort((first, -counts, voted))
    best = order[np.r_[True, np.diff(voted[order]) > 0]] if len(order) else order
    return voted[best], votes[best] % width
