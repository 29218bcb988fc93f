"""Coverage of the contrast of two systems within each stratum, where strata differ in it.

One yes/no label, four strata, three raters who are right nine times in ten; what is yes differs
between strata, and so does by how much one system is better (normal, with the SD that the design
names, in log odds). Laplace's approximation with ``hierarchical`` raters; 95 % intervals of
``compare_groups`` for the population of each stratum, on its own and pooled.

    python -m benchmarks group_coverage --sets 60 --seed 1

writes ``results/group_coverage.csv``.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import assay

FOLDER = Path(__file__).resolve().parent / "results"
STRATA = "abcd"
DESIGNS = ((5, 0.0), (5, 1.0), (10, 0.0), (10, 0.4), (10, 1.0), (40, 1.0))
"""Clusters in each stratum, and the SD of the contrast over strata."""
WRONG = 0.1
MEAN = 0.4


def draw_set(clusters: int, sd: float, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Ratings of one set, and the true contrast of each stratum."""
    rows, truth = [], {}
    for stratum in STRATA:
        base, half = rng.normal(0, 0.5), rng.normal(MEAN, sd) / 2
        share = {"A": 1 / (1 + np.exp(-base - half)), "B": 1 / (1 + np.exp(half - base))}
        truth[stratum] = share["A"] - share["B"]
        for query in range(clusters):
            for system, p in share.items():
                yes = rng.random() < p
                rows += [
                    (f"{stratum}{query}", system, f"{stratum}{query}{system}", rater, stratum, said)
                    for rater in ("r1", "r2", "r3")
                    for said in ["yes" if yes != (rng.random() < WRONG) else "no"]
                ]
    columns = ["query_id", "system", "answer_id", "rater", "language", "label"]
    return pd.DataFrame(rows, columns=columns), pd.Series(truth)


def lines(clusters: int, sd: float, sets: int, seed: int) -> Iterator[pd.DataFrame]:
    """Yield whether the intervals of each set hold the truth, and how wide they are."""
    for number in range(sets):
        table, truth = draw_set(clusters, sd, np.random.default_rng([seed, number]))
        ratings = assay.read_ratings(table, task="single", stratum="language")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = assay.fit(
                ratings, raters="hierarchical", method="laplace", draws=400, chains=1, rng=number,
                progress=False,
            )  # fmt: skip
        found = assay.compare_groups(fit, metric="prevalence[label=yes]")
        found = found.set_index("group").loc[list(STRATA)]
        yield pd.DataFrame(
            {
                "own": truth.between(found["difference_lower"], found["difference_upper"]),
                "pooled": truth.between(found["pooled_lower"], found["pooled_upper"]),
                "own_width": found["difference_upper"] - found["difference_lower"],
                "pooled_width": found["pooled_upper"] - found["pooled_lower"],
                "own_error": (found["difference"] - truth).abs(),
                "pooled_error": (found["pooled"] - truth).abs(),
            }
        )


def main() -> None:
    """Read the command line and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    rows = []
    for clusters, sd in DESIGNS:
        found = pd.concat(list(lines(clusters, sd, chosen.sets, chosen.seed)))
        about = {"clusters": clusters, "sd_of_contrast": sd, "sets": chosen.sets}
        rows.append({**about, **found.mean().round(3), "seed": chosen.seed})
    pd.DataFrame(rows).to_csv(FOLDER / "group_coverage.csv", index=False)


if __name__ == "__main__":
    main()
