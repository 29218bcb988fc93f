"""fit_dataset: from a folder of Parquet files to a fit in Zarr, on a Dask cluster.

Nobody sees all of the data. Workers read partitions; a skeleton of few items gives all of them
the same numbers; modes are sought on a sample and followed on everything; each worker draws the
states of its own items and writes them into its region of one store.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.assumptions import learned_assumptions, stated_assumptions
from assay.centring import find_centred_modes
from assay.climbs import LARGE
from assay.cluster_loadings import align_loadings
from assay.density import make_density
from assay.diagnostics import mode_warnings
from assay.distributed import dataset
from assay.distributed.pieces import in_coordinates, without_clusters
from assay.distributed.skeleton import (
    Numbered,
    Numbering,
    make_skeleton,
    number,
    number_partition,
)
from assay.distributed.spreading import (
    SpreadDensity,
    follow_on_workers,
    same,
    sending,
    spread_density,
)
from assay.distributed.store import (
    Layout,
    annotate,
    lay_out,
    make_layout,
    waves,
    write_partition,
    write_statistics,
)
from assay.distributed.subsets import join_ratings, take_items
from assay.errors import FitError, FitWarning, ModelError
from assay.files import draft
from assay.fit_arguments import check_arguments
from assay.fit_attributes import attributes
from assay.fit_data import posterior_dataset
from assay.fit_diagnostics import diagnose_laplace
from assay.fit_tree import assemble
from assay.inference import RUNS, Effort
from assay.layers.perception import check_reference
from assay.model import Structure
from assay.modes import Mode
from assay.ratings import Accounting, Ratings
from assay.recovery import Recovered
from assay.seeds import seed_of
from assay.spec import Priors, Replicates, Spec, make_spec, recipes
from assay.task import Task

Floats = NDArray[np.float64]
METHODS = ("laplace", "map", "em")
FAN = 16
"""How many skeletons one task joins."""
PATIENCE = 20.0
"""Seconds in which a scheduler has to answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """A data set that lies with the workers.

    Attributes
    ----------
    client : distributed.Client
    numbered : tuple of distributed.Future
        The partitions.
    structure : Structure
        Of the skeleton; what it says of systems' shares is the whole data set's.
    numbering : Numbering
    facts : tuple of Facts
    """

    client: Any
    numbered: tuple[Any, ...]
    structure: Structure
    numbering: Numbering
    facts: tuple[dataset.Facts, ...]


def fit_dataset(
    folder: str | Path,
    *,
    task: str | Path | Task,
    out: str | Path,
    client: Any,
    reading: Mapping[str, Any] | None = None,
    raters: str | Mapping[str, str] = "hierarchical",
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    replicates: Replicates = "together",
    method: Literal["laplace", "map", "em"] = "laplace",
    draws: int = 1000,
    chains: int = 4,
    rng: int | np.random.Generator = 1,
    starts: int = 4,
) -> xr.DataTree:
    """Fit ratings that one machine cannot hold, on a Dask cluster, into a Zarr store.

    Parameters
    ----------
    folder : str or path
        Of Parquet files with the same columns, each with whole clusters, in a place that all
        workers can read.
    task : str, path or Task
        As for :func:`assay.read_ratings`.
    out : str or path
        The Zarr store to write, ending in ``.zarr``, in a place that all workers can write.
    client : distributed.Client or str
        Of the cluster, or the address of its scheduler.
    reading : mapping of str to object, optional
        Further arguments of :func:`assay.read_ratings`, for every file.
    raters, prevalence, reference, priors, replicates
        As for :func:`assay.build_model`.
    method, draws, chains, rng, starts
        As for :func:`assay.fit`. ``em`` climbs to the mode here, as ``map`` does. NUTS needs all
        data at each of its steps, and is not here.

    Returns
    -------
    xarray.DataTree
        As from :func:`assay.fit`, opened lazily: nothing is loaded before it is used.

    Raises
    ------
    RatingsError
        If the folder holds no partition.
    FitError
        If a file cannot be used, a cluster stands in two files, or an argument is out of range.
    ModelError, UnknownNameError
        If the specification does not fit the catalogue or the data.

    Warns
    -----
    FitWarning
        In words, if the draws are not to be trusted or another mode was seen.

    Notes
    -----
    The log-likelihood is a sum over clusters. Its value, gradient and Hessian are computed by
    partition and added up; the states are drawn by partition, from streams that depend on the
    seed and the partition's number alone. A worker that dies has its work done again by others.
    """
    target, seed = Path(out), seed_of(rng)
    if method not in METHODS:
        raise FitError(
            f"method={method!r}; over partitions there are laplace, map and em. NUTS needs all "
            "data at each step: read them with assay.read_ratings and fit(..., client=client)"
        )
    if target.suffix != ".zarr" or not target.absolute().parent.is_dir():
        raise FitError(f"out={str(out)!r}; name a .zarr store in a folder that exists")
    spec = make_spec(raters, prevalence, reference, priors, None, replicates)
    paths = [path.absolute() for path in dataset.list_partitions(folder)]
    with connected(client) as cluster:
        held = hold_dataset(cluster, paths, task, dict(reading or {}), spec)
        check_arguments(
            held.structure.ratings, method, 0.5, draws=draws, chains=chains, starts=starts
        )
        search, inference = np.random.default_rng(seed).spawn(2)
        density, modes = seek_modes(held, search, seed, starts=starts)
        x, stats, _ = RUNS[method](
            held.structure, density, modes[0], inference, Effort(draws=draws, chains=chains)
        )
        accounting = dataset.account_for(held.facts, paths, Path(folder))
        notes = write_fit(
            held, density, modes, np.array(x), stats, accounting, target.absolute(),
            method=method, seed=seed, starts=starts,
        )  # fmt: skip
    for note in notes:
        warnings.warn(note, FitWarning, stacklevel=2)
    return xr.open_datatree(target, engine="zarr", consolidated=False, chunks=None)


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Yield a client: the one that is given, or one of the scheduler at an address.

    Raises
    ------
    FitError
        If there is no Dask, no scheduler, or a task that no worker survives.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise FitError("a Dask cluster needs the extra: pip install 'assay[dask]'") from None
    try:
        found = Client(client, timeout=PATIENCE) if isinstance(client, str) else client
    except (OSError, TimeoutError, ValueError) as error:
        raise FitError(f"no Dask scheduler answers at {client}: {error}") from None
    try:
        yield found
    except KilledWorker as error:
        raise FitError(
            f"several workers died of one task ({error.task}), most often for want of memory: "
            "write smaller files, or give each worker more"
        ) from None
    finally:
        if found is not client:
            found.close()


