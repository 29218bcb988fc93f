"""The methods of ``fit``: from a mode to draws of the parameters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.errors import FitError, Note
from assay._util.progress import waiting
from assay.inference.checkpoints import require_own
from assay.inference.density import Density
from assay.inference.effort import Effort
from assay.inference.laplace import laplace_draws, mode_root
from assay.inference.peaks import Mode
from assay.inference.sampling import chain_seeds, sample_nuts, sample_on_workers
from assay.inference.stray_chains import without_strays
from assay.inference.walks import Start, walk_of
from assay.modelling.model import Structure

Floats = NDArray[np.float64]
Run = tuple[Floats, dict[str, Any], list[Note]]
"""Draws (chain, draw, value), sampler statistics, and what is to be said of them."""


def run_nuts(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    rng: np.random.Generator,
    effort: Effort,
) -> Run:
    """Sample with NUTS, from the first of the modes on.

    Chains of nutpie that go astray here are made again.

    Raises
    ------
    FitError
        If the folder of checkpoints holds other runs alone.
    """
    start = Start(centre=modes[0].x, root=mode_root(density, modes[0]))
    seed = int(rng.integers(2**31))
    if effort.executor is not None:
        return *sample_on_workers(density, start, effort, seed, effort.executor), []
    if effort.sampler == "pymc":
        from assay.inference import pymc_sampler as pymc_sampling

        return *pymc_sampling.sample_nuts(structure, density, start, effort, seed), []
    if effort.checkpoint is not None:
        seeds = chain_seeds(seed, effort.chains)
        require_own(effort.checkpoint, walk_of(density, start, effort), seeds)
    found = sample_nuts(density, start, effort, seed)
    if found[0].shape[:2] != (effort.chains, effort.draws):
        return *found, []
    one = replace(effort, chains=1)
    found, notes = without_strays(
        structure, density, modes, found, lambda n: sample_nuts(density, start, one, seed + n)
    )
    return *found, notes


def run_laplace(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    rng: np.random.Generator,
    effort: Effort,
) -> Run:
    """Draw from the normal approximation at the first of the modes.

    Raises
    ------
    FitError
        If there is none.
    """
    if modes[0].precision is None:
        raise FitError(
            "the curvature of the posterior is not known here (it has no proper peak, or raters "
            "share too many parameters), so that Laplace's approximation does not exist; use "
            "method='nuts'",
            code="no-curvature",
        )
    with waiting("drawing from the approximation", show=effort.progress):
        x = laplace_draws(modes[0], effort.draws * effort.chains, rng)
    return x.reshape(effort.chains, effort.draws, -1), {}, []


def run_map(
    structure: Structure,
    density: Density,
    modes: Sequence[Mode],
    rng: np.random.Generator,
    effort: Effort,
) -> Run:
    """Repeat the first of the modes as often as draws are asked for."""
    shape = (effort.chains, effort.draws)
    x = np.broadcast_to(modes[0].x, (*shape, density.size))
    return x, {"lp": np.full(shape, modes[0].height)}, []


RUNS = {"nuts": run_nuts, "laplace": run_laplace, "map": run_map, "em": run_map}
"""By method; ``em`` and ``map`` find the mode in different ways, and make draws of it alike."""
