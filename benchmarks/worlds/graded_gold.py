"""Graded evidence with the truth of some items: do intervals of shares hold?

    python -m benchmarks graded_gold --sets 20 --seed 1

The sets are those of the zoo's world *graded evidence*. The truth of 0, 10, 30 or 100 of the 600
items, drawn at random, is given. The default is fitted by Laplace's approximation, with the raters'
lean from their pool and without it, and with ``reference='gold'``. Writes
``results/graded_gold.csv``, a line per set, number, model and system, and
``results/graded_gold_summary.csv``.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from benchmarks.measuring import NO_LEAN
from benchmarks.worlds.zoo import draw_study, label_scores
from benchmarks.worlds.zoo_worlds.catalogue import ZOO

FOLDER = Path(__file__).resolve().parent / "results"
WORLD = "graded_evidence"
KNOWN = (0, 10, 30, 100)
MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "without lean": {"priors": NO_LEAN},
    "reference='gold'": {"reference": "gold"},
}
ENOUGH = 30
"""Known items without which `reference='gold'` is not fitted."""


def lines_of(study: Any, known: int, number: int, seed: int) -> pd.DataFrame:
    """Fit each model to a set: a line per model and system."""
    rng = np.random.default_rng([seed, number, known])
    items = sorted(study.item_places)
    told = set(rng.choice(items, known, replace=False))
    true = np.asarray(study.truth)[:, 0] == 1
    words = {
        name: ("yes" if true[study.item_places[name]] else "no") if name in told else ""
        for name in items
    }
    frame = study.frame.assign(truth=study.frame["item"].map(words))
    places = {"rank": "rank", "panel": ["query", "system"]} if study.sizes.places > 1 else {}
    ratings = assay.read_ratings(
        frame, task=study.task, item="item", rater="rater", cluster="query", system="system",
        truth="truth" if known else None, **places,
    )  # fmt: skip
    found = []
    for model, choices in MODELS.items():
        if "reference" in choices and known < ENOUGH:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = assay.fit(ratings, method="laplace", rng=number + 1, progress=False, **choices)
        labels = fit["labels"]
        place = [study.item_places[name] for name in labels["item"].to_numpy()]
        system, truth = study.sizes.system[place], true[place]
        unknown = ~np.isin(labels["item"].to_numpy(), list(told))
        chance = labels["state_probability"].to_numpy()[:, 1]
        scores = label_scores("model", chance[unknown, None], truth[unknown, None].astype(int))
        for k in (0, 1):
            share = labels["state"].isel(item=np.flatnonzero(system == k)).mean("item").to_numpy()
            lower, upper = np.quantile(share, [0.025, 0.975])
            wanted = truth[system == k].mean()
            found.append(
                {
                    "set": number, "seed": seed, "known": known, "model": model, "system": k,
                    "truth": wanted, "share": share.mean(), "lower": lower, "upper": upper,
                    "held": lower - 1e-9 <= wanted <= upper + 1e-9,
                    "log_loss": scores["model_log_loss"],
                }
            )  # fmt: skip
    return pd.DataFrame(found)


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return held intervals, widths and errors by number of known items and model."""
    lines = lines.assign(
        width=lines["upper"] - lines["lower"], error=(lines["share"] - lines["truth"]) ** 2
    )
    table = lines.groupby(["known", "model"], sort=False).agg(
        sets=("set", "nunique"),
        held=("held", "mean"),
        width=("width", "mean"),
        RMSE=("error", lambda e: np.sqrt(e.mean())),
        log_loss=("log_loss", "mean"),
    )
    return table.rename(columns={"log_loss": "log loss"}).reset_index()


def main() -> None:
    """Fit the sets and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    parts = []
    for number in range(chosen.sets):
        study = draw_study(ZOO[WORLD], chosen.seed, number)
        parts += [lines_of(study, known, number, chosen.seed) for known in KNOWN]
        lines = pd.concat(parts)
        lines.to_csv(chosen.folder / "graded_gold.csv", index=False, float_format="%.5g")
        table = summary(lines)
        table.to_csv(chosen.folder / "graded_gold_summary.csv", index=False, float_format="%.3f")


if __name__ == "__main__":
    main()
