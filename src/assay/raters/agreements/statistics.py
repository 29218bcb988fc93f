r"""From counts to coefficients of agreement. Arrays have the bootstrap sample as their last axis.

With :math:`P_i = \sum_k n_{ik} (n_{ik} - 1) / (r_i (r_i - 1))` the share of agreeing pairs on item
:math:`i`, the mean :math:`\bar P` over the :math:`m` items with two answers or more, and a chance
agreement :math:`P_e`, kappas and AC1 are :math:`(\bar P - P_e) / (1 - P_e)`.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from assay._util.quotients import divided
from assay.raters.agreements.tallies import Tally

Floats = NDArray[np.float64]

STATISTICS = (
    "percent",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "krippendorff_alpha_ordinal",
    "gwet_ac1",
)
CERTAIN = 1 - 1e-12
"""Chance agreement from which on nothing is left to agree on beyond chance."""


def statistics(tally: Tally, sums: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return each statistic that suits the column, (sample,); NaN where it is undefined.

    Parameters
    ----------
    tally : Tally
    sums : mapping of str to ndarray (size, sample)
        The sums of the tally's blocks.
    """
    observed = divided(sums["agree"][0], sums["pairable"][0])
    _, _, kappa = pair_agreement(tally, sums)
    found = {
        "percent": observed,
        "cohen_kappa": _weighted_mean(kappa, sums["shared"]),
        "fleiss_kappa": _beyond_chance(observed, _fleiss_chance(sums)),
        "krippendorff_alpha": _alpha_nominal(sums),
    }
    if tally.column.ordered:
        found["krippendorff_alpha_ordinal"] = _alpha_ordinal(sums, tally.column.classes)
    found["gwet_ac1"] = _beyond_chance(observed, _gwet_chance(sums, tally.column.scale))
    return found


def pair_agreement(tally: Tally, sums: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
    r"""Return shared items, share of agreement and Cohen's kappa of each pair: (pair, sample).

    Notes
    -----
    On the items that both answered, :math:`P_e = \sum_k p_{ak} p_{bk}` (Cohen 1960).
    """
    from scipy import sparse

    shared = sums["shared"]
    keys = len(tally.pair_of_key)
    gather = sparse.csr_matrix(
        (np.ones(keys), (tally.pair_of_key, np.arange(keys))), shape=(len(shared), keys)
    )
    chance = divided(gather @ (sums["left"] * sums["right"]), shared**2)
    percent = divided(sums["matched"], shared)
    return shared, percent, _beyond_chance(percent, chance)


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    return divided(observed - chance, np.where(chance < CERTAIN, 1 - chance, 0.0))


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Mean over the first axis, without what is undefined."""
    known = ~np.isnan(values)
    return divided(np.where(known, values * weights, 0).sum(axis=0), (weights * known).sum(axis=0))


def _fleiss_chance(sums: Mapping[str, Floats]) -> Floats:
    """Sum of the squared shares of the classes among the answers to items with two or more."""
    marginal = sums["marginal"]
    return divided((marginal**2).sum(axis=0), marginal.sum(axis=0) ** 2)


def _gwet_chance(sums: Mapping[str, Floats], scale: int) -> Floats:
    r""":math:`\sum_k \pi_k (1 - \pi_k) / (K - 1)`, :math:`\pi_k` the mean share of items."""
    share, rated = sums["share"], sums["rated"][0]
    squares = divided((share**2).sum(axis=0), rated**2)
    # With one class to choose from, all agreement is by chance.
    return (1 - squares) / (scale - 1) if scale > 1 else np.ones_like(squares)


def _alpha_nominal(sums: Mapping[str, Floats]) -> Floats:
    r""":math:`1 - (n - 1) (n - \sum_c o_{cc}) / (n^2 - \sum_c n_c^2)`, o the coincidences."""
    marginal = sums["marginal"]
    n = marginal.sum(axis=0)
    return 1 - divided((n - 1) * (n - sums["same"][0]), n**2 - (marginal**2).sum(axis=0))


def _alpha_ordinal(sums: Mapping[str, Floats], classes: int) -> Floats:
    r""":math:`\alpha` with the distance of the mid-ranks :math:`\sum_{g \le c} n_g - n_c / 2`."""
    marginal = sums["marginal"]
    n = marginal.sum(axis=0)
    rank = marginal.cumsum(axis=0) - marginal / 2
    distance = (rank[:, None] - rank[None]) ** 2
    crossed = sums["crossed"].reshape(classes, classes, -1)
    apart = 2 * (crossed * distance).sum(axis=(0, 1))
    spread = (marginal[:, None] * marginal[None] * distance).sum(axis=(0, 1))
    return 1 - divided((n - 1) * apart, spread)
