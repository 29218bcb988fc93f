"""What fits say of outputs that some of five anonymous raters call attributable.

    python -m benchmarks consensus --seed 1 [--method laplace] [--sets qrecc wow cnn_dm]

Reads the vote counts of Rashkin et al. (2023) in ``../shared/data/ais_votes``. Raters are
anonymous: the votes of an output stand in five slots, in an order that is drawn anew for each.
Outputs that were flagged are left out, since their votes were not released. Writes
``results/sets/consensus.csv``: by set and recipe the mean probability of being attributable of
outputs that 1, 2 and 3 of five raters call so, beside the share of the raters' votes that a
beta-binomial distribution puts above one half; and by system the share of attributable outputs,
with its interval, beside that of the majority. ``consensus.json`` says when, and on what machine
and versions.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln
from scipy.stats import beta

import assay
from assay._util.errors import FitWarning
from benchmarks.measuring import write_machine

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "ais_votes"
TARGET = Path(__file__).resolve().parent / "results" / "sets" / "consensus.csv"
SETS = ("qrecc", "wow", "cnn_dm")
RECIPES = ("hierarchical + item_difficulty", "hierarchical", "pooled")
RATERS = 5
DRAWS = 250


def votes_of(row: pd.Series, rng: np.random.Generator) -> list[dict[str, object]]:
    """Put the votes on one output into slots: a rating each."""
    seen = row["n_agree_interpretable"]
    seen = seen if row["interpretable"] else RATERS - seen
    right = row["n_agree_attributable"]
    yes = right if row["attributable"] else seen - right
    told = row["interpretable"] and right >= 0
    found = []
    for slot, vote in zip(rng.permutation(RATERS), range(RATERS), strict=True):
        interpretable = vote < seen
        attributable = None
        if interpretable and told:
            attributable = "yes" if vote < yes else "no"
        found.append(
            {
                "item": f"{row['example']} {row['model']}",
                "rater": f"slot {slot + 1}",
                "system": row["model"],
                "cluster": row["example"],
                "flagged": "no",
                "interpretable": "yes" if interpretable else "no",
                "attributable": attributable,
            }
        )
    return found


def ratings_of(outputs: pd.DataFrame, seed: int) -> assay.Ratings:
    """Read the votes as ratings of five slots."""
    rng = np.random.default_rng(seed)
    rows = [vote for _, row in outputs.iterrows() for vote in votes_of(row, rng)]
    return assay.read_ratings(pd.DataFrame(rows), task="ais")


def counts_of(outputs: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many of the raters who were asked call each output attributable, and how many."""
    told = outputs[(outputs["interpretable"] == 1) & (outputs["n_agree_attributable"] >= 0)]
    asked = told[["n_agree_interpretable", "n_agree_attributable"]].max(axis=1).to_numpy()
    right = told["n_agree_attributable"].to_numpy()
    return np.where(told["attributable"] == 1, right, asked - right), asked


def of_most(outputs: pd.DataFrame) -> list[float]:
    """Return P(more than half of all such raters say yes | k of five do), k = 1, 2, 3."""
    yes, asked = counts_of(outputs)

    def misfit(logs: NDArray[np.float64]) -> float:
        a, b = np.exp(logs)
        return -float((betaln(yes + a, asked - yes + b) - betaln(a, b)).sum())

    a, b = np.exp(minimize(misfit, np.zeros(2), method="Nelder-Mead").x)
    return [float(beta.sf(0.5, a + k, b + RATERS - k)) for k in (1, 2, 3)]


def lines_of(name: str, outputs: pd.DataFrame, recipe: str, method: str, seed: int) -> pd.DataFrame:
    """Fit one recipe to one set: a line for each number of votes and each system."""
    ratings = ratings_of(outputs, seed)
    started = time.perf_counter()
    fit = assay.fit(ratings, raters=recipe, method=method, draws=DRAWS, rng=seed, progress=False)
    seconds = time.perf_counter() - started
    chance = assay.label_probabilities(fit).sel({"label": "attributable", "class": "yes"})
    yes = (ratings.answers[:, -1] == 1).astype(int)
    k = np.bincount(ratings.item, yes, len(ratings.items))
    asked = np.bincount(ratings.item, ratings.answers[:, -1] >= 0, len(ratings.items))
    held = chance.to_numpy()
    found = [
        {"about": f"{n} of 5", "estimate": float(held[(k == n) & (asked == RATERS)].mean()),
         "votes": most}
        for n, most in zip((1, 2, 3), of_most(outputs), strict=True)
    ]  # fmt: skip
    metrics = assay.summarize(assay.metrics(fit, estimand="finite"))
    table = metrics[metrics["metric"] == "attributable_rate"]
    majority = outputs[outputs["interpretable"] == 1].groupby("model")["attributable"].mean()
    found += [
        {"about": row["system"], "estimate": row["mean"], "lower": row["lower"],
         "upper": row["upper"], "votes": float(majority[row["system"]])}
        for _, row in table.iterrows()
    ]  # fmt: skip
    return pd.DataFrame(found).assign(
        set=name, raters=recipe, method=method, seconds=round(seconds, 1), seed=seed
    )


def main() -> None:
    """Read the command line, fit, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--method", default="laplace")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--raters", nargs="+", default=list(RECIPES))
    chosen = parser.parse_args()
    tables = []
    for name in chosen.sets:
        every = pd.read_csv(chosen.data / f"{name}.csv")
        outputs = every[(every["flagged"] == 0) & (every["n_agree_interpretable"] >= 0)]
        for recipe in chosen.raters:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitWarning)
                tables.append(lines_of(name, outputs, recipe, chosen.method, chosen.seed))
            table = pd.concat(tables)
            columns = ["set", "raters", "method", "about", "votes", "estimate", "lower", "upper"]
            table[[*columns, "seconds", "seed"]].to_csv(
                chosen.out, index=False, float_format="%.4f"
            )
    write_machine(chosen.out.with_suffix(".json"), "consensus")


if __name__ == "__main__":
    main()
