"""Seconds of a leapfrog step in both Stan programs, for designs that the slow one cannot finish.

    peers/bin/python benchmarks/peers_gradients.py --sizes 8000,100000 --iterations 40 --seed 1

The two programs have one density, so that they take the same steps to draws of the same quality;
what a step costs is all that tells them apart. One chain each, from the same starting values; the
steps of its warm-up are counted. Writes ``docs/speed/stan_gradients.csv``.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from peers_designs import Design, make_design
from peers_side import Orders
from peers_stan import stan_data, starts

TABLE = Path(__file__).resolve().parents[1] / "docs" / "speed" / "stan_gradients.csv"
PROGRAMS = ("peers.stan", "peers_loop.stan")
Line = dict[str, Any]


def step_seconds(program: str, design: Design, iterations: int, seed: int) -> Line:
    """Run a chain for some iterations, and divide its time by its leapfrog steps."""
    stan = import_module("stan")
    code = Path(__file__).with_name(program).read_text("utf-8")
    model = stan.build(code, data=stan_data(design), random_seed=seed)
    orders = Orders(
        design=Path(), output=Path(), chains=1, draws=iterations, tune=iterations, seed=seed
    )
    started = time.perf_counter()
    fit = model.sample(
        num_chains=1,
        num_samples=iterations,
        num_warmup=iterations,
        save_warmup=True,
        init=starts(design.raters, orders),
    )
    seconds = time.perf_counter() - started
    steps = int(np.sum(fit["n_leapfrog__"]))
    return {"steps": steps, "seconds": seconds, "milliseconds_a_step": 1000 * seconds / steps}


def lines(sizes: list[int], iterations: int, seed: int) -> Iterator[Line]:
    """Time both programs on each design."""
    for ratings in sizes:
        design, first = make_design(ratings, seed), None
        for program in PROGRAMS:
            line = step_seconds(program, design, iterations, seed)
            first = first or line["milliseconds_a_step"]
            ratio = line["milliseconds_a_step"] / first
            yield {"program": program, "ratings": ratings, **line, "ratio": ratio, "seed": seed}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="8000,100000")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    found = list(lines(sizes, chosen.iterations, chosen.seed))
    shown = [{k: f"{v:.5g}" if isinstance(v, float) else v for k, v in x.items()} for x in found]
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(shown[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(shown)


if __name__ == "__main__":
    main()
