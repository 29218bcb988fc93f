"""One Zarr store with the layout of ``assay.save``, in which each worker writes its items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from assay._util.typing import Floats
from assay.distributed.skeleton import Numbered
from assay.fits.datatree import ratings_datasets
from assay.fits.latent_states import StatePosterior, sample_states
from assay.inference.class_drift import LabelSums, label_sums
from assay.inference.data_on_workers import LABEL_STREAM
from assay.inference.modes import Mode, align_loadings
from assay.inference.pieces import Piece
from assay.inference.to_datatree import difficulty_variables

GROWING = ("rating", "item", "place", "cluster")
"""Dims whose length grows with the data."""
BLOCK = 32_000_000
"""States drawn before they are written."""
TOGETHER = 256_000_000
"""States of all items in a row of chunks, which a reader of one draw loads."""
UNKNOWN = {
    "rating_session": -1,
    "rating_audit": -1,
    "rating_score": np.nan,
    "rating_seconds": np.nan,
}
"""Fill values of variables that some partitions lack."""


@dataclass(frozen=True, kw_only=True)
class Regions:
    """Regions of the partitions, and chunks of the store.

    starts, chunks : by dim: the start of each partition, then the end; chunks also of ``draw``
    unit : dim of the log-likelihood, ``cluster`` or ``item``
    """

    starts: Mapping[str, tuple[int, ...]]
    chunks: Mapping[str, int]
    unit: str

    def region(self, dims: Sequence[str], partition: int) -> tuple[slice, ...]:
        """Return a partition's region in an array with these dims."""
        return tuple(
            slice(*self.starts[dim][partition : partition + 2])
            if dim in self.starts
            else slice(None)
            for dim in dims
        )


