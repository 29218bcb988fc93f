"""All groups of a fit, put into one tree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from assay.fits.datatree import design_variables, ratings_datasets
from assay.fits.latent_states import Recovered
from assay.modelling.model import Structure

Floats = NDArray[np.float64]


def assemble(
    structure: Structure,
    posterior: xr.Dataset,
    found: Recovered,
    stats: Mapping[str, NDArray[Any]],
    chains: int,
) -> xr.DataTree:
    """Put all groups of a fit into one tree."""
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
    """How hard each item is: the probability that it is hard, or its expected difficulty."""
    found: dict[str, Any] = {}
    for name, numbers in structure.difficulty.by_item(chance).items():
        dims = ("item", "label")[: numbers.ndim]
        coords = {"label": list(structure.ratings.task.label_names)} if "label" in dims else None
        found[name] = xr.DataArray(numbers, dims=dims, coords=coords)
    return found


def by_unit(
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
