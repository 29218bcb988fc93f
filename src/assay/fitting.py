"""fit: ratings and a spec into a DataTree, by NUTS, Laplace's approximation or the mode alone."""

import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.assumptions import (
    independent_replicates,
    learned_assumptions,
    stated_assumptions,
)
from assay.centring import find_centred_modes
from assay.climbs import is_large
from assay.density import Density, make_density
from assay.diagnostics import (
    convergence_table,
    laplace_k_hat,
    laplace_warnings,
    mode_warnings,
    name_warnings,
    nuts_warnings,
)
from assay.em import closed_form, find_em_modes
from assay.errors import FitError, FitWarning
from assay.fit_data import accounting_json, posterior_dataset, ratings_datasets
from assay.laplace import laplace_draws, mode_scale, visits
from assay.layers.perception import check_reference
from assay.model import Structure, build_structure
from assay.modes import Mode, find_modes
from assay.partition import cores
from assay.progress import waiting
from assay.ratings import Ratings
from assay.recovery import Recovered, recover
from assay.sampling import sample_nuts
from assay.spec import Priors, Replicates, make_spec
from assay.strays import Chains, without_strays

Floats = NDArray[np.float64]
Method = Literal["nuts", "laplace", "map", "em"]
Sampler = Literal["nutpie", "numpyro"]
METHODS = ("nuts", "laplace", "map", "em")
SAMPLERS = ("nutpie", "numpyro")
Run = tuple[Floats, dict[str, Any], list[str]]
"""Draws (chain, draw, value), sampler statistics, and what is to be said of them."""
VERSIONS = (
    *("assay", "numpy", "numba", "nutpie", "pymc", "arviz", "xarray", "pandas"),
    *("jax", "numpyro", "distributed"),
)


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long a method runs."""

    draws: int
    tune: int
    chains: int
    target_accept: float
    progress: bool
    sampler: Sampler
    checkpoint: Path | None
    keep_interrupted: bool
    client: Any = None


def fit(
    ratings: Ratings,
    *,
    raters: str | Mapping[str, str] = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    formula: str | None = None,
    replicates: Replicates = "together",
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
    client: Any = None,
) -> xr.DataTree:
    """Fit a model to ratings: the posterior of labels, raters and prevalence.

    Parameters
    ----------
    ratings : Ratings
        From :func:`assay.read_ratings` or :func:`assay.simulate`.
    raters, prevalence, reference, priors, formula, replicates
        As for :func:`assay.build_model`.
    method : {"nuts", "laplace", "map", "em"}
        NUTS; draws from the normal approximation at the mode, checked by PSIS; or the mode alone,
        whose labels ignore the uncertainty of the parameters. SDs of raters stand at the mode of
        their own posterior, all else at its mode given them. ``em`` finds the same mode as
        ``map``, faster where maximisation has a closed form: prevalence ``dirichlet``, raters
        ``dawid_skene``, ``pooled``, ``class_conditional`` or ``one_coin``, without layers, gates,
        active rules or repeated ratings. Elsewhere it climbs as ``map`` does; the attribute
        ``diagnostics`` says which, as ``optimiser``.
    draws, tune, chains : int
        Draws kept and warm-up draws of each chain, number of chains. ``laplace``, ``map`` and
        ``em`` make as many draws of the labels.
    rng : int or numpy.random.Generator
        Seed of everything random; the same seed gives the same bits on one machine.
    starts : int
        From how many points modes are sought before sampling.
    target_accept : float
        Of NUTS, between 0 and 1.
    progress : bool
        Whether to show a progress bar on standard error.
    sampler : {"nutpie", "numpyro"}
        Who runs NUTS. ``numpyro`` needs the extra ``assay[jax]``, and uses a GPU where there is
        one.
    checkpoint : path, optional
        A folder in which nutpie's chains are kept as they finish: the same call goes on from them.
    keep_interrupted : bool
        Whether Ctrl-C returns the draws so far, with a warning, instead of nothing.
    client : distributed.Client, optional
        Of a Dask cluster (extra ``assay[dask]``) that does the work: the chains of nutpie run on
        its workers, and so do the passes over the data and the label draws of ``laplace``,
        ``map`` and ``em``, which then climbs. :func:`assay.fit_dataset` is for data that one
        machine cannot hold.

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
        If the arguments of the method are out of range.

    Warns
    -----
    FitWarning
        In words, if the draws are not to be trusted or another mode was seen.

    Examples
    --------
    >>> import assay
    >>> ratings = assay.simulate("single", n_items=40, n_raters=5, rng=1)
    >>> tree = assay.fit(ratings, method="map", draws=10, chains=1, rng=1)
    >>> tree["labels"]["state"].dims
    ('chain', 'draw', 'item')
    """
    check_arguments(
        ratings, method, target_accept, draws=draws, tune=tune, chains=chains, starts=starts
    )
    if sampler not in SAMPLERS:
        raise FitError(f"sampler {sampler!r}; allowed: {', '.join(SAMPLERS)}")
    if sampler == "numpyro" and (checkpoint is not None or keep_interrupted):
        raise FitError("checkpoint= and keep_interrupted= are nutpie's; numpyro has neither")
    if client is not None and (sampler == "numpyro" or checkpoint is not None or keep_interrupted):
        raise FitError(
            "client= runs nutpie's chains on workers, without checkpoint= and keep_interrupted="
        )
    spec = make_spec(raters, prevalence, reference, priors, formula, replicates)
    check_reference(ratings, reference)
    structure = build_structure(ratings, spec)
    density = make_density(structure, threads=cores())
    seed = seed_of(rng)
    search, inference, labels = np.random.default_rng(seed).spawn(3)
    form = closed_form(structure) if method == "em" and client is None else None
    spread = None
    if client is not None and method != "nuts":
        from assay.distributed.spreading import hold_pieces

        spread = hold_pieces(client, structure, density)
    with waiting("seeking modes", show=progress):
        if form is not None:
            modes = find_em_modes(form, density, search, starts=starts)
        elif sampler == "numpyro":
            modes = find_modes(structure, density, search, starts=starts)
        elif spread is not None and is_large(density):
            modes = spread.modes(search, starts=starts)
        else:
            density, modes = find_centred_modes(structure, density, search, starts=starts)
    if method == "em":
        density = replace(density)  # without the copy of the data that threads have
    run = {"nuts": _run_nuts, "laplace": run_laplace, "map": run_map, "em": run_map}[method]
    effort = Effort(
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        progress=progress,
        sampler=sampler,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        keep_interrupted=keep_interrupted,
        client=client,
    )
    x, stats, said = run(structure, density, modes[0], inference, effort)
    asked, chains = (chains, draws), len(x)
    values = align_loadings(density.constrain(x.reshape(-1, density.size)), density, modes[0])
    posterior = posterior_dataset(structure, values, chains)
    with waiting("drawing labels", show=progress):
        if spread is None:
            recovered = recover(structure, values, labels)
        else:
            recovered = spread.recover(values, seed)
    notes: list[str] = []
    extra: dict[str, Any] = {}
    if method == "nuts":
        table = convergence_table(posterior.drop_vars("prevalence"))
        notes = nuts_warnings(table, stats)
        extra = {
            "r_hat_max": _number(table["r_hat"].max()),
            "ess_min": _number(table[["ess_bulk", "ess_tail"]].min().min()),
            "divergences": int(np.sum(stats.get("diverging", 0))),
        }
        modes = visits(modes, x)
        if x.shape[:2] != asked:
            notes.append(
                f"The run was interrupted: {x.shape[0]} chains of {x.shape[1]} draws are kept, of "
                f"{asked[0]} chains of {asked[1]} draws asked for."
            )
    elif method == "laplace":
        stats["lp"] = density.log_prior(x) + recovered.log_likelihood.sum(axis=1).reshape(
            chains, -1
        )
        k_hat = laplace_k_hat(modes[0], x, stats["lp"])
        extra = {"k_hat": k_hat}
        notes = laplace_warnings(k_hat)
    elif method == "em":
        extra = {"optimiser": "climb" if form is None else "em"}
    notes = [*said, *notes, *mode_warnings(modes), *name_warnings(structure, values)]
    stated = [*stated_assumptions(structure), *learned_assumptions(structure, values)]
    for note in [*notes, *independent_replicates(structure)]:
        warnings.warn(note, FitWarning, stacklevel=2)
    tree = assemble(structure, posterior, recovered, stats, chains)
    tree.attrs = attributes(
        structure, modes, notes, stated, extra, method=method, seed=seed, tune=tune,
        target_accept=target_accept, starts=starts,
    )  # fmt: skip
    return tree


def attributes(
    structure: Structure,
    modes: list[Mode],
    notes: list[str],
    stated: list[str],
    diagnostics: Mapping[str, Any],
    *,
    method: str,
    seed: int,
    **effort: Any,
) -> dict[str, Any]:
    """Return the attributes of a fit: what it is, how it was made, and what to know of it."""
    ratings, spec = structure.ratings, structure.spec
    return {
        "task": ratings.task.to_json(),
        "spec": json.dumps(asdict(spec)),
        "reference": spec.truth,
        "method": method,
        "seed": seed,
        "effort": json.dumps(effort),
        "partial": ratings.partial,
        "resolve": ratings.resolve,
        "versions": json.dumps(_versions()),
        "accounting": accounting_json(ratings.accounting),
        "warnings": json.dumps(notes),
        "assumptions": json.dumps(stated),
        "diagnostics": json.dumps(diagnostics),
        "modes": json.dumps([str(mode) for mode in modes]),
    }


def _number(value: float) -> float | None:
    """Return a number for JSON; None if it is undefined, as R-hat is for one chain."""
    return float(value) if np.isfinite(value) else None


def seed_of(rng: object) -> int:
    """Return the seed that is meant: a whole number itself, or one drawn by a generator.

    Raises
    ------
    FitError

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    if not isinstance(rng, int | np.integer) or rng < 0:
        raise FitError(
            f"rng={rng!r}; it must be a whole number of at least 0, or a numpy.random.Generator"
        )
    return int(rng)


