"""The real sets as Ratings, and how a fit of one is scored against its gold."""

import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import assay
from assay._util.errors import FitWarning
from assay.data.ratings import Ratings

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Line = dict[str, Any]

NUTS: Line = {"method": "nuts", "draws": 300, "tune": 300, "chains": 2}
LAPLACE: Line = {"method": "laplace", "draws": 500, "chains": 2}
REPEATED = ("zencrowd",)
"""Sets in which a rater's repeats of an item carry no column that tells them apart."""
CLIP = 1e-6
WEAK_ITEMS, WEAK_RATINGS = 60, 2

GATED_TASK = """
name = "convabuse"
[columns]
system = ["system"]
[[labels]]
name = "abusive"
[[labels]]
name = "target"
classes = ["generalised", "individual", "system"]
asked_if = "abusive"
[[labels]]
name = "direction"
classes = ["explicit", "implicit"]
asked_if = "abusive"
[[labels]]
name = "type_intellectual"
asked_if = "abusive"
[[labels]]
name = "type_sexist"
asked_if = "abusive"
[[labels]]
name = "type_sex_harassment"
asked_if = "abusive"
[[labels]]
name = "type_other"
asked_if = "abusive"
"""
OTHER_TYPES = ("type_ableism", "type_homophobic", "type_racist", "type_transphobic")


def fit_timed(ratings: Ratings, **options: Any) -> tuple[xr.DataTree, Line]:
    """Fit, and describe the fit: method, R-hat or k-hat, seconds; warnings stay in the fit."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        fit = assay.fit(ratings, progress=False, **options)
    found = json.loads(fit.attrs["diagnostics"])
    return fit, {
        "method": fit.attrs["method"],
        "draws": fit["posterior"].sizes["chain"] * fit["posterior"].sizes["draw"],
        "r_hat": found.get("r_hat_max", np.nan),
        "ess": found.get("ess_min", np.nan),
        "k_hat": found.get("k_hat", np.nan),
        "seconds": time.perf_counter() - start,
    }


def read_set(data: Path, name: str, *, gold: bool = False) -> Ratings:
    """Read one of the sets with a single label, with or without its gold."""
    folder = data / name
    return assay.read_ratings(
        next(iter(sorted(folder.glob("annotations.csv*")))),
        task="single",
        truth=folder / "gold.csv" if gold else None,
        replicate="row" if name in REPEATED else None,
    )


def gold_scores(probability: Floats, truth: Codes) -> tuple[float, float]:
    """Accuracy and log loss of probabilities (item, class) on the items with known truth."""
    known = np.flatnonzero(truth >= 0)
    right = probability[known, truth[known]]
    accuracy = float((probability[known].argmax(axis=1) == truth[known]).mean())
    return accuracy, float(-np.log(np.clip(right, CLIP, 1 - CLIP)).mean())


def vote_shares(ratings: Ratings) -> Floats:
    """Share of each class among an item's votes (item, class)."""
    votes = np.zeros((len(ratings.items), len(ratings.task.labels[0].classes)))
    np.add.at(votes, (ratings.item, ratings.answers[:, 0]), 1.0)
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def weak_subset(ratings: Ratings, rng: np.random.Generator) -> tuple[Ratings, Codes]:
    """Few items of a set with two ratings each; also the items' positions in the set."""
    chosen = rng.permutation(len(ratings.items))[:WEAK_ITEMS]
    order = rng.permutation(len(ratings.item))
    table = pd.DataFrame({"item": ratings.item[order], "rater": ratings.rater[order]})
    table["label"] = ratings.answers[order, 0]
    few = table[table["item"].isin(chosen)].groupby("item").head(WEAK_RATINGS)
    weak = assay.read_ratings(few, task="single")
    return weak, weak.items.index.to_numpy(int)


def read_convabuse(data: Path) -> Ratings:
    """Read the set as gated labels; the four rare types share one label."""
    table = pd.read_csv(data / "convabuse" / "annotations.csv", dtype=str)
    for label, classes in {
        "target": ("generalised", "individual", "system"),
        "direction": ("explicit", "implicit"),
    }.items():
        ticked = table[[f"{label}_{c}" for c in classes]] == "1"
        picked = ticked.set_axis(list(classes), axis=1)
        table[label] = np.where(picked.any(axis=1), picked.idxmax(axis=1), "")
    table["type_other"] = (table[list(OTHER_TYPES)] == "1").any(axis=1).astype(int).astype(str)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "convabuse.toml"
        path.write_text(GATED_TASK, encoding="utf-8")
        return assay.read_ratings(table, task=path, replicate="replicate")
