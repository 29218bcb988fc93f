"""A million items on one machine: from Parquet to the posteriors of all metrics, by Laplace.

    python -m benchmarks large --items 1000000 --draws 100 --seed 1

simulates answers to the five questions of the task ``grounding`` (three raters an item, fifty in
all, two systems), writes them to a Parquet file, and then, in this process, reads, checks, fits
(``method="laplace"``), saves to Zarr and computes every metric in both estimands. ``--clusters``
has both systems answer the same queries, so that the model has a cluster effect (49 nodes of
quadrature for each query) and metrics are paired. A line per stage, seconds and peak memory, goes
to ``results/large.csv``. The aim: 5 minutes and 8 GB for a million items on two cores.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import assay
from assay.data.states import state_space
from assay.modelling.spec import DEFAULT_RATERS
from benchmarks.measuring import peak, reset_peak, write_machine

FOLDER = Path(__file__).resolve().parent / "results"
RATERS, RATINGS = 50, 3
GIGABYTE = 1e9


def write_ratings(path: Path, items: int, *, clusters: bool, seed: int) -> None:
    """Simulate ratings and write them, a row a rating."""
    rng = np.random.default_rng(seed)
    task = assay.load_task("grounding")
    space = state_space(task)
    paths = space.paths[~space.blocked]
    share = rng.dirichlet(np.full(len(space.states), 2.0), size=2)
    right = {1: rng.beta(18, 3, size=(RATERS, 5)), 0: rng.beta(20, 2, size=(RATERS, 5))}
    system = np.arange(items) % 2
    states = np.stack([rng.choice(len(space.states), items, p=p) for p in share])
    state = np.repeat(states[system, np.arange(items)], RATINGS)
    steps = np.cumsum(1 + rng.integers(RATERS // RATINGS, size=(items, RATINGS)), axis=1)
    rater = (steps % RATERS).ravel()
    answers = np.empty((len(rater), 5), np.int8)
    for j in range(RATERS):
        yes = np.where(space.states == 1, right[1][j], 1 - right[0][j])
        chance = np.where(paths[None] == 1, yes[:, None], 1 - yes[:, None]).prod(axis=-1)
        running = (chance / chance.sum(axis=1, keepdims=True)).cumsum(axis=1)
        rows = np.flatnonzero(rater == j)
        drawn = (rng.random(len(rows))[:, None] > running[state[rows]]).sum(axis=1)
        answers[rows] = paths[np.minimum(drawn, len(paths) - 1)]
    item = np.repeat(np.arange(items), RATINGS)
    query = item // 2 if clusters else item
    columns: dict[str, Any] = {
        "item": pa.array(np.char.add("answer-", item.astype(str))),
        "rater": pa.array(np.char.add("rater-", rater.astype(str))),
        "system": pa.array(np.array(["first", "second"])[system[item]]),
        "cluster": pa.array(np.char.add("query-", query.astype(str))),
    }
    columns |= {name: pa.array(answers[:, n]) for n, name in enumerate(task.label_names)}
    pq.write_table(pa.table(columns), path)


def run(path: Path, folder: Path, raters: str, draws: int, seed: int) -> pd.DataFrame:
    """Take the whole way from the file to the metrics: a line per stage."""
    lines: list[dict[str, Any]] = []

    def stage[T](name: str, work: Callable[[], T]) -> T:
        reset_peak()
        started = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - started
        lines.append({"stage": name, "seconds": seconds, "peak_gigabytes": peak() / GIGABYTE})
        sys.stderr.write(f"{name}: {seconds:.1f} s, {lines[-1]['peak_gigabytes']:.1f} GB\n")
        return result

    ratings = stage("read", lambda: assay.read_ratings(path, task="grounding"))
    tree = stage(
        "fit",
        lambda: assay.fit(
            ratings,
            raters=raters,
            method="laplace",
            draws=draws,
            chains=1,
            starts=2,
            rng=seed,
            progress=False,
        ),
    )
    stage("save", lambda: assay.save(tree, folder / "fit.zarr"))
    for estimand in ("finite", "population"):
        stage(f"metrics, {estimand}", lambda e=estimand: assay.metrics(tree, estimand=e))
    return pd.DataFrame(lines)


def main() -> None:
    """Run one size and add it to the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--raters", default=DEFAULT_RATERS)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clusters", action="store_true")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "ratings.parquet"
        write_ratings(path, chosen.items, clusters=chosen.clusters, seed=chosen.seed)
        table = run(path, Path(temporary), chosen.raters, chosen.draws, chosen.seed)
    whole = {"stage": "all", "seconds": table["seconds"].sum()}
    table.loc[len(table)] = whole | {"peak_gigabytes": table["peak_gigabytes"].max()}
    design = {
        "items": chosen.items,
        "clusters": chosen.clusters,
        "raters": chosen.raters,
        "draws": chosen.draws,
    }
    table = table.assign(**design, seed=chosen.seed)
    file = chosen.folder / "large.csv"
    if file.exists():
        before = pd.read_csv(file)
        same = (before[list(design)] == pd.Series(design)).all(axis=1)
        table = pd.concat([before[~same], table], ignore_index=True)
    table.to_csv(file, index=False, float_format="%.4g")
    write_machine(chosen.folder / "versions.json", "large")


if __name__ == "__main__":
    main()
