"""Confusions: P(reported class given true class), as one table of rows for all labels.

A *row* is a (label, true class); a gated label has one more, for items to which it does not apply
(a rater can answer a question that the truth would not ask). Columns are reported classes, padded
to the largest number of classes.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, TINY, add_products, append_constant, log_softmax, logsumexp
from assay.data.rules import NOT_ASKED
from assay.data.task import Task

Ints = NDArray[np.int64]


class Tilt(NamedTuple):
    """What layers do to the answers of raters; None where they do nothing.

    Attributes
    ----------
    added : (..., unit, asked row) or None
        Added to the log odds of right answers.
    guessing : (..., unit, asked row) or None
        Minus the logarithm of the share of answers that are no guesses; at least 0.
    """

    added: Any = None
    guessing: Any = None

    @property
    def total(self) -> Any:
        """Both, for families whose log odds are those of no answer: (..., unit, asked row)."""
        if self.added is None or self.guessing is None:
            return self.guessing * -1.0 if self.added is None else self.added
        return self.added + self.guessing * -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfusionLayout:
    """Where each confusion stands in the table.

    Attributes
    ----------
    labels, true_classes : tuple of int
        Label and true class of each of the ``asked`` rows.
    asked_rows : int
        Rows with a true class; the rows of true class "not asked" follow them.
    unasked_labels : tuple of int
        The label of each row that follows.
    classes : tuple of int
        Number of classes of each label.
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
        """Number of entries of one rater's table, padding included."""
        return (self.asked_rows + len(self.unasked_labels)) * self.width

    @property
    def row_classes(self) -> Ints:
        """Number of classes of each asked row."""
        return np.array([self.classes[label] for label in self.labels])

    @property
    def row_names(self) -> list[str]:
        """Readable name of each asked row: ``label=true class``."""
        return [
            f"{self.task.labels[la].name}={self.task.labels[la].classes[k]}"
            for la, k in zip(self.labels, self.true_classes, strict=True)
        ]

    def entries(self, states: NDArray[np.integer], answers: NDArray[np.integer]) -> Ints:
        """Positions in the flattened table of P(reported | true): (state, answers, label).

        -1 where nothing was reported, which stands for the factor 1.

        Parameters
        ----------
        states : ndarray of int (state, label)
        answers : ndarray of int (answers, label)
        """
        columns = [
            self._entry(n, true[:, None], reported[None, :])
            for n, (true, reported) in enumerate(zip(states.T, answers.T, strict=True))
        ]
        return np.stack(columns, axis=-1)

    def _entry(self, label: int, true: NDArray[np.integer], reported: NDArray[np.integer]) -> Ints:
        """Position in the table of a label; ``true`` and ``reported`` broadcast."""
        start = self.labels.index(label)
        row = start + true.astype(np.int64)
        if label in self.unasked_labels:
            outside = self.asked_rows + self.unasked_labels.index(label)
            row = np.where(true == NOT_ASKED, outside, row)
        return np.where(reported >= 0, row * self.width + reported, -1)

    # -- free logits: one for a binary row, one per class for a longer row --------------------

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(asked row, reported class) of each free logit; a binary row has one, the right class."""
        found = []
        for row, (label, true) in enumerate(zip(self.labels, self.true_classes, strict=True)):
            reported = [true] if self.classes[label] == 2 else range(self.classes[label])
            found += [(row, k) for k in reported]
        return found

    @property
    def cell_names(self) -> list[str]:
        """Readable name of each free logit: ``label: true class -> reported class``."""
        names = []
        for row, reported in self.cells:
            label = self.task.labels[self.labels[row]]
            true = label.classes[self.true_classes[row]]
            names.append(f"{label.name}: {true} -> {label.classes[reported]}")
        return names

    def cell_values(self, *, binary: float, correct: float, other: float) -> NDArray[np.float64]:
        """One number per free logit, by what kind of logit it is."""
        values = []
        for row, reported in self.cells:
            if self.row_classes[row] == 2:
                values.append(binary)
            else:
                values.append(correct if reported == self.true_classes[row] else other)
        return np.array(values, float)

    def from_logits(self, logits: Any, xp: Any) -> Any:
        """Log confusions from free logits.

        Parameters
        ----------
        logits : (..., rater, cell)

        Returns
        -------
        (..., rater, asked row, class)
        """
        fixed, never = len(self.cells), len(self.cells) + 1
        where = np.full((self.asked_rows, self.width), never)
        for row, classes in enumerate(self.row_classes):
            where[row, :classes] = fixed
        for n, (row, reported) in enumerate(self.cells):
            where[row, reported] = n
        return log_softmax(append_constant(logits, [0.0, NEVER], xp)[..., where], xp)

    def from_accuracy(self, accuracy: Any, xp: Any) -> Any:
        """Log confusions with errors spread evenly over the other classes.

        Parameters
        ----------
        accuracy : (..., rater, asked row), or broadcastable
            Probability of the true class.

        Returns
        -------
        (..., rater, asked row, class)
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
        r"""Add to the log odds of the right answer; replace a share of the answers by guesses.

        .. math::

            \theta'_{kk'} \propto \theta_{kk'}\, e^{a_k [k' = k]}, \qquad
            \theta''_{kk'} = e^{-b_k} \theta'_{kk'} + (1 - e^{-b_k}) \bar\theta'_{k'}, \qquad
            \bar\theta'_{k'} = \frac{1}{K} \sum_{l=1}^{K} \theta'_{lk'}

        Wrong answers keep their shares among each other if :math:`b = 0`. Guesses
        :math:`\bar\theta'` are what the rater says of items of which each class is as likely.

        Parameters
        ----------
        log_confusion : (..., rater, asked row, class)
        tilt : Tilt
            :math:`a` (``added``) and :math:`b` (``guessing``): (..., rater, asked row).

        Returns
        -------
        (..., rater, asked row, class)
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

    def nearer_guessing(self, log_confusion: Any, loss: Any, xp: Any) -> Any:
        r"""Leave a share of the log odds between any two answers; not normalised.

        .. math:: \theta'_{kk'} \propto \theta_{kk'}^{e^{-b_k}}

        Parameters
        ----------
        log_confusion : (..., rater, asked row, class)
        loss : (..., rater, asked row)
            :math:`b`, at least 0.
        """
        there = (np.arange(self.width) < self.row_classes[:, None]).astype(float)
        lost = xp.exp(loss * -1.0) + -1.0
        return log_confusion * (lost[..., None] * there + 1.0)

    def guesses(self, log_confusion: Any, xp: Any) -> Any:
        """Log of the mean over the true classes of a label, in each of its rows.

        Parameters
        ----------
        log_confusion : (..., rater, asked row, class)

        Returns
        -------
        (..., rater, asked row, class)
        """
        first, means = 0, []
        for classes in self.classes:
            rows = log_confusion[..., first : first + classes, :].swapaxes(-1, -2)
            means.append(logsumexp(rows, xp) + -float(np.log(classes)))
            first += classes
        return xp.stack(means, axis=-2)[..., np.array(self.labels), :]

    def prior_counts(self, rows: Ints, *, correct: float, total: float) -> NDArray[np.float64]:
        """Dirichlet prior counts of rows with the same number of classes: (row, class)."""
        classes = int(self.row_classes[rows[0]])
        counts = np.full((len(rows), classes), total * (1 - correct) / (classes - 1))
        counts[np.arange(len(rows)), np.array(self.true_classes)[rows]] = total * correct
        return counts


def confusion_layout(task: Task) -> ConfusionLayout:
    """Lay out the confusions of a task.

    Examples
    --------
    >>> from assay.data.task_files import load_task
    >>> confusion_layout(load_task("ais")).row_names[:2]
    ['flagged=no', 'flagged=yes']
    """
    pairs = [(n, k) for n, label in enumerate(task.labels) for k in range(len(label.classes))]
    return ConfusionLayout(
        task=task,
        labels=tuple(n for n, _ in pairs),
        true_classes=tuple(k for _, k in pairs),
        unasked_labels=tuple(n for n, label in enumerate(task.labels) if label.asked_if),
        classes=tuple(len(label.classes) for label in task.labels),
    )
