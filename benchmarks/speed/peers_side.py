"""What every side of the speed benchmarks shares: its command line, its clock, its output.

A side is a script that is run in a process of its own, in the interpreter that its package stands
in. It reads a design, samples, and writes draws of the common quantities with the seconds of its
phases. NumPy is all that this file needs, so that it runs in both environments.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PARAMETERS = ("logit_mean", "logit_sd", "logit_offset", "prevalence")
"""What a side writes: (chain, draw, class), but ``logit_offset`` (chain, draw, rater, class)."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a side is told to do."""

    design: Path
    output: Path
    chains: int
    draws: int
    tune: int
    seed: int


@dataclass(frozen=True)
class Clock:
    """Seconds of the named phases of a process."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def read_orders() -> Orders:
    """Read the command line of a side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("design", type=Path)
    parser.add_argument("output", type=Path)
    for name in ("chains", "draws", "tune", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    return Orders(**vars(parser.parse_args()))


def write_draws(path: Path, clock: Clock, draws: Mapping[str, Any], **notes: Any) -> None:
    """Write draws of :data:`PARAMETERS`, seconds by phase, and notes such as divergences."""
    found: dict[str, Any] = {name: np.asarray(draws[name], float) for name in PARAMETERS}
    np.savez(path, notes=json.dumps({"seconds": clock.seconds, **notes}), **found)


def starting_values(raters: int, seed: int) -> dict[str, Floats]:
    """Draw where a chain starts: near the centre of the priors.

    With few ratings the posterior has a mirror image in which every rater is wrong; chains that
    start anywhere stay in it, which says nothing about speed.
    """
    rng = np.random.default_rng(seed)
    return {
        "logit_mean": 1.8 + 0.1 * rng.standard_normal(2),
        "logit_sd": 0.67 * np.exp(0.1 * rng.standard_normal(2)),
        "logit_offset": 0.5 * rng.standard_normal((raters, 2)),
        "prevalence": rng.dirichlet([50.0, 50.0]),
    }
