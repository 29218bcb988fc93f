"""NUTS through nutpie on a :class:`~assay.density.Density`: chains, progress, interruption."""

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.errors import FitError
from assay.files import draft
from assay.kernels.c_functions import c_functions, cards
from assay.normal_scores import NormalScores, exponential_scores
from assay.partition import cores
from assay.progress import progress_bar

Floats = NDArray[np.float64]
Chain = dict[str, NDArray[Any]]
"""Of one chain: ``x`` (draw, value), and the sampler's statistics (draw,)."""
STATISTICS = {
    "logp": "lp",
    "diverging": "diverging",
    "n_steps": "n_steps",
    "depth": "tree_depth",
    "step_size": "step_size",
    "energy": "energy",
}
"""nutpie's names, and ours."""
PAUSE = 0.1
"""Seconds between two looks at whether to go on."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """Where chains start, and how far they walk in a step.

    Attributes
    ----------
    centre : ndarray (value,)
        The mode.
    scale : ndarray (value,)
        Standard deviations of the approximation at the mode; chains start that far around it.
    """

    centre: Floats
    scale: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """What the chains of a run have in common.

    They walk in units of the scale around the centre. Positive unknowns, of which the density has
    the logarithms, stand there by their scores: where an SD may be next to 0, chains would lose
    themselves in the long tail of its logarithm.
    """

    density: Density
    start: Start
    draws: int
    tune: int
    target_accept: float

    @cached_property
    def scores(self) -> NormalScores:
        """The scores of the positive unknowns."""
        return exponential_scores(self.density)

    @cached_property
    def units(self) -> tuple[Floats, Floats]:
        """Centre and scale; those of positive unknowns by their scores."""
        centre, scale, at = self.start.centre.copy(), self.start.scale.copy(), self.scores.at
        centre[at] = self.scores.scores(self.start.centre[at])
        scale[at] /= self.scores.slopes(centre[at])[0]
        return centre, scale

    def points(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the unknowns at points (draw, value) of a chain, and the log Jacobian there."""
        centre, scale = self.units
        x, at = centre + z * scale, self.scores.at
        slope, _ = self.scores.slopes(x[:, at])
        x[:, at] = self.scores.logs(x[:, at])
        return x, np.log(slope).sum(axis=1)


