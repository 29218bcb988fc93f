"""Metrics of the task ``retrieval``: a panel is the ranked list of chunks of one query.

Position ``p`` is rank ``p + 1``, so that a gap in the ranks keeps its place in the discounts.
"""

import numpy as np
from numpy.typing import NDArray

from assay._util.typing import Bools, Floats
from assay.evaluation.registry import metric
from assay.evaluation.shares import share

Codes = NDArray[np.integer]


@metric("topical_precision_at_k", task="retrieval", labels=["topically_relevant"], additive=True)
def topical_precision_at_k(y: Codes, mask: Bools) -> Floats:
    """Share of a query's chunks that are topically relevant, mean over queries."""
    return share(y[..., 0] == 1, mask)


@metric("sufficiency_hit_at_k", task="retrieval", labels=["evidence_sufficient"])
def sufficiency_hit_at_k(y: Codes, mask: Bools) -> Bools:
    """Share of queries with at least one chunk of sufficient evidence."""
    return np.asarray(((y[..., 0] == 1) & mask).any(axis=-1))


@metric("sufficiency_rate_at_k", task="retrieval", labels=["evidence_sufficient"], additive=True)
def sufficiency_rate_at_k(y: Codes, mask: Bools) -> Floats:
    """Share of a query's chunks with sufficient evidence, mean over queries."""
    return share(y[..., 0] == 1, mask)


@metric(
    "misleading_context_rate_at_k",
    task="retrieval",
    labels=["misleading"],
    better="lower",
    additive=True,
)
def misleading_context_rate_at_k(y: Codes, mask: Bools) -> Floats:
    """Share of a query's chunks that mislead, mean over queries."""
    return share(y[..., 0] == 1, mask)


@metric("mean_reciprocal_rank_at_k", task="retrieval", labels=["topically_relevant"])
def mean_reciprocal_rank_at_k(y: Codes, mask: Bools) -> Floats:
    """One over the rank of the first relevant chunk, 0 if none; mean over queries."""
    return reciprocal_rank(y[..., 0] == 1, mask)


@metric(
    "ndcg_at_k",
    task="retrieval",
    labels=["topically_relevant", "evidence_sufficient"],
    title="nDCG@k",
)
def ndcg_at_k(y: Codes, mask: Bools) -> Floats:
    r"""Normalised discounted cumulative gain of graded relevance; mean over queries.

    The grade is 2 if the evidence suffices, 1 if the chunk is only relevant, else 0 (Järvelin &
    Kekäläinen 2002, ACM Transactions on Information Systems 20(4), 422-446):

    .. math:: \mathrm{DCG} = \sum_p \frac{2^{w_p} - 1}{\log_2(\mathrm{rank}_p + 1)},

    over the DCG of the best order of the same chunks on the same ranks; 0 if no chunk has a grade.
    """
    sufficient, relevant = y[..., 1] == 1, y[..., 0] == 1
    return discounted_gain(np.where(sufficient, 2, relevant), mask)


def reciprocal_rank(found: Bools, mask: Bools) -> Floats:
    """Return one over the rank of the first item with a property, (..., panel); 0 if none has."""
    found = found & mask
    first = found.argmax(axis=-1)
    return np.where(found.any(axis=-1), 1.0 / (first + 1.0), 0.0)


def discounted_gain(grade: Codes, mask: Bools, cut: int | None = None) -> Floats:
    """Return the discounted gain :math:`2^w - 1` over that of the best order, (..., panel); 0
    without any. Grades (..., panel, position) below 1, or after rank ``cut``, have none.
    """
    discount = 1.0 / np.log2(np.arange(mask.shape[-1]) + 2.0)
    if cut is not None:
        discount[cut:] = 0.0
    best, panel = _best_discounts(mask, discount), np.arange(len(mask))
    gained, ideal = np.zeros(grade.shape[:-1]), np.zeros(grade.shape[:-1])
    levels = int(grade.max(initial=0))
    for level in range(levels, 0, -1):
        gained += (2.0**level - 1.0) * (((grade == level) & mask) @ discount)
    for level in range(1, levels + 1):
        # The gain of this grade exceeds that of the grade below by 2^(level - 1).
        many = ((grade >= level) & mask).sum(axis=-1)
        ideal += 2.0 ** (level - 1) * best[panel, many]
    return np.asarray(gained / np.where(ideal > 0, ideal, 1.0))


def _best_discounts(mask: Bools, discount: Floats) -> Floats:
    """Return the sum of the ``n`` largest discounts of a panel's places, (panel, n), n from 0."""
    own = -np.sort(-np.where(mask, discount, 0.0), axis=-1)
    return np.concatenate([np.zeros((len(mask), 1)), own.cumsum(axis=-1)], axis=-1)
