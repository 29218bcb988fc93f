"""What would decide a claim: how many more clusters, or ratings of each item."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import ndtri

from assay._util.intervals import tails
from assay.comparison.settled import settled

SMALLEST = 1e-3
"""A thousand times the data: what would take more is not going to be decided by data."""

STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The posterior of what a claim bounds, and where its variance comes from.

    Attributes
    ----------
    mean, variance : float
    clusters_share : float
        Part of the variance, in [0, 1], that is due to which clusters were sampled; the rest is
        due to labels and parameters.
    n_clusters : int
    ratings_per_item : float
        Mean over the items that have a rating.
    """

    mean: float
    variance: float
    clusters_share: float
    n_clusters: int
    ratings_per_item: float


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """What more data would decide a claim, if the estimate stayed where it is.

    Attributes
    ----------
    verdict : {"supported", "contradicted"}
        Which way it would be decided.
    clusters : int or None
        How many more clusters, rated as now; None if they would not decide it.
    ratings_per_item : int or None
        How many more ratings of each item; None if they would not decide it.
    sentence : str
    """

    verdict: str
    clusters: int | None
    ratings_per_item: int | None
    sentence: str


def what_would_decide(
    spread: Spread,
    region: tuple[float, float],
    level: float,
    *,
    population: bool,
    modelled: bool = False,
) -> Deciding:
    r"""Say how much more data would decide a claim.

    Parameters
    ----------
    spread : Spread
    region : (float, float)
        Where the claim is true.
    level : float
        Probability of the interval that gives the verdict.
    population : bool
        Whether the claim is about clusters like these; one about these items gains nothing from
        other clusters.
    modelled : bool
        Whether the population is the model's own: what these clusters teach of it is not told
        apart from what their ratings do, so that no number of ratings is given.

    Returns
    -------
    Deciding

    Notes
    -----
    The posterior is taken as :math:`N(\mu, v)` with :math:`\mu` fixed, and the largest
    :math:`v^* \le v` at which its interval lies inside the region (or outside) is sought by
    bisection. With :math:`C` clusters, :math:`r` ratings an item and
    :math:`v = v_l + v_c` (labels and parameters; clusters), :math:`k` more clusters leave
    :math:`v\, C / (C + k)`, and :math:`k` more ratings of each item
    :math:`v_l\, r / (r + k) + v_c`.

    Examples
    --------
    >>> spread = Spread(
    ...     mean=0.02, variance=4e-4, clusters_share=0.25, n_clusters=100, ratings_per_item=2
    ... )
    >>> found = what_would_decide(spread, (0.0, float("inf")), 0.95, population=True)
    >>> found.clusters, found.ratings_per_item
    (285, 144)
    """
    is_true = region[0] < spread.mean < region[1]
    verdict = "supported" if is_true else "contradicted"
    share = _needed_share(spread, region, level, verdict)
    clusters = _more_clusters(spread, share) if population else None
    ratings = None if modelled else _more_ratings(spread, share)
    parts = _sentences(spread, verdict, clusters, ratings, population=population, modelled=modelled)
    return Deciding(
        verdict=verdict, clusters=clusters, ratings_per_item=ratings, sentence=" ".join(parts)
    )


def _needed_share(
    spread: Spread, region: tuple[float, float], level: float, verdict: str
) -> float | None:
    """Largest share of the variance that may stay; None if hardly any may."""

    def is_decided(share: float) -> bool:
        reach = ndtri(tails(level)[1]) * np.sqrt(spread.variance * share)
        return settled(spread.mean - reach, spread.mean + reach, region) == verdict

    if spread.variance == 0 or not is_decided(SMALLEST):
        return None
    low, high = SMALLEST, 1.0
    for _ in range(STEPS):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if is_decided(middle) else (low, middle)
    return low


def _more_clusters(spread: Spread, share: float | None) -> int | None:
    if share is None:
        return None
    return max(1, ceil(spread.n_clusters * (1 / share - 1) - 1e-6))


def _more_ratings(spread: Spread, share: float | None) -> int | None:
    room = -1.0 if share is None else share - spread.clusters_share
    labels = 1 - spread.clusters_share
    if room <= labels * SMALLEST:
        return None
    return max(1, ceil(spread.ratings_per_item * (labels / room - 1) - 1e-6))


def _sentences(
    spread: Spread,
    verdict: str,
    clusters: int | None,
    ratings: int | None,
    *,
    population: bool,
    modelled: bool,
) -> Iterator[str]:
    if clusters is None and ratings is None:
        yield "The estimate is so near the boundary of the claim that more data would not tell."
        return
    ways = []
    if clusters is not None:
        more = _counted(clusters, "cluster")
        ways.append(f"{more} rated as now (there are {spread.n_clusters:,})")
    if ratings is not None:
        now = f"{spread.ratings_per_item:.1f}".removesuffix(".0")
        ways.append(f"{_counted(ratings, 'rating')} of each item (there are {now})")
    yield f"If the estimate stays, about {' or '.join(ways)} would make it {verdict}."
    if modelled:
        yield (
            "What more ratings of the same items would do is not known: the population is the "
            "model's."
        )
    elif population and ratings is None:
        yield "More ratings of the same items would not: the clusters are too few."


def _counted(count: int, word: str) -> str:
    """Write a count rounded up to two digits: more would say more than is known."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return f"{ceil(count / unit) * unit:,} more {word}{'s' * (count != 1)}"
