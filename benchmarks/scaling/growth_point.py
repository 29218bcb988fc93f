"""One measurement of how cost grows: one design, one piece of work, a process of its own.

    python -m benchmarks.scaling.growth_point pass --items 10000 --states 2 --raters 200 --seed 1

writes seconds and megabytes as JSON to standard output; ``growth.py`` runs it. Two states are one
binary label; more, a square number, are all pairs of classes of two labels.
"""

import argparse
import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import assay
from assay.data.task import Label, Task
from assay.inference.density import make_density
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from benchmarks.measuring import peak, reset_peak, resident, trim_heap

if TYPE_CHECKING:
    from assay import Ratings

PER_ITEM = 3
ACCURACY = 0.8
PASS_SECONDS = 2.0
"""The fused pass is repeated for so long; its fastest time counts."""
WORKS = ("pass", "em", "laplace")
DRAWS = {"em": 1, "laplace": 50}
"""Of the states; Laplace's approximation is judged by its draws."""
FAMILIES = {"pass": "hierarchical", "em": "dawid_skene", "laplace": "hierarchical"}
"""Of raters of a binary label: the default, and where EM has a closed form the nearest to it."""
MANY = "one_coin"
"""Where there are many classes, and a confusion of each rater would be thousands of numbers."""


def make_task(states: int) -> Task:
    """Return a task with so many states: one binary label, or two with as many classes each."""
    classes = math.isqrt(states)
    if states == 2:
        return Task(name="growth", labels=(Label(name="a"),))
    if classes**2 != states:
        raise ValueError(f"{states} states; give 2, or a square number")
    words = tuple(f"class {k}" for k in range(classes))
    return Task(name="growth", labels=tuple(Label(name=name, classes=words) for name in "ab"))


def make_table(task: Task, items: int, raters: int, seed: int) -> pd.DataFrame:
    """Draw ratings: distinct raters for each item, right four times in five, errors anywhere."""
    rng = np.random.default_rng([seed, items, len(task.labels[0].classes), raters])
    step = rng.integers(1, (raters - 1) // (PER_ITEM - 1) + 1, (items, 1))
    rater = (rng.integers(raters, size=(items, 1)) + step * np.arange(PER_ITEM)) % raters
    columns = {"item": np.repeat(np.arange(items), PER_ITEM), "rater": rater.ravel()}
    for label in task.labels:
        classes = len(label.classes)
        truth = rng.integers(classes, size=(items, 1))
        wrong = (truth + rng.integers(1, classes, rater.shape)) % classes
        answer = np.where(rng.random(rater.shape) < ACCURACY, truth, wrong)
        columns[label.name] = np.array(label.classes)[answer.ravel()]
    return pd.DataFrame(columns)


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


def work(what: str, ratings: "Ratings", recipe: str) -> float:
    """Do the work and return its seconds."""
    if what == "pass":
        return fastest(evaluate(ratings, recipe))
    started = time.perf_counter()
    fit(ratings, recipe, what)
    return time.perf_counter() - started


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WORKS)
    for name in ("items", "states", "raters", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    chosen = parser.parse_args()
    what, task = chosen.what, make_task(chosen.states)
    recipe = FAMILIES[what] if chosen.states == 2 else MANY
    load = os.getloadavg()[0]
    # What Numba compiles, it compiles here.
    small = assay.read_ratings(make_table(task, 50, chosen.raters, chosen.seed), task=task)
    work(what, small, recipe)
    table = make_table(task, chosen.items, chosen.raters, chosen.seed)
    started = time.perf_counter()
    ratings = assay.read_ratings(table, task=task)
    read_seconds = time.perf_counter() - started
    del table, small
    trim_heap()
    reset_peak()
    before = resident()
    seconds = work(what, ratings, recipe)
    found = {
        "family": recipe,
        "ratings": len(ratings.answers),
        "read_seconds": read_seconds,
        "seconds": seconds,
        "added_megabytes": (peak() - before) / 1e6,
        "load_before": load,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
