"""Expected interval widths after more ratings, more clusters or one more rater."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.intervals import interval_ends, require_level
from assay._util.random import generator_of
from assay._util.typing import Floats, Ints
from assay.data.ratings import NOT_AUDITED, PER_RATING, Ratings, take_ratings
from assay.evaluation.draws import LabelDraws, metric_draws, posterior_labels
from assay.evaluation.estimands import Estimand, is_modelled
from assay.evaluation.fitted import discordant_clusters, metrics
from assay.evaluation.panels import By, Incomplete, PanelLayout, panel_layout, weighable_metrics
from assay.evaluation.population import expected_population
from assay.evaluation.registry import Metric
from assay.evaluation.variance import (
    Components,
    Contrast,
    columns_of,
    components_of,
    defined_mean,
    defined_variance,
    metric_columns,
)
from assay.fits.answer_draws import draw_answers
from assay.fits.latent_states import sample_states
from assay.fits.view import Fit, FitView
from assay.modelling.structure import Structure, build_structure


def expected_components(
    view: FitView,
    chosen: Sequence[Metric],
    layout: PanelLayout,
    *,
    share: float,
    contrast: Contrast | None,
    sets: int,
    draws: int,
    rng: np.random.Generator,
    weighted: bool = True,
) -> tuple[Floats, Floats]:
    """Return the components parameters and labels, (metric, column), with new ratings of items.

    A ``share`` of them is rated once more in each of ``sets`` simulated data sets, each from
    another posterior draw and judged under ``draws`` draws.
    """
    ratings, values, y = view.ratings, view.draws_of_labels, posterior_labels(view)
    spec, total = view.spec, len(y.states)
    thinned = np.linspace(0, total - 1, min(draws, total)).astype(int)
    some = {name: draw[thinned] for name, draw in values.items()}
    planned = build_structure(planned_ratings(ratings, share, rng), spec, view.covariates)
    prior = discordant_clusters(view, ratings, chosen, layout, len(thinned)) if weighted else None

    def metric_values(y: LabelDraws) -> Floats:
        if prior is None:
            return metric_draws(chosen, ratings.task, y, layout)[None]
        return expected_population(chosen, ratings.task, y, layout, prior)[None]

    found = []
    for d in rng.choice(total, size=min(sets, total), replace=False):
        truth = {name: draw[[d]] for name, draw in values.items()}
        more = build_structure(
            _answered(planned, ratings, truth, y.states[d : d + 1][0], rng), spec, view.covariates
        )
        pair = [
            LabelDraws(states=sample_states(more, some, rng).states, codes=y.codes)
            for _ in range(2)
        ]
        first, second = (columns_of(metric_values(part), layout.systems, contrast) for part in pair)
        found.append(Components.of_pairs(first, second).means()[:2])
    parameters, labels = defined_mean(np.array(found), axis=0)
    return parameters, labels


def planned_ratings(ratings: Ratings, share: float, rng: np.random.Generator) -> Ratings:
    """Add places for new ratings: a share of the items, each by the rater of a random rating, if
    possible one who has not rated it. Answers are still those of that rating.
    """
    chosen = np.flatnonzero(ratings.answered)
    count = len(ratings.items)
    items = rng.permutation(count)[: max(1, round(share * count))]
    taken = set(zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True))
    rows = rng.choice(chosen, size=(len(items), 8))
    fresh = [
        [(item, rater) not in taken for rater in raters]
        for item, raters in zip(items.tolist(), ratings.rater[rows].tolist(), strict=True)
    ]
    picked = rows[np.arange(len(items)), np.argmax(fresh, axis=1)]
    new = take_ratings(ratings, picked)
    new = replace(
        new,
        item=items,
        replicate=_next_replicates(ratings, items, new.rater),
        audit=np.full_like(new.audit, NOT_AUDITED),
    )
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(ratings, name), getattr(new, name)]) for name in PER_RATING
    }
    return replace(ratings, **joined)


def _next_replicates(ratings: Ratings, item: Ints, rater: Ints) -> Ints:
    """Count the ratings that each rater has already given each item."""
    width = len(ratings.raters)
    pairs, counts = np.unique(ratings.item * width + ratings.rater, return_counts=True)
    place = np.searchsorted(pairs, item * width + rater).clip(max=len(pairs) - 1)
    return np.where(pairs[place] == item * width + rater, counts[place], 0)


def _answered(
    planned: Structure,
    ratings: Ratings,
    values: dict[str, Floats],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> Ratings:
    """Keep the recorded answers, and draw answers of the planned ratings from the model."""
    answers, scores = draw_answers(planned, values, states, rng)
    recorded = len(ratings.answers)
    answers[:recorded], scores[:recorded] = ratings.answers, ratings.scores
    return replace(planned.ratings, answers=answers, scores=scores)


MORE_CLUSTERS = 10
BUYS = {"one_more_rating": "ratings", "ten_more_clusters": "clusters", "one_more_rater": "raters"}
OVERLAP = "overlap"
"""Value of ``binds`` where no item has two raters and no truth is known."""
SETS = 16
DRAWS = 60


def expected_width(
    fit: Fit,
    *,
    metric: Sequence[str] | str | None = None,
    by: By | None = "system",
    estimand: Estimand = "population",
    contrast: Contrast | None = None,
    incomplete: Incomplete = "predict",
    level: float = 0.95,
    rng: int | np.random.Generator = 1,
) -> pd.DataFrame:
    r"""Predict how more data would narrow the interval of each metric.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    by : {"system", None}
        A line per system, or all panels pooled.
    estimand : {"population", "finite"}
        As for :func:`assay.metrics`.
    contrast : tuple of str, optional
        Two systems: the width for the first's metric less the second's.
    incomplete : {"predict", "drop"}
        As for :func:`assay.metrics`.
    level : float
        Probability of the intervals, between 0 and 1.
    rng : int or numpy.random.Generator
        Of the simulated ratings.

    Returns
    -------
    pandas.DataFrame
        A line per metric and system (or ``"a - b"``), with these columns:

        - ``metric``, ``system``, ``estimand``, ``level``, ``reference``
        - ``width``: width of the equal-tailed interval now
        - ``one_more_rating``: expected width with one more rating of every item
        - ``ten_more_clusters``: expected width with ten more clusters, rated like these
        - ``one_more_rater``: expected width with one more rater, who rates as many items as the
          other raters do on average
        - ``binds``: which of ``ratings``, ``clusters`` and ``raters`` would narrow the interval
          most. It is ``""`` if the width is 0, ``overlap`` if no item has two raters and no truth
          is known.

    Raises
    ------
    FitError
        If ``level`` is not between 0 and 1, or as :func:`assay.metrics`.
    ModelError
        As :func:`assay.metrics`.
    UnknownNameError
        If a metric or a system of ``contrast`` does not exist.

    Notes
    -----
    Let :math:`P, L, S` be the components parameters, labels and clusters of
    :func:`variance_budget`, and :math:`C` the number of clusters of the system (or of either
    system). Widths are assumed proportional to the SD. Then

    .. math::

        \frac{\text{width}'}{\text{width}} = \sqrt{\frac{P' + L' + S'}{P + L + S}}.

    *Ten more clusters*: all three shrink by :math:`C / (C + 10)`; ``finite`` then includes the
    items of the new clusters.

    *One more rating*: :math:`S` stays. New ratings by typical raters of the design are drawn from
    the posterior predictive for several draws of the parameters and the labels. The labels are
    then drawn again, under the unchanged posterior of the parameters, which gives :math:`L'` and
    :math:`P_1`. If :math:`P_1 + L'` exceeds :math:`P + L`, both are scaled down to it, since more
    data do not raise an expected variance. Then :math:`P' = P_1 Q / Q'`, since items with several
    raters (or a known truth) inform about raters. Here :math:`Q` and :math:`Q'` are the numbers of
    pairs of raters of one item before and after; a known truth counts as one more rater.

    *One more rater*: the same, adding the share :math:`1/J` of the ratings that a rater of
    :math:`J` has. The new rater is taken to be as well known as the others, which is optimistic
    for differences between systems.

    Where no item has two raters and no truth is known, :math:`Q = 0`. The data then cannot separate
    errors from truth. The raters' parameters follow the prior, and more clusters do not change
    that. Then :math:`P` stays under *ten more clusters*. The effect of a second rater cannot be
    predicted before there is one, so the other two widths are NaN.

    Where the model predicts the population, :math:`P` and :math:`L` are those of these clusters,
    times the share of draws in which the metric is defined there. :math:`S` is the
    rest of the variance, because unseen events appear in other clusters, not in more ratings of
    these.

    These are first-order approximations: a fit on new data may find another mode.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=30, n_raters=3, classes=["a", "b"], rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=20, chains=1, starts=1, rng=1)
    >>> table = expected_width(tree)
    >>> bool((table["ten_more_clusters"] < table["width"]).all())
    True
    """
    require_level(level)
    view = FitView.of(fit)
    ratings = view.ratings
    chosen = weighable_metrics(ratings, metric)
    names = [m.name for m in chosen]
    layout = panel_layout(ratings, by=by, incomplete=incomplete)
    generator = generator_of(rng)
    draws = metrics(view, estimand=estimand, by=by, incomplete=incomplete, metric=names)
    parts = components_of(
        view, names=names, by=by, estimand=estimand, contrast=contrast, incomplete=incomplete
    )
    told = _share_told(parts, draws)

    def rated_more(share: float) -> tuple[Floats, Floats]:
        parameters, labels = expected_components(
            view, chosen, layout, share=share, contrast=contrast, sets=SETS, draws=DRAWS,
            rng=generator, weighted=estimand == "population",
        )  # fmt: skip
        return _part(parameters, told), _part(labels, told)

    now = _components(parts, told, metric_columns(draws, contrast)[2])
    columns = [(name,) for name in layout.systems] if contrast is None else [contrast]
    clusters = np.array([layout.n_clusters(column) for column in columns])
    shrunk = _variance_left(ratings, clusters, now, rated_more)
    return _table(draws, contrast, level, shrunk)


def _share_told(parts: Components, draws: xr.Dataset) -> Floats:
    """Return the share of draws that define a model's population, (metric, column); else NaN.

    The model's population varies beyond the clusters seen, most where a metric is rarely defined.
    """
    of_model = [is_modelled(draws[name].attrs["estimand"]) for name in draws.data_vars]
    defined = np.isfinite(parts.labels).mean(axis=1)
    return np.where(np.array(of_model)[:, None], defined, np.nan)


def _part(variance: Floats, told: Floats) -> Floats:
    return np.where(np.isnan(told), variance, told * np.nan_to_num(variance))


def _components(parts: Components, told: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return parameters, labels and clusters; the latter holds the rest of a model's population."""
    parameters, labels, clusters = parts.means()
    parameters, labels = _part(parameters, told), _part(labels, told)
    rest = (defined_variance(values) - parameters - labels).clip(min=0.0)
    return parameters, labels, np.where(np.isnan(told), clusters, rest)


