"""Test for skipping: the number of answers of an item depends on their content."""

import numpy as np

from assay._util.typing import Bools, Floats, Ints
from assay.checks.departures.null_model import TINY, LabelRows, codes, sums
from assay.checks.departures.residuals import clustered

FOLLOWS = 5.0
"""Standard errors from which disagreement on items with more answers shows that the first answers
triggered further ones.
"""


def skipping(rows: LabelRows) -> tuple[float, float] | None:
    """Return the correlation of counts of answers with the share of yes, and its p-value, less the
    raters' means in system and rank. None if all counts are equal, or answers triggered more.
    """
    count, more = _counts(rows)
    seen = count > 0
    if not (np.abs(more) > TINY).any() or called_for(rows):
        return None
    yes = (rows.answer[:, 0] == rows.classes - 1).astype(float)
    place = codes(rows.rater * (rows.stratum.max() + 1) + rows.stratum[rows.item])
    left = yes - _mean(place, yes, np.ones(len(yes), bool))
    share = sums(rows.item, left, len(count)) / np.maximum(count, 1)
    found = clustered(rows.cluster, more * share)
    if found is None:
        return None
    scale = np.sqrt((more[seen] ** 2).sum() * (share[seen] ** 2).sum())
    return float((more * share).sum() / max(scale, TINY)), found


def _counts(rows: LabelRows) -> tuple[Floats, Floats]:
    """Return the number of answers of each item, and its excess over the mean of its stratum."""
    count = np.bincount(rows.item, minlength=len(rows.truth)).astype(float)
    seen = count > 0
    return count, np.where(seen, count - _mean(rows.stratum, count, seen), 0.0)


def _mean(code: Ints, values: Floats, seen: Bools) -> Floats:
    """Return the mean of the seen values with the same code."""
    size = int(code.max()) + 1
    total = np.bincount(code, values * seen, minlength=size)
    return np.asarray((total / np.maximum(np.bincount(code, seen, minlength=size), 1))[code])


def called_for(rows: LabelRows) -> bool:
    """Return whether items with more answers have more disagreement, as if it triggered answers.

    Skipping by the truth of an item does not do this.
    """
    count, more = _counts(rows)
    told = rows.by_item(rows.told()[:, 0].astype(float))
    pairs = count * (count - 1)
    several = pairs > 0
    apart = 1 - (told * (told - 1)).sum(axis=-1)[several] / pairs[several]
    x = more[several] - more[several].mean()
    if len(x) < 3 or not x.any():
        return False
    product = x * (apart - apart.mean())
    return bool(product.sum() > FOLLOWS * np.sqrt((product**2).sum()))
