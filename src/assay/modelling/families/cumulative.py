"""Cumulative logits: from class positions and thresholds to class probabilities."""

from typing import Any

import numpy as np

from assay._util.arrays import NEVER, append_constant, log_softmax
from assay._util.typing import Floats


def places(classes: int) -> Floats:
    """Return the matrix (gap, class) from gaps to class positions, whose midpoints have mean 0."""
    steps = np.triu(np.ones((classes - 1, classes)), 1)
    halfway = (steps[:, 1:] + steps[:, :-1]) / 2
    return np.asarray(steps - halfway.mean(axis=1, keepdims=True))


def halfway_gaps(classes: int) -> Floats:
    """Return the matrix (gap, threshold gap) from gaps of classes to gaps of their midpoints."""
    return np.asarray((np.eye(classes - 1)[:, 1:] + np.eye(classes - 1)[:, :-1]) / 2)


def log_rows(shift: Any, between: Any, score: Any, *, classes: int, width: int, xp: Any) -> Any:
    r"""Return log P(class | true class) of one label, (..., rater, true class, class).

    For :math:`u > v`, :math:`\operatorname{expit}(u) - \operatorname{expit}(v) =
    \operatorname{expit}(u) \operatorname{expit}(-v) (1 - e^{v - u})` does not cancel.

    shift : mean of the thresholds (..., rater)
    between : gaps of the thresholds, None for one threshold (..., rater, threshold gap)
    score : position of the true class (..., rater, true class)
    """
    threshold = shift[..., None]
    if between is not None:
        steps = np.triu(np.ones((classes - 2, classes - 1)), 1)
        threshold = threshold + xp.matmul(between, steps - steps.mean(axis=1, keepdims=True))
    above = threshold[..., None, :] - score[..., None]
    below_all, above_all = _log_expit(above, xp), _log_expit(above * -1.0, xp)
    ends = [below_all[..., :1], above_all[..., -1:]]
    if between is not None:
        inside = xp.log1p(xp.exp(between * -1.0) * -1.0)[..., None, :]
        middle = below_all[..., 1:] + above_all[..., :-1] + inside
        ends = [ends[0], middle, ends[1]]
    table = xp.concatenate(ends, axis=-1)
    pad = [NEVER] * (width - classes)
    return append_constant(table, pad, xp) if pad else table


def _log_expit(x: Any, xp: Any) -> Any:
    return log_softmax(xp.stack([x, x * 0.0], axis=-1), xp)[..., 0]
