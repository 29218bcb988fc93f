"""Checkpoints: finished chains in a folder, taken up when the very same run is made again."""

import hashlib
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import FitError, FitWarning
from assay._util.files import draft
from assay._util.plurals import counted
from assay._util.validation import cut
from assay.inference.walks import Walk

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
            "one a folder of its own",
            code="checkpoint-of-other-run",
            numbers={"chains": len(found)},
        )


def keep_chain(chain: Chain, file: Path) -> bool:
    """Write a chain that has come to its end; returns whether that was possible.

    A full disk is no reason to lose a chain that is in memory.
    """
    try:
        with draft(file) as unfinished, unfinished.open("wb") as stream:
            np.savez(stream, **chain)  # type: ignore[arg-type]
    except OSError:
        return False
    return True


def read_chain(file: Path, walk: Walk, statistics: Collection[str]) -> Chain | None:
    """Read a chain that an earlier run finished; None if it is not there, or damaged.

    A damaged one is run again, and a warning says so.

    Parameters
    ----------
    file : path
    walk : Walk
    statistics : collection of str
        What a chain has besides its draws.
    """
    if not file.exists():
        return None
    try:
        # Opened here: an archive that numpy cannot read would stay open.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found = dict(stored)
    except Exception as error:  # archives raise whatever they meet
        warnings.warn(_damaged(file, error), stacklevel=2)
        return None
    lengths = {len(array) for array in found.values() if array.ndim}
    numbers = all(array.dtype.kind in "fiub" and array.ndim for array in found.values())
    whole = found.keys() == {"x", *statistics} and numbers and lengths == {walk.draws}
    if not whole or found["x"].shape != (walk.draws, walk.density.size):
        warnings.warn(_damaged(file, "it holds something else"), stacklevel=2)
        return None
    return found


def _damaged(file: Path, why: object) -> FitWarning:
    text = f"the checkpoint {file} cannot be read ({cut(str(why))}): its chain is run again"
    return FitWarning(text, code="checkpoint-damaged")
