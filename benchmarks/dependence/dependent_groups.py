"""Groups of judges who err together, and nobody who knows the truth: what do intervals hold?

    python -m benchmarks dependent_groups --runs 200 --seed 1 --workers 2

400 items, all rated by three groups of judges (language models of three families, say). No fit sees
the truth. ``results/group_runs.csv.gz`` gets a line per world, run and model (runs that are
there are not made again), ``group_summary.csv`` their coverage. ``--summary`` makes the summary
alone. The worlds:

- ``misperception``: each group sees some items otherwise than they are, by itself;
- ``copula``: errors within a group are thresholds of correlated normals;
- ``one person``: two groups of four judges who misperceive, and a person on their own;
- ``independent``: no two judges err together: what the layers cost where they are not needed;
- ``shared eyes``: two of the three groups misperceive the same items, which no model here knows.
"""

import argparse
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import assay
from assay.reporting.fit import LIMIT as MISFIT
from assay.validation.posterior_predictive import WITHIN
from benchmarks.dependence.dependence import coverage, intervals
from benchmarks.dependence.dependent_worlds import (
    PEOPLE_RIGHT,
    PREVALENCE,
    RIGHT,
    Codes,
    answers_by_copula,
    answers_of,
    chances_right,
    long_table,
    misperceived,
    true_classes,
)
from benchmarks.measuring import PACKED

Line = dict[str, Any]
ITEMS, JUDGES = 400, 3
SAMPLER: Line = {"draws": 400, "tune": 300, "chains": 1, "starts": 1, "progress": False}
MODELS: Mapping[str, tuple[str, str | None]] = {
    "default": ("hierarchical + item_difficulty", None),
    "hierarchical": ("hierarchical", None),
    "default, groups": ("hierarchical + item_difficulty", "groups"),
    "hierarchical, groups": ("hierarchical", "groups"),
    "continuous, groups": ("hierarchical + item_difficulty_continuous", "groups"),
}
"""Raters and reference."""
FEWER = {"continuous, groups": 40}
"""Models that take too long for all runs."""
CHECKED = 40
"""Runs whose fits are held against replicates."""
SHARES = ("prevalence", "share")


def judged(truth: Codes, rng: np.random.Generator, judges: int = JUDGES) -> Codes:
    """Answers of one group of judges to what items look like to it."""
    return answers_of(misperceived(truth, rng), chances_right(RIGHT, judges, rng), rng)


def misperception(truth: Codes, rng: np.random.Generator) -> list[Codes]:
    """Three groups, each with eyes of its own."""
    return [judged(truth, rng) for _ in range(3)]


def copula(truth: Codes, rng: np.random.Generator) -> list[Codes]:
    """Three groups whose errors are thresholds of normals."""
    return [answers_by_copula(truth, JUDGES, rng) for _ in range(3)]


def one_person(truth: Codes, rng: np.random.Generator) -> list[Codes]:
    """Two groups with eyes of their own, and a person who sees the truth."""
    person = answers_of(truth, chances_right(PEOPLE_RIGHT, 1, rng), rng)
    return [judged(truth, rng, 4), judged(truth, rng, 4), person]


def independent(truth: Codes, rng: np.random.Generator) -> list[Codes]:
    """Nine judges who see the truth and err alone."""
    return [answers_of(truth, chances_right(PEOPLE_RIGHT, JUDGES, rng), rng) for _ in range(3)]


def shared_eyes(truth: Codes, rng: np.random.Generator) -> list[Codes]:
    """Two groups look through the same eyes."""
    looks = misperceived(truth, rng)
    both = [answers_of(looks, chances_right(RIGHT, JUDGES, rng), rng) for _ in range(2)]
    return [*both, judged(truth, rng)]


WORLDS: Mapping[str, Callable[[Codes, np.random.Generator], list[Codes]]] = {
    "misperception": misperception,
    "copula": copula,
    "one person": one_person,
    "independent": independent,
    "shared eyes": shared_eyes,
}


def run(task: tuple[str, int, str], seed: int) -> Line:
    """Simulate one set and fit one model to it."""
    world, number, model = task
    rng = np.random.default_rng([seed, number, list(WORLDS).index(world)])
    truth = true_classes(ITEMS, rng)
    answers = WORLDS[world](truth, rng)
    tables = [long_table(own, np.arange(ITEMS), f"group {g}") for g, own in enumerate(answers)]
    ratings = assay.read_ratings(pd.concat(tables), task="single", group="group")
    chosen = int(rng.integers(2**31))
    raters, reference = MODELS[model]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = assay.fit(ratings, raters=raters, reference=reference, rng=chosen, **SAMPLER)
    chance = assay.label_probabilities(fit).isel(label=0).to_numpy()[:, 1]
    right = np.clip(np.where(truth == 1, chance, 1 - chance), 1e-6, 1)
    return {
        "world": world,
        "run": number,
        "seed": seed,
        "model": model,
        **intervals(fit),
        "realised": truth.mean(),
        "log_loss": -np.log(right).mean(),
        "tail": tail_within(fit) if number < CHECKED else np.nan,
    }


def tail_within(fit: xr.DataTree) -> float:
    """How far raters of a group agree more with each other than the fit expects."""
    table = assay.posterior_predictive_check(fit, patterns=0)
    within = table[(table["quantity"] == WITHIN) & (table["group"] == "")]
    return float(within["tail"].iloc[0])


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a line per world, model and target: how often intervals held it."""
    found = []
    for (world, model), own in lines.groupby(["world", "model"], sort=False):
        for name in SHARES:
            value = own["realised"] if name == "share" else PREVALENCE
            found.append(
                {
                    "world": world,
                    "model": model,
                    "target": name,
                    **coverage(own, name, value),
                    "mean error of the median": (own[f"{name}_median"] - value).mean(),
                    "width": (own[f"{name}_upper"] - own[f"{name}_lower"]).mean(),
                    "log loss": own["log_loss"].mean(),
                    "misfit within groups": (own["tail"].dropna() < MISFIT).mean(),
                    "seed": own["seed"].iloc[0],
                }
            )
    order = pd.Categorical([line["world"] for line in found], list(WORLDS)).codes
    return pd.DataFrame(found).iloc[np.argsort(order, kind="stable")]


def main() -> None:
    """Read the command line, run what is missing, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    default = Path(__file__).resolve().parent / "results"
    parser.add_argument("--folder", type=Path, default=default)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / "group_runs.csv.gz"
    lines = pd.read_csv(path).to_dict("records") if path.exists() else []
    done = {(line["world"], line["run"], line["model"]) for line in lines}
    runs = {model: min(chosen.runs, FEWER.get(model, chosen.runs)) for model in MODELS}
    wanted = [(w, n, m) for n in range(chosen.runs) for w in WORLDS for m in MODELS if n < runs[m]]
    left = [] if chosen.summary else [one for one in wanted if one not in done]
    with get_context("spawn").Pool(chosen.workers) as pool:
        for line in pool.imap_unordered(partial(run, seed=chosen.seed), left):
            lines.append(line)
            pd.DataFrame(lines).to_csv(path, index=False, float_format="%.5g", compression=PACKED)
    summary(pd.DataFrame(lines)).to_csv(
        chosen.folder / "group_summary.csv", index=False, float_format="%.4g"
    )


if __name__ == "__main__":
    main()
