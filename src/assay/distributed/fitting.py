"""``fit_dataset``: from a folder of Parquet files to a fit in Zarr, on a Dask cluster.

A skeleton of few items gives all workers the same numbers. Modes are found on a sample and followed
on all data; each worker draws the states of its items into its region of one store.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from assay._util.errors import FitError, FitWarning
from assay._util.progress import waiting
from assay._util.random import seed_of
from assay.data.task import Task
from assay.distributed.holding import Held, hold_dataset
from assay.distributed.instruments import rating_count, sample_on_workers
from assay.distributed.partitions import list_partitions
from assay.distributed.skeleton import model_sample
from assay.distributed.writing import write_fit
from assay.inference.data_on_workers import SpreadDensity, follow_on_workers, spread_density
from assay.inference.density import make_density
from assay.inference.executors import Executor, require_executor
from assay.inference.fit import repeat_mode, run_laplace
from assay.inference.modes import Mode, labels_at, name_trades
from assay.inference.partial_centring import find_centred_modes
from assay.inference.precision import LARGE
from assay.inference.settings import SamplerSettings, check_answers, check_counts
from assay.modelling.priors import Priors
from assay.modelling.spec import DEFAULT_RATERS, GoldChosen, Replicates, make_spec
from assay.modelling.structure import refuse_idle

METHODS = ("laplace", "map", "em")


def fit_dataset(
    folder: str | Path,
    *,
    task: str | Path | Task,
    out: str | Path,
    executor: Executor | None = None,
    reading: Mapping[str, Any] | None = None,
    raters: str | Mapping[str, str] | None = None,
    prevalence: str = "loglinear",
    reference: str | None = None,
    priors: Priors = None,
    replicates: Replicates = "together",
    gold_chosen: GoldChosen = "random",
    method: Literal["laplace", "map", "em"] = "laplace",
    draws: int = 1000,
    chains: int = 4,
    rng: int | np.random.Generator = 1,
    starts: int = 4,
    progress: bool = True,
    client: None = None,
) -> xr.DataTree:
    """Fit ratings that are too large for one machine, on a Dask cluster, into a Zarr store.

    Parameters
    ----------
    folder : str or path
        Folder of Parquet files with the same columns, each with whole clusters, which all workers
        can read.
    task : str, path or Task
        As for :func:`assay.read_ratings`.
    out : str or path
        The Zarr store to write, ending in ``.zarr``, where all workers can write.
    executor : Executor
        The cluster, from :func:`assay.dask_executor`.
    reading : mapping of str to object, optional
        Further arguments of :func:`assay.read_ratings`, for every file.
    raters, prevalence, reference, priors, replicates
        As for :func:`assay.build_model`. The default raters have no ``drift``.
    gold_chosen, method, draws, chains, rng, starts
        As for :func:`assay.fit`, but ``em`` climbs to the mode like ``map``. NUTS is not
        available, since it needs all data at each step.
    progress : bool
        Whether to show progress on standard error.
    client : None
        The former name of ``executor``.

    Returns
    -------
    xarray.DataTree
        As from :func:`assay.fit`, opened lazily: data are loaded when they are used.

    Raises
    ------
    RatingsError
        If the folder holds no partition.
    FitError
        If a file cannot be used, two files share a cluster of items, or an argument is out of
        range. Also if the Dask cluster is lost or has no worker, or the store cannot be written.
    ModelError, UnknownNameError
        If the specification does not fit the catalogue or the data.

    Warns
    -----
    FitWarning
        If the draws are not reliable or there is another mode.

    Notes
    -----
    The log-likelihood is a sum over clusters. Its value, gradient and Hessian are computed by
    partition and summed. The states are drawn by partition, from streams that depend only on the
    seed and the partition's number. Other workers repeat the work of a worker that dies.
    """
    target, seed = Path(out), seed_of(rng)
    if method not in METHODS:
        raise FitError(
            f"`method={method!r}`; over partitions there are laplace, map and em. NUTS needs all "
            "data at each step: read them with assay.read_ratings and `fit(..., "
            "executor=executor)`",
            code="partitions-unsupported",
        )
    if target.suffix != ".zarr" or not target.absolute().parent.is_dir():
        raise FitError(
            f"`out={str(out)!r}`; name a .zarr store in a folder that exists", code="output-place"
        )
    check_counts(draws=draws, chains=chains, starts=starts)
    recipe = DEFAULT_RATERS if raters is None else raters
    spec = make_spec(recipe, prevalence, reference, priors, None, replicates, gold_chosen)
    if "misreading" in spec.rater_parts:
        raise FitError(
            "the layer misreading does not work over partitions, which number the readings of "
            "their clusters apart. Read all data with assay.read_ratings and `fit(..., "
            "executor=executor)`, or leave the layer out",
            code="partitions-unsupported",
        )
    paths = [path.absolute() for path in list_partitions(folder)]
    executor = require_executor(executor, client)
    executor.ready(show=progress)
    held = hold_dataset(
        executor, paths, task, dict(reading or {}), spec, named=raters is not None, show=progress
    )
    refuse_idle(held.structure, priors)
    check_answers(held.structure.ratings)
    search, inference = np.random.default_rng(seed).spawn(2)
    with waiting("seeking modes", show=progress, unit="passes"):
        density, modes = seek_modes(held, search, seed, starts=starts)
    effort = SamplerSettings(draws=draws, chains=chains, progress=progress)
    if method == "laplace":
        x, stats, _ = run_laplace(modes[0], inference, effort)
    else:
        x, stats, _ = repeat_mode(modes[0], effort)
    with in_place(target):
        notes = write_fit(
            held, density, modes, np.array(x), stats, target.absolute(),
            method=method, seed=seed, starts=starts, show=progress,
        )  # fmt: skip
    for note in notes:
        warnings.warn(FitWarning.of(note), stacklevel=2)
    return xr.open_datatree(target, engine="zarr", consolidated=False, chunks=None)


@contextmanager
def in_place(target: Path) -> Iterator[None]:
    """Turn an OSError of the store, here or on a worker, into FitError."""
    try:
        yield
    except OSError as error:
        raise FitError(
            f"cannot write {target}: {error.strerror or error}. Give a place where all "
            "workers can write",
            code="file-not-written",
        ) from None


def seek_modes(
    held: Held, rng: np.random.Generator, seed: int, *, starts: int
) -> tuple[SpreadDensity, list[Mode]]:
    """Find modes on a sample of clusters from every partition, then on all data."""
    executor, total = held.executor, rating_count(held)
    share = 1.0 if total <= 2 * LARGE else LARGE / total
    sample = model_sample(sample_on_workers(held, share, seed), held.numbering)
    here, rough = find_centred_modes(
        sample, make_density(sample), rng, starts=starts, times=1 / share
    )
    density = spread_density(executor, here, executor.map(attrgetter("piece"), held.numbered))
    density, modes = follow_on_workers(sample, here, density, rough)
    if len(modes) > 1:
        told = [labels_at(sample, density, mode.x[None]) for mode in modes]
        modes = name_trades(sample, modes, told)
    return density, modes
