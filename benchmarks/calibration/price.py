"""What Laplace's approximation and EM cost in accuracy: their intervals beside those of NUTS.

Eleven simulated designs (items, raters, ratings an item, task, poor raters, clusters), the default
model unless the design names another, and a ladder of simple models on more and more items.
``laplace`` against NUTS: widths of the 95 % intervals of the parameters, shifts of their means in
posterior SDs, and the PSIS k-hat. ``laplace`` and ``em`` against NUTS: the share of each class
among the items (an interval from label draws), which the truth is held against too, and the label
probabilities. EM has no interval for parameters.

    python -m benchmarks price --seeds 1 2

writes ``results/price_runs.csv`` (a line per design and seed, as soon as it is there; lines that
are there are not made again), ``price.csv`` (by design), ``price_khat.csv`` (by k-hat),
``price_worth.csv`` (by what a draw is worth) and ``price.png``.
"""

import argparse
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import assay
from assay.data.ratings import Ratings
from assay.inference.diagnostics import K_HAT_LIMIT, WORTH_LIMIT

Floats = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parent / "results"
POOR = {"mean_binary": "Normal(0.7, 0.2)"}
BANDS = (-np.inf, 0.5, 0.7, 1.0, np.inf)
WORDS = ("to 0.5", "0.5 to 0.7", "0.7 to 1", "above 1")
"""Of k-hat, in the table by k-hat; one that is infinite is above all."""
WORTH_BANDS = (0.0, 0.05, 0.25, 0.5, 1.0)
WORTH_WORDS = ("to 0.05", "0.05 to 0.25", "0.25 to 0.5", "0.5 to 1")
"""Of what a draw is worth, in the table by that."""
APART = 0.3
"""Shift of a mean, in posterior SDs, beyond which two methods have parted."""
DRAWS = {"draws": 1000, "tune": 1000, "chains": 2}


@dataclass(frozen=True, kw_only=True)
class Design:
    """How ratings are simulated, and the model that is fitted to them."""

    name: str
    simulate: Mapping[str, Any]
    task: str = "single"
    model: Mapping[str, Any] = field(default_factory=dict)

    def ratings(self, seed: int) -> Ratings:
        """Simulate the ratings of one seed."""
        asked: dict[str, Any] = {"classes": ("no", "yes")} if self.task == "single" else {}
        asked |= {"raters": "hierarchical"}
        asked |= {"n_items": 200, "n_raters": 6, "ratings_per_item": 3} | dict(self.simulate)
        return assay.simulate(self.task, rng=seed, **asked)


COIN: Mapping[str, Any] = {"raters": "one_coin", "prevalence": "dirichlet"}
UNPOOLED: Mapping[str, Any] = {"raters": "dawid_skene", "prevalence": "dirichlet"}


def coins(items: int) -> Design:
    """Raters of one accuracy each: the model with the fewest unknowns."""
    drawn = {"raters": "one_coin", "priors": {"accuracy": "Beta(15, 5)"}, "n_items": items}
    return Design(name=f"one coin, {items:,} items", simulate=drawn, model=COIN)


def unpooled(items: int, classes: str = "ab") -> Design:
    """Raters with a confusion each, rows with independent priors."""
    drawn = {
        "raters": "dawid_skene",
        "priors": {"confusion": "Confusion(0.75, 20)"},
        "classes": tuple(classes),
        "n_items": items,
    }
    name = f"unpooled raters, {len(classes)} classes, {items:,} items"
    return Design(name=name, simulate=drawn, model=UNPOOLED)


DESIGNS = (
    Design(name="200 items, 6 raters, 3 ratings", simulate={}),
    Design(name="40 items", simulate={"n_items": 40}),
    Design(name="1 rating of most items", simulate={"ratings_per_item": [1, 1, 1, 1, 3] * 40}),
    Design(
        name="10 ratings an item",
        simulate={"n_items": 150, "n_raters": 10, "ratings_per_item": 10},
    ),
    Design(name="40 raters", simulate={"n_raters": 40}),
    Design(
        name="crowd of 200, 5 ratings each",
        simulate={"n_raters": 200, "ratings_per_item": 5},
    ),
    Design(name="poor raters", simulate={"priors": POOR}),
    Design(name="five labels", task="generation", simulate={"n_items": 120}),
    Design(
        name="clusters, two systems, rules",
        task="retrieval",
        simulate={"n_clusters": 30, "n_systems": 2},
    ),
    coins(1000),
    unpooled(200, "abcd"),
)
LADDER = (coins(40), coins(200), coins(4000), unpooled(100), unpooled(400), unpooled(1600))
"""More items and fewer unknowns, for the k-hat at which the methods part."""


