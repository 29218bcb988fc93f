"""Test for anchoring: whatever is true, all raters say yes more readily at one end of the ranks."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from assay._util.typing import Floats
from assay.checks.departures.null_model import (
    PASSES_AGAIN,
    LabelRows,
    NullFit,
    climb,
    confusions_of,
    first_posterior,
    with_harder,
)

SPREAD = 1.0
"""Prior SD of the shift between the middle and the first rank, on the logit scale."""
NEVER = 1e-6


class Shift:
    """Raters whose log odds of yes all move alike with the rank, updated by each call.

    Rows have a rater for each rank (rater x rank).
    """

    def __init__(self, ranks: int, sets: int) -> None:
        self.depth = np.linspace(1, -1, ranks)[:, None, None]
        self.at = np.zeros(sets)

    def __call__(self, rows: LabelRows, posterior: Floats) -> Floats:
        """Take a Newton step, and return chances as in the null model."""
        weight = posterior[rows.item]
        yes = rows.of_raters.sums(weight * (rows.answer == 1)[..., None])
        no = rows.of_raters.sums(weight) - yes
        by_rank = np.stack([no, yes], axis=1).reshape(-1, len(self.depth), 2, *yes.shape[1:])
        chance = with_harder(confusions_of(by_rank[..., : rows.classes].sum(axis=1)))
        base = np.log(chance[:, 1] / chance[:, 0])[:, None]
        no, yes = by_rank[:, :, 0], by_rank[:, :, 1]
        of_ranks = (no + yes).sum(axis=0)
        # The raters' confusions are those at the mean rank of the items of a kind.
        away = self.depth - (of_ranks * self.depth).sum(axis=0) / of_ranks.sum(axis=0)
        p = expit(base + self.at[:, None] * away)
        slope = ((yes - (no + yes) * p) * away).sum(axis=(0, 1, 3)) - self.at / SPREAD**2
        curve = ((no + yes) * p * (1 - p) * away**2).sum(axis=(0, 1, 3)) + SPREAD**-2
        self.at = self.at + slope / curve
        p = np.clip(expit(base + self.at[:, None] * away), NEVER, 1 - NEVER)
        found = np.stack([1 - p, p], axis=2)
        return found.reshape(-1, *found.shape[2:])


def anchoring_gain(rows: LabelRows, fit: NullFit, start: NullFit) -> Floats | None:
    """Return the log likelihood that a shift by rank adds to the null model's, per item, (set,),
    both from the same ``start``; None without ranks.
    """
    ranks = int(rows.rank.max(initial=0)) + 1
    if ranks < 2:
        return None
    rater = rows.rater * ranks + rows.rank[rows.item]
    apart = replace(rows, rater=rater, n_raters=rows.n_raters * ranks)
    shifted = Shift(ranks, rows.answer.shape[1])
    found = climb(apart, shifted, first_posterior(rows, start), PASSES_AGAIN)
    return (found.evidence() - fit.evidence()) / len(np.unique(rows.item))
