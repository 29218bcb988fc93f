"""Graded evidence: raters with thresholds, as in signal detection. Which difficulty is honest?

    python -m benchmarks graded_evidence --sets 8 --seed 1

Each item has an amount of evidence, and is true if it is above 0. A rater sees it with noise and
says yes above a threshold of his own. Writes ``results/graded_evidence.csv``: by recipe, fitted by
Laplace, accuracy and log loss of the labels, and how often and how wide 95 % intervals hold the
share of true items, beside the majority vote.
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
ITEMS, RATERS, EACH = 300, 8, 5
EVIDENCE, NOISE, THRESHOLDS = 1.2, 0.7, 0.4
"""SDs of the items' evidence, of what a rater sees of it, and of the raters' thresholds."""
CLIP = 1e-6


def world(seed: int, number: int) -> tuple[assay.Ratings, "np.ndarray[Any, Any]"]:
    """Simulate the ratings of one set, and the truth of its items."""
    rng = np.random.default_rng([seed, number])
    evidence = rng.normal(-0.3, EVIDENCE, ITEMS)
    threshold = rng.normal(0, THRESHOLDS, RATERS)
    rows = [
        {
            "item": f"i{n:03d}",
            "rater": f"r{j}",
            "label": "yes" if value + rng.normal(0, NOISE) > threshold[j] else "no",
        }
        for n, value in enumerate(evidence)
        for j in rng.permutation(RATERS)[:EACH]
    ]
    return assay.read_ratings(pd.DataFrame(rows), task="single"), evidence > 0


def scores(chance: Any, drawn: Any, truth: Any) -> dict[str, float]:
    """Score probabilities of the items, and draws of the share of true ones."""
    right = np.clip(np.where(truth, chance, 1 - chance), CLIP, 1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {
        "accuracy": float(((chance > 0.5) == truth).mean()),
        "log loss": float(-np.log(right).mean()),
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
    lines = []
    for number in range(given.sets):
        ratings, truth = world(given.seed, number)
        yes = np.bincount(ratings.item, ratings.answers[:, 0] == 1, ITEMS)
        vote = (yes + 0.5) / (EACH + 1)
        share = yes.astype(float) / EACH > 0.5
        lines.append({"set": number, "model": "vote", **scores(vote, share.mean(), truth)})
        for model, recipe in RECIPES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitWarning)
                fit = assay.fit(
                    ratings, raters=recipe, method="laplace", draws=250, rng=number, progress=False
                )
            chance = assay.label_probabilities(fit).sel({"class": "yes"}).to_numpy()[:, 0]
            drawn = assay.label_draws(fit).stack(sample=("chain", "draw"))
            shares = drawn.transpose("sample", "item", "label").to_numpy()[:, :, 0].mean(axis=1)
            lines.append({"set": number, "model": model, **scores(chance, shares, truth)})
        pd.DataFrame(lines).to_csv(given.out, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
