"""Scores that run against those of others: low where theirs are high."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from assay.checking.raters import PAIR_LIMIT
from assay.checking.result import Part, findings_on
from assay.meetings import count_pairs
from assay.plurals import counted, some
from assay.ratings import Ratings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_finding = findings_on("scores")

SHARED_ITEMS = 20
"""Items that two raters have in common, from which on they are compared."""
AGAINST = -0.2
"""Rank correlation below which scores run against each other."""
CLEARLY = 4.0
"""Standard errors by which the correlation is below 0 before it is said."""


def check_score_directions(ratings: Ratings) -> Part:
    """Say which raters' scores run against others': the family of scores cannot turn them round."""
    pairs: list[str] = []
    for n, label in enumerate(ratings.task.labels):
        if len(label.classes) > 2 and not label.ordered:
            continue
        value, scored = _values(ratings, n)
        told = np.isfinite(value)
        if not scored.any() or count_pairs(ratings.item[told]) > PAIR_LIMIT:
            continue
        found = _against(value[told], ratings.item[told], ratings.rater[told], scored)
        names = ratings.raters.index
        pairs += [
            f"{names[one]} and {names[other]} on {label.name} (rank correlation {rho:.2f} on "
            f"{items} items)"
            for one, other, items, rho in found
        ]
    if not pairs:
        return Part()
    text = (
        f"scores of {counted(len(pairs), 'pair')} of raters run against each other: one of the two "
        "may score the wrong way round. Scores are to grow with the class, and raters='scored' "
        "learns next to nothing from those that fall; write 1 - score in their place: "
        f"{some(pairs)}"
    )
    return Part(findings=(_finding("warning", text),))


def _values(ratings: Ratings, label: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each first rating's score, or its answer on the same scale, and who gives scores.

    Returns
    -------
    value : ndarray (rating,)
    scored : ndarray of bool (rater,)
    """
    first = ratings.replicate == 0
    score = np.where(first, ratings.scores[:, label], np.nan)
    answer = np.where(first, ratings.answers[:, label], np.nan)
    top = len(ratings.task.labels[label].classes) - 1
    value = np.where(np.isfinite(score), score, np.where(answer >= 0, answer / top, np.nan))
    scored = np.zeros(len(ratings.raters), bool)
    scored[ratings.rater[np.isfinite(score)]] = True
    return value, scored


def _against(
    value: Floats, item: Ints, rater: Ints, scored: NDArray[np.bool_]
) -> list[tuple[int, int, int, float]]:
    """Return the pairs, one of whom gives scores, that clearly run against each other."""
    rank = np.empty(len(value))
    for j in np.unique(rater):
        rank[rater == j] = rankdata(value[rater == j])
        rank[rater == j] -= rank[rater == j].mean()
    shape = (len(scored), int(item.max()) + 1)

    def by_rater(numbers: Floats) -> sparse.csr_array:
        return sparse.csr_array((numbers, (rater, item)), shape=shape)

    there, ranks, squares = (by_rater(x) for x in (np.ones(len(rank)), rank, rank**2))
    common = sparse.triu(there @ there.T, k=1).tocoo()
    enough = (common.data >= SHARED_ITEMS) & (scored[common.row] | scored[common.col])
    one, other, items = common.row[enough], common.col[enough], common.data[enough]

    def sums(a: sparse.csr_array, b: sparse.csr_array, i: Ints, j: Ints) -> Floats:
        total: Floats = np.asarray((a @ b.T).tocsr()[i, j]).ravel()
        return np.asarray(total / items)

    if not len(items):
        return []
    mean, mean_other = sums(ranks, there, one, other), sums(ranks, there, other, one)
    variance = sums(squares, there, one, other) - mean**2
    variance_other = sums(squares, there, other, one) - mean_other**2
    covariance = sums(ranks, ranks, one, other) - mean * mean_other
    scale = np.sqrt(np.maximum(variance * variance_other, 0))
    rho = np.divide(covariance, scale, out=np.zeros(len(items)), where=scale > 1e-9)
    seen = (rho < AGAINST) & (rho < -CLEARLY / np.sqrt(items - 1))
    columns = (one[seen], other[seen], items[seen].astype(int), rho[seen])
    return [tuple(line) for line in zip(*(c.tolist() for c in columns), strict=True)]
