"""Confusions P(reported class | true class), as one table of rows for all labels.

A *row* is a label and a true class; a gated label has one more, for items to which it does not
apply. Columns are reported classes, padded.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, TINY, add_products, append_constant, log_softmax, logsumexp
from assay._util.typing import Floats, Ints
from assay.data.rules import NOT_ASKED
from assay.data.task import Task


class Tilt(NamedTuple):
    """Effects of layers on the answers of raters; None without an effect.

    added : added to the log odds of right answers (..., unit, asked row)
    guessing : minus log share of answers that are not guesses, at least 0 (..., unit, asked row)
    """

    added: Any = None
    guessing: Any = None

    @property
    def total(self) -> Any:
        """Both effects on log odds, for families without guesses, (..., unit, asked row)."""
        if self.added is None or self.guessing is None:
            return self.guessing * -1.0 if self.added is None else self.added
        return self.added + self.guessing * -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfusionLayout:
    """Positions of confusions in the table.

    labels, true_classes : label and true class of each row with a true class ("asked" row)
    unasked_labels : label of each later row, for items to which the label does not apply
    classes : number of classes of each label
    """

    task: Task
    labels: tuple[int, ...]
    true_classes: tuple[int, ...]
    unasked_labels: tuple[int, ...]
    classes: tuple[int, ...]

    @property
    def asked_rows(self) -> int:
        """Number of rows with a true class."""
        return len(self.labels)

    @property
    def width(self) -> int:
        """Largest number of classes of a label."""
        return max(self.classes)

    @property
    def size(self) -> int:
        """Number of entries of one rater's table, with padding."""
        return (self.asked_rows + len(self.unasked_labels)) * self.width

    @property
    def row_classes(self) -> Ints:
        """Number of classes of each asked row."""
        return np.array([self.classes[label] for label in self.labels])

    @property
    def row_names(self) -> list[str]:
        """Name of each asked row, ``label=true class``."""
        return [
            f"{self.task.labels[la].name}={self.task.labels[la].classes[k]}"
            for la, k in zip(self.labels, self.true_classes, strict=True)
        ]

    def entries(self, states: NDArray[np.integer], answers: NDArray[np.integer]) -> Ints:
        """Return positions of P(reported | true) in the flat table, (state, answers, label), of
        ``states`` (state, label) and ``answers`` (answers, label). Missing answers have -1, for a
        factor 1.
        """
        columns = [
            self._entry(n, true[:, None], reported[None, :])
            for n, (true, reported) in enumerate(zip(states.T, answers.T, strict=True))
        ]
        return np.stack(columns, axis=-1)

    def _entry(self, label: int, true: NDArray[np.integer], reported: NDArray[np.integer]) -> Ints:
        """Return the position in a label's table; ``true`` and ``reported`` broadcast."""
        start = self.labels.index(label)
        row = start + true.astype(np.int64)
        if label in self.unasked_labels:
            outside = self.asked_rows + self.unasked_labels.index(label)
            row = np.where(true == NOT_ASKED, outside, row)
        return np.where(reported >= 0, row * self.width + reported, -1)

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Row and reported class of each free logit: one for a binary row, else one per class."""
        found = []
        for row, (label, true) in enumerate(zip(self.labels, self.true_classes, strict=True)):
            reported = [true] if self.classes[label] == 2 else range(self.classes[label])
            found += [(row, k) for k in reported]
        return found

    @property
    def cell_names(self) -> list[str]:
        """Name of each free logit, ``label: true class -> reported class``."""
        names = []
        for row, reported in self.cells:
            label = self.task.labels[self.labels[row]]
            true = label.classes[self.true_classes[row]]
            names.append(f"{label.name}: {true} -> {label.classes[reported]}")
        return names

    def cell_values(self, *, binary: float, correct: float, other: float) -> Floats:
        """Return a number for each free logit: of a binary row, a right class, or another class."""
        values = []
        for row, reported in self.cells:
            if self.row_classes[row] == 2:
                values.append(binary)
            else:
                values.append(correct if reported == self.true_classes[row] else other)
        return np.array(values, float)

    def from_logits(self, logits: Any, xp: Any) -> Any:
        """Return log confusions (..., rater, asked row, class) from logits (..., rater, cell)."""
        return log_softmax(self.placed(logits, xp), xp)

    def placed(self, logits: Any, xp: Any) -> Any:
        """Return logits (..., rater, cell) in their rows, (..., rater, asked row, class)."""
        fixed, never = len(self.cells), len(self.cells) + 1
        where = np.full((self.asked_rows, self.width), never)
        for row, classes in enumerate(self.row_classes):
            where[row, :classes] = fixed
        for n, (row, reported) in enumerate(self.cells):
            where[row, reported] = n
        return append_constant(logits, [0.0, NEVER], xp)[..., where]

    def from_accuracy(self, accuracy: Any, xp: Any) -> Any:
        """Return log confusions with errors spread evenly over the other classes.

        ``accuracy`` is (..., rater, asked row), the result (..., rater, asked row, class).
        """
        others = self.row_classes - 1
        right = xp.log(accuracy)
        wrong = xp.log1p(-accuracy) - np.log(others)
        table = append_constant(xp.stack([right, wrong], axis=-1), [NEVER], xp)
        where = np.full((self.asked_rows, self.width), 2)
        for row, classes in enumerate(self.row_classes):
            where[row, :classes] = 1
            where[row, self.true_classes[row]] = 0
        rows = np.arange(self.asked_rows)[:, None]
        return table[..., rows, where]

    def tilt(self, log_confusion: Any, tilt: Tilt, xp: Any) -> Any:
        r"""Add to the log odds of the right answer, and replace a share of the answers by guesses.

        .. math::

            \theta'_{kk'} \propto \theta_{kk'}\, e^{a_k [k' = k]}, \qquad
            \theta''_{kk'} = e^{-b_k} \theta'_{kk'} + (1 - e^{-b_k}) \bar\theta'_{k'}, \qquad
            \bar\theta'_{k'} = \frac{1}{K} \sum_{l=1}^{K} \theta'_{lk'}

        with :math:`a` (``added``) and :math:`b` (``guessing``), (..., rater, asked row).
        """
        rows, true = np.arange(self.asked_rows), np.array(self.true_classes)
        right = np.zeros((self.asked_rows, self.width))
        right[rows, true] = 1.0
        if tilt.added is not None:
            log_confusion = log_softmax(log_confusion + tilt.added[..., None] * right, xp)
        if tilt.guessing is None:
            return log_confusion
        kept = xp.exp(tilt.guessing * -1.0)[..., None]
        # Padding keeps a finite logarithm.
        chance = xp.exp(log_confusion) + TINY
        blind = xp.exp(self.guesses(log_confusion, xp)) + TINY
        return xp.log(add_products([(chance, kept), (blind, kept * -1.0 + 1.0)], xp))

    def kept_of_odds(self, loss: Any, xp: Any) -> Any:
        r"""Return the share of log odds between answers that a ``loss`` leaves, by answer.

        .. math:: \theta'_{kk'} \propto \theta_{kk'}^{e^{-b_k}}, \quad b \ge 0

        with :math:`b` (``loss``), (..., rater, asked row). Padding keeps all.
        """
        there = (np.arange(self.width) < self.row_classes[:, None]).astype(float)
        lost = xp.exp(loss * -1.0) + -1.0
        return lost[..., None] * there + 1.0

    def cells_of_answers(self, label: int) -> Floats:
        """Return whether a cell is of an answer to a longer label, (answer, cell)."""
        found = np.zeros((self.classes[label], len(self.cells)))
        for cell, (row, reported) in enumerate(self.cells):
            if self.labels[row] == label:
                found[reported, cell] = 1.0
        return found

    def guesses(self, log_confusion: Any, xp: Any) -> Any:
        """Return the log mean of confusions over a label's true classes, in each of its rows."""
        first, means = 0, []
        for classes in self.classes:
            rows = log_confusion[..., first : first + classes, :].swapaxes(-1, -2)
            means.append(logsumexp(rows, xp) + -float(np.log(classes)))
            first += classes
        return xp.stack(means, axis=-2)[..., np.array(self.labels), :]

    def prior_counts(self, rows: Ints, *, correct: float, total: float) -> Floats:
        """Return Dirichlet prior counts of rows with equal numbers of classes, (row, class)."""
        classes = int(self.row_classes[rows[0]])
        counts = np.full((len(rows), classes), total * (1 - correct) / (classes - 1))
        counts[np.arange(len(rows)), np.array(self.true_classes)[rows]] = total * correct
        return counts


def confusion_layout(task: Task) -> ConfusionLayout:
    """Return the layout of a task's confusions."""
    pairs = [(n, k) for n, label in enumerate(task.labels) for k in range(len(label.classes))]
    return ConfusionLayout(
        task=task,
        labels=tuple(n for n, _ in pairs),
        true_classes=tuple(k for _, k in pairs),
        unasked_labels=tuple(n for n, label in enumerate(task.labels) if label.asked_if),
        classes=tuple(len(label.classes) for label in task.labels),
    )