def _variance_left(
    ratings: Ratings,
    clusters: Ints,
    now: tuple[Floats, Floats, Floats],
    rated_more: Callable[[float], tuple[Floats, Floats]],
) -> dict[str, Floats]:
    """Return the share of the variance left after each of ``BUYS``, each (metric, column).

    ``clusters`` (column,) are those of the systems, ``now`` the components, and ``rated_more`` the
    parameters and labels if a share of the items is rated once more.
    """
    fewer = clusters / (clusters + MORE_CLUSTERS)
    overlap = np.isfinite(evidence_share(ratings, 1.0))
    parameters, total = now[0] * (fewer if overlap else 1.0), now[0] + now[1] + now[2]
    left = {"ten_more_clusters": _left(parameters + (now[1] + now[2]) * fewer, total)}
    load = len(ratings.answers) / len(ratings.raters) / len(ratings.items)
    for name, share in (("one_more_rating", 1.0), ("one_more_rater", min(1.0, load))):
        if not overlap:
            left[name] = np.full_like(total, np.nan)
            continue
        parameters, labels = rated_more(share)
        # The expected variance cannot rise with more ratings (law of total variance).
        shrink = divided(now[0] + now[1], parameters + labels)
        shrink = np.where(shrink >= 0, np.minimum(shrink, 1.0), 1.0)
        parameters, labels = parameters * shrink, labels * shrink
        after = parameters * evidence_share(ratings, share) + labels + now[2]
        left[name] = _left(after, total)
    return left


