"""The tables of the AIS study: which systems are clearly worse than the best one.

    python -m benchmarks ais_tables --seed 1

Reads ``results/ais/counts.csv``: for three studies of Rashkin et al. (2023), how many outputs of
each system the majority found interpretable, of those not flagged, and attributable, of those
interpretable; counted on the annotations that the authors released. Writes
``results/ais/clearly_worse.csv``: each share, the probability that it is below that of the best
system, whether ``compare_counts(...).clearly_worse(0.99)`` calls it clearly worse, and whether a
test of two proportions rejects that they are equal at 0.01, as the stars of the paper's tables do.
"""

import argparse
from pathlib import Path

import pandas as pd
from scipy import stats

import assay

FOLDER = Path(__file__).resolve().parent / "results" / "ais"
LEVEL = 0.99
DRAWS = 100_000


def p_value(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Two-sided p-value of the test that two proportions are equal (pooled, normal)."""
    (x, n), (y, m) = first, second
    pooled = (x + y) / (n + m)
    se = (pooled * (1 - pooled) * (1 / n + 1 / m)) ** 0.5
    return float(2 * stats.norm.sf(abs(x / n - y / m) / se)) if se else 1.0


def with_tests(counts: pd.DataFrame) -> pd.DataFrame:
    """Test each system of one metric against that with the highest share."""
    share = counts["successes"] / counts["total"]
    best = counts.loc[share.idxmax(), ["successes", "total"]]
    values = [
        p_value((x, n), (best["successes"], best["total"]))
        for x, n in zip(counts["successes"], counts["total"], strict=True)
    ]
    return counts.assign(share=share.round(4), starred=[p < 1 - LEVEL for p in values])


def verdicts(counts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Compare the systems of one study: a line per metric and system."""
    found = assay.compare_counts(counts, draws=DRAWS, rng=seed).clearly_worse(LEVEL)
    tested = pd.concat([with_tests(part) for _, part in counts.groupby("metric", sort=False)])
    kept = found[["metric", "system", "best", "p_worse", "clearly_worse"]]
    return tested.merge(kept, on=["metric", "system"], validate="one_to_one")


def main() -> None:
    """Read the command line and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    counts = pd.read_csv(FOLDER / "counts.csv")
    parts = [
        verdicts(part.drop(columns="study"), seed).assign(study=study)
        for study, part in counts.groupby("study", sort=False)
    ]
    table = pd.concat(parts).astype({"p_worse": float}).round({"p_worse": 4})
    table = table[["study", *table.columns.drop("study")]].assign(seed=seed)
    table.to_csv(FOLDER / "clearly_worse.csv", index=False)


if __name__ == "__main__":
    main()
