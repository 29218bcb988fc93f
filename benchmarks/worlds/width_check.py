"""How well ``expected_width`` foretells: the fit is made again with the data that it imagined.

Ratings of the retrieval task from a world of its own (``worlds.py``), once with 10 % of the items
rated three times and the rest once (``sparse``), once with two ratings of every item
(``double``). Then the same items are rated once more, ten more clusters are rated, or one more
rater comes: the width that was expected stands beside the width that the new fit has.

    python -m benchmarks width_check --sets 10 --seed 1

writes ``results/width_check.csv`` (a line per set, purchase, estimand, metric and system
or difference of the systems) and ``width_check_summary.csv``; sets that the first file holds
already are not run again.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.evaluation.widths import BUYS, MORE_CLUSTERS, expected_width
from benchmarks.worlds.worlds import WORLDS, draw_skill, draw_truth, rating_row

FOLDER = Path(__file__).resolve().parent / "results"
WORLD = replace(WORLDS["retrieval"], clusters=60)
DESIGNS = ("sparse", "double")
CONTRAST = ("A", "B")
DIFFERENCE = "A - B"


def draw_tables(design: str, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Ratings of the base design, and those that each purchase would add."""
    clusters, raters = WORLD.clusters, WORLD.raters
    truth = draw_truth(WORLD, clusters + MORE_CLUSTERS, rng)
    skill = draw_skill(replace(WORLD, raters=raters + 1), rng)
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in ("base", *BUYS)}
    load = 0.0
    for index in np.ndindex(*truth.shape[:3]):
        often = 2 if design == "double" else int(rng.choice([1, 3], p=[0.9, 0.1]))
        order = rng.permutation(raters)
        drawn = [rating_row(WORLD, index, rater, truth, skill, rng) for rater in order[: often + 1]]
        newcomer = rating_row(WORLD, index, raters, truth, skill, rng)
        if index[0] >= clusters:
            rows["ten_more_clusters"] += drawn[:often]
            continue
        rows["base"] += drawn[:often]
        rows["one_more_rating"].append(drawn[often])
        load += often / raters
        if load >= 1:
            load -= 1
            rows["one_more_rater"].append(newcomer)
    return {name: pd.DataFrame(lines) for name, lines in rows.items()}


def fit_of(table: pd.DataFrame, number: int) -> xr.DataTree:
    """Fit the default model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratings = assay.read_ratings(table, task="retrieval")
        return assay.fit(
            ratings,
            raters="hierarchical",
            draws=300,
            tune=300,
            chains=2,
            starts=2,
            rng=number,
            progress=False,
        )


def widths(fit: xr.DataTree, estimand: str) -> pd.Series:
    """Widths of the intervals by metric and system, and of the difference of the systems."""
    data = assay.metrics(fit, estimand=estimand)
    first, second = CONTRAST
    contrast = data.sel(system=first) - data.sel(system=second)
    contrast = contrast.assign_coords(system=DIFFERENCE).expand_dims("system")
    joined = xr.concat([data, contrast], dim="system", combine_attrs="drop")
    table = assay.summarize(joined).set_index(["metric", "system"])
    return table["upper"] - table["lower"]


def run(design: str, number: int, seed: int) -> pd.DataFrame:
    """One set: expected and actual widths after each purchase."""
    rng = np.random.default_rng([seed, number, DESIGNS.index(design)])
    tables = draw_tables(design, rng)
    base = fit_of(tables["base"], number)
    found = []
    after = {name: fit_of(pd.concat([tables["base"], tables[name]]), number) for name in BUYS}
    for estimand in ("finite", "population"):
        values = expected_width(base, estimand=estimand, rng=number)
        difference = expected_width(base, estimand=estimand, rng=number, contrast=CONTRAST)
        expected = pd.concat([values, difference.assign(system=DIFFERENCE)])
        expected = expected.set_index(["metric", "system"])
        for name in BUYS:
            lines = pd.DataFrame(
                {
                    "width": expected["width"],
                    "expected": expected[name],
                    "actual": widths(after[name], estimand),
                }
            ).reset_index()
            lines["what"] = np.where(lines["system"] == DIFFERENCE, "difference", "value")
            found.append(
                lines.assign(design=design, number=number, estimand=estimand, purchase=name)
            )
    return pd.concat(found, ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Geometric means of the widths expected and found, relative to the width before."""
    t = table[(table[["width", "expected", "actual"]] > 0).all(axis=1)].copy()
    t["expected"] = np.log(t["expected"] / t["width"])
    t["actual"] = np.log(t["actual"] / t["width"])
    t["error"] = (t["expected"] - t["actual"]).abs()
    keys = ["design", "estimand", "purchase", "what"]
    found = t.groupby(keys, sort=False).agg(
        sets=("number", "nunique"),
        expected=("expected", "mean"),
        actual=("actual", "mean"),
        typical_error=("error", "median"),
    )
    found[["expected", "actual"]] = np.exp(found[["expected", "actual"]])
    return found.round(3).reset_index()


def main() -> None:
    """Read the command line; write each set as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / "width_check.csv"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["design", "number"])
    done = set(zip(table["design"], table["number"], strict=True))
    for number in range(chosen.sets):
        for design in DESIGNS:
            if (design, number) in done:
                continue
            table = pd.concat([table, run(design, number, chosen.seed)], ignore_index=True)
            table.round(5).to_csv(path, index=False)
            summary(table).to_csv(chosen.folder / "width_check_summary.csv", index=False)


if __name__ == "__main__":
    main()
