"""What the layer of easy and hard items costs and buys, by how hard the hard ones are.

One binary label of 300 items, three ratings each by six raters who are right with probability 0.82
to 0.95; a quarter of the items are hard, and all raters are right there with probability 0.9 (so
that they are no harder), 0.55 (a little better than guessing) or 0.3 (worse: hard items look like
the other class). The 95 %
interval of the share of yes among these items is held against the truth, for

- ``hierarchical``: all items are equally hard;
- ``default``: ``hierarchical + item_difficulty``;
- ``continuous``: ``hierarchical + item_difficulty_continuous``;
- ``HalfNormal(2)``: the default with that prior of ``difficulty_rate``, in place of 1.

    python -m benchmarks hard_items --sets 20 --seed 1

writes ``results/hard_items.csv`` (a line per design and model).
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay

OUT = Path(__file__).resolve().parent / "results" / "hard_items.csv"
ITEMS, RATERS, EACH, HARD = 300, 6, 3, 0.25
RIGHT_ON_HARD = (0.9, 0.55, 0.3)
METRIC = "prevalence[label=yes]"
LEVEL = 0.95
MODELS: dict[str, dict[str, Any]] = {
    "hierarchical": {"raters": "hierarchical"},
    "default": {},
    "continuous": {"raters": "hierarchical + item_difficulty_continuous"},
    "HalfNormal(2)": {"priors": {"difficulty_rate": "HalfNormal(2)"}},
}


def simulated(rng: np.random.Generator, right_on_hard: float) -> tuple[assay.Ratings, float]:
    """Draw ratings, and say what share of the items is truly yes."""
    truth = rng.random(ITEMS) < rng.uniform(0.2, 0.5)
    hard = rng.random(ITEMS) < HARD
    right = rng.uniform(0.82, 0.95, RATERS)
    item = np.repeat(np.arange(ITEMS), EACH)
    rater = np.concatenate([rng.permutation(RATERS)[:EACH] for _ in range(ITEMS)])
    chance = np.where(hard[item], right_on_hard, right[rater])
    said = np.where(rng.random(len(item)) < chance, truth[item], ~truth[item])
    table = pd.DataFrame(
        {"item": item, "rater": rater.astype(str), "label": np.where(said, "yes", "no")}
    )
    return assay.read_ratings(table, task="single"), float(truth.mean())


def held(draws: np.ndarray, truth: float) -> dict[str, float]:
    """Hold the interval of some draws against the truth."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    missed = max(low - truth, 0.0) + max(truth - high, 0.0)
    score = high - low + 2 / (1 - LEVEL) * missed
    return {"coverage": float(low <= truth <= high), "width": high - low, "interval_score": score}


def one_set(seed: int, number: int, right_on_hard: float) -> list[dict[str, Any]]:
    """Fit all models to one set."""
    rng = np.random.default_rng([seed, number, round(100 * right_on_hard)])
    ratings, truth = simulated(rng, right_on_hard)
    found = []
    for name, options in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", assay.FitWarning)
            fit = assay.fit(ratings, rng=number, progress=False, **options)
        draws = assay.metrics(fit, estimand="finite")[METRIC].values
        place = {"right_on_hard": right_on_hard, "set": number}
        few = json.loads(fit.attrs["diagnostics"])["ess_min"] < 400
        found.append({**place, "model": name, **held(draws, truth), "few_draws": float(few)})
    return found


def main() -> None:
    """Run all sets, and write a line per design and model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for number in range(options.sets):
        for right in RIGHT_ON_HARD:
            lines += one_set(options.seed, number, right)
    table = pd.DataFrame(lines).drop(columns="set")
    means = table.groupby(["right_on_hard", "model"], sort=False).mean()
    means.insert(0, "sets", options.sets)
    means.round(3).to_csv(OUT)


if __name__ == "__main__":
    main()