def check_arguments(ratings: Ratings, method: str, target_accept: float, **counts: int) -> None:
    """Refuse arguments of ``fit`` that are out of range.

    Raises
    ------
    FitError
    """
    if not isinstance(ratings, Ratings):
        raise FitError(
            f"fit takes Ratings, not {type(ratings).__name__}; make them with "
            "assay.read_ratings(source, task=...)"
        )
    if method not in METHODS:
        raise FitError(f"method {method!r}; allowed: {', '.join(METHODS)}")
    if not 0 < target_accept < 1:
        raise FitError(f"target_accept={target_accept!r}; it must be between 0 and 1")
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < 1:
            raise FitError(f"{name}={value!r}; it must be a whole number of at least 1")
    if not (ratings.answers >= 0).any() and not np.isfinite(ratings.scores).any():
        raise FitError("no rating has an answer; there is nothing to learn from")


def _run_nuts(
    structure: Structure, density: Density, mode: Mode, rng: np.random.Generator, effort: Effort
) -> Run:
    shared: Any = {
        "draws": effort.draws,
        "tune": effort.tune,
        "chains": effort.chains,
        "seed": int(rng.integers(2**31)),
        "target_accept": effort.target_accept,
        "progress": effort.progress,
    }
    if effort.client is not None:
        from assay.distributed.chains import sample_chains

        found = sample_chains(effort.client, density, mode.x, mode_scale(mode), **shared)
        return *found, []
    if effort.sampler == "numpyro":
        from assay import numpyro_sampling
        from assay.jax_density import make_jax_density

        engine = make_jax_density(structure)
        found = numpyro_sampling.sample_nuts(engine, mode.x, mode_scale(mode), **shared)
        return *found, []

    def sample(**changes: Any) -> Chains:
        return sample_nuts(
            density,
            mode.x,
            mode_scale(mode),
            checkpoint=effort.checkpoint,
            keep_interrupted=effort.keep_interrupted,
            **(shared | changes),
        )

    found = sample()
    if found[0].shape[:2] != (effort.chains, effort.draws):
        return *found, []
    found, notes = without_strays(
        structure, density, mode, found, lambda n: sample(chains=1, seed=shared["seed"] + n)
    )
    return *found, notes


