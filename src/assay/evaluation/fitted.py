"""Metrics of a fit: posterior draws with their estimand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from assay._util.arrays import divided
from assay._util.typing import Floats
from assay._util.validation import require_choice, require_count
from assay.data.ratings import Ratings
from assay.data.task import Task
from assay.evaluation.discordance import Discordance, discordance
from assay.evaluation.draws import (
    Codes,
    LabelDraws,
    draws_once,
    metric_draws,
    metric_totals,
    posterior_labels,
    predicted_again,
    predicted_labels,
)
from assay.evaluation.estimands import (
    ESTIMANDS,
    MIN_CLUSTERS,
    WEIGHTS_SEED,
    Estimand,
    draws_of_model,
    modelled,
    share_of_model,
)
from assay.evaluation.panels import (
    By,
    Incomplete,
    PanelLayout,
    left_out_attributes,
    panel_layout,
    weighable_metrics,
)
from assay.evaluation.population import population_draws
from assay.evaluation.registry import Metric
from assay.fits.view import Fit, FitView
from assay.inference.label_doubts import doubt_about

SOME_DRAWS = 20
REPLICATES = 32
REPLICATE_CELLS = 200_000_000

Change = Callable[[Codes], Codes]


def metrics(
    fit: Fit,
    *,
    estimand: Estimand = "population",
    by: By | None = "system",
    incomplete: Incomplete = "predict",
    metric: Sequence[str] | str | None = None,
    weights_seed: int = WEIGHTS_SEED,
) -> xr.Dataset:
    """Draws of the task's metrics from their posterior.

    Parameters
    ----------
    fit : xarray.DataTree
        From :func:`assay.fit`.
    estimand : {"population", "finite"}
        Whether the metric is that of a population of clusters like these, or of these items.
    by : {"system", None}
        A value per system, or all panels pooled. A fit without systems is always pooled.
    incomplete : {"predict", "drop"}
        Whether to keep panels with unrated items, whose labels the model predicts, or drop them.
    metric : str or sequence of str, optional
        Metrics; by default those that the task reports, without those that cannot count design
        weights which differ within a panel. ``prevalence[<label>=<class>]`` and
        ``prevalence[<label>!=<class>]`` can be named in every task.
    weights_seed : int
        Of the clusters' weights; fits that are to be compared need the same.

    Returns
    -------
    xarray.Dataset
        A variable per metric, (chain, draw, system) or (chain, draw); NaN in draws in which the
        metric is undefined. A variable's attributes hold its description, its estimand, the share
        of undefined draws, and which values are ``better`` (higher, lower or neither). ``doubt``
        says why it may mislead (:func:`assay.label_doubts`). A mean over panels also has
        the share of undefined panels, from some of the draws. The dataset's attributes hold the
        ``reference`` (what defines the truth), the treatment of ``incomplete`` panels, and the
        numbers of panels, unrated items, clusters and strata. ``left_out`` names metrics of the
        task that are left out, and ``left_out_because`` says why.

    Raises
    ------
    UnknownNameError
        If the task has no metric of a name.
    ModelError
        If an argument has another value, or a metric does not suit the task. Also if design
        weights differ within a panel and a named metric cannot count them.
    RatingsError
        If the panels cannot be used, or none is left.

    Notes
    -----
    ``population`` weights the panels of a draw with the design weights and with one draw of
    Bayesian bootstrap weights of the clusters
    (:class:`~assay.evaluation.estimands.ClusterWeights`). All systems share these. A few clusters
    on which systems differ are added to the observed ones, about one in each direction for each
    pair of systems (:class:`~assay.evaluation.discordance.Discordance`). So one discordant cluster
    of two hundred decides nothing, and a rate that was always 0 is not estimated as exactly 0.
    Where a system has fewer than 20 clusters (less the number of strata beyond the first), weights
    understate the uncertainty. Some of the draws are then the metric of new clusters drawn from the
    model; below 11 clusters all draws are. The ``estimand`` attribute shows this. Few clusters keep
    their weights where the design weights of a stratum differ. The model ignores these weights, so
    it would predict clusters like the sample, not like the population. A ``stratum`` for the
    variable that decided the weights avoids this. ``finite`` weights all panels alike.

    The labels are decoded a run of draws at a time, so memory beyond the fit does not grow with
    the number of draws.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("generation", n_items=60, n_systems=2, n_clusters=30, rng=1)
    >>> model = {"raters": "hierarchical", "method": "map"}
    >>> tree = assay.fit(ratings, **model, draws=50, chains=1, starts=1, rng=1)
    >>> found = metrics(tree, metric="helpfulness_rate", estimand="finite")
    >>> found["helpfulness_rate"].dims, found.attrs["reference"]
    (('chain', 'draw', 'system'), 'consensus of all raters')
    """
    return metrics_if(
        fit, None, estimand=estimand, by=by, incomplete=incomplete, metric=metric,
        weights_seed=weights_seed,
    )  # fmt: skip


def metrics_if(
    fit: Fit,
    change: Change | None,
    *,
    estimand: Estimand = "population",
    by: By | None = "system",
    incomplete: Incomplete = "predict",
    metric: Sequence[str] | str | None = None,
    weights_seed: int = WEIGHTS_SEED,
) -> xr.Dataset:
    """Return draws as :func:`metrics` does, after ``change`` has replaced the states (draw, item).

    ``change`` is applied to states drawn from the posterior and to those of new clusters.
    """
    require_count("weights_seed", weights_seed, least=0)
    view = FitView.of(fit)
    ratings = view.ratings
    chosen = weighable_metrics(ratings, metric)
    layout = panel_layout(ratings, by=by, incomplete=incomplete)
    values, estimands = estimand_draws(
        view, ratings, chosen, layout, estimand=estimand, seed=weights_seed, change=change
    )
    coords = {n: view["labels"][n].to_numpy() for n in ("chain", "draw")}
    data = draws_dataset(chosen, values, estimands, layout, coords)
    left_out = undefined_panels(
        chosen, ratings.task, _changed(posterior_labels(view), change), layout
    )
    for name, share in left_out.items():
        data[name].attrs["undefined_panels"] = share
    for one in chosen:
        data[one.name].attrs["doubt"] = doubt_about(view, one.labels, ratings.task)
    return data.assign_attrs(
        estimand=estimand,
        reference=str(view.attrs["reference"]),
        incomplete=incomplete,
        n_panels=len(layout.item),
        n_panels_dropped=layout.dropped,
        n_items_unrated=layout.unrated,
        n_clusters=len(layout.clusters),
        n_strata=layout.n_strata,
        weights_seed=weights_seed,
        **left_out_attributes(ratings, metric),
    )


def estimand_draws(
    view: FitView,
    ratings: Ratings,
    chosen: Sequence[Metric],
    layout: PanelLayout,
    *,
    estimand: Estimand,
    seed: int = WEIGHTS_SEED,
    replicates: int = REPLICATES,
    change: Change | None = None,
    least: int = MIN_CLUSTERS,
) -> tuple[Floats, list[str]]:
    """Return draws of metrics under an estimand, (metric, draw, system), and each estimand's name.

    At most ``replicates`` sets of new clusters are drawn for each draw that the model predicts, if
    there are fewer than ``least`` clusters.
    """
    require_choice("estimand", estimand, ESTIMANDS)
    y = _changed(posterior_labels(view), change)
    n_draws = y.shape[0]

    def weighed(lacking: Sequence[Metric]) -> Floats:
        prior = discordant_clusters(view, ratings, lacking, layout, n_draws, change=change)
        return np.asarray(population_draws(lacking, ratings.task, y, layout, [seed], prior)[0])

    def unweighed(lacking: Sequence[Metric]) -> Floats:
        return metric_draws(lacking, ratings.task, y, layout)

    def drawn(compute: Callable[[Sequence[Metric]], Floats], *choices: object) -> Floats:
        if change is not None:
            return compute(chosen)
        return draws_once(view, ("labels", *choices), layout, chosen, compute)

    if estimand == "finite":
        return drawn(unweighed), ["finite"] * len(chosen)
    share, name = model_share(ratings, layout, least), "population"
    if not share and layout.freedom() < least:
        name = f"population (design weights: {layout.sample_words()})"
    of_model = draws_of_model(share, n_draws)
    if of_model.all():
        values = _predictive(view, ratings, chosen, layout, n_draws, replicates, change)
    else:
        values = drawn(weighed, seed)
    if share:
        name = modelled(layout.sample_words(), share)
    if of_model.any() and not of_model.all():
        new = _predictive(view, ratings, chosen, layout, n_draws, replicates, change)
        values[:, of_model] = new[:, of_model]
    return values, [name] * len(chosen)


def discordant_clusters(
    view: FitView,
    ratings: Ratings,
    chosen: Sequence[Metric],
    layout: PanelLayout,
    draws: int,
    *,
    change: Change | None = None,
) -> Discordance:
    """Return the prior on discordance of a fit's metrics, for a number of draws."""
    return discordance(
        chosen,
        ratings.task,
        layout,
        lambda count: (_changed(y, change) for y in predicted_again(view, count)),
        draws=draws,
        seed=int(view.attrs["seed"]),
    )


