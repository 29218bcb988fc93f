"""Test for halo: answers of a rater to two labels of an item that depend beyond the truth."""

from collections.abc import Iterator, Mapping

import numpy as np

from assay._util.typing import Floats, Ints
from assay.checks.departures.null_model import LabelRows, NullFit, codes, sums
from assay.checks.departures.residuals import clustered
from assay.data.ratings import Ratings
from assay.data.states import free_pairs

CLEAR = 0.1
"""Least difference in the chance of an answer between classes that is used for a rater."""


def halo(
    ratings: Ratings, rows: Mapping[int, LabelRows], fits: Mapping[int, NullFit]
) -> Iterator[tuple[tuple[int, int], float, float]]:
    """Yield pairs of labels, the correlation of a rater's errors on both, and the p-value.

    Products of two raters' answers to two labels measure the dependence of truths, those of one
    rater's answers also halo. Given the truths, the first is the second times the ratio of the
    raters' discriminations. Clusters are independent in the test.
    """
    for pair in free_pairs(ratings.task):
        if not set(pair) <= set(fits):
            continue
        used = (ratings.answers[:, pair] >= 0).all(axis=1) & (ratings.replicate == 0)
        item, rater = ratings.item[used], ratings.rater[used]
        columns = []
        for label in pair:
            last = rows[label].classes - 1
            yes = (ratings.answers[used, label] == last).astype(float)
            place = codes(rater * (rows[label].stratum.max() + 1) + rows[label].stratum[item])
            columns.append(yes - (np.bincount(place, yes) / np.bincount(place))[place])
            chance = fits[label].chance[:, last, 0]
            columns.append(np.maximum(chance[:, last] - chance[:, 0], CLEAR)[rater])
        products, spread = _beyond(item, len(ratings.items), *columns)
        found = clustered(codes(ratings.items["cluster"]), products)
        if found is not None:
            yield pair, float(products.sum() / max(spread, 1e-12)), found


def _beyond(
    item: Ints, n_items: int, one: Floats, gain: Floats, other: Floats, gain_other: Floats
) -> tuple[Floats, float]:
    """Return products within a rater minus their expectation from two, (item,), and a scale."""
    columns = [one, other, gain, gain_other, one * other, gain * gain_other]
    a, b, g, h, within, told = sums(item, np.stack(columns, axis=-1), n_items).T
    between, weight = a * b - within, g * h - told
    several = weight > 1e-9
    ratio = np.divide(told, weight, out=np.zeros(n_items), where=several)
    spread = np.sqrt(sums(item, one**2, n_items) * sums(item, other**2, n_items))
    return (within - between * ratio) * several, float(spread[several].sum())
