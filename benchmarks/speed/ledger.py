"""The ledger of speed: what each step costs, as a ratio to a reference in the same run.

    python -m benchmarks ledger            # all steps; peers need the group `bench`
    python -m benchmarks ledger --short    # what CI holds
    python -m benchmarks ledger --write    # all steps, into results/ledger.csv and docs/speed.md
    python -m benchmarks ledger --write import    # one step; the rows of the others stay

Each side runs in processes of its own, in turns. A side does its step once to warm up, then some
times more; the least CPU time counts, and the memory that the step adds at its peak. Seconds change
with the machine. Ratios change with the code, and CI fails where one has worsened by half.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
LEDGER = HERE / "results" / "ledger.csv"
PAGE = HERE.parents[1] / "docs" / "speed.md"
BEGIN, END = "<!-- ledger: begin -->", "<!-- ledger: end -->"
WORSE = 1.5
"""A ratio this many times the committed one is a regression."""
TURNS = 2
"""How often each side has its turn."""
SEED = 20261126
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


# -- data ----------------------------------------------------------------------------------------


@cache
def crowd(items: int, raters: int, each: int) -> tuple[Ints, Ints, Ints]:
    """Simulate ratings of one binary label: item, rater, answer of each."""
    rng = np.random.default_rng(SEED)
    item = np.repeat(np.arange(items), each)
    # Raters of an item are distinct, and each rater meets many others.
    rater = (
        rng.integers(raters, size=items).repeat(each) + np.tile(np.arange(each), items) * 37
    ) % raters
    right = rng.random(len(item)) < 1 / (1 + np.exp(-rng.normal(1.5, 0.7, raters)))[rater]
    true = rng.random(items) < 0.4
    return item, rater, np.where(right, true[item], ~true[item]).astype(np.int64)


def table(items: int, raters: int, each: int) -> pd.DataFrame:
    """Return simulated ratings as a file has them."""
    item, rater, answer = crowd(items, raters, each)
    words = np.array(["no", "yes"])
    return pd.DataFrame(
        {"item": item.astype(str), "rater": rater.astype(str), "label": words[answer]}
    )


@cache
def crowd_file() -> Path:
    """Write 200,000 simulated ratings to a CSV file."""
    path = Path(tempfile.mkdtemp()) / "ratings.csv"
    table(20_000, 200, 10).to_csv(path, index=False)
    return path


@cache
def crowd_ratings(items: int = 20_000, raters: int = 200) -> Any:
    """Read simulated ratings, ten an item."""
    import assay

    return assay.read_ratings(table(items, raters, 10), task="single")


@cache
def study() -> Any:
    """Simulate a study of two systems: 80 queries, 5 chunks each, 6 raters."""
    import assay

    return assay.simulate(
        "retrieval", n_items=800, n_raters=6, ratings_per_item=2, n_systems=2, n_clusters=80, rng=1
    )


@cache
def study_fit(method: str) -> Any:
    """Fit the study, for what is done with fits."""
    import assay

    return assay.fit(study(), method=method, draws=500, chains=4, starts=2, progress=False)


# -- references in NumPy ---------------------------------------------------------------------------


def numpy_em(items: int, raters: int, passes: int = 100, tolerance: float = 1e-5) -> Floats:
    """Dawid and Skene's EM with bincounts: P(class) of each item."""
    item, rater, answer = crowd(items, raters, 10)
    held = np.stack([np.bincount(item, answer == k, items) for k in range(2)], axis=1)
    held /= held.sum(axis=1, keepdims=True)
    cell, before = rater * 2 + answer, -np.inf
    for _ in range(passes):
        counts = np.stack(
            [np.bincount(cell, held[item, t], raters * 2).reshape(raters, 2) for t in range(2)]
        )
        confusion = np.log(counts + 1e-6) - np.log(counts.sum(axis=2, keepdims=True) + 2e-6)
        log_p = np.log(held.mean(axis=0)) + np.stack(
            [np.bincount(item, confusion[t].ravel()[cell], items) for t in range(2)], axis=1
        )
        total = np.logaddexp(log_p[:, 0], log_p[:, 1])
        held, value = np.exp(log_p - total[:, None]), float(total.sum())
        if value - before < tolerance * items:
            break
        before = value
    return held


def numpy_passes(count: int) -> Callable[[], None]:
    """Return a unit of work with small arrays: passes of EM over 8,000 ratings."""
    return lambda: void(numpy_em(800, 164, count, -np.inf))


def void(_: object) -> None:
    """Forget a result."""


# -- steps -----------------------------------------------------------------------------------------