def fit(ratings: Ratings, design: Design, method: str) -> tuple[xr.DataTree, float]:
    """Fit by one method: the fit, and the seconds it took."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        found = assay.fit(
            ratings,
            method=method,
            rng=1,
            progress=False,
            **DRAWS,
            **{"raters": "hierarchical", **design.model},
        )
    return found, time.perf_counter() - started


def parameters(tree: xr.DataTree) -> Floats:
    """Draws of all probabilities that the model is about: (draw, quantity).

    The prevalence of the states, and how often each rater is right in each class.
    """
    confusion = assay.rater_reliability(tree, kind="raw").to_numpy()
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    prevalence = tree["posterior"]["prevalence"].to_numpy()
    count = int(np.prod(right.shape[:2]))
    every = np.concatenate([right.reshape(count, -1), prevalence.reshape(count, -1)], axis=1)
    return np.asarray(every[:, ~np.isnan(every).any(axis=0)], float)


def shares(tree: xr.DataTree, ratings: Ratings) -> Floats:
    """Draws of the share of each class of each label among the items: (draw, quantity)."""
    found = assay.label_draws(tree).transpose("chain", "draw", "item", "label").to_numpy()
    return class_shares(found.reshape(-1, *found.shape[2:]), ratings)


def class_shares(labels: NDArray[Any], ratings: Ratings) -> Floats:
    """Shares of all classes but the first, from labels (draw, item, label)."""
    columns = [
        (labels[..., n] == k).mean(axis=1)
        for n, label in enumerate(ratings.task.labels)
        for k in range(1, len(label.classes))
    ]
    return np.stack(columns, axis=-1)


def interval(draws: Floats) -> Floats:
    """95 % intervals: (end, quantity)."""
    return np.quantile(draws, [0.025, 0.975], axis=0)


def beside(draws: Floats, reference: Floats) -> dict[str, float]:
    """Widths and means of draws beside those of a reference."""
    spread = np.maximum(reference.std(axis=0), 1e-9)
    width = np.diff(interval(draws), axis=0)[0] / np.diff(interval(reference), axis=0)[0]
    shift = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / spread
    return {
        "width": float(np.median(width)),
        "width_lowest": float(width.min()),
        "width_highest": float(width.max()),
        "shift": float(np.median(shift)),
        "shift_highest": float(shift.max()),
    }


def run(design: Design, seed: int) -> dict[str, Any]:
    """Fit one simulated set by all methods: a line of the table."""
    ratings = design.ratings(seed)
    assert ratings.simulated is not None
    truth = class_shares(ratings.simulated.truth[None], ratings)[0]
    trees, line = {}, {"design": design.name, "seed": seed}
    for method in ("nuts", "laplace", "em"):
        trees[method], line[f"{method}_seconds"] = fit(ratings, design, method)
    said = {m: json.loads(t.attrs["diagnostics"]) for m, t in trees.items()}
    line |= {"r_hat": said["nuts"]["r_hat_max"], "k_hat": said["laplace"]["k_hat"]}
    line["worth"] = said["laplace"]["draws_worth"]
    of_nuts = parameters(trees["nuts"])
    found = beside(parameters(trees["laplace"]), of_nuts)
    line |= {f"parameter_{k}": v for k, v in found.items()}
    state = assay.state_probabilities(trees["nuts"]).to_numpy()
    for method, tree in trees.items():
        draws = shares(tree, ratings)
        low, high = interval(draws)
        line[f"{method}_covered"] = int(((low <= truth) & (truth <= high)).sum())
        if method != "nuts":
            against = beside(draws, shares(trees["nuts"], ratings))
            line |= {f"{method}_share_{k}": v for k, v in against.items()}
            there = assay.state_probabilities(tree).to_numpy()
            line[f"{method}_label_gap"] = float(np.abs(there - state).sum(axis=1).mean() / 2)
    return line | {"shares": len(truth)}


def summarise(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """Medians of widths and shifts, the worst of the latter, and coverage over the runs."""
    groups = runs.groupby(by, sort=False, observed=True)
    table = pd.DataFrame(
        {
            "runs": groups.size(),
            "k_hat": groups["k_hat"].median(),
            "worth": groups["worth"].median(),
            "laplace_width": groups["parameter_width"].median(),
            "laplace_width_lowest": groups["parameter_width_lowest"].min(),
            "laplace_shift": groups["parameter_shift"].median(),
            "laplace_shift_highest": groups["parameter_shift_highest"].max(),
            "laplace_share_width": groups["laplace_share_width"].median(),
            "em_share_width": groups["em_share_width"].median(),
            "laplace_share_shift": groups["laplace_share_shift"].median(),
            "em_share_shift": groups["em_share_shift"].median(),
            "laplace_label_gap": groups["laplace_label_gap"].median(),
            "em_label_gap": groups["em_label_gap"].median(),
        }
    )
    asked = groups["shares"].sum()
    for method in ("nuts", "laplace", "em"):
        table[f"{method}_coverage"] = groups[f"{method}_covered"].sum() / asked
    return table.reset_index()


def by_k_hat(runs: pd.DataFrame) -> pd.DataFrame:
    """Set the same figures by bands of k-hat."""
    bands = pd.cut(runs["k_hat"].fillna(np.inf), BANDS, labels=WORDS)
    return summarise(runs.assign(k_hat_band=bands), "k_hat_band").sort_values("k_hat_band")


def by_worth(runs: pd.DataFrame) -> pd.DataFrame:
    """Set the same figures by bands of what a draw is worth."""
    bands = pd.cut(runs["worth"], WORTH_BANDS, labels=WORTH_WORDS)
    return summarise(runs.assign(worth_band=bands), "worth_band").sort_values("worth_band")


def draw(runs: pd.DataFrame, path: Path) -> None:
    """Plot shifts against k-hat, and against what a draw is worth."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for n, (name, of_design) in enumerate(runs.groupby("design", sort=False)):
        look = {"s": 18, "color": plt.colormaps["tab20"](n % 20), "marker": "o" if n < 10 else "^"}
        right.scatter(of_design["worth"], of_design["parameter_shift_highest"], **look)
        left.scatter(of_design["k_hat"], of_design["parameter_shift_highest"], label=name, **look)
    for axes, limit in ((left, K_HAT_LIMIT), (right, WORTH_LIMIT)):
        axes.axvline(limit, color="0.6", linewidth=0.8, linestyle="--")
        axes.axhline(APART, color="0.6", linewidth=0.8, linestyle=":")
    right.set_xscale("log")
    left.set_xlabel("PSIS k-hat of Laplace's approximation")
    right.set_xlabel("worth of its draws, in draws of the posterior")
    left.set_ylabel("largest shift of a mean, NUTS SDs")
    figure.legend(loc="outside lower center", ncols=4, fontsize=7, frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Make the runs that are not there, then the tables and the figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    path = asked.folder / "price_runs.csv"
    runs = pd.read_csv(path) if path.exists() else pd.DataFrame({"design": [], "seed": []})
    for seed in asked.seeds:
        for design in (*DESIGNS, *LADDER):
            if ((runs["design"] == design.name) & (runs["seed"] == seed)).any():
                continue
            runs = pd.concat([runs, pd.DataFrame([run(design, seed)])], ignore_index=True)
            runs.to_csv(path, index=False, float_format="%.4g")
    named = [d.name for d in (*DESIGNS, *LADDER)]
    runs = runs[runs["design"].isin(named)]
    runs = runs.sort_values("design", key=lambda c: c.map(named.index), kind="stable")
    summarise(runs, "design").to_csv(asked.folder / "price.csv", index=False, float_format="%.3g")
    by_worth(runs).to_csv(asked.folder / "price_worth.csv", index=False, float_format="%.3g")
    by_k_hat(runs).to_csv(asked.folder / "price_khat.csv", index=False, float_format="%.3g")
    draw(runs, asked.folder / "price.png")


if __name__ == "__main__":
    main()
