"""Speed beside the peers: Stan and NumPyro (NUTS), crowd-kit (EM), and from the shell to a file.

    python -m benchmarks peers --peers-python peers/bin/python --seed 1

``peers/bin/python`` is an environment with ``pystan numpyro funsor crowd-kit``; without the option
they have to stand in this one. Each side runs in a process of its own with empty caches. Written to
``results``: ``samplers.csv`` (a line per side and size, as soon as it is there; runs that are
there are not made again), ``samplers_summary.csv``, ``means.csv``, ``ratios.csv``, ``em.csv``,
``em_ratios.csv``, ``wall.csv``, ``versions.json``. ``--check`` instead compares the log densities
of all sides and writes nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, processor, write_machine
from benchmarks.speed.peers_check import check_densities
from benchmarks.speed.peers_designs import make_design
from benchmarks.speed.peers_em import EM_SIDES, em_ratios, run_em
from benchmarks.speed.peers_tables import Line, judge, ratios, summary
from benchmarks.speed.peers_wall import shell_to_file

FOLDER = Path(__file__).resolve().parent / "results"
SAMPLERS = {
    "assay": ("peers_assay",),
    "stan": ("peers_stan", "peers.stan"),
    "stan_loop": ("peers_stan", "peers_loop.stan"),
    "numpyro": ("peers_numpyro",),
}
OTHERS = ("crowdkit", "wall")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the command line asks for."""

    only: tuple[str, ...]
    sizes: tuple[int, ...]
    em_sizes: tuple[int, ...]
    chains: int
    draws: int
    tune: int
    seed: int
    again: bool
    check: bool
    peers_python: Path
    folder: Path

    def python(self, side: str) -> str:
        """Interpreter of a side."""
        return sys.executable if side == "assay" else str(self.peers_python)

    def table(self, name: str) -> Path:
        """Return the file of a table."""
        return self.folder / f"{name}.csv"


@contextmanager
def empty_caches() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a folder for files, and an environment in which nothing was compiled before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        caches = {"NUMBA_CACHE_DIR": folder / "numba", "XDG_CACHE_HOME": folder / "cache"}
        yield folder, os.environ | {key: str(value) for key, value in caches.items()}


def run_sampler(side: str, ratings: int, plan: Plan) -> tuple[Line, pd.DataFrame]:
    """Run one side at one size in a new process: its line, and its posterior means."""
    with empty_caches() as (folder, environment):
        design, draws = folder / "design.npz", folder / "draws.npz"
        made = make_design(ratings, plan.seed)
        made.save(design)
        settings = {"chains": plan.chains, "draws": plan.draws, "seed": plan.seed}
        effort = {**settings, "tune": plan.tune}
        script, *program = SAMPLERS[side]
        command = [plan.python(side), "-m", f"benchmarks.speed.{script}"]
        command += [*program, str(design), str(draws)]
        command += [text for key, value in effort.items() for text in (f"--{key}", str(value))]
        load, started = os.getloadavg()[0], time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        process = time.perf_counter() - started
        found, means = judge(draws)
    total = process - found.pop("repeated_seconds", 0.0)
    line = {
        "side": side,
        "ratings": ratings,
        "items": len(made.rater),
        "raters": made.raters,
        **settings,
        **found,
        "total_seconds": total,
        "ess_per_second": found["ess_min"] / found["sample_seconds"],
        "ess_per_second_from_nothing": found["ess_min"] / total,
        "load_before": load,
        "processor": processor(),
    }
    return line, means.assign(side=side, ratings=ratings, **settings)


def is_there(path: Path, **key: object) -> bool:
    """Whether a table has a line of these values."""
    if not path.exists():
        return False
    table = pd.read_csv(path)
    return bool((table[list(key)] == list(key.values())).all(axis=1).any())


