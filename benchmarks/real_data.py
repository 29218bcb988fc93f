"""Real ratings: are published posteriors, experts' answers and the right way round recovered?

    python benchmarks/real_data.py --data ../shared/data --seed 1

writes tables to ``docs/real_data/``: ``anesthesia.csv`` (differences to the posterior means of
R's package rater), ``gold.csv`` (accuracy and log loss beside the share of votes),
``convabuse.csv`` (gated labels) and ``modes.csv`` (are mirror images of the posterior
recognised?). What stands in the tables is computed; none of the data is copied. With
``--only gold`` one table is made alone.
"""

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

import assay
from assay.density import Density, make_density, unconstrain
from assay.diagnostics import mode_warnings
from assay.errors import FitWarning
from assay.model import Structure, build_structure, make_spec
from assay.modes import Mode, find_modes
from assay.ratings import Ratings
from assay.recovery import recover

Floats = NDArray[np.float64]
Line = dict[str, Any]

RATER = {"prevalence": "dirichlet", "priors": {"prevalence": "Dirichlet(3)"}}
RATER_NAMES = {
    "dawid_skene": "dawid_skene",
    "class_conditional": "class_conditional_dawid_skene",
    "hierarchical": "hier_dawid_skene",
}
NUTS: Line = {"method": "nuts", "draws": 300, "tune": 300, "chains": 2}
LAPLACE: Line = {"method": "laplace", "draws": 500, "chains": 2}
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
REPEATED = ("zencrowd",)
"""Sets in which a rater's repeats of an item carry no column that tells them apart."""
CLIP = 1e-6
WEAK_ITEMS, WEAK_RATINGS, WEAK_SUBSETS = 60, 2, 8

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


# Anaesthetists: the posterior means of R's rater.


def anesthesia_differences(data: Path, family: str, *, draws: int, seed: int) -> Line:
    """Largest differences to the posterior means of R's rater, by kind of quantity."""
    folder = data / "anesthesia"
    ratings = assay.read_ratings(folder / "annotations.csv", task="single")
    fit, said = fit_timed(ratings, raters=family, **RATER, draws=draws, rng=seed)
    reference = _reference(folder, RATER_NAMES[family], ratings)
    sample = ("chain", "draw")
    found = {
        "prevalence": fit["posterior"]["prevalence"].mean(sample).to_numpy(),
        "confusion": assay.rater_reliability(fit).mean(sample).to_numpy()[:, 0],
        "class_probability": assay.label_probabilities(fit).to_numpy()[:, 0],
    }
    gaps = {name: float(np.abs(found[name] - reference[name]).max()) for name in found}
    return {"family": family, **gaps, **said}


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
    for family in RATER_NAMES:
        yield anesthesia_differences(data, family, draws=2000, seed=seed)


# Sets with gold: accuracy and log loss.


def read_set(data: Path, name: str, *, gold: bool = False) -> Ratings:
    """Read one of the sets with a single label, with or without its gold."""
    folder = data / name
    return assay.read_ratings(
        next(iter(sorted(folder.glob("annotations.csv*")))),
        task="single",
        truth=folder / "gold.csv" if gold else None,
        replicate="row" if name in REPEATED else None,
    )


def gold_scores(probability: Floats, truth: NDArray[np.integer]) -> tuple[float, float]:
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


def read_convabuse(data: Path) -> Ratings:
    """Read the set as gated labels; the four rare types share one label."""
    table = pd.read_csv(data / "convabuse" / "annotations.csv", dtype=str)
    for label, classes in {
        "target": ("generalised", "individual", "system"),
        "direction": ("explicit", "implicit"),
    }.items():
        picked = table[[f"{label}_{c}" for c in classes]] == "1"
        table[label] = np.where(picked.any(axis=1), picked.idxmax(axis=1).str.partition("_")[2], "")
    table["type_other"] = (table[list(OTHER_TYPES)] == "1").any(axis=1).astype(int).astype(str)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "convabuse.toml"
        path.write_text(GATED_TASK, encoding="utf-8")
        return assay.read_ratings(table, task=path, replicate="replicate")


def convabuse(data: Path, seed: int) -> Iterator[Line]:
    """Make one line per quantity: rows, prevalence of each class, reliability of each label."""
    ratings = read_convabuse(data)
    accounting = ratings.accounting
    yield {"quantity": "rows read", "value": accounting.rows_read}
    yield {"quantity": "rows used", "value": accounting.rows_used}
    for reason, count in accounting.reasons.items():
        yield {"quantity": f"rows set aside: {reason}", "value": count}
    yield {"quantity": "ratings that repeat a rater's own", "value": (ratings.replicate > 0).sum()}
    fit, said = fit_timed(ratings, rng=seed, **LAPLACE)
    probability = assay.label_probabilities(fit).mean("item")
    reliability = assay.rater_reliability(fit).mean(("chain", "draw", "rater"))
    for label in ratings.task.labels:
        for name in label.classes:
            share = float(probability.sel({"label": label.name, "class": name}))
            yield {"quantity": f"share of items: {label.name}={name}", "value": share, **said}
            right = reliability.sel(label=label.name, true_class=name, reported_class=name)
            yield {"quantity": f"P(right): {label.name}={name}", "value": float(right), **said}


