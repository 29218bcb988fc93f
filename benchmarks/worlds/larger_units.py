"""Queries in topics: intervals of the population with the topic as cluster, and without it.

Two systems answer 200 queries in 15 topics, and three raters judge each answer. Each system is
better on some topics (SD 0.5 on the logit scale). The truth is the difference over new topics.

    python -m benchmarks larger_units --sets 60 --seed 1
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import assay
from benchmarks.worlds.zoo_table import exact_bounds

RESULTS = Path(__file__).resolve().parent / "results" / "larger_units.csv"
SIZES = {"queries": 200, "topics": 15, "raters": 3}
TOPIC_SD, QUERY_SD, RIGHT = 0.5, 0.7, 0.92
MEAN = (0.45, 0.15)
METRIC = "prevalence[good=yes]"


def draw(rng: np.random.Generator) -> pd.DataFrame:
    """Draw a study as a table of ratings."""
    topic = rng.integers(SIZES["topics"], size=SIZES["queries"])
    effect = rng.normal(MEAN, TOPIC_SD, (SIZES["topics"], 2))
    ease = rng.normal(0, QUERY_SD, SIZES["queries"])
    truth = rng.random((SIZES["queries"], 2)) < expit(effect[topic] + ease[:, None])
    query, system, rater = np.indices((*truth.shape, SIZES["raters"])).reshape(3, -1)
    right = rng.random(len(query)) < RIGHT
    return pd.DataFrame({
        "query": query, "topic": topic[query], "system": np.array(["A", "B"])[system],
        "rater": rater, "good": np.where(truth[query, system] == right, "yes", "no"),
    })  # fmt: skip


def true_difference() -> float:
    """Return the difference over new topics and queries."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    sd = np.hypot(TOPIC_SD, QUERY_SD)
    a, b = ((expit(mean + sd * nodes) * weights).sum() / weights.sum() for mean in MEAN)
    return float(a - b)


def one_set(seed: int, number: int) -> list[dict[str, object]]:
    """Return a line for each way to read the table."""
    frame, found = draw(np.random.default_rng([seed, number])), []
    for cluster in ("query", "topic"):
        ratings = assay.read_ratings(frame, item=["query", "system"], cluster=cluster)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = assay.fit(ratings, method="laplace", draws=1000, chains=1, progress=False)
            pair = assay.compare(fit, metric=METRIC).pairs.iloc[0]
        lower, upper = pair["difference_lower"], pair["difference_upper"]
        named = any(unit.matters for unit in ratings.accounting.larger_units)
        found.append({
            "set": number, "cluster": cluster, "lower": lower, "upper": upper, "named": named,
            "inside": lower <= true_difference() <= upper,
        })  # fmt: skip
    return found


def main() -> None:
    """Run the sets, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    lines = pd.DataFrame(line for n in range(given.sets) for line in one_set(given.seed, n))
    rows = []
    for cluster, own in lines.groupby("cluster"):
        inside, low_high = own["inside"].mean(), exact_bounds(own["inside"].sum(), len(own))
        rows.append({
            "cluster": cluster, "sets": len(own), "coverage": round(inside, 3),
            "from": round(low_high[0], 3), "to": round(low_high[1], 3),
            "width": round((own["upper"] - own["lower"]).mean(), 3),
            "named by check": round(own["named"].mean(), 3),
        })  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_csv(RESULTS, index=False)
    sys.stdout.write(f"{table.to_string(index=False)}\n")


if __name__ == "__main__":
    main()
