"""Peak memory of the metrics of a large fit: 50,000 items x 1,000 draws x 5 labels.

A tree of that size is made up (ratings are simulated, the parameters are draws from the prior and
the states are at random; no model is fitted), and the metrics of the task ``generation`` are
computed for two systems on half as many clusters, once for these items and once for the
population.

    python -m benchmarks metric_memory --items 50000 --draws 1000 --seed 1

writes ``results/metric_memory.csv``: the peak of the resident memory of this process, as
the system counts it, when the fit is made up and after each estimand, and the seconds that each
took. The exit status is 1 if the peak is 2 GB or more.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.data.states import state_space
from assay.fits.datatree import accounting_json, posterior_dataset, ratings_datasets
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from benchmarks.measuring import peak

FOLDER = Path(__file__).resolve().parent / "results"
LIMIT = 2e9


def made_up_fit(items: int, draws: int, rng: np.random.Generator) -> xr.DataTree:
    """Return a tree with the groups that metrics read, and states at random."""
    ratings = assay.simulate(
        "generation",
        raters="hierarchical",
        n_items=items,
        n_clusters=items // 2,
        n_systems=2,
        n_raters=10,
        ratings_per_item=1,
        rng=rng,
    )
    spec = make_spec("hierarchical")
    structure = build_structure(ratings, spec)
    values = {p.name: np.stack([p.draw(rng) for _ in range(draws)]) for p in structure.parameters()}
    observed, constant = ratings_datasets(ratings)
    states = rng.integers(
        len(state_space(ratings.task).states), size=(1, draws, items), dtype=np.int16
    )
    labels = xr.Dataset(
        {"state": (("chain", "draw", "item"), states)},
        coords={"chain": [0], "draw": np.arange(draws)},
    )
    tree = xr.DataTree.from_dict(
        {
            "posterior": posterior_dataset(structure, values, 1),
            "labels": labels,
            "observed_data": observed,
            "constant_data": constant,
        }
    )
    tree.attrs = {
        "task": ratings.task.to_json(),
        "spec": json.dumps(asdict(spec)),
        "reference": "states at random",
        "seed": 1,
        "partial": ratings.partial,
        "resolve": ratings.resolve,
        "accounting": accounting_json(ratings.accounting),
    }
    return tree


def main() -> int:
    """Read the command line, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    fit = made_up_fit(chosen.items, chosen.draws, np.random.default_rng(chosen.seed))
    lines = [{"step": "made up", "peak_megabytes": peak() / 1e6}]
    for estimand in ("finite", "population"):
        started = time.perf_counter()
        assay.metrics(fit, estimand=estimand)
        seconds = time.perf_counter() - started
        lines.append({"step": estimand, "peak_megabytes": peak() / 1e6, "seconds": seconds})
    table = pd.DataFrame(lines).assign(items=chosen.items, draws=chosen.draws)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    table.round(1).to_csv(chosen.folder / "metric_memory.csv", index=False)
    return int(peak() >= LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
