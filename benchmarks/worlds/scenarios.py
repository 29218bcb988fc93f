"""Coverage where the truth is fixed: the retrieval task under several designs.

Ratings come from a generator of its own, not from the package's model: labels follow one another
(relevance, then sufficiency, then misleading), a query effect shifts them, raters answer until the
interface accepts (or repair their answer, or override a warning). 95 % intervals of the six
metrics by system are held against the values of these items (finite) and of the superpopulation
(population), beside majority vote with a cluster bootstrap.

    python -m benchmarks scenarios --runs 20 --seed 1
    python -m benchmarks scenarios --runs 20 --seed 1 --raters "hierarchical + item_difficulty"

add their lines to ``results/scenarios.csv.gz`` (a line per run, metric and method), in the
place of older ones of the same recipe and worlds, and make ``scenarios_summary.csv`` anew.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.evaluation import majority_metrics
from benchmarks.measuring import PACKED
from benchmarks.worlds.worlds import (
    World,
    draw_ratings,
    interval_scores,
    metric_values,
    population_values,
)

FOLDER = Path(__file__).resolve().parent / "results"
WARNED = "sufficient_is_not_misleading"


@dataclass(frozen=True, kw_only=True)
class Scenario(World):
    """A world of the retrieval task, and how the fit sees its interface."""

    response: str = "block"
    right: bool = True


SCENARIOS = (
    Scenario(name="query SD 0, equal systems", query_sd=0.0, difference=0.0),
    Scenario(name="query SD 0, systems differ", query_sd=0.0),
    Scenario(name="query SD 1.5, equal systems", difference=0.0),
    Scenario(name="query SD 1.5, systems differ"),
    Scenario(name="good raters", accuracy=(0.93, 0.98)),
    Scenario(name="poor raters", accuracy=(0.65, 0.85)),
    Scenario(name="1 % misleading", base=(0.3, -0.8, -5.0), query_sd=1.0),
    Scenario(name="interface warns", interface="warn", response="warn"),
    Scenario(name="repaired, fitted as retry", interface="repair", right=False),
    Scenario(name="response process off", response="off", right=False),
    Scenario(name="three ratings an item", often=1.0),
    Scenario(name="items differ in difficulty", hardness=1.0),
    Scenario(name="items differ in difficulty, three ratings an item", hardness=1.0, often=1.0),
)


def run(
    world: Scenario, number: int, seed: int, population: pd.Series, raters: str
) -> list[dict[str, object]]:
    """One run of a scenario: a line per metric, system, estimand and method."""
    rng = np.random.default_rng([seed, number])
    table, truth = draw_ratings(world, rng)
    finite = metric_values(world, truth)
    response = (
        {WARNED: "warn"}
        if world.response == "warn"
        else {r.name: world.response for r in assay.load_task("retrieval").rules}
    )
    ratings = assay.read_ratings(table, task="retrieval", response=response)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            ratings,
            raters=raters,
            draws=300,
            tune=300,
            chains=2,
            starts=2,
            rng=number,
            progress=False,
        )
    rows = []
    for estimand, known in (("finite", finite), ("population", population)):
        found = assay.summarize(assay.metrics(fit, estimand=estimand))
        for row in found.itertuples():
            rows.append(
                (raters, estimand, row.metric, row.system, row.mean, row.lower, row.upper, known)
            )
        for row in majority_metrics(ratings, rng=number).itertuples():
            rows.append(
                (
                    "majority vote",
                    estimand,
                    row.metric,
                    row.system,
                    row.value,
                    row.lower,
                    row.upper,
                    known,
                )
            )
    seconds = time.perf_counter() - started
    return [
        {
            "scenario": world.name,
            "run": number,
            "method": method,
            "estimand": estimand,
            "metric": metric,
            "system": system,
            "truth": known[(metric, system)],
            "value": value,
            "lower": lower,
            "upper": upper,
            "seconds": seconds,
        }
        for method, estimand, metric, system, value, lower, upper, known in rows
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage, width and interval score (Gneiting & Raftery 2007) by scenario and method."""
    t = interval_scores(table)
    keys = ["scenario", "estimand", "method"]
    found = t.groupby(keys, sort=False).agg(
        runs=("run", "nunique"),
        coverage=("covered", "mean"),
        width=("width", "mean"),
        interval_score=("interval_score", "mean"),
        bias=("error", "mean"),
    )
    worst = t.groupby([*keys, "metric"])["covered"].mean().groupby(keys).min()
    return found.assign(worst_metric_coverage=worst).round(4).reset_index()


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of both; a newer run of a scenario takes the place of an older one."""
    keys = ["scenario", "run", "method", "estimand", "metric", "system"]
    both = pd.concat([old, new]).drop_duplicates(keys, keep="last")
    place = {world.name: k for k, world in enumerate(SCENARIOS)}
    return both.sort_values(keys, key=lambda c: c.map(place) if c.name == "scenario" else c)


def main() -> None:
    """Read the command line; write each scenario as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--raters", default="hierarchical")
    parser.add_argument("--only", default=None, help="part of the names of the scenarios to run")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / "scenarios.csv.gz"
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    worlds = [w for w in SCENARIOS if chosen.only is None or chosen.only in w.name]
    populations = {world.name: population_values(world) for world in worlds}
    for number in range(chosen.first, chosen.first + chosen.runs):
        for world in worlds:
            rows = run(world, number, chosen.seed, populations[world.name], chosen.raters)
            table = merged(table, pd.DataFrame(rows).round(5))
        table.to_csv(path, index=False, compression=PACKED)
        summary(table).to_csv(chosen.folder / "scenarios_summary.csv", index=False)


if __name__ == "__main__":
    main()
