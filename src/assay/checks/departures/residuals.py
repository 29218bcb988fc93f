"""What answers leave unexplained once the other answers to their items are known."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from assay.checks.departures.null_model import (
    TINY,
    Floats,
    Ints,
    LabelRows,
    NullFit,
    codes,
    softmax,
    sums,
)

LEAST_CLUSTERS = 10


def residuals(rows: LabelRows, fit: NullFit) -> Floats:
    """Answers less what the other answers to the item let expect: (row, set, feature).

    The features are the indicators of all classes but the first, then whether the answer is the
    item's class: that is known by the other answers alone, so it is a chance.
    """
    joint = fit.log_prior + fit.log_likelihood
    others = softmax(joint[rows.item] - fit.own)
    chance = np.moveaxis(fit.chance[rows.rater], 1, -1)  # (row, set, kind, answer)
    left = rows.told() - np.einsum("rsc,rsca->rsa", others, chance)
    truth = others[..., : rows.classes] + others[..., rows.classes : -1]
    right = (left * truth).sum(axis=-1, keepdims=True)
    return np.concatenate([left[..., 1:], right], axis=-1)


def within_raters(rows: LabelRows, values: Floats, group: Ints) -> Floats:
    """Correlate a rater's residuals on two items of a group, beyond those of two raters.

    What all raters of a group of items have in common, such as a rare class or hard items, is in
    the products of two raters too.

    Parameters
    ----------
    values : ndarray (row, set, feature)
    group : ndarray of int (item,)
        Negative codes are in no group.

    Returns
    -------
    ndarray (set, feature)
    """
    at = group[rows.item]
    size = int(group.max(initial=0)) + 1
    cell = np.full(len(at), -1)
    cell[at >= 0] = codes(rows.rater[at >= 0] * size + at[at >= 0])
    count = np.bincount(cell[at >= 0])
    totals = np.bincount(at[at >= 0], minlength=size)
    inside = sums(cell, values, len(count))
    squares = (inside**2).sum(axis=0)
    spread = (values[at >= 0] ** 2).sum(axis=0)
    within = squares - spread
    between = (sums(at, values, size) ** 2).sum(axis=0) - squares
    pairs = float((count * (count - 1)).sum()), float((totals**2).sum() - (count**2).sum())
    beyond = within / max(pairs[0], 1.0) - between / max(pairs[1], 1.0)
    return np.asarray(beyond * float((at >= 0).sum()) / spread)


def meetings(item: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of rows of one item."""
    order = np.argsort(item, kind="stable")
    lefts, rights = [order[:0]], [order[:0]]
    for step in range(1, int(np.bincount(item).max(initial=1))):
        same = item[order[step:]] == item[order[:-step]]
        lefts.append(order[:-step][same])
        rights.append(order[step:][same])
    return np.concatenate(lefts), np.concatenate(rights)


def agreement_beyond(rows: LabelRows, fit: NullFit, left: Ints, right: Ints) -> Floats:
    """Whether two raters agree, less what all other answers to the item let expect: (pair, set)."""
    joint = (fit.log_prior + fit.log_likelihood)[rows.item[left]]
    others = softmax(joint - fit.own[left] - fit.own[right])
    one, other = fit.chance[rows.rater[left]], fit.chance[rows.rater[right]]
    expected = np.einsum("pask,pask,psk->ps", one, other, others)
    return np.asarray((rows.answer[left] == rows.answer[right]) - expected)


def pair_dependence(rows: LabelRows, fit: NullFit, least: int) -> tuple[Floats, Ints]:
    """Say how much more often each two raters agree than raters so good do, given the others.

    Parameters
    ----------
    least : int
        Items in common from which on a pair counts.

    Returns
    -------
    more : ndarray (set, pair)
        Share of the items in common, less what either rater has with all others, since a rater who
        is better than the model has it agrees more with everybody.
    raters : ndarray of int (pair, 2)
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
    # Few raters: the normal equations are small, and singular where a rater meets nobody.
    effect = np.linalg.lstsq(design * weight, total, rcond=None)[0]
    more = (total - design * weight @ effect) / weight
    return np.asarray(more[enough].T), raters[enough]


def clustered(cluster: Ints, values: Floats) -> float | None:
    """Test that values of items have the mean 0 if whole clusters vary: a two-sided p-value."""
    total = np.bincount(cluster, values)
    total = total[np.abs(total) > TINY]
    if len(total) < LEAST_CLUSTERS:
        return None
    return float(2 * student.sf(abs(total.sum()) / np.sqrt((total**2).sum()), len(total) - 1))
