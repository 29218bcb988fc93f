"""Array operations that differ between NumPy, PyTensor and a tape.

Every formula of the model is written once over ``xp``: :mod:`numpy`, :mod:`pytensor.tensor` or a
:class:`~assay.likelihood.autodiff.Tape`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay._util.typing import Floats, Ints


def divided(top: Any, bottom: Any) -> Floats:
    """Return top / bottom, broadcast; NaN where the denominator is 0."""
    over, under = np.asarray(top, float), np.asarray(bottom, float)
    blank = np.full(np.broadcast_shapes(over.shape, under.shape), np.nan)
    return np.asarray(np.divide(over, under, out=blank, where=under != 0))


NEVER = -1e9
"""Log of probability zero, finite so that gradients stay finite."""
TINY = 1e-300
"""Probability zero with a finite logarithm."""
FEW_TERMS = 3
"""Terms that are added up at once."""


def log_softmax(x: Any, xp: Any) -> Any:
    """Return the log softmax over the last axis."""
    if xp is not np:
        return xp.special.log_softmax(x, axis=-1)
    return x - logsumexp(x, np)[..., None]


def softmax(x: Any, xp: Any) -> Any:
    """Return the softmax over the last axis."""
    if xp is not np:
        return xp.special.softmax(x, axis=-1)
    return np.exp(log_softmax(x, np))


def logsumexp(x: Any, xp: Any) -> Any:
    """Return the log of the sum of exponentials over the last axis."""
    if xp is not np:
        return xp.logsumexp(x, axis=-1)
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[..., 0]


def add_products(pairs: Sequence[tuple[Any, Any]], xp: Any) -> Any:
    """Return the sum of products of pairs of arrays; a tape does it in one step."""
    if hasattr(xp, "add_products"):
        return xp.add_products(pairs)
    first, *others = (a * b for a, b in pairs)
    return sum(others, start=first)


def merge_axes(x: Any, count: int) -> Any:
    """Merge the last ``count`` axes into one."""
    lead = [x.shape[n] for n in range(x.ndim - count)]
    return x.reshape((*lead, -1))


def append_constant(x: Any, values: list[float], xp: Any) -> Any:
    """Append constants along the last axis."""
    pads = [xp.full_like(x[..., :1], value) for value in values]
    return xp.concatenate([x, *pads], axis=-1)


def sum_of_entries(x: Any, entries: Ints, xp: Any) -> Any:
    """Add up ``x[..., entries]`` over the last axis of ``entries``, half by half.

    Few entries are repeated more often than many, and a tape adds up what is repeated once.
    """
    count = entries.shape[-1]
    if count <= FEW_TERMS:
        return x[..., entries].sum(axis=-1)
    halves = np.split(entries, [(count + 1) // 2], axis=-1)
    return sum_of_entries(x, halves[0], xp) + sum_of_entries(x, halves[1], xp)