def hold_dataset(
    client: Any, paths: Sequence[Path], task: str | Path | Task, reading: dict[str, Any], spec: Spec
) -> Held:
    """Have workers read the partitions, check that they fit together, and number them alike."""
    base = dataset.task_of(task, reading)
    full = dataset.complete_task(client, paths, base, reading)
    count = len(paths)
    parts = client.map(dataset.read_partition, paths, [full] * count, [reading] * count)
    facts = client.gather(client.map(dataset.describe, parts))
    dataset.check_sessions(facts, reading)
    dataset.require_whole_clusters(client, parts, paths, facts)
    skeleton = join_skeletons(client, parts, spec)
    groups = tuple(skeleton.raters["group"].astype(str).unique())
    if any(recipe.family == "scored" for recipe in recipes(spec, groups).values()):
        raise ModelError(
            "raters='scored' bins the scores of a rater by all of them together, which no "
            "partition shows; fit the answers, or read all data on one machine"
        )
    check_reference(skeleton, spec.reference)
    structure, numbering = number(skeleton, spec)
    with sending():
        given = client.submit(same, numbering, pure=False)
    numbered = client.map(number_partition, parts, [given] * count)
    places = sum(client.gather(client.map(attrgetter("places"), numbered)))
    design = replace(
        structure.prevalence.design, system_share=places / places.sum(axis=1, keepdims=True)
    )
    return Held(
        client=client,
        numbered=tuple(numbered),
        structure=replace(structure, prevalence=replace(structure.prevalence, design=design)),
        numbering=numbering,
        facts=tuple(facts),
    )


def join_skeletons(client: Any, parts: Sequence[Any], spec: Spec) -> Ratings:
    """Make a skeleton of the whole data set from those of the partitions, some at a time."""
    found = client.map(make_skeleton, parts, [spec] * len(parts))
    while len(found) > 1:
        fans = [found[n : n + FAN] for n in range(0, len(found), FAN)]
        found = client.map(_join, fans, [spec] * len(fans))
    skeleton: Ratings = found[0].result()
    return skeleton


def _join(skeletons: Sequence[Ratings], spec: Spec) -> Ratings:
    """On a worker: join skeletons into one."""
    try:
        return make_skeleton(join_ratings(skeletons), spec)
    except ValueError as error:
        raise FitError(str(error)) from None


def take_sample(numbered: Numbered, share: float, seed: Sequence[int]) -> Ratings:
    """On a worker: take about a share of the clusters, at least one, at random."""
    codes, names = pd.factorize(numbered.ratings.items["cluster"])
    count = max(1, round(share * len(names)))
    chosen = np.random.default_rng(list(seed)).choice(len(names), count, replace=False)
    return take_items(numbered.ratings, np.flatnonzero(np.isin(codes, chosen)))