def in_short(value: float) -> str:
    """Write five digits, and hundredths of large numbers: log-likelihoods differ by little."""
    if np.isnan(value):
        return ""
    return f"{value:.2f}" if abs(value) >= 1e4 else f"{value:.5g}"


def merge(path: Path, lines: pd.DataFrame, key: Sequence[str]) -> None:
    """Put lines into a table in place of those with the same key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        old = pd.read_csv(path)
        ours = lines[list(key)].drop_duplicates()
        kept = old.merge(ours, on=list(key), how="left", indicator=True)["_merge"] == "left_only"
        lines = pd.concat([old[kept.to_numpy()], lines], ignore_index=True)
    lines.apply(lambda c: c.map(in_short) if c.dtype == float else c).to_csv(path, index=False)


def run_samplers(plan: Plan) -> None:
    """Run every side at every size that is not there, then set them against each other."""
    key = ["side", "ratings", "chains", "draws", "seed"]
    settings = {"chains": plan.chains, "draws": plan.draws, "seed": plan.seed}
    for ratings in plan.sizes:
        for side in [name for name in SAMPLERS if name in plan.only]:
            done = is_there(plan.table("samplers"), side=side, ratings=ratings, **settings)
            if done and not plan.again:
                continue
            sys.stderr.write(f"{side}, {ratings} ratings\n")
            line, means = run_sampler(side, ratings, plan)
            merge(plan.table("means"), means, key)
            merge(plan.table("samplers"), pd.DataFrame([line]), key)
    if plan.table("samplers").exists():
        samplers, means = (pd.read_csv(plan.table(name)) for name in ("samplers", "means"))
        summary(samplers).to_csv(plan.table("samplers_summary"), index=False)
        table = ratios(samplers, means)
        if len(table):
            merge(plan.table("ratios"), table, ["peer", "ratings", "draws", "seed"])


def run_ems(plan: Plan) -> None:
    """Run EM of both sides at every size that is not there, then set them against each other."""
    for ratings in plan.em_sizes:
        for side in EM_SIDES:
            done = is_there(plan.table("em"), side=side, ratings=ratings, seed=plan.seed)
            if done and not plan.again:
                continue
            sys.stderr.write(f"EM of {side}, {ratings} ratings\n")
            with empty_caches() as (folder, environment):
                line = run_em(side, ratings, plan.seed, plan.python(side), folder, environment)
            merge(plan.table("em"), pd.DataFrame([line]), ["side", "ratings", "seed"])
    table = em_ratios(pd.read_csv(plan.table("em")))
    if len(table):
        merge(plan.table("em_ratios"), table, ["ratings", "seed"])


def read_plan() -> Plan:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = (*SAMPLERS, *OTHERS)
    parser.add_argument("--only", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--sizes", default="8000,100000", help="ratings, for the samplers")
    parser.add_argument("--em-sizes", default="1000000", help="ratings, for EM")
    for name, number in (("chains", 4), ("draws", 1000), ("tune", 1000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--check", action="store_true", help="compare log densities alone")
    parser.add_argument("--peers-python", type=Path, default=Path(sys.executable))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = vars(parser.parse_args())
    chosen["only"] = tuple(chosen["only"].split(","))
    for name in ("sizes", "em_sizes"):
        chosen[name] = tuple(int(size) for size in chosen[name].split(","))
    unknown = set(chosen["only"]) - set(names)
    if unknown:
        parser.error(f"--only: no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return Plan(**chosen)


def main() -> int:
    """Run what was asked for."""
    plan = read_plan()
    if plan.check:
        with empty_caches() as (folder, environment):
            return check_densities(str(plan.peers_python), plan.seed, folder, environment)
    write_machine(plan.folder / "versions.json", "peers")
    if set(plan.only) & set(SAMPLERS):
        run_samplers(plan)
    if "crowdkit" in plan.only:
        run_ems(plan)
    if "wall" in plan.only:
        merge(plan.table("wall"), shell_to_file(plan.seed), ["method", "run"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
