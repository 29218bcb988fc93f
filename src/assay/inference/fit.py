"""``fit``: ratings and a model to a DataTree, by NUTS, Laplace's approximation or the mode."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from assay._util.errors import FitError, FitWarning, Note
from assay._util.progress import waiting
from assay._util.random import seed_of
from assay._util.typing import Floats
from assay.checks.departures.remedies import found_copies, with_found_layers
from assay.checks.departures.search import Departure, search
from assay.checks.double_sampling import double_sampling
from assay.checks.gold import unlike_gold
from assay.data.ratings import Ratings
from assay.fits.datatree import posterior_dataset
from assay.fits.latent_states import StatePosterior, sample_states
from assay.fits.schema import Method
from assay.inference.assumptions import group_error_warnings
from assay.inference.class_drift import label_sums
from assay.inference.coordinates import Start, walk_of
from assay.inference.data_counts import count_data
from assay.inference.data_on_workers import hold_pieces
from assay.inference.density import Density, make_density
from assay.inference.diagnose import Evidence, diagnose
from assay.inference.diagnostics import (
    diagnose_interruption,
    diagnose_laplace,
    diagnose_nuts,
    result_draws,
)
from assay.inference.em import Maximisation, closed_form, find_em_modes
from assay.inference.executors import Executor
from assay.inference.followers import find_followers
from assay.inference.label_doubts import scores_alone
from assay.inference.laplace import laplace_draws, mode_root
from assay.inference.lean_draws import draw_pool_lean
from assay.inference.mode_search import require_density
from assay.inference.modes import Mode, align_loadings, draws_per_mode, labels_at, name_trades
from assay.inference.nutpie import chain_seeds, require_own, sample_nuts, sample_on_workers
from assay.inference.optimise import is_large
from assay.inference.partial_centring import find_centred_modes
from assay.inference.settings import (
    MODES_ALONE,
    Sampler,
    SamplerSettings,
    check_arguments,
    check_read,
    check_sampler,
)
from assay.inference.stray_chains import without_stray_chains
from assay.inference.to_datatree import assemble, attributes
from assay.likelihood.compiling_ahead import compile_ahead
from assay.likelihood.partition import cores
from assay.modelling.priors import Priors
from assay.modelling.spec import GoldChosen, Replicates, formula_for, make_spec, recipe_of
from assay.modelling.structure import Structure, checked_structure

Run = tuple[Floats, dict[str, Any], list[Note]]
"""Draws (chain, draw, value), sampler statistics, and notes."""


def run_nuts(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    rng: np.random.Generator,
    effort: SamplerSettings,
) -> Run:
    """Sample with NUTS from the first mode; nutpie's stray chains are run again."""
    start = Start(centre=modes[0].x, root=mode_root(density, modes[0]))
    seed = int(rng.integers(2**31))
    if effort.executor is not None:
        return *sample_on_workers(density, start, effort, seed, effort.executor), []
    if effort.sampler == "pymc":
        from assay.inference import pymc_sampler as pymc_sampling

        return *pymc_sampling.sample_nuts(structure, density, start, effort, seed), []
    if effort.checkpoint is not None:
        seeds = chain_seeds(seed, effort.chains)
        require_own(effort.checkpoint, walk_of(density, start, effort), seeds)
    found = sample_nuts(density, start, effort, seed)
    if found[0].shape[:2] != (effort.chains, effort.draws):
        return *found, []
    one = replace(effort, chains=1)
    found, notes = without_stray_chains(
        structure, density, modes, found, lambda n: sample_nuts(density, start, one, seed + n)
    )
    return *found, notes


def run_laplace(mode: Mode, rng: np.random.Generator, effort: SamplerSettings) -> Run:
    """Draw from Laplace's approximation at a mode; raise FitError if there is none."""
    if mode.precision is None:
        raise FitError(
            "Laplace's approximation does not exist here: the posterior has no proper peak, or "
            "raters share too many parameters to compute its curvature. Use `method='nuts'`",
            code="no-curvature",
        )
    with waiting("drawing from the approximation", show=effort.progress):
        x = laplace_draws(mode, effort.draws * effort.chains, rng)
    return x.reshape(effort.chains, effort.draws, -1), {}, []


