"""One measurement of how cost grows: one design, one piece of work, a process of its own.

    python benchmarks/growth_point.py pass --items 10000 --states 2 --raters 200 --seed 1

writes seconds and bytes as JSON to standard output; ``growth.py`` runs it.
"""

import argparse
import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from peak_memory import peak, reset_peak, resident

import assay
from assay.density import make_density
from assay.fitting import METHODS
from assay.model import build_structure
from assay.spec import make_spec

if TYPE_CHECKING:
    from assay import Ratings

PER_ITEM = 3
ACCURACY = 0.8
PASS_SECONDS = 2.0
"""The fused pass is repeated for so long; its fastest time counts."""
WORKS = ("pass", "em", "laplace")
DRAWS = {"em": 1, "map": 1, "laplace": 50}
"""Of the states; Laplace's approximation is judged by its draws."""


def make_table(items: int, states: int, raters: int, seed: int) -> pd.DataFrame:
    """Draw ratings: distinct raters for each item, right four times in five, errors anywhere."""
    rng = np.random.default_rng([seed, items, states, raters])
    step = rng.integers(1, (raters - 1) // (PER_ITEM - 1) + 1, (items, 1))
    rater = (rng.integers(raters, size=(items, 1)) + step * np.arange(PER_ITEM)) % raters
    truth = rng.integers(states, size=(items, 1))
    wrong = (truth + rng.integers(1, states, rater.shape)) % states
    answer = np.where(rng.random(rater.shape) < ACCURACY, truth, wrong)
    words = np.array([f"class {k}" for k in range(states)])
    return pd.DataFrame(
        {
            "item": np.repeat(np.arange(items), PER_ITEM),
            "rater": rater.ravel(),
            "label": words[answer.ravel()],
        }
    )


def family(states: int) -> str:
    """Return the default family, where a confusion of each rater is not a million numbers."""
    return "hierarchical" if states == 2 else "one_coin"


def evaluate(ratings: "Ratings", recipe: str) -> Callable[[], None]:
    """Return one evaluation of the log density and its gradient."""
    density = make_density(build_structure(ratings, make_spec(recipe, "dirichlet")))
    x = np.random.default_rng(1).normal(0.0, 0.1, density.size)
    return lambda: density(x) and None


def fit(ratings: "Ratings", recipe: str, method: Any) -> None:
    """Fit once, with few draws of the states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        assay.fit(
            ratings,
            raters=recipe,
            prevalence="dirichlet",
            method=method,
            draws=DRAWS[method],
            chains=1,
            starts=1,
            progress=False,
        )


def fastest(call: Callable[[], None]) -> float:
    """Seconds of the fastest of many calls."""
    best, ends = np.inf, time.perf_counter() + PASS_SECONDS
    while time.perf_counter() < ends or best == np.inf:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return best


def method_of(what: str) -> str:
    """Return the method of a fit: ``em`` where this package has it, else the mode's search."""
    return what if what in METHODS else "map"


def work(what: str, ratings: "Ratings", recipe: str) -> float:
    """Do the work and return its seconds."""
    if what == "pass":
        return fastest(evaluate(ratings, recipe))
    started = time.perf_counter()
    fit(ratings, recipe, method_of(what))
    return time.perf_counter() - started


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WORKS)
    for name in ("items", "states", "raters", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    chosen = vars(parser.parse_args())
    what = chosen.pop("what")
    recipe = family(chosen["states"])
    # What Numba compiles, it compiles here.
    small = assay.read_ratings(make_table(**{**chosen, "items": 50}), task="single")
    work(what, small, recipe)
    table = make_table(**chosen)
    started = time.perf_counter()
    ratings = assay.read_ratings(table, task="single")
    read_seconds = time.perf_counter() - started
    del table, small
    gc.collect()
    reset_peak()
    before = resident()
    seconds = work(what, ratings, recipe)
    found = {
        "method": what if what == "pass" else method_of(what),
        "ratings": len(ratings.answers),
        "read_seconds": read_seconds,
        "seconds": seconds,
        "added_megabytes": (peak() - before) / 1e6,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