def run_laplace(
    structure: Structure, density: Density, mode: Mode, rng: np.random.Generator, effort: Effort
) -> Run:
    """Draw from the normal approximation at the mode.

    Raises
    ------
    FitError
        If there is none.
    """
    if mode.precision is None:
        raise FitError(
            "the curvature of the posterior is not known here (it has no proper peak, or raters "
            "share too many parameters), so that Laplace's approximation does not exist; use "
            "method='nuts'"
        )
    x = laplace_draws(mode, effort.draws * effort.chains, rng)
    return x.reshape(effort.chains, effort.draws, -1), {}, []


def run_map(
    structure: Structure, density: Density, mode: Mode, rng: np.random.Generator, effort: Effort
) -> Run:
    """Repeat the mode as often as draws are asked for."""
    shape = (effort.chains, effort.draws)
    x = np.broadcast_to(mode.x, (*shape, density.size))
    return x, {"lp": np.full(shape, mode.height)}, []


def align_loadings(values: dict[str, Floats], density: Density, mode: Mode) -> dict[str, Floats]:
    """Give the cluster loadings of every draw the sign they have at the mode.

    The likelihood does not change if all of them change sign; nothing else depends on it.
    """
    if "cluster_loading" not in values:
        return values
    ahead = density.constrain(mode.x)["cluster_loading"]
    flip = np.where(values["cluster_loading"] @ ahead < 0, -1.0, 1.0)
    return values | {"cluster_loading": values["cluster_loading"] * flip[:, None]}