def repeat_mode(mode: Mode, effort: SamplerSettings) -> Run:
    """Repeat a mode for every draw; ``em`` and ``map`` differ only in how they find it."""
    shape = (effort.chains, effort.draws)
    return np.broadcast_to(mode.x, (*shape, len(mode.x))), {"lp": np.full(shape, mode.height)}, []


def fit(
    ratings: Ratings,
    *,
    raters: str | Mapping[str, str] | None = None,
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    formula: str | None = None,
    replicates: Replicates = "together",
    gold_chosen: GoldChosen = "random",
    copies: Mapping[str, str] | None = None,
    method: Method = "nuts",
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    rng: int | np.random.Generator = 1,
    starts: int = 4,
    target_accept: float = 0.85,
    progress: bool = True,
    sampler: Sampler = "nutpie",
    checkpoint: str | Path | None = None,
    keep_interrupted: bool = False,
    executor: Executor | None = None,
    client: None = None,
) -> xr.DataTree:
    """Fit a model to ratings: the posterior of labels, raters and prevalence.

    Parameters
    ----------
    ratings : Ratings
        From :func:`assay.read_ratings` or :func:`assay.simulate`.
    raters, prevalence, reference, priors, formula, replicates
        As for :func:`assay.build_model`. The default raters have ``system_bias`` or
        ``misreading`` too, if :func:`assay.check` finds that raters favour systems, or misread
        whole clusters.
    gold_chosen : {"random", "recorded"}
        How the items of ``reference="gold"`` were chosen: at random, which is checked against the
        data, or by recorded data, such as answers in the model. A choice by unrecorded data biases
        the perception layers.
    copies : mapping of str to str, optional
        For each rater who may copy another rater's answers, that other rater. By default, the pairs
        that err together by the test of :func:`assay.check`, if ``raters`` and ``reference`` are
        not given and the method is ``nuts`` or ``laplace``; ``{}`` for none.
    method : {"nuts", "laplace", "map", "em"}
        NUTS; draws from the normal approximation at the mode, checked by PSIS; or the mode alone,
        which ignores the uncertainty of the parameters. SDs of raters are at their marginal
        posterior mode, other parameters at their mode given the SDs. ``em`` finds the same mode as
        ``map``, and faster if the M step has a closed form. It has one for the prevalence
        ``dirichlet`` and the raters ``dawid_skene``, ``pooled``, ``class_conditional`` or
        ``one_coin``, without layers, gates, active rules or repeated ratings. Otherwise it climbs
        like ``map``; ``optimiser`` in the attribute ``diagnostics`` says which.
    draws, tune, chains : int
        Draws kept and warm-up draws of each chain, number of chains. ``laplace``, ``map`` and
        ``em`` make as many draws of the labels.
    rng : int or numpy.random.Generator
        Seed of everything random; the same seed gives the same bits on one machine.
    starts : int
        Number of starting points for the mode search.
    target_accept : float
        Target acceptance probability of NUTS, between 0 and 1.
    progress : bool
        Whether to show a progress bar on standard error.
    sampler : {"nutpie", "pymc"}
        Implementation of NUTS. ``pymc`` samples the model of :func:`build_model`, as a check of
        nutpie.
    checkpoint : path, optional
        A folder for nutpie's finished chains; the same call resumes from them. A folder with
        chains of other calls only is an error.
    keep_interrupted : bool
        Whether Ctrl-C returns the draws so far, with a warning, instead of nothing.
    executor : Executor, optional
        From :func:`assay.dask_executor`. Its workers run nutpie's chains, or for ``laplace``,
        ``map`` and ``em`` the passes over the data and the label draws; ``em`` then climbs.
        :func:`assay.fit_dataset` is for data too large for one machine.
    client : None
        The former name of ``executor``.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``labels``, ``observed_data``, ``constant_data``,
        ``log_likelihood``; attributes task, spec, versions, seed, warnings, assumptions,
        accounting.

    Raises
    ------
    ModelError, UnknownNameError
        If the specification does not fit the catalogue or the data.
    FitError
        If the arguments of the method are out of range, or the cluster is lost or has no worker.

    Warns
    -----
    FitWarning
        With a code, if the draws are not reliable or there is another mode.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=2)
    >>> tree = assay.fit(ratings, method="map", draws=10, chains=1, rng=1)
    >>> tree["labels"]["state"].dims
    ('chain', 'draw', 'item')
    """
    check_arguments(
        ratings, method, target_accept, draws=draws, tune=tune, chains=chains, starts=starts
    )
    check_sampler(method, sampler, checkpoint, keep_interrupted, executor, client)
    by_default = raters is None and method not in MODES_ALONE
    raters = recipe_of(ratings, raters)
    if by_default:
        with waiting("testing whether raters err independently", show=progress):
            raters = with_found_layers(ratings, raters)
            # Known truth, or groups, say how raters err together.
            if copies is None and reference is None:
                copies = found_copies(ratings)
    formula = formula_for(ratings.items, formula, prevalence)
    spec = make_spec(
        raters, prevalence, reference, priors, formula, replicates, gold_chosen, copies
    )
    check_read(ratings, spec)
    structure = checked_structure(ratings, spec, priors)
    density = make_density(structure, threads=cores())
    seed = seed_of(rng)
    form = closed_form(structure) if method == "em" and executor is None else None
    effort = SamplerSettings(
        draws=draws,
        chains=chains,
        tune=tune,
        target_accept=target_accept,
        progress=progress,
        sampler=sampler,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        keep_interrupted=keep_interrupted,
        executor=executor,
    )
    if executor is not None:
        executor.ready(show=progress)
    drawn = _draw(structure, density, effort, seed, method=method, starts=starts, form=form)
    posterior = posterior_dataset(structure, drawn.values, chains=len(drawn.x))
    modes = _named_modes(structure, drawn, method)
    numbers, notes = _diagnosed(structure, drawn, modes[0], posterior, effort, method, form)
    found = diagnose(
        structure, drawn.values, modes, _evidence(structure, drawn, seed),
        draws=[*drawn.notes, *notes], method=method,
    )  # fmt: skip
    for note in found.notes:
        warnings.warn(FitWarning.of(note), stacklevel=2)
    tree = assemble(
        structure, posterior, drawn.recovered, drawn.stats, len(drawn.x), lean=drawn.lean
    )
    tree.attrs = found.attributes | attributes(
        structure, modes, found.notes, found.assumptions, numbers, method=method, seed=seed,
        tune=tune, target_accept=target_accept, starts=starts,
    )  # fmt: skip
    return tree


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """Results of a method.

    x : unconstrained draws of the parameters (chain, draw, value)
    values : parameters by name, the draws of all chains in one dimension
    lean : how far the raters lean from their pool (draw, lean); None if unused
    """

    density: Density
    modes: list[Mode]
    x: Floats
    stats: dict[str, Any]
    notes: list[Note]
    values: dict[str, Floats]
    lean: Floats | None
    recovered: StatePosterior


