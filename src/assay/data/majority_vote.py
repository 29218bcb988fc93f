"""Majority vote, label by label. All votes of the package are taken here."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay._util.grouping import unique_rows
from assay._util.typing import Bools, Floats, Ints
from assay.data.ratings import Ratings
from assay.data.rules import NOT_ASKED
from assay.data.states import MISSING, Vectors, label_order
from assay.data.task import Task


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """The votes on items: a line for each item, and several lines for a tie.

    item : position of the item, ascending (line,)
    labels : winning codes (line, label)
    share : share of the line in its item's vote; the shares of an item add up to 1 (line,)
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
    """Return the most frequent answer to each label; tied classes have equal shares.

    ``NOT_ASKED`` where the winners of earlier labels close the gate; ``MISSING`` without votes on
    the label or its gate. A rater whose own answers closed a question has no vote on it. Gates are
    decided by the winners, so shares of a study are nested. The labels of an item together may
    break the task's rules. The order of the ratings does not matter.
    """
    task, items = ratings.task, len(ratings.items)
    item, share = np.arange(items), np.ones(items)
    labels = np.full((items, len(task.labels)), MISSING, np.int16)
    for column in label_order(task):
        best = _most_frequent(ratings, column)
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


def _most_frequent(ratings: Ratings, column: int) -> Bools:
    """Return the most frequent answers to a label, (item, class)."""
    answers = ratings.answers[:, column]
    given = np.flatnonzero(answers >= 0)
    size = len(ratings.items), len(ratings.task.labels[column].classes)
    cell = ratings.item[given] * size[1] + answers[given]
    votes = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)
    return np.asarray((votes > 0) & (votes == votes.max(axis=1, keepdims=True)))
