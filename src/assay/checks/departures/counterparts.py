"""Pairs of answers of a rater in one cluster: to counterparts of two systems, and to other items.

Counterparts are items of two systems in one cluster, at the same rank if the items have ranks.
"""

import numpy as np

from assay._util.typing import Floats
from assay.checks.departures.null_model import LabelRows, codes
from assay.checks.departures.residuals import Pairs, mean_square, pairs_in


def in_clusters(rows: LabelRows, values: Floats) -> tuple[Pairs, Pairs]:
    """Return pairs of counterparts, and all other pairs in a cluster."""
    place = codes(rows.cluster * (rows.rank.max(initial=0) + 1) + rows.rank)
    place = np.where(rows.system >= 0, place, -1)
    own = np.where(place >= 0, place * (rows.system.max(initial=0) + 1) + rows.system, -1)
    apart = pairs_in(rows, values, place) - pairs_in(rows, values, own)
    return apart, pairs_in(rows, values, rows.cluster) - apart


def misreading(rows: LabelRows, values: Floats, least: int) -> Floats | None:
    """Return the correlation of a rater's residuals in a cluster, beyond that of two raters.

    Counterparts are left out if other pairs are enough. None if there are too few pairs.
    """
    _, others = in_clusters(rows, values)
    used = others if others.n_within >= least else pairs_in(rows, values, rows.cluster)
    if used.n_within < least:
        return None
    return used.beyond() / mean_square(rows, values, rows.cluster)


def carrying_over(rows: LabelRows, values: Floats, least: int) -> Floats | None:
    """Return how much more a rater's residuals correlate on counterparts than on other items.

    None if there are too few pairs of either kind.
    """
    apart, others = in_clusters(rows, values)
    if min(apart.n_within, others.n_within) < least:
        return None
    return (apart.beyond() - others.beyond()) / mean_square(rows, values, rows.cluster)