def sample_nuts(
    density: Density,
    start: Start,
    *,
    draws: int,
    tune: int,
    chains: int,
    seed: int,
    target_accept: float,
    progress: bool,
    checkpoint: Path | None = None,
    keep_interrupted: bool = False,
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample with nutpie, in units of the posterior's width at the mode.

    Parameters
    ----------
    density : Density
    start : Start
    draws, tune, chains : int
        Draws kept and warm-up draws of each chain, number of chains.
    seed : int
    target_accept : float
        Between 0 and 1.
    progress : bool
        Whether to show a bar on standard error.
    checkpoint : path, optional
        A folder in which each finished chain is kept, and from which it is taken if the very same
        run is made again.
    keep_interrupted : bool
        Whether Ctrl-C returns the draws so far; else it is raised. Ctrl-C during the warm-up is
        raised always: there are no draws yet.

    Returns
    -------
    x : ndarray (chain, draw, value)
    stats : dict of ndarray (chain, draw)
        ``lp``, ``diverging``, ``n_steps``, ``tree_depth``, ``step_size``, ``energy``.
    """
    walk = Walk(
        # Chains run side by side already.
        density=replace(density, threads=1),
        start=start,
        draws=draws,
        tune=tune,
        target_accept=target_accept,
    )
    seeds = chain_seeds(seed, chains)
    files = [None if checkpoint is None else _file(checkpoint, walk, s) for s in seeds]
    found = {n: read_chain(f) for n, f in enumerate(files) if f is not None and f.exists()}
    stop = Event()
    with (
        progress_bar(chains, draws + tune, show=progress) as show,
        ThreadPoolExecutor(cores()) as pool,
    ):
        board = _Board(chains, draws + tune, show)
        for n in found:
            board.finish(n)

        def run(n: int) -> Chain:
            chain = _arrays(_run(walk, seeds[n], board.of_chain(n), stop), walk)
            if len(chain["x"]) == draws:
                _keep(chain, files[n])
                board.finish(n)
            return chain

        running = {n: pool.submit(run, n) for n in range(chains) if n not in found}
        try:
            while not all(future.done() for future in running.values()):
                time.sleep(PAUSE)
        except BaseException as error:  # an interrupted run must not pass for a whole one
            stop.set()
            pool.shutdown(cancel_futures=True)
            if not (keep_interrupted and isinstance(error, KeyboardInterrupt)):
                raise
            running = {n: future for n, future in running.items() if not future.cancelled()}
            so_far = [future.result() for future in running.values()]
            if not any(len(chain["x"]) for chain in [*so_far, *found.values()]):
                raise
        found |= {n: future.result() for n, future in running.items()}
    return together([found[n] for n in sorted(found)])


def chain_seeds(seed: int, chains: int) -> list[int]:
    """Return the seed of each chain of a run."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(chains)]


def sample_chain(walk: Walk, seed: int) -> Chain:
    """Run one chain to its end."""
    return _arrays(_start(walk, seed, lambda _: None).wait(), walk)


def _run(walk: Walk, seed: int, show: Callable[[Any], None], stop: Event) -> Any:
    """Run one chain, to its end or until it is told to stop; returns nutpie's trace."""
    chain = _start(walk, seed, show)
    while True:
        try:
            return chain.wait(timeout=PAUSE)
        except TimeoutError:
            if stop.is_set():
                return chain.abort()


def _start(walk: Walk, seed: int, show: Callable[[Any], None]) -> Any:
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


def _compiled(walk: Walk) -> Any:
    """Give nutpie the density as a C function: Python's lock would make chains wait."""
    from nutpie.compile_pymc import CompiledPyMCModel

    size, arrays = walk.density.size, arrays_of(walk)
    log_density, copy = c_functions()
    return CompiledPyMCModel(
        _n_dim=size,
        n_expanded=size,
        dims={},
        _coords={},
        _shapes={"z": (size,)},
        shape_info=(["z"], [slice(0, size)], [(size,)]),
        compiled_logp_func=log_density,
        compiled_expand_func=copy,
        initial_point_func=lambda seed: np.random.default_rng(seed % 2**63).standard_normal(size),
        # Kept alive as long as their addresses are in use.
        shared_data={str(n): array for n, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=cards(*arrays),
        logp_func=None,
        expand_func=None,
    )


def arrays_of(walk: Walk) -> list[NDArray[Any]]:
    """Return what the compiled density takes, in the order of its cards."""
    density, prior = walk.density, np.array([walk.density.places.prior])
    needed: tuple[Any, ...] = (*walk.units, *density.tape, prior)
    needed += (*density.places[1:], density.log_weight, *density.data)
    needed += (walk.scores.at, -np.log(walk.scores.rate))
    return [np.ascontiguousarray(array) for array in needed]


def _arrays(trace: Any, walk: Walk) -> Chain:
    """Take the draws after the warm-up, and their statistics, out of nutpie's trace."""
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
    """Put chains into arrays (chain, draw, ...).

    Of an interrupted run: the chains that have at least half as many draws as the longest, all cut
    to the shortest of them.
    """
    longest = max(len(chain["x"]) for chain in chains)
    kept = [chain for chain in chains if 2 * len(chain["x"]) >= longest]
    draws = min(len(chain["x"]) for chain in kept)
    stacked = {name: np.stack([chain[name][:draws] for chain in kept]) for name in kept[0]}
    return stacked.pop("x"), stacked


# -- checkpoints ---------------------------------------------------------------------


def _file(folder: Path, walk: Walk, seed: int) -> Path:
    """Name the file of a chain by everything that it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = hashlib.sha256()
    density = walk.density
    for array in (*density.tape, *density.places, density.log_weight, *density.data):
        mark.update(np.ascontiguousarray(array).tobytes())
    mark.update(walk.start.centre.tobytes() + walk.start.scale.tobytes())
    mark.update(repr((walk.draws, walk.tune, walk.target_accept, seed)).encode())
    return folder / f"chain-{mark.hexdigest()[:24]}.npz"


def _keep(chain: Chain, file: Path | None) -> None:
    if file is not None:
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


# -- progress ------------------------------------------------------------------------


class _Board:
    """How far each chain is, for the bar over all of them."""

    def __init__(
        self, chains: int, total: int, show: Callable[[list[tuple[int, int]]], None] | None
    ) -> None:
        self.total, self.show = total, show
        self.state = [(0, 0)] * chains

    def of_chain(self, n: int) -> Callable[[Any], None]:
        def update(progress: Any) -> None:
            self.state[n] = (progress[0].finished_draws, progress[0].divergences)
            if self.show is not None:
                self.show(self.state)

        return update

    def finish(self, n: int) -> None:
        self.state[n] = (self.total, self.state[n][1])
        if self.show is not None:
            self.show(self.state)