def assay_call(name: str, *arguments: Any, **options: Any) -> Any:
    """Call a public function, its warnings kept quiet."""
    import assay

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(assay, name)(*arguments, **options)


def read() -> None:
    """Read 200,000 ratings from a file."""
    assay_call("read_ratings", crowd_file(), task="single")


def read_reference() -> None:
    """Read the file with pandas, as text."""
    pd.read_csv(crowd_file(), dtype=str)


def check() -> None:
    """Check 200,000 ratings."""
    assay_call("check", crowd_ratings())


def fit_em() -> None:
    """Fit by EM, with the model of the reference."""
    options: dict[str, Any] = {"raters": "dawid_skene", "prevalence": "dirichlet", "starts": 1}
    assay_call("fit", crowd_ratings(), method="em", draws=1, chains=1, progress=False, **options)


def crowd_kit_em() -> None:
    """Fit by crowd-kit's EM, from its own table."""
    crowdkit = import_module("crowdkit.aggregation")
    frame = table(20_000, 200, 10).set_axis(["task", "worker", "label"], axis=1)
    crowdkit.DawidSkene().fit(frame)


@cache
def density() -> Any:
    """Return the log density of hierarchical raters on 8,000 ratings, and a point."""
    from assay.inference.density import make_density
    from assay.modelling.spec import make_spec
    from assay.modelling.structure import build_structure

    spec = make_spec(raters="hierarchical", prevalence="dirichlet")
    found = make_density(build_structure(crowd_ratings(800, 164), spec))
    return found, np.zeros(found.size)


def one_pass() -> None:
    """Evaluate density and gradient a hundred times."""
    found, point = density()
    for _ in range(100):
        found(point)


def laplace() -> None:
    """Fit the study by Laplace's approximation."""
    assay_call("fit", study(), method="laplace", draws=200, chains=4, progress=False)


def nuts() -> None:
    """Sample hierarchical raters on 8,000 ratings."""
    assay_call(
        "fit", crowd_ratings(800, 164), raters="hierarchical", prevalence="dirichlet",
        draws=300, tune=300, chains=2, progress=False,
    )  # fmt: skip


def numpyro_nuts() -> None:
    """Sample the same model with NumPyro."""
    numpyro, infer = import_module("numpyro"), import_module("numpyro.infer")
    dist, jax = import_module("numpyro.distributions"), import_module("jax")
    _, rater, answer = (part.reshape(800, 10) for part in crowd(800, 164, 10))
    numpyro.enable_x64()

    def model() -> None:
        with numpyro.plate("class", 2):
            mean = numpyro.sample("mean", dist.Normal(1.8, 0.8))
            sd = numpyro.sample("sd", dist.HalfNormal(1.0))
            with numpyro.plate("rater", 164, dim=-2):
                offset = numpyro.sample("offset", dist.Normal(0, 1))
        logit = mean + sd * offset
        share = numpyro.sample("share", dist.Beta(0.5, 0.5))
        says = jax.numpy.stack([-logit[:, 0], logit[:, 1]])[:, rater]
        terms = jax.nn.log_sigmoid(jax.numpy.where(answer == 1, says, -says)).sum(axis=2)
        by_class = terms + jax.numpy.log(jax.numpy.stack([1 - share, share]))[:, None]
        numpyro.factor("ratings", jax.nn.logsumexp(by_class, axis=0).sum())

    kernel = infer.NUTS(model, init_strategy=infer.init_to_median)
    sampler = infer.MCMC(
        kernel, num_warmup=300, num_samples=300, num_chains=2, chain_method="sequential",
        progress_bar=False,
    )  # fmt: skip
    sampler.run(jax.random.PRNGKey(1))


def metrics() -> None:
    """Compute the metrics of the study by system, for both estimands.

    They read draws of labels. A mode has as many, and its fit is made sooner.
    """
    for estimand in ("finite", "population"):
        assay_call("metrics", study_fit("map"), estimand=estimand)


def report() -> None:
    """Write the report of the study."""
    with tempfile.TemporaryDirectory() as folder:
        assay_call("report", study_fit("laplace"), Path(folder) / "report.html")


@cache
def bytecode() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder of bytecode, empty at first."""
    return tempfile.TemporaryDirectory()


def import_it(module: str) -> Callable[[], None]:
    """Import a module in a fresh interpreter, from bytecode that its first turn has written.

    A package may be installed without bytecode where none may be written: each import would
    compile all of its sources.
    """

    def run() -> None:
        folder = {"PYTHONPYCACHEPREFIX": bytecode().name, "PYTHONDONTWRITEBYTECODE": ""}
        run_apart(f"import {module}", folder)

    return run


COMPILE = """
import numba, numpy as np
for n in range(20):
    code = f'''
def kernel(a, b):
    total = {n}.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += np.exp(a[i, j]) * b[j]
            b[j] += total
    return total
'''
    space = {"np": np}
    exec(code, space)
    numba.njit(space["kernel"])(np.ones((3, 3)), np.ones(3))
