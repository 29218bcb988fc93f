"""Answers and votes by item and class, and the majority, label by label.

A rater has one vote on an item, however often they rate it: replicates share it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, label_order
from assay.data.task import Task

Codes = NDArray[np.integer]


def count_answers(item: Ints, answers: Codes, items: int, classes: int) -> Ints:
    """Count answers by item, (item, class); negative answers are missing."""
    told = answers >= 0
    cell = item[told] * classes + answers[told]
    return np.bincount(cell, minlength=items * classes).reshape(items, classes)


def count_of_others(item: Ints, answers: Codes, items: int, classes: int) -> Ints:
    """Count the other answers to the item of each answer, (answer, class)."""
    others = count_answers(item, answers, items, classes)[item]
    told = np.flatnonzero(answers >= 0)
    others[told, answers[told]] -= 1
    return others


def single_winner(counts: Ints) -> Ints:
    """Return the most frequent class of each row; ``MISSING`` at a tie, and without answers."""
    top = counts.max(axis=1, keepdims=True)
    single = (top[:, 0] > 0) & ((counts == top).sum(axis=1) == 1)
    return np.where(single, counts.argmax(axis=1), MISSING)


def rater_votes(ratings: Ratings, answers: Codes, classes: int) -> Floats:
    """Count raters by item and answer to a label, (item, class); several answers of a rater to an
    item share one vote. Rounding to nine digits makes equal shares tie exactly.
    """
    size = len(ratings.items)
    if not ratings.replicate.any():
        return count_answers(ratings.item, answers, size, classes).astype(float)
    told, raters = np.flatnonzero(answers >= 0), len(ratings.raters)
    both = ratings.item[told] * raters + ratings.rater[told]
    pair, place = np.unique(both, return_inverse=True)
    own = count_answers(place, answers[told], len(pair), classes)
    votes = np.zeros((size, classes))
    np.add.at(votes, pair // raters, own / own.sum(axis=1, keepdims=True))
    return votes.round(9)


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """The votes on items, several lines for a tie: ``item`` position, ascending, and ``share`` in
    its vote (line,); winning codes ``labels`` (line, label).
    """

    item: Ints
    labels: Vectors
    share: Floats

    @property
    def count(self) -> Ints:
        """Number of lines of each item, (item,)."""
        return np.bincount(self.item)

    @property
    def tied(self) -> Bools:
        """Whether some label of an item has a tie, (item,)."""
        return self.count > 1

    def about(self, columns: Sequence[int]) -> "Votes":
        """Return the votes with one line for equal codes of some labels."""
        if not self.tied.any():
            return self
        first, line = unique_rows(self.item, *self.labels[:, list(columns)].T)
        share = np.bincount(line, self.share)
        order = np.lexsort((first, self.item[first]))
        kept = first[order]
        return Votes(item=self.item[kept], labels=self.labels[kept], share=share[order])


def majority_votes(ratings: Ratings) -> Votes:
    """Return the class with most votes on each label; tied classes have equal shares.

    ``NOT_ASKED`` where the winners of earlier labels close the gate, so shares of a study are
    nested; ``MISSING`` without votes on the label or its gate. The labels together may break rules.
    """
    task, items = ratings.task, len(ratings.items)
    item, share = np.arange(items), np.ones(items)
    labels = np.full((items, len(task.labels)), MISSING, np.int16)
    for column in label_order(task):
        counts = rater_votes(ratings, ratings.answers[:, column], len(task.labels[column].classes))
        best = (counts > 0) & (counts == counts.max(axis=1, keepdims=True))
        opened, unknown = _gate(task, column, labels)
        asked = opened & ~unknown
        count = np.where(asked, best.sum(axis=1)[item], 1).clip(1)
        line = np.repeat(np.arange(len(item)), count)
        number = np.arange(len(line)) - np.repeat(count.cumsum() - count, count)
        item, labels, share = item[line], labels[line], (share / count)[line]
        wins = best[item] & (best.cumsum(axis=1)[item] == number[:, None] + 1)
        codes = np.where(wins.any(axis=1), wins.argmax(axis=1), MISSING)
        labels[:, column] = np.where(opened[line], codes, NOT_ASKED)
        labels[unknown[line], column] = MISSING
    return Votes(item=item, labels=labels, share=share)


def majority_labels(ratings: Ratings) -> Vectors:
    """Return the winners of :func:`majority_votes`, (item, label); ``MISSING`` at a tie."""
    votes = majority_votes(ratings)
    first = np.searchsorted(votes.item, np.arange(len(ratings.items)))
    winners = votes.labels[first]
    line, column = np.nonzero(votes.labels != winners[votes.item])
    winners[votes.item[line], column] = MISSING
    return winners


def close_gates(task: Task, winners: Vectors) -> Vectors:
    """Set winners (item, label) to ``NOT_ASKED`` where the gate is closed.

    They become ``MISSING`` where a label of the gate has no winner.
    """
    closed = winners.copy()
    for column in label_order(task):
        opened, unknown = _gate(task, column, closed)
        closed[~opened, column] = NOT_ASKED
        closed[unknown, column] = MISSING
    return closed


def _gate(task: Task, column: int, labels: Vectors) -> tuple[Bools, Bools]:
    """Return where the gate of a label is open, and where a label of the gate is missing."""
    label = task.labels[column]
    if not label.asked_if:
        return np.ones(len(labels), bool), np.zeros(len(labels), bool)
    gate = task.expression(label.asked_if)
    before = {name: labels[:, task.label_names.index(name)] for name in gate.labels}
    unknown = np.any([codes == MISSING for codes in before.values()], axis=0)
    return np.asarray(gate(before), bool), np.asarray(unknown, bool)
