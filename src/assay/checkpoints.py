"""Checkpoints: finished chains in a folder, taken up when the very same run is made again."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import FitError
from assay.files import draft
from assay.plurals import counted
from assay.walks import Walk

Chain = dict[str, NDArray[Any]]
"""Of one chain: ``x`` (draw, value), and the sampler's statistics (draw,)."""


def chain_file(folder: Path, walk: Walk, seed: int) -> Path:
    """Name the file of a chain by everything that it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = hashlib.sha256()
    density = walk.density
    for array in (*density.tape, *density.places, density.log_weight, *density.data):
        mark.update(np.ascontiguousarray(array).tobytes())
    root = walk.start.root
    for array in (walk.start.centre, root.data, root.indices, root.indptr):
        mark.update(array.tobytes())
    mark.update(repr((walk.draws, walk.tune, walk.target_accept, seed)).encode())
    return folder / f"chain-{mark.hexdigest()[:24]}.npz"


def require_own(folder: Path, walk: Walk, seeds: Sequence[int]) -> None:
    """Refuse a folder that holds chains of other runs, and none of this one.

    Whoever gives a folder means to go on: a run that begins anew without a word may cost a day.

    Raises
    ------
    FitError
    """
    files = {chain_file(folder, walk, seed).name for seed in seeds}
    found = {file.name for file in folder.glob("chain-*.npz")}
    if found and not files & found:
        raise FitError(
            f"{folder} holds {counted(len(found), 'finished chain')} of other runs, and none of "
            "this one: its data, model, seed, draws=, tune= or target_accept= are not theirs, or "
            "they come from another machine. Repeat that call to go on from them, or give this "
            "one a folder of its own"
        )


def keep_chain(chain: Chain, file: Path) -> None:
    """Write a chain that has come to its end."""
    with draft(file) as unfinished, unfinished.open("wb") as stream:
        np.savez(stream, **chain)  # type: ignore[arg-type]


def read_chain(file: Path) -> Chain:
    """Read a chain that an earlier run finished.

    Raises
    ------
    FitError
        If the file is not one of a checkpoint.
    """
    try:
        with np.load(file, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, KeyError) as error:
        raise FitError(f"cannot read the checkpoint {file}: {error}; delete it") from None
