"""Empty answers that a rater's other answers settle, in forms that leave such questions out."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay._util.plurals import counted
from assay.data.states import MISSING, Vectors, state_space
from assay.data.task import Task
from assay.io.gates import CHUNK, consistent, patterns_of
from assay.io.ledger import Ledger
from assay.io.replicates import Joined

LOST = 0.05
"""Share of the answers that nothing settles which may be missing: with more, few were asked."""


def fill_settled(joined: Joined, task: Task, ledger: Ledger) -> Joined:
    """Fill empty answers that can only have been one, where the form did not ask for them.

    The probability of a rating stays as it is, since a lost answer is summed over what the
    interface admits, here a single class. What is counted rating by rating (votes, agreement,
    replicates of the answers) would else leave these answers out, all of one class.

    A label is filled if most of its answers that are settled are empty and hardly any others are:
    answers lost here and there stay lost.
    """
    if not state_space(task).blocked.any():
        return joined
    given = (joined.answers != MISSING) | np.isfinite(joined.scores)
    kept = ledger.kept[joined.first_row] & (joined.answers != MISSING).any(axis=1)
    answers = joined.answers.copy()
    for column, label in enumerate(task.labels):
        settled = settled_by_others(task, joined.answers, column)
        decided, asked = kept & (settled != MISSING), kept & (settled == MISSING)
        empty = decided & ~given[:, column]
        left_out = 2 * empty.sum() > decided.sum() and asked.any()
        if left_out and (~given[asked, column]).sum() <= LOST * asked.sum():
            answers[empty, column] = settled[empty]
            for code in np.unique(settled[empty]):
                count = int((empty & (settled == code)).sum())
                ledger.note(
                    f"{counted(count, 'empty answer')} to {label.name} can only be "
                    f"{label.classes[code]} beside the rater's other answers, since the interface "
                    "blocks the rest: taken as such"
                )
    return replace(joined, answers=answers)


def settled_by_others(task: Task, answers: Vectors, column: int) -> NDArray[np.int16]:
    """Return the one class of a label that blocked rules leave beside a rater's other answers.

    Returns
    -------
    ndarray of int16 (rating,)
        ``MISSING`` where they leave several, or none; where gates alone leave one, too, or one
        that is ``NOT_ASKED``: what was not asked has a code of its own.
    """
    others = answers.copy()
    others[:, column] = MISSING
    patterns, inverse = patterns_of(others)
    space = state_space(task)
    found = np.full(len(patterns), MISSING, np.int16)
    for start in range(0, len(patterns), CHUNK):
        agree = consistent(space.paths, patterns[start : start + CHUNK])
        settled = _only(space.paths[:, column], agree & ~space.blocked)
        by_gates = _only(space.paths[:, column], agree) == settled
        found[start : start + CHUNK] = np.where(by_gates | (settled < 0), MISSING, settled)
    return np.asarray(found[inverse], np.int16)


def _only(codes: NDArray[np.int16], agree: NDArray[np.bool_]) -> NDArray[np.int16]:
    """Return the code that all agreeing paths have, by pattern; ``MISSING`` if there is none."""
    low = np.where(agree, codes, np.iinfo(np.int16).max).min(axis=1)
    high = np.where(agree, codes, np.iinfo(np.int16).min).max(axis=1)
    return np.asarray(np.where(low == high, low, MISSING), np.int16)
