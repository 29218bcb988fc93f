"""NUTS with nutpie: chains in parallel, interruption, checkpoints.

Trajectories alternate rotations, exact for a normal posterior, with kicks by its departure from
normality (Shahbaba et al. 2014, Statistics and Computing 24, 339-349).
"""

import hashlib
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import FitError, FitWarning
from assay._util.files import draft
from assay._util.progress import Board, progress_bar
from assay._util.text import counted
from assay._util.typing import Floats
from assay._util.validation import cut
from assay.inference.coordinates import Preconditioner, Start, arrays_of, walk_of
from assay.inference.density import NOT_FINITE, Density
from assay.inference.executors import Executor
from assay.inference.settings import SamplerSettings
from assay.likelihood.c_functions import c_functions, cards
from assay.likelihood.partition import cores

Chain = dict[str, NDArray[Any]]
"""One chain: ``x`` (draw, value), and the sampler's statistics (draw,)."""


def chain_file(folder: Path, walk: Preconditioner, seed: int) -> Path:
    """Return the checkpoint of a chain; its name hashes everything the chain depends on."""
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


def require_own(folder: Path, walk: Preconditioner, seeds: Sequence[int]) -> None:
    """Raise FitError if a checkpoint folder holds only chains of other runs.

    A user who gives a folder wants to resume; a silent new start may cost a day.
    """
    files = {chain_file(folder, walk, seed).name for seed in seeds}
    found = {file.name for file in folder.glob("chain-*.npz")}
    if found and not files & found:
        raise FitError(
            f"{folder} holds {counted(len(found), 'finished chain')} of other runs, but none of "
            "this run. The data, the model, the seed, `draws=`, `tune=`, `target_accept=` or the "
            "machine differ. Repeat the earlier call to continue its chains, or give this run a "
            "folder of its own",
            code="checkpoint-of-other-run",
            numbers={"chains": len(found)},
        )


def keep_chain(chain: Chain, file: Path) -> bool:
    """Save a finished chain; return whether that worked, so that a full disk loses no chain."""
    try:
        with draft(file) as unfinished, unfinished.open("wb") as stream:
            np.savez(stream, **chain)  # type: ignore[arg-type]
    except OSError:
        return False
    return True


def read_chain(file: Path, walk: Preconditioner, statistics: Collection[str]) -> Chain | None:
    """Read a chain with these statistics from its checkpoint; None if it is missing, or, with a
    warning, damaged.
    """
    if not file.exists():
        return None
    try:
        # np.load would leave a damaged archive open.
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found = dict(stored)
    except Exception as error:  # damaged archives raise errors of many types
        warnings.warn(_damaged(file, error), stacklevel=2)
        return None
    lengths = {len(array) for array in found.values() if array.ndim}
    numbers = all(array.dtype.kind in "fiub" and array.ndim for array in found.values())
    whole = found.keys() == {"x", *statistics} and numbers and lengths == {walk.draws}
    if not whole or found["x"].shape != (walk.draws, walk.density.size):
        warnings.warn(_damaged(file, "its content is not a chain of this run"), stacklevel=2)
        return None
    return found


def _damaged(file: Path, why: object) -> FitWarning:
    text = f"the checkpoint {file} cannot be read ({cut(str(why))}), so its chain is run again"
    return FitWarning(text, code="checkpoint-damaged")


STATISTICS = {
    "logp": "lp",
    "diverging": "diverging",
    "n_steps": "n_steps",
    "depth": "tree_depth",
    "step_size": "step_size",
    "energy": "energy",
}
"""nutpie's names of statistics, and ours."""
TRAJECTORIES = {"trajectory_kind": "ExactNormal"}
"""Setting of nutpie that ``nutpie.sample`` has no argument for."""
NO_START = "initialization points"
"""Part of nutpie's message if it cannot start a chain."""
PAUSE = 0.1
"""Seconds between two checks for an interruption."""