def model_share(ratings: Ratings, layout: PanelLayout, least: int = MIN_CLUSTERS) -> float:
    """Return the share of the population's draws that the model predicts.

    It is 0 where design weights differ in a stratum: the model does not know them.
    """
    share = share_of_model(layout.freedom(), least)
    return 0.0 if share and _weights_beyond_strata(ratings) else share


def _weights_beyond_strata(ratings: Ratings) -> bool:
    """Return whether design weights differ among the items of a stratum."""
    items = ratings.items.iloc[np.unique(ratings.panels["item"])]
    by_stratum = items.groupby("stratum", dropna=False)["weight"]
    return bool((by_stratum.max() > by_stratum.min()).any())


def _predictive(
    view: FitView,
    ratings: Ratings,
    chosen: Sequence[Metric],
    layout: PanelLayout,
    n_draws: int,
    replicates: int,
    change: Change | None,
) -> Floats:
    """Return metrics of new clusters like these, drawn from the model, (metric, draw, system)."""
    cells = n_draws * len(ratings.items) * len(ratings.task.labels)
    replicates = int(np.clip(REPLICATE_CELLS // cells, 1, replicates))
    # The new clusters are themselves a sample, so only the panels' design weights count.
    even = np.broadcast_to(1.0, (n_draws, len(layout.clusters)))

    def compute(lacking: Sequence[Metric]) -> Floats:
        totals = np.zeros((2, len(lacking), n_draws, len(layout.systems)))
        for y in predicted_labels(view, replicates):
            changed = _changed(y, change)
            totals += metric_totals(lacking, ratings.task, changed, layout, even)
        return divided(*totals)

    if change is not None:
        return compute(chosen)
    return draws_once(view, ("predictive", replicates), layout, chosen, compute)


def _changed(y: LabelDraws, change: Change | None) -> LabelDraws:
    return y if change is None else replace(y, states=change(y.states[:]))


def undefined_panels(
    chosen: Sequence[Metric], task: Task, y: LabelDraws, layout: PanelLayout
) -> dict[str, float]:
    """Return the share of panels on which each mean over panels is undefined, from some draws."""
    some = replace(y, states=y.states[:: max(1, len(y.states) // SOME_DRAWS)])
    counted = metric_totals(chosen, task, some, layout)[1].sum(axis=-1).mean(axis=1)
    shares = zip(chosen, 1 - counted / len(layout.item), strict=True)
    return {metric.name: float(share) for metric, share in shares if metric.kind == "per_panel"}


def title_on(metric: Metric, layout: PanelLayout) -> str:
    """Return the title of a metric, with the length of the lists if all are equally long."""
    alike = bool(layout.mask.all())
    return metric.shown_title.replace("@k", f"@{layout.mask.shape[1]}" if alike else "@k")


def draws_dataset(
    chosen: Sequence[Metric],
    values: Floats,
    estimands: Sequence[str],
    layout: PanelLayout,
    coords: Mapping[str, NDArray[Any]],
) -> xr.Dataset:
    """Put draws (metric, draw, system) into a dataset; ``coords`` hold chain and draw."""
    if layout.systems != ("",):
        coords = {**coords, "system": np.array(layout.systems)}
    dims, shape = list(coords), [len(c) for c in coords.values()]
    variables = {
        metric.name: xr.DataArray(
            draws.reshape(shape),
            dims=dims,
            attrs={
                "title": title_on(metric, layout),
                "description": metric.description,
                "unit": metric.shown_unit,
                "estimand": estimand,
                "better": metric.better,
                "undefined": float(np.isnan(draws).mean()),
            },
        )
        for metric, draws, estimand in zip(chosen, values, estimands, strict=True)
    }
    return xr.Dataset(variables, coords=coords)
