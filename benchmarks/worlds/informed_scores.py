"""Whether intervals of ``score_rater`` hold the value of the truth, with and without ``informed``.

25 questions of eight items, half of them relevant; three raters who are right in 85 %; a score that
is the chance of relevance given a normal reading of unit variance, 1.81 higher where the item is
relevant (AUROC 0.9): calibrated, or overconfident (twice its log odds). The raters are fitted
without the score (default model, NUTS), and each measure of the score is held against its value for
the true labels: 95 % intervals, of these items.

    python -m benchmarks informed_scores --sets 40 --seed 1

writes ``results/informed_scores.csv``: in how many sets an interval held each measure, the mean
of its true value and of the error, and the mean width.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

import assay

FOLDER = Path(__file__).resolve().parent / "results"
QUESTIONS, PLACES, RATERS = 25, 8, 3
RIGHT, AUROC = 0.85, 0.9
APART = 2**0.5 * norm.ppf(AUROC)
BOLDNESS = {"calibrated": 1.0, "overconfident": 2.0}
"""What the log odds of the scores are multiplied by."""
NUTS: dict[str, Any] = {"draws": 500, "tune": 400, "chains": 2, "starts": 2}


def draw_set(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Ratings (long), log odds of calibrated scores and true labels (item)."""
    count = QUESTIONS * PLACES
    truth = rng.random(count) < 0.5
    said = np.where(rng.random((RATERS, count)) < RIGHT, truth, ~truth)
    odds = APART * (rng.normal(APART * truth) - APART / 2)
    item = [f"i{n:03d}" for n in range(count)]
    table = pd.DataFrame(
        {
            "item": item * RATERS,
            "query": np.tile(np.arange(count) // PLACES, RATERS),
            "rater": np.repeat([f"r{j}" for j in range(RATERS)], count),
            "relevant": np.where(said.ravel(), "yes", "no"),
        }
    )
    return table, pd.Series(odds, item), pd.Series(truth.astype(int), item)


def one_set(number: int, seed: int) -> pd.DataFrame:
    """One set: a line per measure and way of scoring."""
    rng = np.random.default_rng([seed, number])
    table, odds, truth = draw_set(rng)
    ratings = assay.read_ratings(table, task="single", cluster="query", labels=["relevant"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(ratings, raters="hierarchical", rng=number, progress=False, **NUTS)
    question = dict(zip(table["item"], table["query"], strict=True))
    found = []
    for kind, informed in product(BOLDNESS, (False, True)):
        score = expit(BOLDNESS[kind] * odds)
        known = assay.score_rater(truth, score, clusters=question)
        draws = assay.score_rater(fit, score, positive="yes", informed=informed)
        draws = draws.drop_vars([n for n in draws.data_vars if n.endswith(("_lowest", "_highest"))])
        line = assay.summarize(draws).assign(score=kind, informed=informed, set=number)
        line["truth"] = [known[name].item() for name in line["metric"]]
        found.append(line)
    return pd.concat(found)


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """How many sets held each measure, mean widths and mean errors."""
    held = (lines["lower"] <= lines["truth"]) & (lines["truth"] <= lines["upper"])
    lines = lines.assign(
        held=held, width=lines["upper"] - lines["lower"], error=lines["mean"] - lines["truth"]
    )
    found = lines.groupby(["score", "informed", "metric"], sort=False).agg(
        sets=("set", "nunique"),
        held=("held", "sum"),
        truth=("truth", "mean"),
        error=("error", "mean"),
        width=("width", "mean"),
    )
    return found.reset_index()


def main() -> None:
    """Run the sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    lines = pd.concat([one_set(n, chosen.seed) for n in range(chosen.sets)])
    table = summary(lines).assign(seed=chosen.seed)
    table.to_csv(chosen.folder / "informed_scores.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
