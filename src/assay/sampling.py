"""NUTS through nutpie on a :class:`~assay.density.Density`: chains, progress, interruption."""

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.errors import FitError
from assay.files import draft
from assay.partition import cores

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
PAUSE = 0.02
"""Seconds between two looks at running chains."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """What the chains of a run have in common.

    Attributes
    ----------
    centre : ndarray (value,)
        The mode.
    scale : ndarray (value,)
        Standard deviations of the approximation at the mode; chains start that far around it.
    """

    density: Density
    centre: Floats
    scale: Floats
    draws: int
    tune: int
    target_accept: float


def sample_nuts(
    density: Density,
    centre: Floats,
    scale: Floats,
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
    centre : ndarray (value,)
        The mode.
    scale : ndarray (value,)
        Standard deviations of the approximation at the mode; chains start that far around it.
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
        centre=centre,
        scale=scale,
        draws=draws,
        tune=tune,
        target_accept=target_accept,
    )
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(chains)]
    files = [None if checkpoint is None else _file(checkpoint, walk, s) for s in seeds]
    found = {n: read_chain(f) for n, f in enumerate(files) if f is not None and f.exists()}
    with progress_bar(chains, draws + tune, show=progress) as show:
        board = _Board(chains, draws + tune, show)
        for n in found:
            board.finish(n)
        waiting = {n: seed for n, seed in enumerate(seeds) if n not in found}
        running: dict[int, Any] = {}
        try:
            while waiting or running:
                while waiting and len(running) < cores():
                    n = min(waiting)
                    running[n] = _start(walk, waiting.pop(n), board.of_chain(n))
                time.sleep(PAUSE)
                for n in [n for n, chain in running.items() if _finished(chain)]:
                    found[n] = _arrays(running.pop(n).wait(), walk)
                    _keep(found[n], files[n])
                    board.finish(n)
        except BaseException as error:  # an interrupted run must not pass for a whole one
            unfinished = {n: chain.abort() for n, chain in running.items()}
            if not (keep_interrupted and isinstance(error, KeyboardInterrupt)):
                raise
            found |= {n: _arrays(trace, walk) for n, trace in unfinished.items()}
            if not any(len(chain["x"]) for chain in found.values()):
                raise
    return _together([found[n] for n in sorted(found)])


def _start(walk: Walk, seed: int, show: Callable[[Any], None]) -> Any:
    """Start one chain in the background."""
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    density, centre, scale = walk.density, walk.centre, walk.scale

    def make_logp() -> Callable[..., Any]:
        def logp(z: Floats) -> tuple[float, Floats]:
            value, gradient = density(centre + scale * z)
            return value, scale * gradient

        return logp

    def make_expand(seed1: int, seed2: int, chain: int) -> Callable[..., Any]:
        return lambda z: {"z": np.asarray(z)}

    def start(seed: int) -> Floats:
        return np.random.default_rng(seed % 2**63).standard_normal(density.size)

    compiled = from_pyfunc(
        density.size,
        make_logp,
        make_expand,
        [np.dtype("float64")],
        [(density.size,)],
        ["z"],
        make_initial_point_fn=start,
    )
    return nutpie.sample(
        compiled,
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


def _finished(chain: Any) -> bool:
    """Whether a chain has ended; one that is too busy to say so has not."""
    try:
        return bool(chain.is_finished)
    except TimeoutError:
        return False


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
    return {"x": walk.centre + z[kept] * walk.scale} | found


def _together(chains: list[Chain]) -> tuple[Floats, dict[str, NDArray[Any]]]:
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
    mark.update(walk.centre.tobytes() + walk.scale.tobytes())
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


@contextmanager
def progress_bar(
    chains: int, total: int, *, show: bool
) -> Iterator[Callable[[list[tuple[int, int]]], None] | None]:
    """Show a bar over all chains, with rate and time left.

    Yields
    ------
    callable or None
        Takes the finished draws and the divergences of each chain.
    """
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("sampling"),
        BarColumn(),
        TextColumn(
            "{task.completed:.0f}/{task.total:.0f} draws, {task.fields[diverged]} divergent"
        ),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=not sys.stderr.isatty(),
    ) as bars:
        bar = bars.add_task("sampling", total=chains * total, diverged=0)

        def update(state: list[tuple[int, int]]) -> None:
            done, diverged = (sum(numbers) for numbers in zip(*state, strict=True))
            bars.update(bar, completed=done, diverged=diverged)

        yield update
