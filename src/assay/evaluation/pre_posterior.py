"""What more ratings would make of a fit's labels, simulated before they are collected."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay.data.ratings import NOT_AUDITED, PER_RATING, Ratings, take_ratings
from assay.evaluation.components import Components, Contrast, columns_of, defined_mean
from assay.evaluation.draws import LabelDraws, metric_draws
from assay.evaluation.fitted import discordant_clusters
from assay.evaluation.panels import PanelLayout
from assay.evaluation.population import expected_population
from assay.evaluation.registry import Metric
from assay.evaluation.stream import posterior_labels
from assay.fits.answer_draws import draw_answers
from assay.fits.datatree import covariates_of, parameter_draws, ratings_of, spec_of
from assay.fits.latent_states import recover
from assay.modelling.model import Structure, build_structure

Values = NDArray[np.float64]
Rows = NDArray[np.int64]


def expected_components(
    fit: xr.DataTree,
    chosen: Sequence[Metric],
    layout: PanelLayout,
    *,
    share: float,
    contrast: Contrast | None,
    sets: int,
    draws: int,
    rng: np.random.Generator,
    weighted: bool = True,
) -> tuple[Values, Values]:
    """Components of a metric's variance, were a share of the items rated once more.

    Parameters
    ----------
    fit : xarray.DataTree
    chosen : sequence of Metric
    layout : PanelLayout
    share : float
        Of the items, in (0, 1].
    contrast : tuple of str or None
    sets : int
        How many sets of new ratings are simulated, each from another draw of the posterior.
    draws : int
        How many draws of the parameters each set is judged under.
    rng : numpy.random.Generator
    weighted : bool
        Whether panels and items count their design weights, as in the population.

    Returns
    -------
    parameters, labels : ndarray of float (metric, column)
        Means over the sets; the posterior of the parameters is that of the fit.
    """
    ratings, values, y = ratings_of(fit), parameter_draws(fit), posterior_labels(fit)
    spec, total = spec_of(fit), len(y.states)
    thinned = np.linspace(0, total - 1, min(draws, total)).astype(int)
    some = {name: draw[thinned] for name, draw in values.items()}
    covariates = covariates_of(fit)
    planned = build_structure(planned_ratings(ratings, share, rng), spec, covariates)
    prior = discordant_clusters(fit, ratings, chosen, layout, len(thinned)) if weighted else None

    def metric_values(y: LabelDraws) -> Values:
        if prior is None:
            return metric_draws(chosen, ratings.task, y, layout)[None]
        return expected_population(chosen, ratings.task, y, layout, prior)[None]

    found = []
    for d in rng.choice(total, size=min(sets, total), replace=False):
        truth = {name: draw[[d]] for name, draw in values.items()}
        more = build_structure(
            _answered(planned, ratings, truth, y.states[d : d + 1][0], rng), spec, covariates
        )
        pair = [LabelDraws(states=recover(more, some, rng).states, codes=y.codes) for _ in range(2)]
        first, second = (columns_of(metric_values(part), layout.systems, contrast) for part in pair)
        found.append(Components.of_pairs(first, second).means()[:2])
    parameters, labels = defined_mean(np.array(found), axis=0)
    return parameters, labels


def planned_ratings(ratings: Ratings, share: float, rng: np.random.Generator) -> Ratings:
    """Add places for new ratings: a share of the items, each by a typical rater.

    A typical rater is the rater of a rating drawn at random, one that has not rated the item if
    there is any among a few tries. The answers are still those of the rating drawn.
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


def _next_replicates(ratings: Ratings, item: Rows, rater: Rows) -> Rows:
    """How often each rater has rated each item already."""
    width = len(ratings.raters)
    pairs, counts = np.unique(ratings.item * width + ratings.rater, return_counts=True)
    place = np.searchsorted(pairs, item * width + rater).clip(max=len(pairs) - 1)
    return np.where(pairs[place] == item * width + rater, counts[place], 0)


def _answered(
    planned: Structure,
    ratings: Ratings,
    values: dict[str, Values],
    states: NDArray[np.int16],
    rng: np.random.Generator,
) -> Ratings:
    """Keep what was recorded, and answer the planned ratings as the parameters say."""
    answers, scores = draw_answers(planned, values, states, rng)
    recorded = len(ratings.answers)
    answers[:recorded], scores[:recorded] = ratings.answers, ratings.scores
    return replace(planned.ratings, answers=answers, scores=scores)