"""


def first_use() -> None:
    """Fit forty items in a process whose caches are empty."""
    with tempfile.TemporaryDirectory() as folder:
        code = (
            "import assay; r = assay.simulate('single', classes=['no', 'yes'], n_items=40, "
            "n_raters=5, rng=1); assay.fit(r, draws=50, tune=50, chains=1, progress=False)"
        )
        run_apart(code, {"XDG_CACHE_HOME": folder, "NUMBA_CACHE_DIR": folder, "HOME": folder})


def compile_reference() -> None:
    """Compile twenty small functions with Numba."""
    run_apart(COMPILE, {})


PEAK = "print(next(line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line))"
APART: list[float] = []
"""Peaks of memory of processes apart, in megabytes.

The system's own count of children begins with the memory of the process that started them.
"""


def run_apart(code: str, variables: dict[str, str]) -> None:
    """Run code in a process of its own, and note its peak of memory."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{code}\n{PEAK}"],
        check=True, stdout=subprocess.PIPE, text=True, env=os.environ | variables,
    )  # fmt: skip
    APART.append(int(done.stdout.split()[-1]) / 1e3)


@dataclass(frozen=True, kw_only=True)
class Step:
    """What is measured, and what it is held against.

    Attributes
    ----------
    what : str
        For the page.
    run, reference : callable
    against : str
        The reference, in words.
    times : int
        How often a process does the step after it has warmed up.
    needs : str
        A module that the reference needs, of the group ``bench``.
    short : bool
        Whether CI holds it.
    """

    what: str
    run: Callable[[], None]
    reference: Callable[[], None]
    against: str
    times: int = 3
    needs: str = ""
    short: bool = True


STEPS = {
    "import": Step(
        what="`import assay`", run=import_it("assay"), reference=import_it("pandas"),
        against="`import pandas`",
    ),
    "read": Step(
        what="read 200,000 ratings from CSV", run=read, reference=read_reference,
        against="pandas, cells as text",
    ),
    "check": Step(
        what="check 200,000 ratings", run=check, reference=read_reference,
        against="reading them with pandas",
    ),
    "em": Step(
        what="EM on 200,000 ratings", run=fit_em,
        reference=lambda: void(numpy_em(20_000, 200)), against="EM in NumPy",
    ),
    "em_crowdkit": Step(
        what="EM on 200,000 ratings", run=fit_em, reference=crowd_kit_em, against="crowd-kit",
        needs="crowdkit", short=False,
    ),
    "pass": Step(
        what="density and gradient, 8,000 ratings, 100 times", run=one_pass,
        reference=numpy_passes(100), against="100 passes of EM in NumPy", times=5,
    ),
    "laplace": Step(
        what="Laplace, the default model, 1,600 ratings of a retrieval study", run=laplace,
        reference=numpy_passes(1000), against="1,000 passes of EM in NumPy", times=2,
    ),
    "nuts": Step(
        what="NUTS, 164 raters, 8,000 ratings, 2 chains of 300 and 300", run=nuts,
        reference=numpy_passes(1000), against="1,000 passes of EM in NumPy", times=1,
    ),
    "nuts_numpyro": Step(
        what="NUTS, 164 raters, 8,000 ratings, 2 chains of 300 and 300", run=nuts,
        reference=numpyro_nuts, against="NumPyro, compiled before", times=1, needs="numpyro",
        short=False,
    ),
    "metrics": Step(
        what="metrics of 2,000 draws, both estimands", run=metrics,
        reference=numpy_passes(300), against="300 passes of EM in NumPy",
    ),
    "report": Step(
        what="report of the study", run=report, reference=numpy_passes(1000),
        against="1,000 passes of EM in NumPy", times=1, short=False,
    ),
    "first_use": Step(
        what="first fit on a machine: all is compiled", run=first_use,
        reference=compile_reference, against="Numba, 20 small functions", times=1, short=False,
    ),
}  # fmt: skip


# -- measuring -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Least CPU seconds of a step, and megabytes that it adds at its peak."""

    seconds: float
    megabytes: float


def cpu_seconds() -> float:
    """CPU time of this process, its threads, and the processes that it has waited for."""
    of = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in of)


