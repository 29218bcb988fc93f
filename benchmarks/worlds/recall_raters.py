"""Recall of ranked lists where weak raters judged the sample, with and without a score.

The pools of ``recall_pools``: 20 queries, 400 documents each, 2 or 5 % relevant, 8 or 40 pairs of
each query judged. Three raters find 75 % of what is relevant and pass 90 % of what is not. Their
ratings are fitted (default raters, NUTS), with the normal score of the retriever's rank in the
prevalence, and without.

    python -m benchmarks recall_raters --sets 12 --seed 0

writes ``results/recall_raters.csv``: a line for each number of judged pairs, scores, metric and
way, with the number of 95 % intervals of two runs that held the true value.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.data.ratings import RETRIEVER_SCORE
from assay.studies.diras.score_bands import normal_scores
from benchmarks.worlds.recall_pools import METRICS, PREVALENCES, QUALITIES, RUNS, SIZE, K, world

FOLDER = Path(__file__).resolve().parent / "results"
FOUND, PASSED, RATERS = 0.75, 0.9, 3
"""P(a rater says yes | relevant) and P(no | not relevant), and the number of raters."""
NUTS: dict[str, Any] = {"draws": 300, "tune": 300, "chains": 2, "starts": 2}
DRAWS = 150
JUDGED = (8, 40)
UNUSED = ["query_id", "document_id", "stratum_size", "retriever_rank"]


def rated(made: dict[str, Any], seed: int, *, score: bool) -> pd.DataFrame:
    """Return the ratings of all judged pairs by all raters, (rating,)."""
    rng, pairs = np.random.default_rng([seed, 7]), made["pairs"]
    relevant = pairs["item"].map(made["truth"]).to_numpy(bool)
    yes = rng.random((RATERS, len(pairs))) < np.where(relevant, FOUND, 1 - PASSED)
    known = pairs.assign(cluster=pairs["query_id"]).drop(columns=UNUSED)
    if score:
        known[RETRIEVER_SCORE] = normal_scores(pairs["retriever_rank"], SIZE["documents"])
    return pd.concat(
        [known.assign(rater=f"r{n}", relevant=np.where(own, "yes", "no"))
         for n, own in enumerate(yes)]
    )  # fmt: skip


def lines_of(made: dict[str, Any], seed: int, *, score: bool) -> Iterator[dict[str, Any]]:
    """Fit the ratings of a world; yield a line for each metric and run."""
    ratings = assay.read_ratings(rated(made, seed, score=score), task="single", labels=["relevant"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, rng=seed, progress=False, **NUTS)
    tables = made["runs"], made["pairs"], made["pool"]
    found = assay.recall_of_runs(
        fit, *tables, k=K, positive="yes", estimand="finite", draws=DRAWS, rng=seed
    )
    every = found.table.set_index(["metric", "run"])
    for metric, run in product(METRICS, RUNS):
        line, true = every.loc[(f"{metric}_at_{K}", run)], made[metric][run]
        yield {
            "metric": metric, "run": run, "true": true, "naive": line["naive"],
            "inside": bool(line["lower"] <= true <= line["upper"]),
            "width": line["upper"] - line["lower"], "error": line["mean"] - true,
        }  # fmt: skip


def main() -> None:
    """Run all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    rows = []
    for seed in range(chosen.seed, chosen.seed + chosen.sets):
        for judged, quality, score in product(JUDGED, ("good", "poor"), (True, False)):
            noise, prevalence = QUALITIES[quality][0], PREVALENCES[seed % len(PREVALENCES)]
            made = world(seed, noise=noise, per_query=judged, prevalence=prevalence, **SIZE)
            about = {"judged": judged, "quality": quality, "score": score}
            rows += [about | line for line in lines_of(made, seed, score=score)]
        # After every set, since a run takes long.
        summary(rows).to_csv(chosen.folder / "recall_raters.csv", index=False, float_format="%.4f")


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Count intervals that hold the true value, and average the rest, over both runs."""
    groups = pd.DataFrame(rows).groupby(["judged", "quality", "score", "metric"], sort=False)
    counts = groups["inside"].agg(inside="sum", intervals="size")
    return counts.join(groups[["width", "error", "true", "naive"]].mean()).reset_index()


if __name__ == "__main__":
    main()
