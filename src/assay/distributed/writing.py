"""The fit of a data set, written into one store by all workers."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import Note
from assay._util.files import draft
from assay._util.progress import unbroken, waiting
from assay.distributed.holding import Held
from assay.distributed.instruments import double_sampling_on_workers, unlike_gold_on_workers
from assay.distributed.store import (
    Regions,
    annotate,
    lay_out,
    make_regions,
    waves,
    write_partition,
    write_statistics,
)
from assay.fits.datatree import posterior_dataset
from assay.fits.latent_states import Recovered
from assay.inference.assumptions import learned_assumptions, stated_assumptions
from assay.inference.data_on_workers import SpreadDensity
from assay.inference.diagnostics import (
    design_warnings,
    diagnose_laplace,
    gold_warnings,
    mode_warnings,
    name_warnings,
)
from assay.inference.modes import Mode, align_loadings
from assay.inference.to_datatree import assemble, attributes
from assay.modelling.structure import Structure

Floats = NDArray[np.float64]


def write_fit(
    held: Held,
    density: SpreadDensity,
    modes: list[Mode],
    x: Floats,
    stats: dict[str, Any],
    target: Path,
    *,
    method: str,
    seed: int,
    starts: int,
    show: bool,
) -> list[Note]:
    """Write the fit, the items by the workers; return its notes."""
    structure = held.structure
    values = align_loadings(density.constrain(x.reshape(-1, density.size)), density, modes[0])
    regions = make_regions([fact.sizes for fact in held.facts], x.shape[1])
    stats = {"lp": np.zeros(x.shape[:2])} | stats
    posterior = posterior_dataset(structure, values, len(x))
    template = assemble(structure, posterior, _blank(structure, x), stats, len(x))
    # In the skeleton all clusters may have one item although they are larger in the data.
    if regions.unit not in template["log_likelihood"].dims:
        other = "item" if regions.unit == "cluster" else "cluster"
        template["log_likelihood"] = template["log_likelihood"].rename({other: regions.unit})
    numbers: dict[str, Any] = {}
    notes: list[Note] = []
    with draft(target) as store:
        with unbroken():
            lay_out(store, template, regions)
        with waiting("drawing labels", show=show, total=len(held.numbered), unit="files"):
            likelihood = write_labels(held, store, regions, density, modes[0], x, seed)
        if method == "laplace":
            with waiting("checking the approximation", show=show):
                stats["lp"] = density.log_prior(x) + likelihood
                numbers, notes = diagnose_laplace(modes[0], x, stats["lp"])
        elif method == "em":
            numbers = {"optimiser": "climb"}
        notes += [*mode_warnings(modes), *name_warnings(structure, values)]
        notes += design_warnings(structure.spec, double_sampling_on_workers(held))
        notes += gold_warnings(structure.spec, partial(unlike_gold_on_workers, held))
        stated = [*_stated(structure), *learned_assumptions(structure, values)]
        whole = replace(structure, ratings=replace(structure.ratings, accounting=held.accounting))
        told = attributes(
            whole, modes, notes, stated, numbers, method=method, seed=seed, starts=starts
        )
        with unbroken():
            write_statistics(store, stats)
            annotate(store, told)
    return notes


def write_labels(
    held: Held,
    store: Path,
    regions: Regions,
    density: SpreadDensity,
    mode: Mode,
    x: Floats,
    seed: int,
) -> Floats:
    """Draw and write the states on workers; return the log-likelihood (chain, draw)."""
    executor, draws = held.executor, held.executor.send(x)
    total = np.zeros(x.shape[:2])
    for wave in waves(regions):
        # Partitions of a wave share no chunk of the store.
        alike = [[given] * len(wave) for given in (store, regions, mode, draws, seed)]
        numbered, pieces = ([parts[n] for n in wave] for parts in (held.numbered, density.held))
        found = executor.map(write_partition, numbered, pieces, wave, *alike)
        # To the end, as late workers would create a removed store again.
        total += sum(executor.gather(found, to_the_end=True))
    return total


def _blank(structure: Structure, x: Floats) -> Recovered:
    """Return placeholder states of the skeleton's items."""
    draws, items = x.shape[0] * x.shape[1], len(structure.ratings.items)
    return Recovered(
        states=np.zeros((draws, items), np.int16),
        probabilities=np.zeros((items, len(structure.prevalence.space.states))),
        difficulty=np.zeros((items, structure.difficulty.classes)),
        log_likelihood=np.zeros((draws, len(structure.pattern.cluster_bundle))),
    )


def _stated(structure: Structure) -> list[str]:
    """Return the assumptions; the skeleton does not know the number of repeated ratings."""
    plain = replace(structure, spec=replace(structure.spec, replicates="together"))
    found = stated_assumptions(plain)
    if structure.spec.replicates == "independent":
        found.append(
            "Ratings that repeat a rater's rating of the same item are taken for independent given "
            "the truth (`replicates='independent'`): they count as if other raters had given them."
        )
    return found
