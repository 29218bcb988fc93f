"""On how many teeth all five dentists say the same, beside what fits of their answers expect.

    python -m benchmarks unanimity --data ../shared/data --seed 1

fits the dental caries ratings of Espeland & Handelman (1989) by NUTS with recipes that differ in
what they say of dependence beyond the truth, and writes their ``posterior_predictive_check`` to
``results/sets/unanimity.csv``.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import assay
from assay._util.errors import FitWarning

PROJECT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).resolve().parent / "results" / "sets" / "unanimity.csv"
RECIPES = (
    "hierarchical",
    "hierarchical + item_difficulty",
    "hierarchical + item_difficulty_by_class",
)
SHORT: dict[str, Any] = {"draws": 200, "tune": 200, "chains": 2, "progress": False}


def main() -> None:
    """Fit, check and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    ratings = assay.read_ratings(chosen.data / "caries" / "annotations.csv", task="single")
    tables = []
    for recipe in RECIPES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, raters=recipe, **SHORT, rng=chosen.seed)
        table = assay.posterior_predictive_check(fit, rng=chosen.seed)
        tables.append(table[table["check"] == "unanimity"].assign(raters=recipe, seed=chosen.seed))
    pd.concat(tables).drop(columns="group").to_csv(TABLE, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
