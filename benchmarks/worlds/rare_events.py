"""Coverage of the share of a rare event in a population, from small samples.

One yes/no label, yes in 1, 2 or 4 % of the population; a sample of 50 items (each its own cluster),
rated by five raters whose errors are rare (sensitivity Beta(18, 2), specificity Beta(40, 2)). Many
samples have no item with the event, or one of which nobody can be sure. The default model with the
``dirichlet`` prevalence is fitted by NUTS, and the 95 % interval of the population's share is held
against the share.

    python -m benchmarks rare_events --sets 100 --seed 1

writes ``results/rare_events.csv`` (a line per share) and
``rare_events_runs.csv`` (a line per sample).
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.data.task import Label, Task

FOLDER = Path(__file__).resolve().parent / "results"
SHARES = (0.01, 0.02, 0.04)
ITEMS, RATERS = 50, 5
METRIC = "prevalence[event=yes]"
NUTS: dict[str, Any] = {"draws": 400, "tune": 400, "chains": 2, "starts": 2}


def one_sample(share: float, number: int, seed: int) -> dict[str, Any]:
    """Draw a sample, fit it, and hold the interval against the population."""
    rng = np.random.default_rng([seed, number, round(1000 * share)])
    truth = rng.random(ITEMS) < share
    right = np.where(truth[:, None], rng.beta(18, 2, RATERS), rng.beta(40, 2, RATERS))
    said = np.where(rng.random(right.shape) < right, truth[:, None], ~truth[:, None])
    item, rater = np.indices(said.shape)
    table = pd.DataFrame(
        {"item": item.ravel(), "rater": rater.ravel(), "event": np.where(said, "yes", "no").ravel()}
    )
    task = Task(name="events", labels=(Label(name="event"),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            assay.read_ratings(table, task=task),
            raters="hierarchical",
            prevalence="dirichlet",
            rng=int(rng.integers(2**31)),
            progress=False,
            **NUTS,
        )
    found = assay.summarize(assay.metrics(fit, estimand="population"))
    line = found.set_index("metric").loc[METRIC]
    return {
        "share": share,
        "sample": number,
        "events": int(truth.sum()),
        "flagged": int(said.any(axis=1).sum()),
        "estimand": line["estimand"],
        "mean": line["mean"],
        "lower": line["lower"],
        "upper": line["upper"],
        "inside": bool(line["lower"] <= share <= line["upper"]),
        "seed": seed,
    }


def main() -> None:
    """Fit what the command line asks for and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    runs = pd.DataFrame(
        [one_sample(share, n, chosen.seed) for share in SHARES for n in range(chosen.sets)]
    )
    runs.to_csv(chosen.folder / "rare_events_runs.csv", index=False, float_format="%.4g")
    runs["width"] = runs["upper"] - runs["lower"]
    table = runs.groupby(["share", "estimand"]).agg(
        samples=("inside", "size"),
        without_event=("events", lambda events: int((events == 0).sum())),
        inside=("inside", "mean"),
        mean=("mean", "mean"),
        width=("width", "mean"),
    )
    table = table.reset_index().assign(seed=chosen.seed)
    table.to_csv(chosen.folder / "rare_events.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
