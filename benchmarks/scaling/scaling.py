"""What a fit over partitions costs: the constants of the cost model of docs/scaling.md.

    python -m benchmarks scaling --seed 1

needs the extra ``assay[dask]`` and about ten minutes on two cores; ``--only`` chooses among
``worker`` (what a worker does with one partition, in a process of its own), ``evaluation`` (one
evaluation of the density on a cluster, by number of partitions) and ``fit`` (a whole fit on a
cluster of local processes), ``predict`` (the cost model, from the tables of the others). Writes
``results/worker.csv``, ``evaluation.csv``, ``fit.csv``, ``predicted.csv``, ``beyond.csv`` and
``versions.json``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.distributed.executor import DaskExecutor
from assay.distributed.skeleton import make_skeleton, number, number_partition
from assay.inference.data_on_workers import (
    SpreadDensity,
    bend,
    draw_states,
    evaluate,
    spread_density,
)
from assay.inference.optimise import prior_centre
from assay.modelling.spec import make_spec
from benchmarks.measuring import ROOT, peak, reset_peak, resident, write_machine

OUT = Path(__file__).resolve().parent / "results"
RATERS, PER_ITEM, PER_CLUSTER = 200, 3, 10
RIGHT = (17.0, 3.0)
"""Of a beta distribution: how often raters are right."""
DRAWS = 20
FIT_DRAWS = 100
DESIGNS = {"single": "one binary label", "retrieval": "three labels, rules, ten chunks a query"}
WORKER_SIZES = (100_000, 1_000_000)
FIT_SIZES = (200_000, 800_000)
PARTITIONS = (2, 8, 32, 128)
REPEATS = 20
PARTITION = 2_000_000
"""Ratings of a partition, where fits that were not measured are predicted."""
BEYOND = ((1e7, 16), (1e8, 64), (1e9, 256))
"""Ratings and cores of such fits."""


def make_table(design: str, first: int, items: int, seed: int) -> pd.DataFrame:
    """Draw ratings of the items from ``first`` on; raters differ in how often they are right."""
    rng = np.random.default_rng([seed, first, items])
    item = np.repeat(np.arange(first, first + items), PER_ITEM)
    step = rng.integers(1, (RATERS - 1) // (PER_ITEM - 1) + 1, (items, 1))
    rater = (rng.integers(RATERS, size=(items, 1)) + step * np.arange(PER_ITEM)) % RATERS
    right = np.random.default_rng(seed).beta(*RIGHT, RATERS)[rater.ravel()]
    table = pd.DataFrame({"item": item, "rater": rater.ravel()})
    if design == "single":
        truth = np.repeat(rng.random(items) < 0.4, PER_ITEM)
        answer = np.where(rng.random(len(item)) < right, truth, ~truth)
        return table.assign(label=np.where(answer, "yes", "no"))
    states = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]])
    ease = rng.normal(size=first + items)[item // PER_CLUSTER]
    state = rng.integers(5, size=items)[(item - first)]
    state = np.where(ease > 0.7, 4, state)
    other = rng.integers(5, size=len(item))
    said = states[np.where(rng.random(len(item)) < right, state, other)]
    for n, name in enumerate(("topically_relevant", "evidence_sufficient", "misleading")):
        table[name] = np.where(said[:, n] == 1, "yes", "no")
    return table.assign(query=item // PER_CLUSTER, rank=item % PER_CLUSTER + 1)


def seconds_of(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Shortest of some runs, and what the work returned."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def measure_worker(design: str, ratings: int, seed: int) -> dict[str, Any]:
    """Measure what a worker does with one partition, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.parquet"
        make_table(design, 0, ratings // PER_ITEM, seed).to_parquet(path)
        size = path.stat().st_size
        assay.read_ratings(path, task=design)
        before = resident()
        reset_peak()
        reading, data = seconds_of(lambda: assay.read_ratings(path, task=design))
    spec = make_spec(raters="hierarchical")
    showing, skeleton = seconds_of(lambda: make_skeleton(data, spec))
    _, numbering = number(skeleton, spec)
    numbering_time, numbered = seconds_of(lambda: number_partition(data, numbering))
    piece = numbered.piece
    x = prior_centre(piece.density)
    passing, _ = seconds_of(lambda: evaluate(piece, x), 3)
    bending, _ = seconds_of(lambda: bend(piece, x))
    values = {k: np.repeat(v[None], DRAWS, 0) for k, v in piece.density.constrain(x).items()}
    drawing, _ = seconds_of(lambda: draw_states(piece, values, (seed,)))
    held = sum(a.nbytes for a in piece.density.data)
    return {
        "design": design,
        "ratings": len(data.answers),
        "cells_rows": len(piece.density.data.rows),
        "parameters": piece.density.size,
        "skeleton_items": len(skeleton.items),
        "parquet_bytes_per_rating": size / ratings,
        "read_us_per_rating": 1e6 * reading / ratings,
        "skeleton_us_per_rating": 1e6 * showing / ratings,
        "number_us_per_rating": 1e6 * numbering_time / ratings,
        "pass_us_per_rating": 1e6 * passing / ratings,
        "curvature_passes": bending / passing,
        "draw_us_per_rating": 1e6 * drawing / DRAWS / ratings,
        "kernel_bytes_per_rating": held / ratings,
        "peak_bytes_per_rating": (peak() - before) / ratings,
    }


def on_cluster(work: Callable[[DaskExecutor], dict[str, Any]], workers: int) -> dict[str, Any]:
    """Do work with a cluster of local processes of one thread each."""
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        assay.dask_executor(cluster.scheduler_address) as executor,
    ):
        return work(executor)


