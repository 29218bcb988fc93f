"""From the draws of all sides to what is compared: ESS, R-hat, means, ratios and their terms."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.speed.peers_side import Floats

Line = dict[str, Any]
TARGETS = {"stan": 20.0, "stan_loop": 20.0, "numpyro": 3.0}
COLD_TARGETS = {("stan", 8_000): 5.0, ("stan_loop", 8_000): 5.0}
"""By how much more effective draws a second, compiling left out; and with it, from nothing."""
SHOWN = (
    "side",
    "ratings",
    "raters",
    "draws",
    "leapfrogs",
    "ess_min",
    "r_hat_max",
    "divergences",
    "import_seconds",
    "compile_seconds",
    "sample_seconds",
    "total_seconds",
    "ess_per_second",
    "processor",
)
R_HAT_LIMIT = 1.01
TAILS = (0.05, 0.95)
"""The quantiles whose effective sample size is that of the tails."""
ERROR = 0.001
"""The chance that the largest difference of means exceeds its limit if there is none."""


def quantities(draws: Path) -> tuple[list[str], Floats]:
    """Read what is compared: group means and SDs, each rater's reliabilities, the prevalence.

    Returns
    -------
    names : list of str
    values : ndarray (chain, draw, quantity)
    """
    with np.load(draws) as found:
        mean, sd, offset = found["logit_mean"], found["logit_sd"], found["logit_offset"]
        prevalence = found["prevalence"][..., 1:]
    right = 1 / (1 + np.exp(-(mean[:, :, None] + sd[:, :, None] * offset)))
    kinds = ("specificity", "sensitivity")
    names = [f"{name}[{kind}]" for name in ("logit_mean", "logit_sd") for kind in kinds]
    names += [f"{kind}[{rater}]" for kind in kinds for rater in range(right.shape[2])]
    pieces = [mean, sd, right[..., 0], right[..., 1], prevalence]
    return [*names, "prevalence[yes]"], np.concatenate(pieces, axis=-1)


def judge(draws: Path) -> tuple[Line, pd.DataFrame]:
    """Summarise a run of one side: a line of what matters, and the mean of each quantity."""
    names, values = quantities(draws)
    statistics = import_module("arviz_stats.base").array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    bulk = np.asarray(statistics.ess(values, method="bulk", **axes))
    tail = np.asarray(statistics.ess(values, method="tail", prob=TAILS, **axes))
    r_hat = np.asarray(statistics.rhat(values, **axes))
    least = np.minimum(bulk, tail)
    with np.load(draws) as found:
        notes = json.loads(str(found["notes"]))
    line = {
        **{f"{name}_seconds": value for name, value in notes.pop("seconds").items()},
        **notes,
        "r_hat_max": r_hat.max(),
        "ess_bulk_min": bulk.min(),
        "ess_tail_min": tail.min(),
        "ess_min": least.min(),
        "least": names[int(least.argmin())],
    }
    means = pd.DataFrame(
        {
            "quantity": names,
            "mean": values.mean(axis=(0, 1)),
            "error": np.asarray(statistics.mcse(values, method="mean", **axes)),
        }
    )
    return line, means


def summary(samplers: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that the page shows, ordered by size."""
    return samplers.sort_values(["ratings", "draws"], kind="stable")[list(SHOWN)]


def disagreement(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[float, float]:
    """Largest difference of means in Monte Carlo errors, and what it may be among so many."""
    both = ours.merge(theirs, on="quantity", validate="one_to_one")
    error = np.hypot(both["error_x"].to_numpy(), both["error_y"].to_numpy())
    gap = (both["mean_x"] - both["mean_y"]).to_numpy()
    return float((np.abs(gap) / error).max()), float(norm.isf(ERROR / 2 / len(both)))


def ratios(samplers: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Set this package against each peer, at equal ratings, draws and seed on one machine."""
    key = ["ratings", "draws", "seed"]
    lines = []
    for (*settings, _), runs in samplers.groupby([*key, "processor"]):
        by_side = runs.set_index("side")
        here = means[(means[key] == settings).all(axis=1)]
        for peer in TARGETS:
            if {"assay", peer} <= set(by_side.index):
                lines.append(_ratio(dict(zip(key, settings, strict=True)), by_side, here, peer))
    return pd.DataFrame(lines)


def _ratio(settings: Line, runs: pd.DataFrame, means: pd.DataFrame, peer: str) -> Line:
    ours, theirs = runs.loc["assay"], runs.loc[peer]
    largest, limit = disagreement(means[means["side"] == "assay"], means[means["side"] == peer])
    converged = max(ours["r_hat_max"], theirs["r_hat_max"]) < R_HAT_LIMIT
    return {
        "peer": peer,
        **settings,
        "ratio": ours["ess_per_second"] / theirs["ess_per_second"],
        "target": TARGETS[peer],
        "ratio_from_nothing": ours["ess_per_second_from_nothing"]
        / theirs["ess_per_second_from_nothing"],
        "target_from_nothing": COLD_TARGETS.get((peer, settings["ratings"]), np.nan),
        "r_hat_max_assay": ours["r_hat_max"],
        "r_hat_max_peer": theirs["r_hat_max"],
        "largest_difference": largest,
        "limit_of_difference": limit,
        "counts": "yes" if converged and largest < limit else "no",
    }
