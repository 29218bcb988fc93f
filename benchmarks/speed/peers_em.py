"""Dawid & Skene's model at its maximum: this package beside crowd-kit's ``DawidSkene``.

    python -m benchmarks.speed.peers_em assay design.npz result.json
    python -m benchmarks.speed.peers_em crowdkit design.npz result.json

Both begin with the same data frame of item, rater and label, and end with the probability of each
label. The log-likelihood of what each finds is computed here, by one function for both. Seconds and
megabytes are taken by phase: what the phase adds at its peak to what was in memory when it began,
the heap trimmed before. ``peers.py`` runs each side in a process of its own.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, peak, reset_peak, resident, trim_heap
from benchmarks.speed.peers_designs import CLASSES, Design, load_design, make_design
from benchmarks.speed.peers_side import Clock, Floats

Line = dict[str, Any]
Found = tuple[Floats, Floats]
"""Prevalence (class,) and confusions (rater, true class, reported class)."""
EM_SIDES = ("assay", "crowdkit")
SMALL = 1_000
"""Ratings of the run before the one that is timed: what is compiled or imported late is there."""
LIMIT = 0.5
"""At most so much of crowd-kit's time and memory."""
FLAT = {"confusion": "Counts([[1e-6, 1e-6], [1e-6, 1e-6]])", "prevalence": "Dirichlet(1e-6)"}
"""No prior ratings to speak of: both sides seek the maximum of the likelihood."""


@dataclass(frozen=True)
class Gauge:
    """Seconds of the phases of a process, and the megabytes that each adds at its peak."""

    clock: Clock = field(default_factory=Clock)
    megabytes: dict[str, float] = field(default_factory=dict)
    highest: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        trim_heap()
        reset_peak()
        before = resident()
        with self.clock.phase(name):
            yield
        self.highest[name] = peak()
        self.megabytes[name] = (peak() - before) / 1e6


def log_likelihood(design: Design, prevalence: Floats, confusion: Floats) -> float:
    """Log-likelihood of the ratings, true classes summed out."""
    log_p = np.log(np.maximum(confusion, 1e-300))
    by_class = np.log(prevalence) + log_p[design.rater, :, design.answer].sum(axis=1)
    return float(np.logaddexp.reduce(by_class, axis=1).sum())


def long_table(design: Design) -> pd.DataFrame:
    """Ratings as both sides get them: names of items and raters, classes as words."""
    table = pd.DataFrame(design.columns())
    table["label"] = np.asarray(CLASSES)[table["label"]]
    return table


def run_assay(table: pd.DataFrame, raters: int, gauge: Gauge) -> Found:
    """Read and fit with hardly any prior, from one start, as crowd-kit does."""
    import assay

    with gauge.phase("read"):
        ratings = assay.read_ratings(
            table, task="single", item="item", rater="rater", labels={"label": "label"}
        )
    with gauge.phase("fit"), warnings.catch_warnings():
        warnings.simplefilter("ignore", assay.FitWarning)
        fit = assay.fit(
            ratings,
            raters="dawid_skene",
            prevalence="dirichlet",
            priors=FLAT,
            method="em",
            draws=1,
            chains=1,
            starts=1,
            progress=False,
        )
    with gauge.phase("labels"):
        assay.label_probabilities(fit)
    confusion = assay.rater_reliability(fit, kind="raw")
    order = [str(rater) for rater in range(raters)]
    chosen = confusion.isel(chain=0, draw=0, label=0).sel(rater=order)
    ordered = chosen.transpose("rater", "true_class", "reported_class").to_numpy()
    return fit["posterior"]["prevalence"].to_numpy()[0, 0], ordered


def run_crowdkit(table: pd.DataFrame, raters: int, gauge: Gauge) -> Found:
    """Fit with crowd-kit's defaults."""
    crowd = import_module("crowdkit.aggregation")
    with gauge.phase("read"):
        votes = table.rename(columns={"item": "task", "rater": "worker"})
    with gauge.phase("fit"):
        found = crowd.DawidSkene().fit(votes)
    with gauge.phase("labels"):
        _ = found.probas_
    index = pd.MultiIndex.from_product([range(raters), CLASSES])
    errors = found.errors_.reindex(index=index, columns=CLASSES).fillna(0.0).to_numpy(float)
    confusion = errors.reshape(raters, len(CLASSES), len(CLASSES)).transpose(0, 2, 1)
    return found.priors_.reindex(CLASSES).to_numpy(float), confusion


def measure(side: str, design: Design) -> Line:
    """Run one side, small first, and take its seconds, memory and log-likelihood."""
    run = {"assay": run_assay, "crowdkit": run_crowdkit}[side]
    small = make_design(SMALL, 1)
    run(long_table(small), small.raters, Gauge())
    table, gauge = long_table(design), Gauge()
    trim_heap()
    before = resident()
    prevalence, confusion = run(table, design.raters, gauge)
    highest = max(gauge.highest.values())
    package = {"assay": "assay", "crowdkit": "crowd-kit"}[side]
    return {
        **{f"{name}_seconds": value for name, value in gauge.clock.seconds.items()},
        **{f"{name}_megabytes": value for name, value in gauge.megabytes.items()},
        "peak_megabytes": highest / 1e6,
        "added_megabytes": (highest - before) / 1e6,
        "log_likelihood": log_likelihood(design, prevalence, confusion),
        "version": f"{package} {version(package)}",
        "load_before": os.getloadavg()[0],
    }


def run_em(
    side: str,
    ratings: int,
    seed: int,
    python: str,
    folder: Path,
    environment: Mapping[str, str],
) -> Line:
    """Run one side in a new process: its line of the table."""
    design, result = folder / "design.npz", folder / "result.json"
    made = make_design(ratings, seed)
    made.save(design)
    command = [python, "-m", "benchmarks.speed.peers_em", side, str(design), str(result)]
    subprocess.run(command, cwd=ROOT, env=dict(environment), check=True)
    found = json.loads(result.read_text("utf-8"))
    return {"side": side, "ratings": ratings, "raters": made.raters, "seed": seed, **found}


def em_ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Set this package's time, memory and log-likelihood against crowd-kit's."""
    lines = []
    for (ratings, seed), runs in table.groupby(["ratings", "seed"]):
        by_side = runs.set_index("side")
        if not set(EM_SIDES) <= set(by_side.index):
            continue
        ours, theirs = by_side.loc["assay"], by_side.loc["crowdkit"]
        seconds = ours["fit_seconds"] / theirs["fit_seconds"]
        memory = ours["fit_megabytes"] / theirs["fit_megabytes"]
        gained = ours["log_likelihood"] - theirs["log_likelihood"]
        lines.append(
            {
                "ratings": ratings,
                "seed": seed,
                "seconds": seconds,
                "seconds_with_reading": _whole(ours) / _whole(theirs),
                "added_memory": memory,
                "added_memory_with_reading": ours["added_megabytes"] / theirs["added_megabytes"],
                "log_likelihood_gained": gained,
                "reached": "yes" if max(seconds, memory) <= LIMIT and gained >= 0 else "no",
            }
        )
    return pd.DataFrame(lines)


def _whole(line: "pd.Series[Any]") -> float:
    """Seconds from the data frame to the probabilities of the labels."""
    return float(sum(line[f"{phase}_seconds"] for phase in ("read", "fit", "labels")))


def main() -> None:
    """Measure the side that the command line names."""
    side, design, result = sys.argv[1:]
    found = measure(side, load_design(Path(design)))
    Path(result).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
