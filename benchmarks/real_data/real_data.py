"""Real ratings: are published posteriors, experts' answers and the right way round recovered?

    python -m benchmarks real_data --data ../shared/data --seed 1

writes tables to ``results/sets/``: ``anesthesia.csv`` (differences to the posterior means of
R's package rater), ``gold.csv`` (accuracy and log loss beside the share of votes),
``convabuse.csv`` (gated labels), ``modes.csv`` and ``weak.csv`` (are mirror images of the posterior
recognised?), and the versions that made them. None of the data is copied. ``--only gold`` makes one
table alone.
"""

import argparse
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_stats.base.array import BaseArray

import assay
from assay.data.ratings import Ratings
from assay.inference.to_datatree import VERSIONS
from benchmarks.measuring import NO_LEAN
from benchmarks.real_data.real_modes import modes, weak
from benchmarks.real_data.real_sets import (
    LAPLACE,
    NUTS,
    Floats,
    Line,
    fit_timed,
    gold_scores,
    read_convabuse,
    read_set,
    vote_shares,
)

# R's rater takes the replicates of rater 1 for independent.
RATER: Line = {"prevalence": "dirichlet", "replicates": "independent"}
RATER_PREVALENCE = {"prevalence": "Dirichlet(3)"}
RATER_PRIORS: Mapping[str, Mapping[str, str]] = {
    "dawid_skene": RATER_PREVALENCE,
    "class_conditional": RATER_PREVALENCE,
    "hierarchical": RATER_PREVALENCE
    | {"mean_correct": "Normal(2, 1)", "mean_other": "Normal(0, 1)"}
    | NO_LEAN,
}
RATER_NAMES = {
    "dawid_skene": "dawid_skene",
    "class_conditional": "class_conditional_dawid_skene",
    "hierarchical": "hier_dawid_skene",
}
# Of each of the four chains: for a Monte Carlo error below 0.005 of every probability.
ANESTHESIA_DRAWS = {"dawid_skene": 4000, "class_conditional": 4000, "hierarchical": 10_000}
GOLD: tuple[tuple[str, str, Line], ...] = (
    ("snow_rte", "dawid_skene", NUTS),
    ("snow_rte", "dawid_skene", LAPLACE),
    ("snow_rte", "hierarchical", NUTS),
    ("snow_rte", "hierarchical", LAPLACE),
    ("dogs", "hierarchical", LAPLACE),
    ("zencrowd", "hierarchical", LAPLACE),
    ("product_er", "hierarchical", LAPLACE),
    ("web_relevance", "hierarchical", LAPLACE),
)


# Anaesthetists: the posterior means of R's rater.


def anesthesia_differences(data: Path, family: str, *, draws: int, seed: int) -> Line:
    """Largest differences to the posterior means of R's rater, by kind of quantity."""
    folder = data / "anesthesia"
    ratings = assay.read_ratings(folder / "annotations.csv", task="single")
    fit, said = fit_timed(
        ratings, raters=family, priors=RATER_PRIORS[family], **RATER, draws=draws, rng=seed
    )
    reference = _reference(folder, RATER_NAMES[family], ratings)
    sample = ("chain", "draw")
    found = {
        "prevalence": fit["posterior"]["prevalence"].mean(sample).to_numpy(),
        "confusion": assay.rater_reliability(fit).mean(sample).to_numpy()[:, 0],
        "class_probability": assay.label_probabilities(fit).to_numpy()[:, 0],
    }
    gaps = {name: float(np.abs(found[name] - reference[name]).max()) for name in found}
    return {"family": family, **gaps, "monte_carlo": _monte_carlo_error(fit), **said}


def _monte_carlo_error(fit: xr.DataTree) -> float:
    """Largest Monte Carlo error of a class probability, from draws of the labels.

    A bound: the probabilities are averages of exact ones, which vary less.
    """
    labels = assay.label_draws(fit).isel(label=0).transpose("item", "chain", "draw").to_numpy()
    share = np.stack([labels == k for k in np.unique(labels)]).astype(float)
    varied = share[share.std(axis=(-2, -1)) > 0]
    statistics: Any = BaseArray()
    return float(statistics.mcse(varied, chain_axis=1, draw_axis=2, method="mean").max())


