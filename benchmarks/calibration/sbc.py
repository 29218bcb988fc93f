"""Simulation-based calibration (Talts et al. 2018; Sailynoja et al. 2022).

Parameters and labels are drawn from the fit's own prior, ratings from the model, and the fit says
where among its posterior draws the truth ranks. If everything is right, ranks are uniform.

    python -m benchmarks sbc --family hierarchical --task retrieval --replicates 400 --seed 1

appends one line per replicate to ``results/sbc_<family>_<task>.csv.gz``.
"""

import argparse
import json
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.data.task_files import catalogue_names
from assay.evaluation import metrics_of_labels
from assay.fits.simulate import simulate_answers
from assay.fits.view import FitView
from assay.modelling.parameters import SIGNLESS
from assay.modelling.spec import make_spec
from assay.modelling.structure import build_structure
from assay.raters.reliability import reliability_table
from benchmarks.measuring import NO_LEAN, PACKED

DRAWS, TUNE = 400, 300
THINNED = 99
"""Posterior draws that a truth is ranked among: ranks are 0 .. THINNED."""

SIZES = {"n_items": 24, "n_raters": 3, "ratings_per_item": 2, "n_systems": 2, "n_clusters": 6}
TASKS = ("ais", "relevance", "retrieval")


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is fitted, and what its ratings are like beyond the sizes of all studies."""

    raters: str | Mapping[str, str]
    reference: str | None = None
    gold: float = 0.0
    formula: str | None = None
    sizes: Mapping[str, Any] = field(default_factory=dict)
    copies: Mapping[str, str] = field(default_factory=dict)


STUDIES = {name: Study(raters=name) for name in catalogue_names("raters")} | {
    "drift": Study(raters="hierarchical + drift", sizes={"sessions": 3}),
    "system_bias": Study(raters="hierarchical + system_bias"),
    "misreading": Study(raters="hierarchical + misreading"),
    "ability_bias_difficulty": Study(raters="ability_bias + item_difficulty"),
    "halo": Study(raters="hierarchical + halo"),
    "lapses": Study(raters="hierarchical + lapses"),
    "item_difficulty": Study(raters="hierarchical + item_difficulty"),
    "item_difficulty_continuous": Study(raters="hierarchical + item_difficulty_continuous"),
    "item_difficulty_by_rater": Study(raters="hierarchical + item_difficulty_by_rater"),
    "item_difficulty_by_class": Study(raters="hierarchical + item_difficulty_by_class"),
    # A reference needs thirty items with gold.
    "perception": Study(
        raters="hierarchical",
        reference="gold",
        gold=0.5,
        sizes={"n_items": 60, "n_clusters": 12},
    ),
    "perception_difficulty": Study(
        raters="hierarchical + item_difficulty",
        reference="gold",
        gold=0.5,
        sizes={"n_items": 60, "n_clusters": 12},
    ),
    "perception_groups": Study(
        raters="hierarchical + item_difficulty",
        reference="groups",
        sizes={
            "n_items": 60,
            "n_clusters": 12,
            "groups": {"a": 2, "b": 2, "c": 1},
            "ratings_per_item": 5,
        },
    ),
    "covariates": Study(raters="hierarchical", formula="~ length * language + (1 | source)"),
    "replicates": Study(raters="hierarchical", sizes={"replicates": 2}),
    "copies": Study(
        raters="hierarchical",
        sizes={"n_items": 48, "n_raters": 4, "ratings_per_item": 3},
        copies={"rater_2": "rater_1"},
    ),
    "mixed": Study(
        raters={"person": "hierarchical", "llm": "scored"},
        sizes={"groups": {"person": 2, "llm": 2}},
    ),
    "by_group": Study(
        raters={"person": "hierarchical", "llm": "hierarchical + system_bias"},
        sizes={"groups": {"person": 2, "llm": 2}},
    ),
}


"""Parameters of which the sign of all values together is arbitrary, in studies of one group."""


def replicate(number: int, *, family: str, task: str, seed: int) -> dict[str, float]:
    """Run one replicate: the rank of every quantity, and how the fit went."""
    rng = np.random.default_rng([seed, number])
    study = STUDIES[family]
    model = {"raters": study.raters, "reference": study.reference}
    spec = make_spec(**model, formula=study.formula, copies=study.copies)
    sizes = SIZES | dict(study.sizes)
    skeleton = assay.simulate(task, rng=rng, **model, **sizes)
    skeleton = skeleton if study.formula is None else described(skeleton, rng)
    ratings = simulate_answers(build_structure(skeleton, spec), {}, rng, gold=study.gold)
    # The simulated raters are no sample of a pool.
    leaning = build_structure(ratings, spec).pools
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(
            ratings,
            **model,
            formula=study.formula,
            copies=study.copies,
            priors=NO_LEAN if leaning else {},
            draws=DRAWS,
            tune=TUNE,
            chains=1,
            rng=int(rng.integers(2**31)),
            starts=2,
            progress=False,
        )
    truth, draws = quantities(ratings, fit, build_structure(ratings, spec))
    every = np.linspace(0, len(next(iter(draws.values()))) - 1, THINNED).round().astype(int)
    row: dict[str, float] = {"replicate": number}
    diagnostics = json.loads(fit.attrs["diagnostics"])
    row |= {"ess": diagnostics["ess_min"], "divergences": diagnostics["divergences"]}
    for name, value in truth.items():
        row[f"rank:{name}"] = rank(value, draws[name][every], rng)
        lower, upper = np.nanquantile(draws[name], [0.025, 0.975])
        row[f"inside:{name}"] = float(lower <= value <= upper)
    return row


def described(ratings: assay.Ratings, rng: np.random.Generator) -> assay.Ratings:
    """Give the items the covariates that formulas of studies read."""
    count = len(ratings.items)
    items = ratings.items.assign(
        length=rng.integers(1, 9, count).astype(float),
        language=rng.choice(["de", "en", "fr"], count),
        source=rng.choice(["web", "book", "chat"], count),
    )
    return replace(ratings, items=items)


def rank(value: float, draws: np.ndarray, rng: np.random.Generator) -> float:
    """Rank of a value among draws, ties broken at random; an undefined ratio counts as lowest."""
    value, draws = np.nan_to_num(value, nan=-1e300), np.nan_to_num(draws, nan=-1e300)
    return float((draws < value).sum() + rng.integers((draws == value).sum() + 1))


def quantities(ratings, fit, structure) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Every quantity that is ranked: its truth, and its posterior draws."""
    values = ratings.simulated.values
    posterior = FitView.of(fit).draws
    truth: dict[str, float] = {}
    draws: dict[str, np.ndarray] = {}
    for name, value in values.items():
        here, there = np.asarray(value), posterior[name]
        if name in SIGNLESS:  # rank what does not depend on the sign
            here, there = here.ravel(), there.reshape(len(there), -1)
            here, there = np.outer(here, here), there[:, :, None] * there[:, None, :]
            upper = np.triu_indices(here.shape[0])
            here, there = here[upper], there[:, upper[0], upper[1]]
        for index in np.ndindex(here.shape):
            key = f"{name}{list(index)}" if index else name
            truth[key], draws[key] = float(here[index]), there[(slice(None), *index)]
    known = metrics_of_labels(ratings.simulated.truth, ratings).set_index(["metric", "system"])
    found = assay.metrics(fit, estimand="finite")
    for name, variable in found.data_vars.items():
        per_system = {}
        for system in variable["system"].values:
            key = f"{name} {system}"
            truth[key] = float(known.loc[(name, system), "value"])
            draws[key] = per_system[system] = variable.sel(system=system).values.ravel()
        first, second = list(per_system)[:2]
        key = f"{name} {second} - {first}"
        truth[key] = truth[f"{name} {second}"] - truth[f"{name} {first}"]
        draws[key] = per_system[second] - per_system[first]
    truth["log likelihood"] = structure.log_likelihood(values)
    draws["log likelihood"] = fit["log_likelihood"]["ratings"].sum(axis=2).values.ravel()
    one = {name: np.asarray(value)[None] for name, value in values.items()}
    known_table = reliability_table(structure, one, kind="recorded")[0]
    found_table = reliability_table(structure, posterior, kind="recorded")
    for rater, label, true, reported in np.argwhere(np.isfinite(known_table)):
        if true == reported:
            key = f"recorded[{rater}, {label}, {true}]"
            truth[key] = float(known_table[rater, label, true, reported])
            draws[key] = found_table[:, rater, label, true, reported]
    return truth, draws


def run(family: str, task: str, replicates: int, seed: int, workers: int) -> pd.DataFrame:
    """Run the replicates in parallel processes."""
    work = partial(replicate, family=family, task=task, seed=seed)
    if workers == 1:
        return pd.DataFrame([work(n) for n in range(replicates)])
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return pd.DataFrame(pool.map(work, range(replicates), chunksize=4))


def main() -> None:
    """Read the command line and write the ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", default="hierarchical", choices=sorted(STUDIES))
    parser.add_argument("--task", default="retrieval", choices=TASKS)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    table = run(chosen.family, chosen.task, chosen.replicates, chosen.seed, chosen.workers)
    folder = Path(__file__).resolve().parent / "results"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"sbc_{chosen.family}_{chosen.task}.csv.gz"
    table.to_csv(path, index=False, float_format="%.6g", compression=PACKED)


if __name__ == "__main__":
    main()