def _named_modes(structure: Structure, drawn: _Drawn, method: Method) -> list[Mode]:
    """Return the modes, with the classes that each exchanges and the share of the draws there."""
    modes = drawn.modes
    if len(modes) < 2:
        return modes
    told = [labels_at(structure, drawn.density, mode.x[None]) for mode in modes]
    modes = name_trades(structure, modes, told)
    return draws_per_mode(modes, told, drawn.recovered.states) if method == "nuts" else modes


def _diagnosed(
    structure: Structure,
    drawn: _Drawn,
    mode: Mode,
    posterior: xr.Dataset,
    effort: SamplerSettings,
    method: Method,
    form: Maximisation | None,
) -> tuple[dict[str, Any], list[Note]]:
    """Return numbers and notes on the draws of a method."""
    stats, x = drawn.stats, drawn.x
    if method == "nuts":
        states = drawn.recovered.states
        results = result_draws(structure, posterior["prevalence"], drawn.values, states)
        numbers, notes = diagnose_nuts(
            posterior, stats, results, target_accept=effort.target_accept
        )
        return numbers, notes + diagnose_interruption(x, chains=effort.chains, draws=effort.draws)
    if method == "laplace":
        stats["lp"] = _log_density(drawn)
        with waiting("checking the approximation", show=effort.progress):
            return diagnose_laplace(mode, x, stats["lp"])
    return ({"optimiser": "climb" if form is None else "em"} if method == "em" else {}), []


