"""Coverage on simulated exports of the protocol tool: are 95 % intervals 95 % intervals?

Exports are written in the tool's own format (files, columns, habits: calibration items, discards,
a warned rule, incomplete panels), with a truth of their own that is not the model's: labels are
drawn one after the other, and the ease of a query moves all of them. Each is read and fitted as a
user would, and the truth is compared with the intervals.

    python -m benchmarks protocol_exports --exports 20 --seed 1

writes ``results/protocol_exports.csv`` (a line per metric, system, estimand and method),
``results/protocol_exports_raters.csv`` (is the poor rater found?), a summary of the first, and with
``--data`` the same tables for an export that exists (``results/protocol_exports_shared.csv``).
"""

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.data.ratings import Ratings
from assay.data.states import MISSING, Vectors
from assay.evaluation import metrics_of_labels

# Beside this file; a script finds its neighbours.
from benchmarks.worlds.export_writer import PLANS, write_export

NUTS: dict[str, Any] = {"method": "nuts", "draws": 300, "tune": 300, "chains": 2, "starts": 2}
LAPLACE: dict[str, Any] = {"method": "laplace", "draws": 300, "chains": 2, "starts": 2}
FOLDER = Path(__file__).resolve().parent / "results"


def read_truth(folder: Path, ratings: Ratings) -> Vectors:
    """Class codes of the simulated truth, (item, label), in the order of the ratings' items."""
    task = ratings.task
    table = pd.read_csv(folder / f"truth_{task.name}.csv", dtype=str, keep_default_na=False)
    keys = [c for c in task.columns["item"] if (table[c] != "").any()]
    names = table[keys].agg("/".join, axis=1)
    truth = table.set_index(names)[list(task.label_names)].reindex(ratings.items.index)
    return np.asarray(truth.to_numpy(), np.int16)


def fit_export(
    folder: Path, task: str, options: dict[str, Any], seed: int
) -> tuple[Ratings, xr.DataTree, float]:
    """Read and fit one task of an export with the defaults; the truth's files are not read."""
    ratings = assay.read_ratings(folder, task=task)
    if (ratings.truth != MISSING).any():
        raise RuntimeError("the fit would see the truth")
    start = time.perf_counter()
    with warnings.catch_warnings():
        # What they say stands in the columns r_hat, ess and k_hat.
        warnings.simplefilter("ignore", assay._util.errors.FitWarning)
        fit = assay.fit(ratings, raters="hierarchical", rng=seed, progress=False, **options)
    return ratings, fit, time.perf_counter() - start


def interval_table(folder: Path, ratings: Ratings, fit: xr.DataTree) -> pd.DataFrame:
    """Intervals of all metrics beside the truth of these items."""
    tables = [assay.summarize(assay.metrics(fit, estimand=e)) for e in ("finite", "population")]
    known = metrics_of_labels(read_truth(folder, ratings), ratings)
    known = known[["metric", "system", "value"]].rename(columns={"value": "truth"})
    table = pd.concat(tables).merge(known)
    table["inside"] = (table["lower"] <= table["truth"]) & (table["truth"] <= table["upper"])
    # The truth of the population is not that of these items: only the finite one is compared.
    table["inside"] = table["inside"].where(table["estimand"] == "finite")
    columns = ["metric", "system", "estimand", "truth", "mean", "sd", "lower", "upper", "inside"]
    return table[columns].assign(task=ratings.task.name)


def rater_table(fit: xr.DataTree) -> pd.DataFrame:
    """Mean reliability of each rater over labels and classes, and P(it is the lowest)."""
    confusion = assay.rater_reliability(fit)
    right = xr.concat(
        [
            confusion.sel(true_class=c, reported_class=c, drop=True)
            for c in confusion.true_class.values
        ],
        dim="true_class",
    )
    each = right.mean(("label", "true_class")).stack(sample=("chain", "draw"))
    raters = each["rater"].to_numpy()
    lowest = each.argmin("rater").to_numpy()
    return pd.DataFrame(
        {
            "rater": raters,
            "reliability": each.mean("sample").to_numpy(),
            "lowest": [(lowest == n).mean() for n in range(len(raters))],
        }
    )


def one_export(folder: Path, seed: int, *, compare: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Fit the three tasks of an export: lines of intervals, and of grounding's raters."""
    lines, raters = [], pd.DataFrame()
    for task in PLANS:
        for options in [NUTS, LAPLACE] if compare else [NUTS]:
            ratings, fit, seconds = fit_export(folder, task, options, seed)
            found = json.loads(fit.attrs["diagnostics"])
            lines.append(
                interval_table(folder, ratings, fit).assign(
                    method=options["method"],
                    r_hat=found.get("r_hat_max", np.nan),
                    ess=found.get("ess_min", np.nan),
                    k_hat=found.get("k_hat", np.nan),
                    rows=ratings.accounting.rows_read,
                    rows_used=ratings.accounting.rows_used,
                    seconds=round(seconds, 1),
                )
            )
            if task == "grounding" and options is NUTS:
                raters = rater_table(fit)
    return pd.concat(lines, ignore_index=True), raters


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Share of true finite values inside their intervals, by method, task and metric."""
    finite = table[table["estimand"] == "finite"]
    finite = finite.assign(
        inside=finite["inside"].astype(float),
        width=finite["upper"] - finite["lower"],
        error=finite["mean"] - finite["truth"],
        off=(finite["mean"] - finite["truth"]).abs(),
    )
    columns = {
        "values": ("inside", "size"),
        "inside": ("inside", "mean"),
        "width": ("width", "mean"),
        "mean_error": ("error", "mean"),
        "absolute_error": ("off", "mean"),
        "largest_r_hat": ("r_hat", "max"),
        "lowest_ess": ("ess", "min"),
    }
    keys = ["method", "task", "metric"]
    parts = [
        finite.groupby(keys[:depth]).agg(**columns).reset_index()
        for depth in range(len(keys), 0, -1)
    ]
    return pd.concat(parts, ignore_index=True).fillna(dict.fromkeys(keys, "all"))[[*keys, *columns]]


def run(exports: int, seed: int, compare: int, docs: Path) -> None:
    """Write, read and fit exports, one after the other; tables grow with each."""
    lines, raters = [], []
    for number in range(exports):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            poor = write_export(folder, np.random.default_rng([seed, number]))
            table, reliabilities = one_export(folder, number + 1, compare=number < compare)
        lines.append(table.assign(export=number, seed=seed))
        raters.append(reliabilities.assign(export=number, seed=seed, poor=poor))
        save(pd.concat(lines), docs / "protocol_exports.csv")
        save(pd.concat(raters), docs / "protocol_exports_raters.csv")
        save(summary(pd.concat(lines)), docs / "protocol_exports_summary.csv")


def save(table: pd.DataFrame, path: Path) -> None:
    """Write a table with the versions that made it, four digits a number."""
    table.assign(assay=assay.__version__).to_csv(path, index=False, float_format="%.4g")


def main() -> None:
    """Read the command line and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exports", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=2, help="exports that Laplace fits as well")
    parser.add_argument("--data", type=Path, help="folder of an export with truth_*.csv")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    if chosen.data is not None:
        table, raters = one_export(chosen.data, chosen.seed, compare=True)
        save(table, chosen.folder / "protocol_exports_shared.csv")
        save(raters, chosen.folder / "protocol_exports_shared_raters.csv")
    run(chosen.exports, chosen.seed, chosen.compare, chosen.folder)


if __name__ == "__main__":
    main()