def measure_evaluation(partitions: int, seed: int) -> dict[str, Any]:
    """Measure one evaluation where the data cost nothing: what Dask adds."""
    from assay.inference.density import make_density
    from assay.inference.pieces import make_frame, make_piece, take_clusters
    from assay.modelling.structure import build_structure

    data = assay.read_ratings(make_table("single", 0, 4000, seed), task="single")
    structure = build_structure(data, make_spec(raters="hierarchical"))
    density = make_density(structure)
    pattern, _ = take_clusters(structure.pattern, np.arange(20))

    def work(executor: DaskExecutor) -> dict[str, Any]:
        piece = make_piece(make_frame(structure, density), pattern)
        held = executor.map(make_piece, [piece] * partitions, [pattern] * partitions)
        spread = spread_density(executor, density, held)
        x = prior_centre(density)
        spread(x)
        start = time.perf_counter()
        for _ in range(REPEATS):
            spread(x)
        return {
            "partitions": partitions,
            "parameters": density.size,
            "milliseconds": 1e3 * (time.perf_counter() - start) / REPEATS,
        }

    return on_cluster(work, 2)


def measure_fit(design: str, ratings: int, workers: int, seed: int) -> dict[str, Any]:
    """Measure a whole fit over eight partitions."""
    partitions, items = 8, ratings // PER_ITEM // 8 // PER_CLUSTER * PER_CLUSTER
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "ratings"
        folder.mkdir()
        for n in range(partitions):
            table = make_table(design, n * items, items, seed)
            table.to_parquet(folder / f"part-{n}.parquet")

        points: list[Any] = []
        evaluated = SpreadDensity.__call__

        def counted(density: SpreadDensity, x: Any) -> Any:
            points.append(x)
            return evaluated(density, x)

        def work(executor: DaskExecutor) -> dict[str, Any]:
            out = Path(name) / "fit.zarr"
            SpreadDensity.__call__ = counted  # type: ignore[method-assign]
            start = time.perf_counter()
            tree = assay.fit_dataset(
                folder, raters="hierarchical", task=design, out=out, executor=executor,
                draws=FIT_DRAWS, chains=1, rng=seed, starts=1,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            return {
                "design": design,
                "ratings": int(tree["observed_data"].sizes["rating"]),
                "workers": workers,
                "seconds": seconds,
                "evaluations": len(points),
                "store_bytes_per_rating": sum(
                    f.stat().st_size for f in out.rglob("*") if f.is_file()
                )
                / ratings,
                "worker_bytes": max(executor.client.run(resident).values()),
            }

        return on_cluster(work, workers)


def run(kind: str, *arguments: object) -> dict[str, Any]:
    """Measure in a process of its own."""
    module = "benchmarks.scaling.scaling"
    command = [sys.executable, "-m", module, "--point", json.dumps([kind, *arguments])]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    sys.stderr.write(f"{found}\n")
    return found


def predict(design: str, ratings: float, cores: int, work: dict[str, Any]) -> dict[str, Any]:
    """Predict the parts of a fit, in seconds, from what was measured of its pieces.

    ``work`` has the constants of the design, evaluations, draws, ratings of a partition, and what
    Dask adds to an evaluation: a constant, and so much for each partition.
    """
    each = ratings / cores / 1e6
    partitions = max(cores, ratings / work["partition"])
    reading = work["read_us_per_rating"] + work["skeleton_us_per_rating"]
    passes = each * work["pass_us_per_rating"]
    parts = {
        "read_and_number": each * (reading + work["number_us_per_rating"]),
        "evaluate": work["evaluations"] * passes,
        "dask": work["evaluations"] * (work["constant"] + work["each"] * partitions),
        "curvature": work["curvature_passes"] * passes,
        "label_draws": work["draws"] * each * work["draw_us_per_rating"],
    }
    whole = {"design": design, "ratings": ratings, "cores": cores, "draws": work["draws"]}
    return whole | parts | {"seconds": sum(parts.values())}


def write_predictions() -> None:
    """Predict the fits that were measured, and fits that were not."""
    worker, fits = pd.read_csv(OUT / "worker.csv"), pd.read_csv(OUT / "fit.csv")
    evaluation = pd.read_csv(OUT / "evaluation.csv")
    slope, constant = np.polyfit(evaluation["partitions"], evaluation["milliseconds"], 1) / 1e3
    common = {"constant": constant, "each": slope}
    largest = worker.sort_values("ratings").groupby("design").last()
    measured = [
        predict("single", fit["ratings"], int(fit["workers"]), {
            **common, **largest.loc["single"], "evaluations": fit["evaluations"],
            "draws": FIT_DRAWS, "partition": fit["ratings"] / 8,
        })
        | {"measured_seconds": fit["seconds"]}
        for fit in fits.to_dict("records")
    ]  # fmt: skip
    beyond = [
        predict(design, size, cores, {
            **common, **largest.loc[design], "evaluations": fits["evaluations"].max(),
            "draws": draws, "partition": PARTITION,
        })
        for design in DESIGNS for size, cores in BEYOND for draws in (100, 1000)
    ]  # fmt: skip
    for name, rows in (("predicted", measured), ("beyond", beyond)):
        pd.DataFrame(rows).to_csv(OUT / f"{name}.csv", index=False, float_format="%.3g")


POINTS = {"worker": measure_worker, "evaluation": measure_evaluation, "fit": measure_fit}


def main() -> None:
    """Measure what is asked for, and write tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="worker,evaluation,fit,predict")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", assay.FitWarning)
    if options.point:
        kind, *arguments = json.loads(options.point)
        sys.stdout.write(json.dumps(POINTS[kind](*arguments)))
        return
    plans: dict[str, list[tuple[object, ...]]] = {
        "worker": [(design, size) for design in DESIGNS for size in WORKER_SIZES],
        "evaluation": [(count,) for count in PARTITIONS],
        "fit": [("single", size, workers) for size in FIT_SIZES for workers in (1, 2)],
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for kind in options.only.split(","):
        if kind == "predict":
            write_predictions()
            continue
        rows = [run(kind, *plan, options.seed) for plan in plans[kind]]
        pd.DataFrame(rows).to_csv(OUT / f"{kind}.csv", index=False, float_format="%.4g")
        write_machine(OUT / "versions.json", kind)


if __name__ == "__main__":
    main()
