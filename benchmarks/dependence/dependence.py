"""Six judges who err together: which prevalence do intervals hold, and does LOO see it?

    python -m benchmarks dependence --runs 200 --seed 1

appends a line per world, run and model to ``results/runs.csv`` (runs that are there are not
made again) and writes ``results/summary.csv`` and ``leave_one_out.csv``. The two worlds
stand in ``dependent_worlds``: one is the model's own (a shared misperception), the other is not (a
Gaussian copula of errors). ``--summary`` makes the summaries alone.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import beta

import assay
from benchmarks.dependence.dependent_worlds import (
    LOOKS_POSITIVE,
    PREVALENCE,
    WORLDS,
    World,
    kish_worth,
    misperception_chance,
)
from benchmarks.real_data.family_fits import at_mode, leave_one_out

Line = dict[str, Any]
ITEMS = 400
SAMPLER: Line = {"draws": 400, "tune": 250, "chains": 1, "starts": 1, "progress": False}
MODELS: Mapping[str, tuple[Mapping[str, bool], str | None]] = {
    "judges alone": ({}, None),
    "gold": ({"gold": True}, "gold"),
    "people": ({"people": True}, "person"),
    "gold, no layer": ({"gold": True}, None),
    "people, no layer": ({"people": True}, None),
}
"""What is seen besides the judges' answers, and the reference."""
COMPARED = {"gold": "gold, no layer", "people": "people, no layer"}
COMPARED_RUNS = 30
"""Models without a layer, on the same data, are fitted in so many runs only."""
LEVELS = (0.025, 0.5, 0.975)


def run(world_name: str, number: int, seed: int) -> Iterator[Line]:
    """Simulate one set and fit every model to it."""
    rng = np.random.default_rng([seed, number, list(WORLDS).index(world_name)])
    world = WORLDS[world_name](ITEMS, rng)
    scores: dict[str, np.ndarray] = {}
    for model, (data, reference) in MODELS.items():
        if model in COMPARED.values() and number >= COMPARED_RUNS:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = assay.fit(
                world.ratings(**data),
                raters="hierarchical",
                reference=reference,
                rng=int(rng.integers(2**31)),
                **SAMPLER,
            )
            scores[model], loo = leave_one_out(fit)
        yield {
            "world": world_name,
            "run": number,
            "seed": seed,
            "model": model,
            **intervals(fit),
            "realised": world.truth.mean(),
            "worth": kish_worth(world),
            **loo,
            **difference(scores, model),
        }


def intervals(fit: xr.DataTree) -> Line:
    """Intervals of the prevalence and of the share of these items, and what judges misperceive."""
    posterior = fit["posterior"]
    drawn = {
        "prevalence": posterior["prevalence"].isel(state=1),
        "share": assay.label_draws(fit).isel(label=0).mean("item"),
    }
    found = {
        f"{name}_{end}": value
        for name, draws in drawn.items()
        for end, value in zip(("lower", "median", "upper"), np.quantile(draws, LEVELS), strict=True)
    }
    if "misperceived" in posterior:
        found["misperceived"] = float(posterior["misperceived"].mean())
    return found


def difference(scores: Mapping[str, np.ndarray], model: str) -> Line:
    """Leave-one-out score of the model with a layer minus that of the one without, and its SE."""
    layered = next((name for name, plain in COMPARED.items() if plain == model), None)
    if layered is None:
        return {}
    by_item = scores[layered] - scores[model]
    return {
        "elpd_gain": float(by_item.sum()),
        "elpd_gain_se": float(by_item.std(ddof=1) * np.sqrt(len(by_item))),
    }


@cache
def consensus_prevalence(world_name: str) -> float:
    """Prevalence of what items look like to the judges.

    In the world of the copula there is no such thing: what the model without a layer takes for it,
    at its mode on 100,000 items.
    """
    if world_name == "misperception":
        chance = misperception_chance()
        return (1 - chance) * PREVALENCE + chance * LOOKS_POSITIVE
    world: World = WORLDS[world_name](100_000, np.random.default_rng(0))
    return float(at_mode(world.ratings(), "hierarchical").probability[:, 1].mean())


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a line per world, model and target: how often intervals held it."""
    found = []
    for (world, model), own in _by_model(lines):
        targets: dict[str, Any] = {"prevalence": PREVALENCE, "share": own["realised"]}
        if MODELS[model][1] is None:
            targets["consensus prevalence"] = consensus_prevalence(world)
        for target, value in targets.items():
            name = "share" if target == "share" else "prevalence"
            found.append(
                {
                    "world": world,
                    "model": model,
                    "target": target,
                    "true value": float(np.mean(value)),
                    **coverage(own, name, value),
                    "median": own[f"{name}_median"].mean(),
                    "width": (own[f"{name}_upper"] - own[f"{name}_lower"]).mean(),
                    "judges' worth": own["worth"].mean(),
                    "seed": own["seed"].iloc[0],
                }
            )
    return pd.DataFrame(found)


def coverage(own: pd.DataFrame, name: str, value: Any) -> Line:
    """Say how often the intervals of a quantity held a value, or one of each run."""
    held = int(((own[f"{name}_lower"] <= value) & (value <= own[f"{name}_upper"])).sum())
    low, high = exact_interval(held, len(own))
    share = held / len(own)
    return {
        "runs": len(own), "coverage": share, "coverage_lower": low, "coverage_upper": high,
    }  # fmt: skip


def _by_model(lines: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    for (world, model), own in lines.groupby(["world", "model"], sort=False):
        yield (str(world), str(model)), own


def exact_interval(held: int, runs: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share."""
    low = float(beta.ppf(0.025, held, runs - held + 1)) if held else 0.0
    high = float(beta.ppf(0.975, held + 1, runs - held)) if held < runs else 1.0
    return low, high


def preferences(lines: pd.DataFrame) -> pd.DataFrame:
    """How often leave-one-out prefers the model with a layer, on the same data."""
    compared = lines[lines["elpd_gain"].notna()]
    found = []
    for (world, model), own in _by_model(compared):
        ratio = own["elpd_gain"] / own["elpd_gain_se"]
        found.append(
            {
                "world": world,
                "data": model.split(",")[0],
                "runs": len(own),
                "preferred": (own["elpd_gain"] > 0).mean(),
                "by more than 2 SE": (ratio > 2).mean(),
                "mean gain": own["elpd_gain"].mean(),
                "mean SE": own["elpd_gain_se"].mean(),
                "items with k > 0.7": own["bad_k"].mean(),
            }
        )
    return pd.DataFrame(found)


def main() -> None:
    """Read the command line, run what is missing, write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    default = Path(__file__).resolve().parent / "results"
    parser.add_argument("--folder", type=Path, default=default)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    path = chosen.folder / "runs.csv"
    lines = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["world", "run"])
    done = set(zip(lines["world"], lines["run"], strict=True))
    for number in range(0 if chosen.summary else chosen.runs):
        for world in WORLDS:
            if (world, number) not in done:
                fresh = pd.DataFrame(list(run(world, number, chosen.seed)))
                lines = pd.concat([lines, fresh]) if len(lines) else fresh
                lines.to_csv(path, index=False, float_format="%.5g")
    summary(lines).to_csv(chosen.folder / "summary.csv", index=False, float_format="%.4g")
    preferences(lines).to_csv(chosen.folder / "leave_one_out.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