# Mirror images of the posterior.


def mirror(density: Density, mode: Mode) -> Floats:
    """Turn a mode of a binary label round: classes trade names, and with them all confusions."""
    values = density.constrain(mode.x)
    turned = dict(values)
    turned["main"] = -values["main"]
    for name in ("logit_mean", "logit_offset"):
        if name in values:
            turned[name] = -values[name][:, ::-1]
    if "logit_sd" in values:
        turned["logit_sd"] = values["logit_sd"][:, ::-1]
    for name in values:
        if name.startswith("confusion"):
            turned[name] = values[name][:, ::-1]
    return unconstrain(density, turned)


def seen_modes(structure: Structure, *, starts: int, seed: int) -> list[Mode]:
    """Climb from random starts, then again with the mirror image of the best among them."""
    density = make_density(structure)
    first = find_modes(structure, density, np.random.default_rng(seed), starts=1)
    more = [mirror(density, first[0])]
    return find_modes(structure, density, np.random.default_rng(seed), starts=starts, more=more)


def weak_subset(ratings: Ratings, rng: np.random.Generator) -> pd.DataFrame:
    """Few items with two ratings each."""
    items = rng.permutation(len(ratings.items))[:WEAK_ITEMS]
    order = rng.permutation(len(ratings.item))
    table = pd.DataFrame({"item": ratings.item[order], "rater": ratings.rater[order]})
    table["label"] = ratings.answers[order, 0]
    return table[table["item"].isin(items)].groupby("item").head(WEAK_RATINGS)


def mode_line(
    name: str,
    ratings: Ratings,
    truth: NDArray[np.integer],
    family: str,
    starts: int,
    seed: int,
) -> Line:
    """Describe the modes that were seen, the reported one first."""
    structure = build_structure(ratings, make_spec(family))
    found = seen_modes(structure, starts=starts, seed=seed)
    mirrored = [mode for mode in found if mode.mirrored]
    said = [text for text in mode_warnings(found) if "mirror image" in text]
    return {
        "set": name,
        "family": family,
        "starts": starts + 1,
        "modes": len(found),
        "reported_accuracy": found[0].accuracy,
        "reported_is_mirrored": found[0].mirrored,
        "agreement_with_gold": agreement(structure, found[0], truth),
        "starts_to_mirrored": sum(mode.starts for mode in mirrored),
        "mirrored_weight": sum(mode.weight for mode in mirrored),
        "mirrored_log_evidence": max((m.evidence for m in mirrored), default=np.nan),
        "reported_log_evidence": found[0].evidence,
        "mirrored_named": len(said),
    }


def agreement(structure: Structure, mode: Mode, truth: NDArray[np.integer]) -> float:
    """Share of the items whose likeliest class at a mode is the truth."""
    values = {k: v[None] for k, v in make_density(structure).constrain(mode.x).items()}
    found = recover(structure, values, np.random.default_rng(0)).probabilities
    return float((found.argmax(axis=1) == truth).mean())


def modes(data: Path, seed: int) -> Iterator[Line]:
    """Make one line for the whole set and family, and one for each weak subset."""
    whole, truth = read_set(data, "snow_rte"), read_set(data, "snow_rte", gold=True).truth[:, 0]
    for family in ("hierarchical", "dawid_skene"):
        yield mode_line("snow_rte", whole, truth, family, 50, seed)
        for number in range(WEAK_SUBSETS):
            table = weak_subset(whole, np.random.default_rng([seed, number]))
            weak = assay.read_ratings(table, task="single")
            own = truth[weak.items.index.astype(int)]
            yield mode_line(f"snow_rte weak {number}", weak, own, family, 20, seed)


TABLES: dict[str, Callable[[Path, int], Iterator[Line]]] = {
    "anesthesia": anesthesia,
    "gold": gold,
    "modes": modes,
    "convabuse": convabuse,
}


def main() -> None:
    """Read the command line and write the tables, each after every line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(TABLES))
    chosen = parser.parse_args()
    folder = Path(__file__).resolve().parents[1] / "docs" / "real_data"
    folder.mkdir(parents=True, exist_ok=True)
    for name in [chosen.only] if chosen.only else TABLES:
        lines: list[Line] = []
        for line in TABLES[name](chosen.data, chosen.seed):
            lines.append({**line, "seed": chosen.seed, "assay": assay.__version__})
            pd.DataFrame(lines).to_csv(folder / f"{name}.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