def seek_modes(
    held: Held, rng: np.random.Generator, seed: int, *, starts: int
) -> tuple[SpreadDensity, list[Mode]]:
    """Seek modes on a sample of clusters from every partition, then on all data."""
    client, count = held.client, len(held.numbered)
    total = sum(fact.sizes["rating"] for fact in held.facts)
    share = 1.0 if total <= 2 * LARGE else LARGE / total
    seeds = [(seed, n) for n in range(count)]
    taken = client.gather(client.map(take_sample, held.numbered, [share] * count, seeds))
    sample = number_partition(join_ratings(taken), held.numbering).piece
    here, rough = find_centred_modes(
        sample.structure, make_density(sample.structure), rng, starts=starts, times=1 / share
    )
    with sending():
        coordinates = client.submit(same, without_clusters(here), pure=False)
    pieces = client.map(attrgetter("piece"), held.numbered)
    pieces = client.map(in_coordinates, pieces, [coordinates] * count, pure=False)
    density = spread_density(client, here, pieces)
    return density, follow_on_workers(sample.structure, here, density, rough)


def write_fit(
    held: Held,
    density: SpreadDensity,
    modes: list[Mode],
    x: Floats,
    stats: dict[str, Any],
    accounting: Accounting,
    target: Path,
    *,
    method: str,
    seed: int,
    starts: int,
) -> list[str]:
    """Write the fit, each worker its own items; returns what a reader must know of it."""
    structure = held.structure
    values = align_loadings(density.constrain(x.reshape(-1, density.size)), density, modes[0])
    layout = make_layout([fact.sizes for fact in held.facts], x.shape[1])
    stats = {"lp": np.zeros(x.shape[:2])} | stats
    posterior = posterior_dataset(structure, values, len(x))
    template = assemble(structure, posterior, _blank(structure, x), stats, len(x))
    # A skeleton may have whole clusters only of one item where the data have larger ones.
    if layout.unit not in template["log_likelihood"].dims:
        other = "item" if layout.unit == "cluster" else "cluster"
        template["log_likelihood"] = template["log_likelihood"].rename({other: layout.unit})
    numbers: dict[str, Any] = {}
    notes: list[str] = []
    with draft(target) as store:
        lay_out(store, template, layout)
        likelihood = write_labels(held, store, layout, density, modes[0], x, seed)
        if method == "laplace":
            stats["lp"] = density.log_prior(x) + likelihood
            numbers, notes = diagnose_laplace(modes[0], x, stats["lp"])
        elif method == "em":
            numbers = {"optimiser": "climb"}
        notes += mode_warnings(modes)
        stated = [*_stated(structure), *learned_assumptions(structure, values)]
        whole = replace(structure, ratings=replace(structure.ratings, accounting=accounting))
        write_statistics(store, stats)
        annotate(
            store,
            attributes(
                whole, modes, notes, stated, numbers, method=method, seed=seed, starts=starts
            ),
        )
    return notes


def _blank(structure: Structure, x: Floats) -> Recovered:
    """Return states of the skeleton's items, to be overwritten."""
    draws, items = x.shape[0] * x.shape[1], len(structure.ratings.items)
    return Recovered(
        states=np.zeros((draws, items), np.int16),
        probabilities=np.zeros((items, len(structure.prevalence.space.states))),
        difficulty=np.zeros((items, structure.difficulty.classes)),
        log_likelihood=np.zeros((draws, len(structure.pattern.cluster_bundle))),
    )


def write_labels(
    held: Held,
    store: Path,
    layout: Layout,
    density: SpreadDensity,
    mode: Mode,
    x: Floats,
    seed: int,
) -> Floats:
    """Have the states drawn and written; returns the log-likelihood of each draw."""
    with sending():
        draws = held.client.submit(same, x, pure=False)
    total = np.zeros(x.shape[:2])
    for wave in waves(layout):
        # Two that share a chunk of the store are never written side by side.
        found = [
            held.client.submit(
                write_partition,
                held.numbered[n],
                density.held[n],
                n,
                store,
                layout,
                mode,
                draws,
                seed,
                pure=False,
            )
            for n in wave
        ]
        total += sum(held.client.gather(found))
    return total


def _stated(structure: Structure) -> list[str]:
    """Say what was assumed; the skeleton cannot tell how many ratings repeat another."""
    plain = replace(structure, spec=replace(structure.spec, replicates="together"))
    found = stated_assumptions(plain)
    if structure.spec.replicates == "independent":
        found.append(
            "Ratings that repeat a rater's rating of the same item are taken for independent given "
            "the truth (replicates='independent'): they count as if other raters had given them."
        )
    return found
