"""Residuals of answers given the other answers to their items."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import TINY, LabelRows, NullFit, codes, softmax, sums
from assay.data.overlap import meetings

LEAST_CLUSTERS = 10


def from_others(rows: LabelRows, fit: NullFit) -> tuple[Floats, Floats]:
    """Return the item's kinds given its other answers, (row, set, kind), and the chances of answers
    that follow, (row, set, class).
    """
    joint = fit.log_prior + fit.log_likelihood
    others = softmax(joint[rows.item] - fit.own)
    return others, answer_chances(rows, fit, others)


def answer_chances(rows: LabelRows, fit: NullFit, kinds: Floats) -> Floats:
    """Return the chances of answers (row, set, class), given those of the kinds of the item."""
    chance = np.moveaxis(fit.chance[rows.rater], 1, -1)  # (row, set, kind, answer)
    return np.asarray(np.einsum("rsc,rsca->rsa", kinds, chance))


def residuals(rows: LabelRows, others: Floats, expected: Floats) -> Floats:
    """Return answers minus their expectation from the item's others, (row, set, feature):
    indicators of all classes but the first, then whether the answer is the item's class.
    """
    left = rows.told() - expected
    truth = others[..., : rows.classes] + others[..., rows.classes : -1]
    right = (left * truth).sum(axis=-1, keepdims=True)
    return np.concatenate([left[..., 1:], right], axis=-1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Sums of products of residuals over pairs of answers in a group of items: ``within`` one
    rater, ``between`` two (set, feature). Numbers of pairs count each twice.
    """

    within: Floats
    between: Floats
    n_within: float
    n_between: float

    def __sub__(self, other: "Pairs") -> "Pairs":
        """Return the pairs that are not in ``other``, whose groups are parts of these."""
        return Pairs(
            within=self.within - other.within,
            between=self.between - other.between,
            n_within=self.n_within - other.n_within,
            n_between=self.n_between - other.n_between,
        )

    def beyond(self) -> Floats:
        """Return the mean product of a rater's residuals, minus that of two raters.

        The latter includes properties of the group itself, such as a rare class or hard items.
        """
        one, two = max(self.n_within, 1.0), max(self.n_between, 1.0)
        return np.asarray(self.within / one - self.between / two)


def pairs_in(rows: LabelRows, values: Floats, group: Ints) -> Pairs:
    """Return the pairs in a group; negative codes of ``group`` (item,) mean no group.

    ``values`` are (row, set, feature).
    """
    at = group[rows.item]
    size = int(group.max(initial=0)) + 1
    cell = np.full(len(at), -1)
    cell[at >= 0] = codes(rows.rater[at >= 0] * size + at[at >= 0])
    count = np.bincount(cell[at >= 0])
    totals = np.bincount(at[at >= 0], minlength=size)
    inside = sums(cell, values, len(count))
    squares = (inside**2).sum(axis=0)
    return Pairs(
        within=squares - (values[at >= 0] ** 2).sum(axis=0),
        between=(sums(at, values, size) ** 2).sum(axis=0) - squares,
        n_within=float((count * (count - 1)).sum()),
        n_between=float((totals**2).sum() - (count**2).sum()),
    )


def mean_square(rows: LabelRows, values: Floats, group: Ints) -> Floats:
    """Return the mean square of the residuals on items in a group, (set, feature)."""
    inside = group[rows.item] >= 0
    return np.asarray((values[inside] ** 2).mean(axis=0))


def agreement_beyond(rows: LabelRows, fit: NullFit, left: Ints, right: Ints) -> Floats:
    """Return agreement of two raters minus its expectation from other answers, (pair, set)."""
    joint = (fit.log_prior + fit.log_likelihood)[rows.item[left]]
    others = softmax(joint - fit.own[left] - fit.own[right])
    one, other = fit.chance[rows.rater[left]], fit.chance[rows.rater[right]]
    expected = np.einsum("pask,pask,psk->ps", one, other, others)
    return np.asarray((rows.answer[left] == rows.answer[right]) - expected)


def pair_dependence(rows: LabelRows, fit: NullFit, least: int) -> tuple[Floats, Ints]:
    """Return the excess agreement of pairs of raters with ``least`` common items, as a share of
    these, (set, pair), and the pairs, (pair, 2). Either rater's mean excess with all others is
    removed.
    """
    left, right = meetings(rows.item)
    first = np.minimum(rows.rater[left], rows.rater[right])
    last = np.maximum(rows.rater[left], rows.rater[right])
    names, pair, count = np.unique(
        first * rows.n_raters + last, return_inverse=True, return_counts=True
    )
    raters = np.stack([names // rows.n_raters, names % rows.n_raters], axis=-1)
    enough = count >= least
    if enough.sum() <= len(np.unique(raters[enough])):
        return np.zeros((rows.answer.shape[1], 0)), raters[:0]
    weight = np.sqrt(count)[:, None]
    total = sums(pair.ravel(), agreement_beyond(rows, fit, left, right), len(names)) / weight
    design = np.zeros((len(names), rows.n_raters))
    np.put_along_axis(design, raters, 1.0, axis=1)
    # lstsq, since the normal equations are singular if a rater shares no item.
    effect = np.linalg.lstsq(design * weight, total, rcond=None)[0]
    more = (total - design * weight @ effect) / weight
    return np.asarray(more[enough].T), raters[enough]


def clustered(cluster: Ints, values: Floats) -> float | None:
    """Return the two-sided p-value that values of items have mean 0, with independent clusters."""
    total = np.bincount(cluster, values)
    total = total[np.abs(total) > TINY]
    if len(total) < LEAST_CLUSTERS:
        return None
    return float(2 * student.sf(abs(total.sum()) / np.sqrt((total**2).sum()), len(total) - 1))
