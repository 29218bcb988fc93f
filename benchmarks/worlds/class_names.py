"""Do classes keep their names? Few items, more than two classes, and what the priors do about it.

    python -m benchmarks class_names --sets 20 --seed 1

A class of a latent-class model is known by its name only through the prior, which says that raters
mostly call it so. Ten small worlds with a known truth; errors are spread evenly over the other
classes but for chance, or go to the neighbours of an ordered class. In some worlds raters lean to
one answer whatever is true, or items differ in how hard they are; in one they know one class far
worse than the others. Each set is fitted by NUTS with the default, with a mean ability that classes
do not share or hardly differ in, with difficulties of any size, with the layer of the default for
two classes, by ``hierarchical`` with its priors and with wider ones (those of R's package rater),
and by ``dawid_skene``, beside the vote. With ``--worlds`` or ``--models`` the other lines of the
table stay as they are. Writes
``results/class_names.csv``: means over the sets of accuracy, log loss, the share of
classes whose prevalence the 95 % interval holds, and of those whose share in these items it holds,
with its width and interval score (Gneiting & Raftery 2007).
"""

import argparse
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import assay
from assay._util.errors import FitWarning
from assay.modelling.spec import DEFAULT_OF_MORE

Floats = NDArray[np.float64]
Line = dict[str, Any]
TABLE = Path(__file__).resolve().parent / "results" / "class_names.csv"
WIDE = {"mean_correct": "Normal(2, 1)", "mean_other": "Normal(0, 1)"}
APART = {"mean_correct": "Normal(2.5, 0.001)", "mean_by_class": "Normal(0, 0.8)"}
MODELS: Mapping[str, Line] = {
    DEFAULT_OF_MORE: {},
    f"{DEFAULT_OF_MORE}, classes apart": {"priors": APART},
    f"{DEFAULT_OF_MORE}, classes alike": {"priors": {"mean_by_class": "Normal(0, 0.4)"}},
    "ability_bias + item_difficulty_continuous": {
        "raters": "ability_bias + item_difficulty_continuous"
    },
    "hierarchical + item_difficulty": {"raters": "hierarchical + item_difficulty"},
    "hierarchical": {"raters": "hierarchical"},
    "hierarchical, wide": {"raters": "hierarchical", "priors": WIDE},
    "dawid_skene": {"raters": "dawid_skene"},
}
COLUMNS = [
    *("world", "model", "sets", "accuracy", "log_loss", "prevalence_covered"),
    *("shares_covered", "width", "interval_score", "seed"),
]
SHORT: Line = {"draws": 250, "tune": 250, "chains": 2, "starts": 1, "progress": False}


@dataclass(frozen=True, kw_only=True)
class World:
    """Items, raters, and how good these are on average."""

    items: int
    raters: int
    each: int
    accuracy: float | tuple[float, ...]
    """Of all classes, or of each."""
    prevalence: tuple[float, ...]
    ordered: bool = False
    bias: float = 0.0
    """SD of raters' log odds of each answer, whatever is true."""
    hardness: float = 0.0
    """SD of what items add to the log odds of a right answer."""


WORLDS = {
    "3 classes": World(items=150, raters=10, each=3, accuracy=0.6, prevalence=(0.5, 0.4, 0.1)),
    "4 ordered": World(
        items=60, raters=6, each=4, accuracy=0.75, prevalence=(0.3, 0.3, 0.25, 0.15), ordered=True
    ),
    "5 classes": World(
        items=200, raters=15, each=4, accuracy=0.55, prevalence=(0.3, 0.3, 0.2, 0.15, 0.05)
    ),
    "5 ordered": World(
        items=120, raters=10, each=4, accuracy=0.65, prevalence=(0.3, 0.3, 0.2, 0.15, 0.05),
        ordered=True,
    ),
    "5 classes, good raters": World(
        items=80, raters=20, each=8, accuracy=0.8, prevalence=(0.3, 0.3, 0.2, 0.15, 0.05)
    ),
    "8 classes": World(
        items=200, raters=15, each=5, accuracy=0.45,
        prevalence=(0.2, 0.2, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03),
    ),
    "4 classes, biased raters": World(
        items=200, raters=20, each=4, accuracy=0.65, prevalence=(0.4, 0.3, 0.2, 0.1), bias=1.5
    ),
    "4 classes, items differ": World(
        items=200, raters=20, each=4, accuracy=0.7, prevalence=(0.4, 0.3, 0.2, 0.1), hardness=1.5
    ),
    "3 classes, both": World(
        items=200, raters=12, each=3, accuracy=0.7, prevalence=(0.6, 0.3, 0.1), bias=1.0,
        hardness=1.0,
    ),
    "4 classes, one hard": World(
        items=200, raters=20, each=4, accuracy=(0.8, 0.75, 0.7, 0.35),
        prevalence=(0.35, 0.3, 0.2, 0.15),
    ),
}  # fmt: skip
RATER_SD, ERROR_SD, OWN_ERROR_SD = 0.7, 0.7, 0.4
"""Of raters' log odds of a right answer, of the shares of errors, and of a rater's own ones."""
NEARER = 1.6
"""How much likelier, in log odds, an error by one step of an ordered class is than by two."""


