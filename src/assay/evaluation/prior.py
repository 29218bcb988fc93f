"""Prior draws of the metrics."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from assay._util.random import generator_of
from assay._util.validation import require_draws
from assay.data.ratings import Ratings, require_ratings
from assay.evaluation.draws import LabelDraws, metric_draws
from assay.evaluation.fitted import draws_dataset
from assay.evaluation.panels import By, panel_layout, weighable_metrics
from assay.fits.latent_states import predict_states, running_prevalence
from assay.modelling.priors import Priors
from assay.modelling.spec import formula_for, make_spec, recipe_of
from assay.modelling.structure import Structure, checked_structure


def prior_metrics(
    ratings: Ratings,
    *,
    raters: str | Mapping[str, str] | None = None,
    prevalence: str = "loglinear",
    priors: Priors = None,
    formula: str | None = None,
    metric: Sequence[str] | str | None = None,
    by: By | None = None,
    draws: int = 1000,
    rng: int | np.random.Generator = 1,
) -> xr.Dataset:
    r"""Draws of the metrics from the prior alone, before any answer is used.

    A prior that is diffuse on its parameters may still be informative about a metric. The draws
    are for items, clusters and systems like those of the ratings; the answers are ignored.

    Parameters
    ----------
    ratings : Ratings
    raters, prevalence, priors, formula
        As for :func:`assay.fit`.
    metric : str or sequence of str, optional
        Metrics; those that the task reports if not given.
    by : {"system", None}
        All panels pooled, or a value per system.
    draws : int
    rng : int or numpy.random.Generator

    Returns
    -------
    xarray.Dataset
        A variable per metric, (chain, draw) or (chain, draw, system), as of
        :func:`assay.metrics`, with the estimand ``prior``; for :func:`assay.summarize`.

    Raises
    ------
    ModelError, UnknownNameError
        If the specification or a metric does not fit the task, or ``draws`` is no whole number
        above 0.

    Notes
    -----
    Parameters are drawn from their priors, cluster effects and states from these:
    :math:`s_i \sim \pi_{g(i)}(\cdot \mid u_{c(i)})`, the prevalence of all items, including hard
    ones.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("ais", n_items=40, n_raters=3, rng=1)
    >>> prior_metrics(ratings, draws=50)["flag_rate"].sizes["draw"]
    50
    """
    require_ratings("a model", ratings)
    raters = recipe_of(ratings, raters)
    formula = formula_for(ratings.items, formula, prevalence)
    spec = make_spec(raters, prevalence, None, priors, formula)
    structure = checked_structure(ratings, spec, priors)
    return metrics_before(structure, metric=metric, by=by, draws=draws, rng=rng)


def metrics_before(
    structure: Structure,
    *,
    metric: Sequence[str] | str | None = None,
    by: By | None = None,
    draws: int = 1000,
    rng: int | np.random.Generator = 1,
) -> xr.Dataset:
    """Return the prior draws of a model's metrics, as :func:`prior_metrics` does."""
    require_draws("draws", draws)
    generator, ratings = generator_of(rng), structure.ratings
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings, by=by)
    if structure.hard_truth.applies:
        every = [structure.draw(generator) for _ in range(draws)]
        values = {name: np.stack([one[name] for one in every]) for name in every[0]}
    else:
        blocks = structure.prevalence.parameters()
        values = {b.name: np.stack([b.draw(generator) for _ in range(draws)]) for b in blocks}
    states = predict_states(structure, running_prevalence(structure, values), generator)
    y = LabelDraws(states=states, codes=structure.prevalence.space.states)
    found = metric_draws(chosen, ratings.task, y, layout)
    coords = {"chain": np.zeros(1, int), "draw": np.arange(draws)}
    return draws_dataset(chosen, found, ["prior"] * len(chosen), layout, coords)