def _reference(folder: Path, name: str, ratings: Ratings) -> dict[str, Floats]:
    """Posterior means of R's rater, in the order of the ratings' items and raters."""
    path = f"reference_{name}"
    theta = pd.read_csv(folder / f"{path}_theta.csv").sort_values(["rater", "true", "reported"])
    raters = ratings.raters.index.astype(int) - 1
    items = ratings.items.index.astype(int) - 1
    classes = len(ratings.task.labels[0].classes)
    probabilities = pd.read_csv(folder / f"{path}_classprob.csv", index_col=0).to_numpy(float)
    return {
        "prevalence": pd.read_csv(folder / f"{path}_pi.csv")["pi"].to_numpy(float),
        "confusion": theta["theta"].to_numpy(float).reshape(-1, classes, classes)[raters],
        "class_probability": probabilities[items],
    }


def anesthesia(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per family."""
    for family, draws in ANESTHESIA_DRAWS.items():
        yield anesthesia_differences(data, family, draws=draws, seed=seed)


# Sets with gold: accuracy and log loss.


def gold_line(data: Path, name: str, family: str, options: Line, seed: int) -> Line:
    """Fit a set without its gold and score it, beside the share of votes."""
    ratings, truth = read_set(data, name), read_set(data, name, gold=True).truth[:, 0]
    fit, said = fit_timed(ratings, raters=family, rng=seed, **options)
    accuracy, loss = gold_scores(assay.label_probabilities(fit).to_numpy()[:, 0], truth)
    vote_accuracy, vote_loss = gold_scores(vote_shares(ratings), truth)
    return {
        "set": name,
        "family": family,
        "accuracy": accuracy,
        "log_loss": loss,
        "vote_accuracy": vote_accuracy,
        "vote_log_loss": vote_loss,
        **said,
    }


def gold(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per set, family and method."""
    for name, family, options in GOLD:
        yield gold_line(data, name, family, options, seed)


# ConvAbuse: questions that are asked only if the first says so.


def convabuse(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per quantity: rows, prevalence of each class, reliability of each label."""
    ratings = read_convabuse(data)
    accounting = ratings.accounting
    yield {"quantity": "rows read", "value": accounting.rows_read}
    yield {"quantity": "rows used", "value": accounting.rows_used}
    for reason, count in accounting.reasons.items():
        yield {"quantity": f"rows set aside: {reason}", "value": count}
    yield {"quantity": "ratings that repeat a rater's own", "value": (ratings.replicate > 0).sum()}
    fit, said = fit_timed(ratings, raters="hierarchical", rng=seed, **LAPLACE)
    probability = assay.label_probabilities(fit).mean("item")
    reliability = assay.rater_reliability(fit).mean(("chain", "draw", "rater"))
    for label in ratings.task.labels:
        for name in label.classes:
            share = float(probability.sel({"label": label.name, "class": name}))
            yield {"quantity": f"share of items: {label.name}={name}", "value": share, **said}
            right = reliability.sel(label=label.name, true_class=name, reported_class=name)
            yield {"quantity": f"P(right): {label.name}={name}", "value": float(right), **said}


TABLES: dict[str, Callable[[Path, int], Iterator[Line]]] = {
    "anesthesia": anesthesia,
    "gold": gold,
    "modes": modes,
    "weak": weak,
    "convabuse": convabuse,
}


def versions() -> dict[str, str]:
    """Versions of Python and of what the figures depend on."""
    packages = [name for name in VERSIONS if name != "assay"]
    found = {name: version(name) for name in packages}
    return {"assay": assay.__version__, "python": platform.python_version(), **found}


def main() -> None:
    """Read the command line and write the tables, each after every line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(TABLES))
    chosen = parser.parse_args()
    folder = Path(__file__).resolve().parent / "results" / "sets"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "versions.json").write_text(json.dumps(versions(), indent=1) + "\n")
    for name in [chosen.only] if chosen.only else TABLES:
        lines: list[Line] = []
        for line in TABLES[name](chosen.data, chosen.seed):
            lines.append({**line, "seed": chosen.seed})
            pd.DataFrame(lines).to_csv(folder / f"{name}.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
