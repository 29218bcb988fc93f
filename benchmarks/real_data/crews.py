"""Crews drawn from a pool of real raters: do intervals of a share hold what the others say?

    python -m benchmarks crews --data ../shared/data --crews 24 --seed 7

A crew of 3, 5 or 8 raters is drawn at random from a real pool, and the default is fitted to its
ratings by Laplace's approximation. The truth of an item is what most raters outside the crew say.
Pools: 123 people who judged 350 conversations (DICES-350; unsafe or not, and with *unsure*), and 16
settings of language models that judged 660 paragraphs (DIRAS ChatReport; relevant or not, and in
three grades). Each crew is fitted with the raters' lean from their pool and without it. Crews that
gave only two of three answers are left out. Writes ``results/sets/crews.csv``, a line per crew,
model and class, and ``results/sets/crews_summary.csv``.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import assay
from benchmarks.measuring import NO_LEAN

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).resolve().parent / "results" / "sets"
SIZES = (3, 5, 8)
MODELS: dict[str, dict[str, str]] = {"default": {}, "without lean": NO_LEAN}
RESAMPLES = 2000
Floats = NDArray[np.float64]


def pools(data: Path) -> dict[str, pd.DataFrame]:
    """Return the ratings of each pool: item, cluster, rater and answer."""
    dices = pd.read_csv(data / "dices_350" / "annotations.csv")
    diras = pd.read_csv(data / "diras_chatreport" / "annotations.csv")
    diras = diras[~diras["rater"].str.startswith("expert")]
    people, settings = dices.assign(cluster=dices["item"]), diras.assign(cluster=diras["query"])
    found = {
        "DICES-350": people.assign(answer=people["unsafe"].map({0: "no", 1: "yes"})),
        "DIRAS": settings.assign(answer=settings["relevant_any"].map({0: "no", 1: "yes"})),
        "DICES-350, three answers": people.assign(answer=people["label"].str.lower()),
        "DIRAS, three grades": settings.assign(
            answer=settings["grade"].map({0: "no", 1: "partly", 2: "yes"})
        ),
    }
    columns = ["item", "cluster", "rater", "answer"]
    return {name: pool.dropna(subset=["answer"])[columns] for name, pool in found.items()}


def most(ratings: pd.DataFrame, classes: list[str]) -> pd.DataFrame:
    """Return whether most raters of an item give an answer (item, class); ties are shared."""
    counts = pd.crosstab(ratings["item"], ratings["answer"]).reindex(columns=classes, fill_value=0)
    top = counts.eq(counts.max(axis=1), axis=0)
    return top.div(top.sum(axis=1), axis=0)


def vote_interval(voted: Floats, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the share of items with a majority, and its 95 % interval by a bootstrap of items."""
    drawn = rng.choice(voted, (RESAMPLES, len(voted))).mean(axis=1)
    return float(voted.mean()), *(float(v) for v in np.quantile(drawn, [0.025, 0.975]))


def lines_of(name: str, pool: pd.DataFrame, size: int, number: int, seed: int) -> pd.DataFrame:
    """Draw and fit one crew: a line per model and class, and of the vote."""
    rng = np.random.default_rng([seed, size, number])
    crew = rng.choice(sorted(pool["rater"].unique()), size, replace=False)
    inside = pool["rater"].isin(crew)
    own, others = pool[inside], pool[~inside]
    classes = sorted(pool["answer"].unique())
    if own["answer"].nunique() < len(classes):
        return pd.DataFrame()
    truth, voted = most(others, classes).mean(), most(own, classes)
    clusters = {"cluster": "cluster"} if own["cluster"].nunique() < own["item"].nunique() else {}
    frame = own.rename(columns={"answer": "label"})[["item", "rater", "label", *clusters]]
    ratings = assay.read_ratings(frame, item="item", rater="rater", **clusters)
    shown = classes[1:] if len(classes) == 2 else classes
    found: list[dict[str, Any]] = []
    for model, priors in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = assay.fit(
                ratings, method="laplace", priors=priors, rng=number + 1, progress=False
            )
        for answer in shown:
            code = list(ratings.task.labels[0].classes).index(answer)
            drawn = (fit["labels"]["state"] == code).mean("item").to_numpy()
            lower, upper = np.quantile(drawn, [0.025, 0.975])
            found.append(
                {"model": model, "class": answer, "share": drawn.mean(),
                 "lower": lower, "upper": upper}
            )  # fmt: skip
    for answer in shown:
        share, lower, upper = vote_interval(voted[answer].to_numpy(), rng)
        found.append(
            {"model": "vote", "class": answer, "share": share, "lower": lower, "upper": upper}
        )
    table = pd.DataFrame(found).assign(pool=name, raters=size, crew=number, seed=seed)
    table["truth"] = truth[table["class"]].to_numpy()
    return table.assign(held=table["truth"].between(table["lower"], table["upper"]))


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return held intervals, widths and errors by pool, size and model."""
    lines = lines.assign(
        width=lines["upper"] - lines["lower"], error=(lines["share"] - lines["truth"]) ** 2
    )
    by = lines.groupby(["pool", "raters", "model"], sort=False)
    table = by.agg(
        crews=("crew", "nunique"),
        held=("held", "mean"),
        width=("width", "mean"),
        RMSE=("error", lambda e: np.sqrt(e.mean())),
    )
    return table.reset_index()


def main() -> None:
    """Fit the crews and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--crews", type=int, default=24)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--pools", nargs="+", help="names of pools; default: all")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    parts = []
    for name, pool in pools(chosen.data).items():
        if chosen.pools and name not in chosen.pools:
            continue
        for size in SIZES:
            for number in range(chosen.crews):
                parts.append(lines_of(name, pool, size, number, chosen.seed))
                lines = pd.concat(parts)
                lines.to_csv(chosen.folder / "crews.csv", index=False, float_format="%.5g")
    summary(lines).to_csv(chosen.folder / "crews_summary.csv", index=False, float_format="%.3f")


if __name__ == "__main__":
    main()