def sample_nuts(
    density: Density, start: Start, effort: SamplerSettings, seed: int
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample with nutpie: draws x (chain, draw, value), and statistics (chain, draw) by name, with
    ``lp``.
    """
    walk, chains = walk_of(density, start, effort), effort.chains
    seeds = chain_seeds(seed, chains)
    folder = effort.checkpoint
    files = [None if folder is None else chain_file(folder, walk, s) for s in seeds]
    found = _kept_chains(files, walk)
    lost: list[Path] = []
    stop = Event()
    with (
        progress_bar(chains, effort.total, show=effort.progress, tune=effort.tune) as show,
        ThreadPoolExecutor(cores()) as pool,
    ):
        board = Board(chains, effort.total, show)
        for n in found:
            board.finish(n)

        def run(n: int) -> Chain:
            def look(progress: Any) -> None:
                board.tell({n: (progress[0].finished_draws, progress[0].divergences)})

            chain = _arrays(_run(walk, seeds[n], look, stop), walk)
            if len(chain["x"]) == walk.draws:
                if (file := files[n]) is not None and not keep_chain(chain, file):
                    lost.append(file)
                board.finish(n)
            return chain

        running = {n: pool.submit(run, n) for n in range(chains) if n not in found}
        try:
            while not all(future.done() for future in running.values()):
                time.sleep(PAUSE)
        except BaseException as error:  # an interrupted run must not look complete
            stop.set()
            pool.shutdown(cancel_futures=True)
            if not (effort.keep_interrupted and isinstance(error, KeyboardInterrupt)):
                raise
            running = {n: future for n, future in running.items() if not future.cancelled()}
            so_far = [future.result() for future in running.values()]
            if not any(len(chain["x"]) for chain in [*so_far, *found.values()]):
                raise
        found |= {n: future.result() for n, future in running.items()}
    if lost:
        text = (
            f"{counted(len(lost), 'chain')} could not be stored in {lost[0].parent}; the disk may "
            "be full. The draws of this run are not affected"
        )
        warning = FitWarning(text, code="checkpoint-not-written", numbers={"chains": len(lost)})
        warnings.warn(warning, stacklevel=2)
    return together([found[n] for n in sorted(found)])


def sample_on_workers(
    density: Density, start: Start, effort: SamplerSettings, seed: int, executor: Executor
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample as :func:`sample_nuts`, one chain per task of an executor, with identical draws.

    The progress bar moves when a chain ends.
    """
    walk, chains = walk_of(density, start, effort), effort.chains
    given = executor.send(walk)
    parts = executor.map(sample_chain, [given] * chains, chain_seeds(seed, chains))
    found: list[Chain] = []
    with progress_bar(chains, effort.total, show=effort.progress, tune=effort.tune) as show:
        board = Board(chains, effort.total, show)
        for n, chain in enumerate(executor.each(parts)):
            board.tell({n: (effort.total, int(np.sum(chain.get("diverging", 0))))})
            found.append(chain)
    return together(found)


def _kept_chains(files: Sequence[Path | None], walk: Preconditioner) -> dict[int, Chain]:
    """Return the chains with a checkpoint, by their number."""
    kept = {
        n: read_chain(file, walk, STATISTICS.values())
        for n, file in enumerate(files)
        if file is not None
    }
    return {n: chain for n, chain in kept.items() if chain is not None}


def chain_seeds(seed: int, chains: int) -> list[int]:
    """Return a seed for each chain."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(chains)]


def sample_chain(walk: Preconditioner, seed: int) -> Chain:
    """Run one chain to its end."""
    return _arrays(_start(walk, seed, lambda _: None).wait(), walk)


def _run(walk: Preconditioner, seed: int, show: Callable[[Any], None], stop: Event) -> Any:
    """Run one chain until it ends or ``stop`` is set; return nutpie's trace."""
    chain = _start(walk, seed, show)
    while True:
        try:
            return chain.wait(timeout=PAUSE)
        except TimeoutError:
            if stop.is_set():
                return chain.abort()
        except RuntimeError as error:
            if NO_START not in str(error):
                raise
            raise FitError(NOT_FINITE, code="density-not-finite") from None


def _start(walk: Preconditioner, seed: int, show: Callable[[Any], None]) -> Any:
    """Start one chain in the background."""
    import nutpie

    return nutpie.sample(
        _compiled(walk),
        draws=walk.draws,
        tune=walk.tune,
        chains=1,
        cores=1,
        seed=seed,
        target_accept=walk.target_accept,
        save_warmup=False,
        progress_bar=False,
        progress_callback=show,
        return_raw_trace=True,
        blocking=False,
    )


def _compiled(walk: Preconditioner) -> Any:
    """Return the density as nutpie's model: a C function, as chains would share Python's lock."""
    size, arrays = walk.density.size, arrays_of(walk)
    log_density, copy = c_functions()
    return _model_class()(
        _n_dim=size,
        n_expanded=size,
        dims={},
        _coords={},
        _shapes={"z": (size,)},
        shape_info=(["z"], [slice(0, size)], [(size,)]),
        compiled_logp_func=log_density,
        compiled_expand_func=copy,
        initial_point_func=lambda seed: np.random.default_rng(seed % 2**63).standard_normal(size),
        # References that keep the arrays alive while their addresses are used.
        shared_data={str(n): array for n, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=cards(*arrays),
        logp_func=None,
        expand_func=None,
    )


@cache
def _model_class() -> Any:
    """Return a subclass of nutpie's model whose sampler uses ``TRAJECTORIES``."""
    from nutpie.compile_pymc import CompiledPyMCModel

    class Model(CompiledPyMCModel):  # type: ignore[misc]
        def _make_sampler(self, settings: Any, *others: Any) -> Any:
            settings.update_settings(settings.as_dict()["settings"] | TRAJECTORIES)
            return super()._make_sampler(settings, *others)

    return Model


def _arrays(trace: Any, walk: Preconditioner) -> Chain:
    """Return the draws after warm-up and their statistics from nutpie's trace."""
    import pyarrow as pa

    (points,), (stats,) = trace.get_arrow_trace()
    columns = {
        name: pa.array(stats.column(name)).to_numpy(zero_copy_only=False)
        for name in stats.column_names
        if name in (*STATISTICS, "tuning")
    }
    kept = ~columns.pop("tuning").astype(bool)
    z = pa.array(points.column("z")).flatten().to_numpy().reshape(-1, walk.density.size)
    found = {STATISTICS[name]: column[kept] for name, column in columns.items()}
    x, jacobian = walk.points(z[kept])
    return found | {"x": x, "lp": found["lp"] - jacobian}


def together(chains: list[Chain]) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Stack chains into arrays (chain, draw, ...), cut to the shortest; those with less than half
    the longest one's draws are dropped.
    """
    longest = max(len(chain["x"]) for chain in chains)
    kept = [chain for chain in chains if 2 * len(chain["x"]) >= longest]
    draws = min(len(chain["x"]) for chain in kept)
    stacked = {name: np.stack([chain[name][:draws] for chain in kept]) for name in kept[0]}
    return stacked.pop("x"), stacked
