"""compare: systems on the metrics of one fit, paired draw by draw."""

from collections.abc import Sequence
from dataclasses import replace

import xarray as xr

from assay._util.intervals import require_level
from assay._util.validation import require_choice
from assay.comparison.pairs import Rope, pairs_of, require_two, rope_ends
from assay.comparison.result import Comparison, compare_draws
from assay.data.ratings import Ratings
from assay.evaluation import metrics
from assay.evaluation.estimands import Estimand
from assay.evaluation.item_weights import weighable_metrics
from assay.evaluation.panels import Incomplete
from assay.fits.datatree import ratings_of


def compare(
    fit: xr.DataTree,
    *,
    by: str = "system",
    metric: Sequence[str] | str | None = None,
    estimand: Estimand = "population",
    level: float = 0.95,
    rope: Rope = None,
    incomplete: Incomplete = "predict",
    baseline: str | None = None,
) -> Comparison:
    r"""Compare systems on the metrics of a fit.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`, of ratings with at least two systems.
    by : {"system"}
        What is compared. Systems within groups of clusters (strata):
        :func:`assay.group_contrasts`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    estimand : {"population", "finite"}
        What the numbers are about: clusters like these, or these items.
    level : float
        Probability of the intervals, between 0 and 1.
    rope : float or (float, float), optional
        Differences that do not matter (region of practical equivalence), in units of the metric;
        one number stands for both directions.
    incomplete : {"predict", "drop"}
        Panels with unrated items, as for :func:`assay.metrics`.
    baseline : str, optional
        Compare each system with this one only; else each with each.

    Returns
    -------
    Comparison
        Tables of pairs and of systems, the draws, and :meth:`Comparison.sentences`.

    Raises
    ------
    ModelError
        If there are fewer than two systems, or a choice is none of those above.
    UnknownNameError
        If the task has no metric, or the ratings no system, of a name.
    FitError
        If ``level`` is out of range, or the tree is not a fit.

    Notes
    -----
    All numbers come from the draws of :func:`assay.metrics`: the mean of a difference is the
    difference of the means, up to draws in which either is undefined. Label draws are joint and
    the weights of a cluster are the same for all systems, so that systems on the same clusters
    are compared within them; the column ``shared_clusters`` says how many they share.

    :math:`P(a > b)` is a posterior probability, not one minus a p-value. The expected loss of
    choosing :math:`s` is :math:`\mathrm E[\max_r m_r - m_s]` where higher is better. Ranks and
    losses need a direction: on the share of a class, of which nobody has said whether more of it
    is better, they are NaN. A metric of one's own can say it (:func:`assay.metric`).

    References
    ----------
    Kruschke, J. K. (2018). Rejecting or accepting parameter values in Bayesian estimation.
    Advances in Methods and Practices in Psychological Science 1(2), 270-280.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=50, chains=1, starts=1, rng=1)
    >>> compare(tree, metric="helpfulness_rate").pairs[["metric", "estimand", "a", "b"]]
                 metric    estimand         a         b
    0  helpfulness_rate  population  system_1  system_2
    """
    require_choice(
        "by", by, ("system",),
        otherwise="assay.group_contrasts(fit) for systems within each stratum",
    )  # fmt: skip
    require_level(level)
    rope_ends(rope)
    ratings = ratings_of(fit)
    require_two(ratings.systems)
    pairs_of(ratings.systems, baseline)
    draws = metrics(fit, estimand=estimand, by="system", incomplete=incomplete, metric=metric)
    better = {m.name: m.better for m in weighable_metrics(ratings, metric)}
    found = compare_draws(draws, better, level=level, rope=rope, baseline=baseline)
    return replace(found, pairs=found.pairs.assign(shared_clusters=_shared(ratings, found)))


def _shared(ratings: Ratings, found: Comparison) -> list[int]:
    """How many clusters the systems of each pair have in common."""
    clusters = ratings.panels.groupby("system")["cluster"].agg(set)
    pairs = zip(found.pairs["a"], found.pairs["b"], strict=True)
    return [len(clusters[a] & clusters[b]) for a, b in pairs]
