"""Graded evidence: raters with thresholds, as in signal detection. Which difficulty is honest?

    python -m benchmarks graded_evidence --sets 24 --seed 1

Each item has an amount of evidence, and is true if it is above 0. A rater sees it with noise and
says yes above a threshold of his own, drawn around 0. Writes ``results/graded_evidence.csv``: by
SD of the thresholds and by recipe, fitted by Laplace, accuracy and log loss of the labels, the
error of the share of true items, and how often and how wide 95 % intervals hold it, beside the
majority vote. ``results/graded_evidence_summary.csv`` has means, and the correlation of the error
with the raters' mean threshold.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay._util.errors import FitWarning

TARGET = Path(__file__).resolve().parent / "results" / "graded_evidence.csv"
RECIPES = {
    "none": "hierarchical",
    "classes": "hierarchical + item_difficulty",
    "degrees": "hierarchical + item_difficulty_continuous",
}
ITEMS, RATERS, EACH = 300, 6, 5
EVIDENCE, NOISE = 1.2, 0.7
"""SDs of the items' evidence, and of what a rater sees of it."""
THRESHOLDS = (0.0, 0.2, 0.4)
"""SDs of the raters' thresholds."""
CLIP = 1e-6


def world(
    seed: int, number: int, spread: float
) -> tuple[assay.Ratings, "np.ndarray[Any, Any]", float]:
    """Simulate the ratings of one set, the truth of its items, and the mean threshold."""
    rng = np.random.default_rng([seed, number])
    evidence = rng.normal(-0.3, EVIDENCE, ITEMS)
    threshold = spread * rng.normal(size=RATERS)
    rows = [
        {
            "item": f"i{n:03d}",
            "rater": f"r{j}",
            "label": "yes" if value + rng.normal(0, NOISE) > threshold[j] else "no",
        }
        for n, value in enumerate(evidence)
        for j in rng.permutation(RATERS)[:EACH]
    ]
    ratings = assay.read_ratings(pd.DataFrame(rows), task="single")
    return ratings, evidence > 0, float(threshold.mean())


def scores(chance: Any, drawn: Any, truth: Any) -> dict[str, float]:
    """Score probabilities of the items, and draws of the share of true ones."""
    right = np.clip(np.where(truth, chance, 1 - chance), CLIP, 1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {
        "accuracy": float(((chance > 0.5) == truth).mean()),
        "log loss": float(-np.log(right).mean()),
        "error": float(np.mean(drawn) - truth.mean()),
        "held": float(low <= truth.mean() <= high),
        "width": float(high - low),
    }


def main() -> None:
    """Run the sets, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=TARGET)
    given = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for number in range(given.sets):
        for spread in THRESHOLDS:
            lines += study(given.seed, number, spread)
        pd.DataFrame(lines).to_csv(given.out, index=False, float_format="%.4f")
    told = summary(pd.DataFrame(lines))
    told.to_csv(given.out.with_stem(given.out.stem + "_summary"), float_format="%.3f")


def study(seed: int, number: int, spread: float) -> list[dict[str, Any]]:
    """Fit the recipes to one set: a line for each, and one for the vote."""
    ratings, truth, mean = world(seed, number, spread)
    yes = np.bincount(ratings.item, ratings.answers[:, 0] == 1, ITEMS)
    vote, share = (yes + 0.5) / (EACH + 1), yes / EACH > 0.5
    again = np.random.default_rng(number).choice(share, (2000, ITEMS)).mean(axis=1)
    keys = {"set": number, "thresholds": spread, "mean_threshold": mean}
    lines = [{**keys, "model": "vote", **scores(vote, again, truth)}]
    for model, recipe in RECIPES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(
                ratings, raters=recipe, method="laplace", draws=250, rng=number, progress=False
            )
        chance = assay.label_probabilities(fit).sel({"class": "yes"}).to_numpy()[:, 0]
        drawn = assay.label_draws(fit).stack(sample=("chain", "draw"))
        shares = drawn.transpose("sample", "item", "label").to_numpy()[:, :, 0].mean(axis=1)
        lines.append({**keys, "model": model, **scores(chance, shares, truth)})
    return lines


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means by SD of the thresholds and recipe, and what the mean threshold explains."""
    by = table.groupby(["thresholds", "model"])
    told = by[["accuracy", "log loss", "held", "width"]].mean()
    told["RMSE"] = by["error"].apply(lambda e: float(np.sqrt((e**2).mean())))
    told["correlation"] = by.apply(lambda t: t["error"].corr(t["mean_threshold"]))
    return told


if __name__ == "__main__":
    main()
