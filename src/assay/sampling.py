"""NUTS through nutpie on a :class:`~assay.density.Density`, with a progress bar."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.density import Density
from assay.partition import cores

Floats = NDArray[np.float64]


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
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample with nutpie, in units of the posterior's width at the mode.

    Parameters
    ----------
    centre : ndarray (value,)
        The mode.
    scale : ndarray (value,)
        Standard deviations of the approximation at the mode; chains start that far around it.

    Returns
    -------
    x : ndarray (chain, draw, value)
    stats : dict of ndarray (chain, draw)
        ``lp``, ``diverging``, ``n_steps``, ``tree_depth``, ``step_size``, ``energy``.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    # Chains run side by side already.
    density = replace(density, threads=1)

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
    with _progress(chains, draws + tune, show=progress) as callback:
        running = nutpie.sample(
            compiled,
            draws=draws,
            tune=tune,
            chains=chains,
            cores=min(chains, cores()),
            seed=seed,
            target_accept=target_accept,
            save_warmup=False,
            progress_bar=False,
            progress_callback=callback,
            blocking=False,
        )
        try:
            trace = running.wait()
        except BaseException:  # an interrupted run must not pass for a whole one
            running.cancel()
            raise
    stats = trace.sample_stats
    names = {
        "logp": "lp",
        "diverging": "diverging",
        "n_steps": "n_steps",
        "depth": "tree_depth",
        "step_size": "step_size",
        "energy": "energy",
    }
    found = {new: stats[old].values for old, new in names.items() if old in stats}
    return centre + trace.posterior["z"].values * scale, found


@contextmanager
def _progress(chains: int, total: int, *, show: bool) -> Iterator[Callable[[Any], None] | None]:
    """Show a bar over all chains, with rate and time left."""
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

        def update(chain_progress: Any) -> None:
            done = sum(c.finished_draws for c in chain_progress)
            bars.update(bar, completed=done, diverged=sum(c.divergences for c in chain_progress))

        yield update
        bars.update(bar, completed=chains * total)
