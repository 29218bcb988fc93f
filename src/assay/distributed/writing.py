"""The fit of a data set, written into one store by all workers."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from assay._util.errors import Note
from assay._util.files import draft
from assay._util.progress import unbroken, waiting
from assay._util.typing import Floats
from assay.distributed.holding import Held
from assay.distributed.instruments import (
    counts_on_workers,
    departures_on_workers,
    double_sampling_on_workers,
    rating_count,
    unlike_gold_on_workers,
)
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
from assay.fits.latent_states import StatePosterior
from assay.fits.schema import Method
from assay.fits.view import FitView
from assay.inference.assumptions import (
    MOST_RATINGS,
    group_error_warnings,
    unchecked_group_errors,
)
from assay.inference.class_drift import LabelSums
from assay.inference.data_on_workers import SpreadDensity
from assay.inference.diagnose import Evidence, diagnose
from assay.inference.diagnostics import diagnose_laplace
from assay.inference.lean_draws import draw_pool_lean
from assay.inference.modes import Mode, align_loadings
from assay.inference.to_datatree import assemble, attributes
from assay.modelling.structure import Structure


def write_fit(
    held: Held,
    density: SpreadDensity,
    modes: list[Mode],
    x: Floats,
    stats: dict[str, Any],
    target: Path,
    *,
    method: Method,
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
    lean = draw_pool_lean(structure, values, method=method, seed=seed)
    template = assemble(structure, posterior, _blank(structure, x), stats, len(x), lean=lean)
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
            likelihood, labels = write_labels(
                held, store, regions, density, modes[0], x, lean, seed
            )
        if method == "laplace":
            with waiting("checking the approximation", show=show):
                stats["lp"] = density.log_prior(x) + likelihood
                numbers, notes = diagnose_laplace(modes[0], x, stats["lp"])
        elif method == "em":
            numbers = {"optimiser": "climb"}
        whole = replace(structure, ratings=replace(structure.ratings, accounting=held.accounting))
        told = partial(
            attributes, whole, modes,
            diagnostics=numbers, method=method, seed=seed, starts=starts,
        )  # fmt: skip
        with unbroken():
            write_statistics(store, stats)
            annotate(store, told(notes=notes, stated=[]))  # so that the store can be read
        with waiting("looking for what may mislead", show=show):
            evidence = _evidence(held, labels, store, seed)
            found = diagnose(structure, values, modes, evidence, draws=notes, method=method)
        with unbroken():
            annotate(store, told(notes=found.notes, stated=found.assumptions) | found.attributes)
    return found.notes


def _evidence(held: Held, labels: Sequence[LabelSums], store: Path, seed: int) -> Evidence:
    """Return what the finders of warnings need, added up by the workers."""
    return Evidence(
        labels=labels,
        counts=counts_on_workers(held),
        scores=(),  # partitions with the family of scores are refused
        design=double_sampling_on_workers(held),
        unlike_gold=partial(unlike_gold_on_workers, held),
        departures=partial(departures_on_workers, held),
        group_errors=partial(_group_errors, held, store, seed),
    )


def _group_errors(held: Held, store: Path, seed: int) -> list[Note]:
    """Warn of rater groups that err together, from the written fit if it is small enough."""
    if held.structure.ratings.raters["group"].nunique() < 2:
        return []
    if rating_count(held) > MOST_RATINGS:
        return unchecked_group_errors(held.structure, rating_count(held))
    with xr.open_datatree(store, engine="zarr", consolidated=False, chunks=None) as fit:
        view, rng = FitView.of(fit), np.random.default_rng(seed)
        return group_error_warnings(view.structure, view.draws_of_labels, view.states, rng)


def write_labels(
    held: Held,
    store: Path,
    regions: Regions,
    density: SpreadDensity,
    mode: Mode,
    x: Floats,
    lean: Floats | None,
    seed: int,
) -> tuple[Floats, list[LabelSums]]:
    """Draw and write the states on workers, given the leans (draw, lean) of the raters.

    Return the log-likelihood (chain, draw), and the sums of each label, over all partitions.
    """
    executor, draws = held.executor, held.executor.send((x, lean))
    total = np.zeros(x.shape[:2])
    sums: list[list[LabelSums]] = []
    for wave in waves(regions):
        # Partitions of a wave share no chunk of the store.
        alike = [[given] * len(wave) for given in (store, regions, mode, draws, seed)]
        numbered, pieces = ([parts[n] for n in wave] for parts in (held.numbered, density.held))
        found = executor.map(write_partition, numbered, pieces, wave, *alike)
        # To the end, as late workers would create a removed store again.
        for likelihood, labels in executor.gather(found, to_the_end=True):
            total += likelihood
            sums.append(labels)
    return total, [sum(others, start=first) for first, *others in zip(*sums, strict=True)]


def _blank(structure: Structure, x: Floats) -> StatePosterior:
    """Return placeholder states of the skeleton's items."""
    draws, items = x.shape[0] * x.shape[1], len(structure.ratings.items)
    return StatePosterior(
        states=np.zeros((draws, items), np.int16),
        probabilities=np.zeros((items, len(structure.prevalence.space.states))),
        difficulty=np.zeros((items, structure.difficulty.classes)),
        log_likelihood=np.zeros((draws, structure.pattern.clusters)),
    )
