"""Do the intervals of Laplace's approximation hold the truth, family by family?

    python -m benchmarks laplace_families --replicates 40 --seed 1

Parameters, labels and ratings are drawn from the model itself, as for simulation-based calibration
(``sbc.py``), and fitted by ``method="laplace"``. Intervals of NUTS would hold 0.90 of these truths.
Writes ``results/laplace_families.csv``: for each family and each block of unknowns, and for
the metrics together, the share of 90 % intervals that hold the truth; and the median of k-hat.
"""

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.fits.simulate import simulate_answers
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from benchmarks.calibration.sbc import SIZES, STUDIES, quantities

FOLDER = Path(__file__).resolve().parent / "results"
TASKS = {"ordinal": "relevance", "scored": "relevance", "mixed": "relevance"}
"""Of families that retrieval, the task of all others, does not show."""
FAMILIES = (
    "hierarchical", "dawid_skene", "class_conditional", "one_coin", "mace", "joint", "ordinal",
    "mixed", "drift", "system_bias", "item_difficulty", "item_difficulty_continuous", "perception",
)  # fmt: skip
TAILS = (0.05, 0.95)
Line = dict[str, Any]


def block_of(name: str, parameters: set[str]) -> str:
    """Name the block that a quantity belongs to; all metrics are one."""
    block = name.split("[")[0]
    if block in parameters or block == "recorded":
        return block
    return name if name == "log likelihood" else "metrics"


def replicate(number: int, *, family: str, seed: int) -> list[Line]:
    """Fit one simulated set: a line per quantity."""
    study, rng = STUDIES[family], np.random.default_rng([seed, number])
    model: Line = {"raters": study.raters, "reference": study.reference}
    sizes = SIZES | dict(study.sizes)
    skeleton = assay.simulate(TASKS.get(family, "retrieval"), rng=rng, **model, **sizes)
    structure = build_structure(skeleton, make_spec(**model))
    ratings = simulate_answers(structure, {}, rng, gold=study.gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, method="laplace", rng=seed, starts=2, progress=False, **model)
    truth, draws = quantities(ratings, fit, build_structure(ratings, make_spec(**model)))
    parameters = {p.name for p in structure.parameters()} | {"prevalence"}
    k_hat = json.loads(fit.attrs["diagnostics"])["k_hat"]
    found = []
    for name, value in truth.items():
        low, high = np.nanquantile(draws[name], TAILS)
        block = block_of(name, parameters)
        found.append({"block": block, "inside": float(low <= value <= high), "k_hat": k_hat})
    return found


def main() -> None:
    """Read the command line and write the table after each family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    tables = []
    with ProcessPoolExecutor(chosen.workers, mp_context=get_context("spawn")) as pool:
        for family in FAMILIES:
            work = partial(replicate, family=family, seed=chosen.seed)
            lines = [line for one in pool.map(work, range(chosen.replicates)) for line in one]
            by_block = pd.DataFrame(lines).groupby("block", sort=False)
            table = by_block.agg(
                quantities=("inside", "size"),
                coverage=("inside", "mean"),
                k_hat=("k_hat", "median"),
            ).reset_index()
            table.insert(0, "family", family)
            table["quantities"] //= chosen.replicates
            tables.append(table.assign(replicates=chosen.replicates, seed=chosen.seed))
            pd.concat(tables).to_csv(
                FOLDER / "laplace_families.csv", index=False, float_format="%.3g"
            )


if __name__ == "__main__":
    main()
