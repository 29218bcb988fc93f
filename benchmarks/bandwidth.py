"""How close the fused pass comes to what the memory of this machine can deliver.

    python benchmarks/bandwidth.py --ratings 300000,3000000 --seed 1

writes ``docs/speed/bandwidth.csv``. The bound: the pass has to read the collapsed data at
least once; so many bytes, at the rate at which as many threads add arrays (a = b + c, a gigabyte in
all), take a time that no pass can beat once the data outgrow the caches. Beside it, the answers a
second that the pass gets through. Chains run side by side, so one thread and all of them are
measured.
"""

import argparse
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from growth_point import PER_ITEM, make_table, make_task
from machine import write_machine

import assay
from assay.density import make_density
from assay.model import Structure, build_structure
from assay.spec import make_spec

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "speed"
SUM_BYTES = 1 << 30
"""Of the three arrays of all threads together."""
REPEATS = 5
RATERS = 200


def data_bytes(structure: Structure) -> int:
    """Bytes of the collapsed data, without the tape and the tables of the parameters."""
    return sum(array.nbytes for array in structure.pattern.data)


def fastest(calls: Sequence[Callable[[], object]]) -> float:
    """Seconds of the fastest of several rounds in which all calls run, a thread for each."""
    best = np.inf
    for _ in range(REPEATS):
        gate = threading.Barrier(len(calls) + 1)

        def work(call: Callable[[], object], gate: threading.Barrier = gate) -> None:
            gate.wait()
            call()
            gate.wait()

        running = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in running:
            thread.start()
        gate.wait()
        started = time.perf_counter()
        gate.wait()
        best = min(best, time.perf_counter() - started)
        for thread in running:
            thread.join()
    return best


def make_sum(size: int) -> Callable[[], object]:
    """Return the sum of two arrays of their own into a third."""
    a, b, c = (np.full(size, value) for value in (0.0, 1.0, 2.0))
    return lambda: np.add(b, c, out=a)


def memory_rate(threads: int) -> float:
    """Bytes a second that sums of arrays move: two read, one written."""
    size = SUM_BYTES // (3 * 8 * threads)
    return threads * 3 * 8 * size / fastest([make_sum(size) for _ in range(threads)])


def line(ratings: int, threads: int, structure: Structure) -> dict[str, float]:
    """Measure the pass and the bound with so many threads."""
    density = make_density(structure)
    x = np.random.default_rng(1).normal(0.0, 0.1, density.size)
    density(x)
    seconds = fastest([lambda: density(x)] * threads)
    size, rate = data_bytes(structure), memory_rate(threads)
    achieved, bound = threads * ratings / seconds, rate * ratings / size
    return {
        "ratings": ratings,
        "threads": threads,
        "bytes_per_answer": size / ratings,
        "gigabytes_per_second": rate / 1e9,
        "bound_million_answers_per_second": bound / 1e6,
        "achieved_million_answers_per_second": achieved / 1e6,
        "share_of_bound": achieved / bound,
    }


def main() -> None:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", default="300000,3000000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    lines = []
    for ratings in map(int, chosen.ratings.split(",")):
        task = make_task(2)
        table = make_table(task, ratings // PER_ITEM, RATERS, chosen.seed)
        structure = build_structure(
            assay.read_ratings(table, task=task), make_spec("hierarchical", "dirichlet")
        )
        for threads in sorted({1, os.cpu_count() or 1}):
            lines.append(line(len(table), threads, structure))
    write_machine(chosen.folder / "versions.json", "bandwidth")
    pd.DataFrame(lines).to_csv(chosen.folder / "bandwidth.csv", index=False, float_format="%.3g")


if __name__ == "__main__":
    main()