def _evidence(structure: Structure, drawn: _Drawn, seed: int) -> Evidence:
    """Return what the finders of warnings need, from all data on this machine."""
    ratings, found = structure.ratings, drawn.recovered
    pooled = structure.with_pool_lean(drawn.values, drawn.lean)
    return Evidence(
        labels=label_sums(structure, found.probabilities),
        counts=count_data(ratings, structure.parts, ratings.systems),
        scores=list(scores_alone(structure, found.probabilities)),
        design=double_sampling(ratings),
        unlike_gold=partial(unlike_gold, ratings),
        departures=lambda: _departures(structure, drawn),
        group_errors=lambda: group_error_warnings(
            structure, pooled, found.states, np.random.default_rng(seed)
        ),
    )


def _departures(structure: Structure, drawn: _Drawn) -> list[Departure]:
    """Return departures by the tests of the data, and by that of raters who follow others."""
    found = list(search(structure.ratings).found)
    if any(one.code == "dependent-raters" for one in found):
        return found
    return found + find_followers(structure, drawn.density, drawn.modes[0])


def _draw(
    structure: Structure,
    density: Density,
    effort: SamplerSettings,
    seed: int,
    *,
    method: Method,
    starts: int,
    form: Maximisation | None,
) -> _Drawn:
    """Find the modes, then draw the parameters and the states; ``form`` is EM's closed form, if
    any.
    """
    search, inference, labels = np.random.default_rng(seed).spawn(3)
    executor, show, spread = effort.executor, effort.progress, None
    if executor is not None and method != "nuts":
        spread = hold_pieces(executor, structure, density)
    if executor is None:
        compile_ahead(panels=structure.prevalence.has_panels)
    with waiting("seeking modes", show=show, unit="passes", stage=True):
        if form is not None:
            modes = find_em_modes(form, density, search, starts=starts)
        elif spread is not None and is_large(density):
            density, modes = spread.modes(search, starts=starts)
        else:
            density, modes = find_centred_modes(structure, density, search, starts=starts)
    require_density(density, modes[0])
    if method == "em":
        density = replace(density)  # drops the cached copy of the data for threads
    if method == "nuts":
        x, stats, notes = run_nuts(structure, density, modes, inference, effort)
    elif method == "laplace":
        x, stats, notes = run_laplace(modes[0], inference, effort)
    else:
        x, stats, notes = repeat_mode(modes[0], effort)
    values = align_loadings(density.constrain(x.reshape(-1, density.size)), density, modes[0])
    lean = draw_pool_lean(structure, values, method=method, seed=seed)
    with waiting("drawing labels", show=show, total=effort.draws * effort.chains, unit="draws"):
        if spread is None:
            recovered = sample_states(structure, values, labels, lean)
        else:
            recovered = spread.sample_states(values, seed, lean)
    return _Drawn(
        density=density, modes=modes, x=x, stats=stats, notes=notes, values=values,
        lean=lean, recovered=recovered,
    )  # fmt: skip


def _log_density(drawn: _Drawn) -> Floats:
    """Return the log posterior density of the draws (chain, draw), from stored likelihoods."""
    likelihood = drawn.recovered.log_likelihood.sum(axis=1).reshape(drawn.x.shape[:2])
    return np.asarray(drawn.density.log_prior(drawn.x) + likelihood)
