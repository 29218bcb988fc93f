"""NUTS with PyMC on the model of ``build_model``: slow, and independent of ``Density``."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._util.progress import Board, progress_bar
from assay._util.typing import Floats
from assay.inference.coordinates import Start
from assay.inference.density import Density, unconstrain
from assay.inference.settings import SamplerSettings
from assay.modelling.pymc_model import model_of
from assay.modelling.structure import Structure

STATISTICS = ("lp", "diverging", "n_steps", "tree_depth", "step_size", "energy")
BROKEN_REWRITE = "scalarize"
"""Rewrite of PyTensor 3.3 that fails for a Dirichlet of shape (1, n) with named dims."""


def sample_nuts(
    structure: Structure, density: Density, start: Start, effort: SamplerSettings, seed: int
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Sample the ``pm.Model``: draws x (chain, draw, value) and statistics by name, ``lp`` up to a
    constant.

    Chains run one after the other, since forked processes may hang beside threads.
    """
    import pymc as pm
    from pytensor.compile.mode import get_default_mode

    draws, tune, chains = effort.draws, effort.tune, effort.chains
    z = np.random.default_rng(seed).standard_normal((chains, density.size))
    points = density.constrain(start.centre + start.scale * z)
    begin = [{name: value[chain] for name, value in points.items()} for chain in range(chains)]
    with (
        _silent(),
        progress_bar(chains, effort.total, show=effort.progress, tune=effort.tune) as show,
    ):
        board = Board(chains, effort.total, show)

        def note(trace: Any, draw: Any) -> None:
            done, diverged = board.state[draw.chain]
            more = not draw.tuning and bool(draw.stats[0]["diverging"])
            board.tell({draw.chain: (done + 1, diverged + more)})

        found = pm.sample(
            model=model_of(structure), draws=draws, tune=tune, chains=chains,
            cores=1, random_seed=seed, target_accept=effort.target_accept,
            initvals=begin, init="adapt_diag", nuts_sampler="pymc", progressbar=False,
            callback=note, compute_convergence_checks=False,
            compile_kwargs={"mode": get_default_mode().excluding(BROKEN_REWRITE)},
        )  # fmt: skip
    posterior = {name: found["posterior"][name].to_numpy() for name in points}
    x = np.empty((chains, draws, density.size))
    for place in np.ndindex(chains, draws):
        x[place] = unconstrain(density, {name: value[place] for name, value in posterior.items()})
    stats = {name: found["sample_stats"][name].to_numpy() for name in STATISTICS}
    return x, stats | {"n_steps": stats["n_steps"].astype(np.int64)}


@contextmanager
def _silent() -> Iterator[None]:
    """Limit PyMC's log to warnings; the progress bar shows the rest."""
    logger = logging.getLogger("pymc")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)
