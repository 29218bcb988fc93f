"""Majority vote, label by label."""

import numpy as np

from assay._util.typing import Ints
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, label_order
from assay.data.task import Task


def majority_labels(ratings: Ratings) -> Vectors:
    """Return the most frequent answer to each label of each item, (item, label).

    ``NOT_ASKED`` where the winners of earlier labels close the gate; ``MISSING`` without votes on
    the label or its gate. A tie goes to the class that was given first. A rater whose own answers
    closed a question has no vote on it. Gates are decided by the winners, so shares of a study are
    nested. The labels of an item together may break the task's rules.
    """
    winners = np.full((len(ratings.items), ratings.answers.shape[1]), MISSING, np.int16)
    for column, answers in enumerate(ratings.answers.T):
        given = np.flatnonzero(answers >= 0)
        item, code = _winners(ratings.item[given], answers[given])
        winners[item, column] = code
    return close_gates(ratings.task, winners)


def close_gates(task: Task, winners: Vectors) -> Vectors:
    """Set winners (item, label) to ``NOT_ASKED`` where the gate is closed.

    They become ``MISSING`` where a label of the gate has no winner.
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


def _winners(item: Ints, answer: Vectors) -> tuple[Ints, Ints]:
    """Return the items with a vote and their most frequent answers; ties go to the first given."""
    width = int(answer.max(initial=0)) + 1
    votes, first, counts = np.unique(item * width + answer, return_index=True, return_counts=True)
    voted = votes // width
    order = np.lexsort((first, -counts, voted))
    best = order[np.r_[True, np.diff(voted[order]) > 0]] if len(order) else order
    return voted[best], votes[best] % width