def make_regions(sizes: Sequence[Mapping[str, int]], draws: int) -> Regions:
    """Return adjacent regions for partitions of these sizes."""
    starts = {
        dim: tuple(int(n) for n in np.cumsum([0, *(size[dim] for size in sizes)]))
        for dim in GROWING
    }
    chunks = {dim: max(1, -(-ends[-1] // len(sizes))) for dim, ends in starts.items()}
    chunks["draw"] = max(
        1, min(draws, BLOCK // chunks["item"], TOGETHER // max(1, starts["item"][-1]))
    )
    unit = "item" if starts["cluster"][-1] == starts["item"][-1] else "cluster"
    return Regions(starts=starts, chunks=chunks, unit=unit)


def waves(regions: Regions) -> list[list[int]]:
    """Group partitions that share no chunk, which can be written in parallel."""
    count = len(regions.starts["item"]) - 1
    ends = [
        [
            (starts[n] // regions.chunks[dim], (starts[n + 1] - 1) // regions.chunks[dim])
            for n in range(count)
        ]
        for dim, starts in regions.starts.items()
    ]
    found: list[list[int]] = []
    for n in range(count):
        # Partitions are in order, so only the last of a group can share a chunk with this one.
        free = (w for w in found if all(dim[w[-1]][1] < dim[n][0] for dim in ends))
        group = next(free, None)
        if group is None:
            found.append([n])
        else:
            group.append(n)
    return found


def lay_out(store: Path, template: xr.DataTree, regions: Regions) -> None:
    """Write a template, and give its arrays the length of the whole data."""
    import zarr

    template.to_zarr(store, mode="w", consolidated=False, write_empty_chunks=True)
    root = zarr.open_group(store, mode="r+", zarr_format=3)
    for name in template.children:
        group = root[name]
        assert isinstance(group, zarr.Group)
        for variable, array in list(group.arrays()):
            dims = tuple(str(dim) for dim in getattr(array.metadata, "dimension_names", ()))
            if any(dim in regions.starts for dim in dims):
                _replace(group, variable, array, dims, regions)


def _replace(group: Any, name: str, array: Any, dims: tuple[str, ...], regions: Regions) -> None:
    shape = [
        regions.starts[dim][-1] if dim in regions.starts else length
        for dim, length in zip(dims, array.shape, strict=True)
    ]
    chunks = [
        1 if dim == "chain" else min(regions.chunks.get(dim, length), length) or 1
        for dim, length in zip(dims, shape, strict=True)
    ]
    group.create_array(
        name,
        shape=shape,
        chunks=chunks,
        dtype=array.metadata.data_type,
        fill_value=UNKNOWN.get(name, array.fill_value),
        dimension_names=dims,
        attributes=dict(array.attrs),
        overwrite=True,
    )


def write_partition(
    numbered: Numbered,
    piece: Piece,
    number: int,
    store: Path,
    regions: Regions,
    mode: Mode,
    given: tuple[Floats, Floats | None],
    seed: int,
) -> tuple[Floats, list[LabelSums]]:
    """On a worker, draw the states of a partition's items and write all results; return the
    log-likelihood (chain, draw) and each label's sums. Repetition writes the same.

    ``given`` are unconstrained draws (chain, draw, value), in the coordinates of ``piece``, and the
    leans of the raters (draw of all chains, lean).
    """
    import zarr

    zarr.config.set({"array.write_empty_chunks": True})  # so that load notices a lost chunk
    x, lean = given
    root = zarr.open_group(store, mode="r+", zarr_format=3)
    observed, constant = ratings_datasets(numbered.ratings)
    for name in ("rating_item", "place_item"):
        constant[name] = constant[name] + regions.starts["item"][number]
    _write(root, "observed_data", observed, regions, number)
    _write(root, "constant_data", constant, regions, number)
    ratings, structure, density = numbered.ratings, piece.structure, piece.density
    items = len(ratings.items)
    total = np.empty(x.shape[:2])
    probabilities = np.zeros((items, len(structure.prevalence.space.states)))
    difficulty = np.zeros((items, structure.difficulty.classes))
    for chain, first in np.ndindex(len(x), -(-x.shape[1] // regions.chunks["draw"])):
        draws = slice(first * regions.chunks["draw"], (first + 1) * regions.chunks["draw"])
        block = x[chain, draws]
        values = align_loadings(density.constrain(block), density, mode)
        rng = np.random.default_rng([seed, LABEL_STREAM, number, chain, first])
        leans = None if lean is None else lean.reshape(*x.shape[:2], -1)[chain, draws]
        found = sample_states(structure, values, rng, leans)
        total[chain, draws] = found.log_likelihood.sum(axis=1)
        probabilities += found.probabilities * len(block)
        difficulty += found.difficulty * len(block)
        _write_block(root, found, numbered, regions, number, chain, draws)
    probabilities /= x.shape[0] * x.shape[1]
    difficulty /= x.shape[0] * x.shape[1]
    labels = xr.Dataset(
        {
            "state_probability": (("item", "state_name"), probabilities),
            **difficulty_variables(structure, difficulty),
        },
        coords={"item": constant["item"].values},
    )
    _write(root, "labels", labels, regions, number)
    named = ratings.items["cluster"].unique() if regions.unit == "cluster" else ratings.items.index
    coords = xr.Dataset(coords={regions.unit: np.asarray(named, object)})
    _write(root, "log_likelihood", coords, regions, number)
    return total, label_sums(replace(structure, ratings=ratings), probabilities)


def _write(root: Any, group: str, data: xr.Dataset, regions: Regions, number: int) -> None:
    """Write the variables that grow with the data into their regions."""
    for name, variable in data.variables.items():
        dims = [str(dim) for dim in variable.dims]
        if any(dim in regions.starts for dim in dims):
            root[f"{group}/{name}"][regions.region(dims, number)] = variable.values


def _write_block(
    root: Any,
    found: StatePosterior,
    numbered: Numbered,
    regions: Regions,
    number: int,
    chain: int,
    draws: slice,
) -> None:
    items, units = regions.region(("item",), number), regions.region((regions.unit,), number)
    root["labels/state"][(chain, draws, *items)] = found.states
    likelihood = _by_unit(found.log_likelihood, numbered, regions.unit)
    root["log_likelihood/ratings"][(chain, draws, *units)] = likelihood


def _by_unit(log_likelihood: Floats, numbered: Numbered, unit: str) -> Floats:
    """Sum log-likelihoods (draw, cluster of the model) over clusters of the data."""
    if unit == "item" or numbered.piece.structure.prevalence.has_clusters:
        return log_likelihood
    codes, names = pd.factorize(numbered.ratings.items["cluster"])
    found = np.zeros((len(log_likelihood), len(names)))
    np.add.at(found.T, codes, log_likelihood.T)
    return found


def write_statistics(store: Path, statistics: Mapping[str, Floats]) -> None:
    """Replace the template's sampler statistics (chain, draw)."""
    import zarr

    root: Any = zarr.open_group(store, mode="r+", zarr_format=3)
    for name, value in statistics.items():
        root[f"sample_stats/{name}"][:] = value


def annotate(store: Path, attributes: Mapping[str, Any]) -> None:
    """Add attributes to a written fit."""
    import zarr

    zarr.open_group(store, mode="r+", zarr_format=3).attrs.update(attributes)
