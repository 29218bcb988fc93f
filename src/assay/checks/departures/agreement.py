"""Raters who agree with others too often, where pairs of raters alone do not tell it."""

import numpy as np

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import TINY, LabelRows, NullFit, softmax
from assay.checks.departures.residuals import answer_chances


def with_unanimous(rows: LabelRows, expected: Floats, least: int) -> tuple[Floats, Ints]:
    """Return how much more a rater joins two or more others who agree, (set, rater), and the
    raters.

    It is a share of items, less the chances ``expected`` (row, set, class) given the other answers.
    The mean excess of all raters is removed: items of other kinds make all agree more.
    """
    told = rows.told()
    number = np.bincount(rows.item, minlength=len(rows.truth))[rows.item] - 1
    others = rows.by_item(told.astype(float))[rows.item] - told
    unanimous = others == np.where(number > 1, number, -1)[:, None, None]
    more = rows.of_raters.sums(np.einsum("rsa,rsa->rs", unanimous, told - expected))
    spread = rows.of_raters.sums(np.einsum("rsa,rsa->rs", unanimous, expected * (1 - expected)))
    more -= more.sum(axis=0) / np.maximum(spread.sum(axis=0), TINY) * spread
    count = np.bincount(rows.rater, number > 1, minlength=rows.n_raters)
    enough = np.flatnonzero(count >= least)
    return np.asarray((more[enough] / count[enough, None]).T), enough


def third_of_three(rows: LabelRows, fit: NullFit) -> tuple[Floats, Ints]:
    """Return how much better each of three raters follows other items than modelled, (set, rater).

    Two who err together look accurate. Items of the same cluster, system and rank tell which is
    true. Empty unless there are clusters of several items.
    """
    raters = np.unique(rows.rater)
    if rows.in_clusters is None:
        return np.zeros((rows.answer.shape[1], 0)), raters
    prior = softmax(fit.log_prior)[rows.item]
    left = rows.told() - answer_chances(rows, fit, prior)
    shares = prior[..., : rows.classes] + prior[..., rows.classes : -1]
    shares += prior[..., -1:] / rows.classes
    count = np.bincount(rows.rater, minlength=rows.n_raters)[:, None, None]
    shares -= (rows.of_raters.sums(shares) / np.maximum(count, 1))[rows.rater]
    more = rows.of_raters.sums((shares * left).sum(axis=-1))[raters]
    spread = rows.of_raters.sums((shares**2).sum(axis=-1))[raters]
    slope = more / np.maximum(spread, TINY)
    return np.asarray((slope - more.sum(axis=0) / np.maximum(spread.sum(axis=0), TINY)).T), raters