def assemble(
    structure: Structure,
    posterior: xr.Dataset,
    found: Recovered,
    stats: Mapping[str, NDArray[Any]],
    chains: int,
) -> xr.DataTree:
    """Put all groups of a fit into one tree."""
    observed, constant = ratings_datasets(structure.ratings)
    draw_coords = {dim: posterior[dim].values for dim in ("chain", "draw")}
    shape = (chains, -1)
    labels = xr.Dataset(
        {
            "state": (
                ("chain", "draw", "item"),
                found.states.reshape(*shape, found.states.shape[1]),
            ),
            "state_probability": (("item", "state_name"), found.probabilities),
            **difficulty_variable(structure, found.difficulty),
        },
        coords={
            **draw_coords,
            "item": constant["item"].variable,
            "state_name": constant["state"].values,
        },
    )
    names, log_likelihood = _by_cluster(constant, structure, found.log_likelihood)
    (unit,) = names.dims
    likelihood = xr.Dataset(
        {"ratings": (("chain", "draw", unit), log_likelihood.reshape(*shape, len(names)))},
        coords={**draw_coords, unit: names},
    )
    statistics = xr.Dataset(
        {name: (("chain", "draw"), value) for name, value in stats.items()}, coords=draw_coords
    )
    return xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "sample_stats": statistics,
            "labels": labels,
            "log_likelihood": likelihood,
            "observed_data": observed,
            "constant_data": constant,
        }
    )


def difficulty_variable(structure: Structure, chance: Floats) -> dict[str, Any]:
    """How hard each item is: the probability that it is hard, or its expected difficulty."""
    if structure.difficulty.kind == "none":
        return {}
    name = "hard" if structure.difficulty.kind == "classes" else "difficulty"
    return {name: ("item", chance @ structure.difficulty.positions)}


def _by_cluster(
    constant: xr.Dataset, structure: Structure, log_likelihood: Floats
) -> tuple[xr.Variable, Floats]:
    """Log-likelihood (draw, cluster) where there are clusters, else (draw, item), and its names."""
    item = constant["item"].variable
    codes, names = pd.factorize(constant["item_cluster"].values)
    if len(names) == len(item):
        return item, log_likelihood
    # As they are: xarray would make every string anew.
    cluster = xr.Variable(("cluster",), names, fastpath=True)
    if log_likelihood.shape[1] == len(names) and structure.prevalence.has_clusters:
        return cluster, log_likelihood
    summed = np.zeros((len(log_likelihood), len(names)))
    np.add.at(summed.T, codes, log_likelihood.T)
    return cluster, summed


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