def peak_megabytes() -> float:
    """Return the largest memory so far of this process or of one that it has waited for."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in whose) / 1e3


def resident_megabytes() -> float:
    """Return the memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure_here(name: str, side: str, times: int | None = None) -> Cost:
    """Do a side of a step, in this process; ``times`` other than the step says."""
    step = STEPS[name]
    run = step.run if side == "run" else step.reference
    before, seconds = resident_megabytes(), []
    cold = name == "first_use"
    APART.clear()
    for turn in range((times or step.times) + (not cold)):
        begin = cpu_seconds()
        run()
        if turn or cold:
            seconds.append(cpu_seconds() - begin)
    added = max(APART) if APART else peak_megabytes() - before
    return Cost(seconds=min(seconds), megabytes=max(0.0, added))


def measure_apart(side: str, times: Mapping[str, int | None]) -> dict[str, Cost]:
    """Do a side of steps, one after the other, in a process of its own.

    Each of its threads has one core. ``times`` has how often each step is done; None: as it says.
    """
    asked = [f"{name}={count or 0}" for name, count in times.items()]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--side", side, *asked],
        check=True, capture_output=True, text=True,
        env=os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    )  # fmt: skip
    told = json.loads(done.stdout.splitlines()[-1])
    return {name: Cost(**cost) for name, cost in told.items()}


def measure(name: str, turns: int = TURNS, times: int | None = None) -> dict[str, Any]:
    """Measure both sides of a step in turns: a line of the ledger.

    ``times`` is how often a turn does the step after it has warmed up, if not as the step says.
    """
    found: dict[str, list[Cost]] = {"run": [], "reference": []}
    for _ in range(turns):
        for side, costs in found.items():
            costs.append(measure_apart(side, {name: times})[name])
    ours, theirs = (min(cost.seconds for cost in costs) for costs in found.values())
    memory, their_memory = (min(cost.megabytes for cost in costs) for costs in found.values())
    return {
        "step": name, "seconds": round(ours, 3), "reference_seconds": round(theirs, 3),
        "ratio": round(ours / theirs, 3), "megabytes": round(memory, 1),
        "reference_megabytes": round(their_memory, 1),
    }  # fmt: skip


def measure_all(names: Sequence[str]) -> list[dict[str, Any]]:
    """Measure steps one after the other, and say so on standard error."""
    lines = []
    for name in names:
        step, begin = STEPS[name], time.perf_counter()
        if step.needs and find_spec(step.needs) is None:
            sys.stderr.write(f"{name}: left out, {step.needs} is not installed\n")
            continue
        lines.append(measure(name))
        took = time.perf_counter() - begin
        sys.stderr.write(f"{name}: {lines[-1]['ratio']} of {step.against} ({took:.0f} s)\n")
    return lines


def held() -> dict[str, dict[str, Any]]:
    """Return the lines that the ledger holds, by step."""
    with LEDGER.open(encoding="utf-8", newline="") as file:
        return {line["step"]: line for line in csv.DictReader(file)}


def committed() -> dict[str, float]:
    """Return the ratios that the ledger holds."""
    return {name: float(line["ratio"]) for name, line in held().items()}


def write(measured: Sequence[dict[str, Any]]) -> None:
    """Write lines into the ledger and into its table on the page; lines of other steps stay."""
    known = held() | {line["step"]: line for line in measured}
    lines = [known[name] for name in STEPS if name in known]
    with LEDGER.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    rows = ["| step | against | CPU seconds | ratio | megabytes added |", "|---|---|---|---|---|"]
    for line in lines:
        step = STEPS[line["step"]]
        rows.append(
            f"| {step.what} | {step.against} | {float(line['seconds']):.2f} | "
            f"{float(line['ratio']):.2f} | {float(line['megabytes']):.0f} |"
        )
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    page = "\n".join([head + BEGIN, "", *rows, "", END + rest.split(END)[1]])
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="what CI holds")
    parser.add_argument("--write", action="store_true", help="into ledger.csv and docs/speed.md")
    parser.add_argument("--side", choices=["run", "reference"], help=argparse.SUPPRESS)
    parser.add_argument("steps", nargs="*", help="all, if none is named")
    given = parser.parse_args()
    if given.side:
        asked = dict(one.split("=") for one in given.steps)
        costs = {n: vars(measure_here(n, given.side, int(times))) for n, times in asked.items()}
        sys.stdout.write(f"{json.dumps(costs)}\n")
        return
    lines = measure_all(given.steps or [n for n in STEPS if STEPS[n].short or not given.short])
    if given.write:
        write(lines)
    else:
        writer = csv.DictWriter(sys.stdout, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
