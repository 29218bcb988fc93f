"""What abstentions that hang on the truth do to a share, and whether the right odds ratio mends it.

    python -m benchmarks abstentions --sets 40 --seed 1

simulates binary ratings, three an item by six good raters, who abstain from items of the rarer
class four times as readily as from others, fits them with abstentions missing at random, and holds
``sensitivity_to_abstention`` under several odds ratios against the share among the items. A line
per size, share of abstentions and odds ratio goes to ``results/abstentions.csv``.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import assay
from assay.data.ratings import Ratings
from assay.data.states import MISSING

FOLDER = Path(__file__).resolve().parent / "results"
METRIC = "prevalence[label=b]"
TRUE_RATIO = 4.0
ASSUMED = (1.0, 2.0, 4.0, 8.0)
DESIGNS = ((200, 0.10), (200, 0.35), (1000, 0.10))
"""Items, and how often raters abstain from those of the commoner class."""
GOOD = {
    "logit_mean": np.full((1, 2), 1.8),
    "logit_sd": np.full((1, 2), 0.4),
    "state_share": np.array([[0.6, 0.4]]),
}


def reluctant(items: int, often: float, rng: np.random.Generator) -> tuple[Ratings, float]:
    """Simulate ratings, and the share of the rarer class among the items."""
    ratings = assay.simulate(
        "single", raters="hierarchical", classes=("a", "b"), n_items=items, n_raters=6,
        ratings_per_item=3, prevalence="dirichlet", values=GOOD, rng=rng,
    )  # fmt: skip
    assert ratings.simulated is not None
    rarer = ratings.simulated.truth[:, 0] == 1
    odds = often / (1 - often) * np.where(rarer[ratings.item], TRUE_RATIO, 1.0)
    silent = rng.random(len(odds)) < odds / (1 + odds)
    answers = np.where(silent[:, None], MISSING, ratings.answers).astype(np.int16)
    return replace(ratings, answers=answers, abstained=silent), float(rarer.mean())


def run_design(items: int, often: float, sets: int, seed: int) -> pd.DataFrame:
    """Fit some sets of one design: a line per odds ratio."""
    found = []
    for number in range(sets):
        ratings, truth = reluctant(items, often, np.random.default_rng([seed, items, number]))
        fit = assay.fit(
            ratings, raters="hierarchical", prevalence="dirichlet", method="laplace", draws=500,
            chains=2, starts=1, rng=number, progress=False,
        )  # fmt: skip
        table = assay.sensitivity_to_abstention(
            fit, when="label == b", odds_ratio=ASSUMED, metric=METRIC
        )
        found.append(
            table.assign(
                off=table["mean"] - truth,
                covered=table["lower"].le(truth) & table["upper"].ge(truth),
                abstained=ratings.abstained.mean(),
            )
        )
    every = pd.concat(found)
    mean = every.groupby("odds_ratio")[["abstained", "off", "covered"]].mean().reset_index()
    mean.insert(0, "items", items)
    return mean.assign(sets=sets, seed=seed).rename(
        columns={"odds_ratio": "assumed odds ratio", "off": "mean error", "covered": "coverage"}
    )


def main() -> None:
    """Run every design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = [run_design(items, often, chosen.sets, chosen.seed) for items, often in DESIGNS]
    pd.concat(tables).round(3).to_csv(FOLDER / "abstentions.csv", index=False)


if __name__ == "__main__":
    main()
