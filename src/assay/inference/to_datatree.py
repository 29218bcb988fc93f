"""A fit as a DataTree: its groups and attributes."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay._util.errors import Note, notes_json
from assay._util.typing import Floats
from assay.data.states import MISSING
from assay.fits.datatree import SCHEMA_VERSION, accounting_json, design_variables, ratings_datasets
from assay.fits.latent_states import StatePosterior
from assay.inference.modes import Mode, reported_weight, seen_weight
from assay.modelling.spec import CONSENSUSES, IN_PART, KNOWN
from assay.modelling.structure import Structure

VERSIONS = (
    *("assay", "numpy", "numba", "nutpie", "pymc", "arviz", "xarray", "pandas"),
    "distributed",
)


def attributes(
    structure: Structure,
    modes: list[Mode],
    notes: list[Note],
    stated: list[str],
    diagnostics: Mapping[str, Any],
    *,
    method: str,
    seed: int,
    **effort: Any,
) -> dict[str, Any]:
    """Return the attributes of a fit: the model, the run, and its warnings."""
    ratings, spec = structure.ratings, structure.spec
    weights = {"mode_weight": seen_weight(modes), "reported_weight": reported_weight(modes)}
    return {
        "schema_version": SCHEMA_VERSION,
        "task": ratings.task.to_json(),
        "spec": json.dumps(asdict(spec)),
        "reference": whose_truth(structure),
        "method": method,
        "seed": seed,
        "effort": json.dumps(effort),
        "partial": ratings.partial,
        "resolve": ratings.resolve,
        "versions": json.dumps(_versions()),
        "accounting": accounting_json(ratings.accounting),
        "warnings": notes_json(notes),
        "assumptions": json.dumps(stated),
        "diagnostics": json.dumps({**diagnostics, **{k: w for k, w in weights.items() if w < 1}}),
        "modes": json.dumps([str(mode) for mode in modes]),
    }


def whose_truth(structure: Structure) -> str:
    """Return the reference of a fit; a consensus is replaced or completed by known truth."""
    reference, truth = structure.spec.truth, structure.ratings.truth
    if reference not in CONSENSUSES or (truth == MISSING).all():
        return reference
    return KNOWN if (truth != MISSING).all() else f"{reference}{IN_PART}"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in VERSIONS:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def assemble(
    structure: Structure,
    posterior: xr.Dataset,
    found: StatePosterior,
    stats: Mapping[str, NDArray[Any]],
    chains: int,
    *,
    lean: Floats | None = None,
) -> xr.DataTree:
    """Return the DataTree of a fit with all groups.

    ``lean`` (draw, label) is how far the raters lean from their pool.
    """
    observed, constant = ratings_datasets(structure.ratings)
    constant = constant.assign(design_variables(structure.prevalence.design.by_item()))
    draw_coords = {dim: posterior[dim].values for dim in ("chain", "draw")}
    shape = (chains, -1)
    labels = xr.Dataset(
        {
            "state": (
                ("chain", "draw", "item"),
                found.states.reshape(*shape, found.states.shape[1]),
            ),
            "state_probability": (("item", "state_name"), found.probabilities),
            **difficulty_variables(structure, found.difficulty),
        },
        coords={
            **draw_coords,
            "item": constant["item"].variable,
            "state_name": constant["state"].values,
        },
    )
    if lean is not None:
        leans = (("chain", "draw", "lean"), lean.reshape(*shape, lean.shape[1]))
        labels = labels.assign(pool_lean=leans).assign_coords(
            lean=[name for pool in structure.pools for name in pool.names]
        )
    names, log_likelihood = by_unit(constant, structure, found.log_likelihood)
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


def difficulty_variables(structure: Structure, chance: Floats) -> dict[str, Any]:
    """Return each item's probability of being hard, or its expected difficulty."""
    found: dict[str, Any] = {}
    for name, numbers in structure.difficulty.by_item(chance).items():
        dims = ("item", "label")[: numbers.ndim]
        coords = {"label": list(structure.ratings.task.label_names)} if "label" in dims else None
        found[name] = xr.DataArray(numbers, dims=dims, coords=coords)
    return found


def by_unit(
    constant: xr.Dataset, structure: Structure, log_likelihood: Floats
) -> tuple[xr.Variable, Floats]:
    """Return the log-likelihood by cluster if there are clusters, else by item, and its names."""
    item = constant["item"].variable
    codes, names = pd.factorize(constant["item_cluster"].values)
    if len(names) == len(item):
        return item, log_likelihood
    # The fast path avoids a copy of every string.
    cluster = xr.Variable(("cluster",), names, fastpath=True)
    by_cluster = structure.prevalence.has_clusters or structure.pattern.cases is not None
    if log_likelihood.shape[1] == len(names) and by_cluster:
        return cluster, log_likelihood
    summed = np.zeros((len(log_likelihood), len(names)))
    np.add.at(summed.T, codes, log_likelihood.T)
    return cluster, summed