def confusions(world: World, rng: np.random.Generator) -> Floats:
    """Draw the raters' confusions: (rater, true class, reported class)."""
    classes = np.arange(len(world.prevalence))
    size = (len(classes), len(classes))
    steps = np.abs(np.subtract.outer(classes, classes))
    weight = np.exp(-NEARER * steps) if world.ordered else np.exp(rng.normal(0, ERROR_SD, size))
    own = weight * np.exp(rng.normal(0, OWN_ERROR_SD, (world.raters, *size)))
    own[:, classes, classes] = 0
    accuracy = np.broadcast_to(world.accuracy, len(classes))
    odds = np.log(accuracy / (1 - accuracy))
    logit = odds + RATER_SD * rng.standard_normal((world.raters, len(classes)))
    right = 1 / (1 + np.exp(-logit))
    found = own / own.sum(axis=-1, keepdims=True) * (1 - right)[..., None]
    found[:, classes, classes] = right
    if world.bias:
        found *= np.exp(world.bias * rng.standard_normal((world.raters, 1, len(classes))))
        found /= found.sum(axis=-1, keepdims=True)
    return np.asarray(found)


def on_item(chance: Floats, right: int, easier: float) -> Floats:
    """Add to the log odds of the right answer."""
    odds = chance * np.exp(easier * (np.arange(len(chance)) == right))
    return np.asarray(odds / odds.sum())


def draw_set(world: World, rng: np.random.Generator) -> tuple[NDArray[np.intp], pd.DataFrame]:
    """Draw true classes and ratings."""
    classes = len(world.prevalence)
    truth = rng.choice(classes, world.items, p=world.prevalence)
    chances = confusions(world, rng)
    easier = world.hardness * rng.standard_normal(world.items) if world.hardness else None
    rows = []
    for item, k in enumerate(truth):
        for rater in rng.choice(world.raters, world.each, replace=False):
            chance = chances[rater, k]
            if easier is not None:
                chance = on_item(chance, k, easier[item])
            rows.append((f"{item:04d}", f"rater {rater}", f"class {rng.choice(classes, p=chance)}"))
    return truth, pd.DataFrame(rows, columns=["item", "rater", "label"])


def scores(probability: Floats, truth: NDArray[np.intp]) -> Line:
    """Accuracy and log loss."""
    chance = np.clip(probability[np.arange(len(truth)), truth], 1e-6, 1)
    right = probability.argmax(axis=1) == truth
    return {"accuracy": right.mean(), "log_loss": -np.log(chance).mean()}


def judge(world: World, seed: int, models: list[str], place: int) -> list[Line]:
    """Fit one set with every model that is asked for."""
    truth, table = draw_set(world, np.random.default_rng([seed, place]))
    ratings = assay.read_ratings(table, task="single")
    if len(ratings.task.labels[0].classes) < len(world.prevalence):
        return []  # a class that nobody reported has no name to keep
    votes = np.zeros((world.items, len(world.prevalence)))
    np.add.at(votes, (ratings.item, ratings.answers[:, 0]), 1)
    lines = [{"model": "vote"} | scores(votes / votes.sum(axis=1, keepdims=True), truth)]
    for name in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            fit = assay.fit(ratings, **MODELS[name], **SHORT, rng=seed)
        line = {"model": name} | scores(assay.label_probabilities(fit).to_numpy()[:, 0], truth)
        share = fit["posterior"]["prevalence"].to_numpy().reshape(-1, len(world.prevalence))
        low, high = np.quantile(share, [0.025, 0.975], axis=0)
        held = (low <= world.prevalence) & (world.prevalence <= high)
        line["prevalence_covered"] = held.mean()
        lines.append(line | shares_of_items(fit, truth, len(world.prevalence)))
    return lines


def shares_of_items(fit: xr.DataTree, truth: NDArray[np.intp], classes: int) -> Line:
    """Hold intervals of the share of each class in these items against what it is."""
    states = fit["labels"]["state"].to_numpy().reshape(-1, len(truth))
    drawn = np.stack([(states == k).mean(axis=1) for k in range(classes)], axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    share = np.bincount(truth, minlength=classes) / len(truth)
    missed = np.maximum(low - share, 0) + np.maximum(share - high, 0)
    return {
        "shares_covered": (missed == 0).mean(),
        "width": (high - low).mean(),
        "interval_score": (high - low + 2 / 0.05 * missed).mean(),
    }


def main() -> None:
    """Judge every world, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    chosen = parser.parse_args()
    done = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=COLUMNS)
    with ProcessPoolExecutor(max_workers=chosen.workers, mp_context=get_context("spawn")) as pool:
        for name in chosen.worlds:
            run = partial(judge, WORLDS[name], chosen.seed, chosen.models)
            lines = pd.DataFrame(
                [line for found in pool.map(run, range(chosen.sets)) for line in found]
            )
            by_model = lines.groupby("model", sort=False)
            new = by_model.mean().assign(sets=by_model.size(), world=name, seed=chosen.seed)
            done = together(done, new.reset_index())
            done.to_csv(TABLE, index=False, float_format="%.3f")


def together(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Put new lines in the place of old ones, in the order of worlds and models."""
    every = pd.concat([old, new])[COLUMNS].drop_duplicates(["world", "model"], keep="last")
    every = every.reset_index(drop=True)
    order = {name: place for place, name in enumerate([*WORLDS, "vote", *MODELS])}
    places = every[["world", "model"]].map(order.get)
    return every.loc[places.sort_values(["world", "model"]).index]


if __name__ == "__main__":
    main()
