"""Cumulative logits: from places of classes and thresholds to probabilities of classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.arrays import NEVER, append_constant, log_softmax

Floats = NDArray[np.float64]


def places(classes: int) -> Floats:
    """Matrix (gap, class) from gaps to places; the points half-way between them have mean 0."""
    steps = np.triu(np.ones((classes - 1, classes)), 1)
    halfway = (steps[:, 1:] + steps[:, :-1]) / 2
    return np.asarray(steps - halfway.mean(axis=1, keepdims=True))


def halfway_gaps(classes: int) -> Floats:
    """Matrix (gap, threshold gap) from gaps of classes to those of the points half-way between."""
    return np.asarray((np.eye(classes - 1)[:, 1:] + np.eye(classes - 1)[:, :-1]) / 2)


def log_rows(shift: Any, between: Any, score: Any, *, classes: int, width: int, xp: Any) -> Any:
    r"""Log P(class | true class) of one label: (..., rater, true class, class).

    With :math:`u > v`, :math:`\operatorname{expit}(u) - \operatorname{expit}(v) =
    \operatorname{expit}(u) \operatorname{expit}(-v) (1 - e^{v - u})`: no difference of two
    numbers that are nearly the same.

    Parameters
    ----------
    shift : (..., rater)
        Mean of the thresholds.
    between : (..., rater, threshold gap) or None
        How far apart they are, if there are several.
    score : (..., rater, true class)
    classes : int
        Of the label.
    width : int
        Of the table, padding included.
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