def _left(after: Floats, before: Floats) -> Floats:
    """Return the share of the variance that is left, at most 1; NaN where the variance is 0."""
    return divided(after, before.clip(min=0.0)).clip(min=0.0, max=1.0)


def evidence_share(ratings: Ratings, share: float) -> float:
    """Return the pairs of raters of one item over those after a share of the items is rated again.

    A known truth counts as one more rater, a rater's second rating as none. NaN without any pair.
    """
    answered = ratings.answered
    both = np.column_stack([ratings.item[answered], ratings.rater[answered]])
    count = np.bincount(np.unique(both, axis=0)[:, 0], minlength=len(ratings.items))
    count = count + ratings.has_truth
    pairs = float((count * (count - 1) / 2).sum())
    return pairs / (pairs + share * float(count.sum())) if pairs else float("nan")


def _table(
    draws: xr.Dataset, contrast: Contrast | None, level: float, shrunk: Mapping[str, Floats]
) -> pd.DataFrame:
    """Return interval widths now, and those expected from the variance that is left."""
    names, systems, values = metric_columns(draws, contrast)
    lower, upper = interval_ends(values, level, axis=1)
    width = (upper - lower).ravel()
    then = {name: width * np.sqrt(shrunk[name].ravel()) for name in BUYS}
    table = pd.DataFrame(
        {
            "metric": np.repeat(names, len(systems)),
            "system": systems * len(names),
            "estimand": np.repeat([draws[n].attrs["estimand"] for n in names], len(systems)),
            "level": level,
            "width": width,
            **then,
        }
    )
    options = table[list(BUYS)].fillna(np.inf)
    binds = options.idxmin(axis=1).map(BUYS).where(np.isfinite(options).all(axis=1), "")
    untold = table["one_more_rating"].isna() & np.isfinite(table["ten_more_clusters"])
    binds = binds.mask(untold, OVERLAP)
    return table.assign(binds=binds, reference=str(draws.attrs["reference"]))
