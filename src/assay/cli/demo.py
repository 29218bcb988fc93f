"""The demo: the whole analysis on real ratings and on a SIMULATED study with known truth."""

import json
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.console import Console
from rich.text import Text

from assay._util.errors import FitWarning
from assay._util.files import able_to, require_place
from assay._util.progress import waiting
from assay._util.text import interval, lines_of
from assay._util.typing import Floats
from assay.checks import check
from assay.cli.arguments import in_options
from assay.cli.side_process import load
from assay.data.majority_vote import majority_labels
from assay.data.ratings import Ratings
from assay.display.frames import labels_frame, reliability_frame
from assay.display.notes import ESTIMAND_WORDS, convergence_words, draws_worth
from assay.display.result_tables import metrics_table
from assay.display.table import Table, make_table
from assay.evaluation import majority_metrics, metrics, metrics_of_labels
from assay.evaluation.estimands import ESTIMANDS
from assay.evaluation.titles import metric_titles, titles_with_names
from assay.fits.latent_states import sample_states
from assay.fits.simulate import simulate
from assay.fits.storage import save
from assay.fits.summary import summarize
from assay.inference.fit import fit
from assay.inference.settings import SamplerSettings
from assay.io.examples.anesthesia import SOURCE, anesthesia_ratings
from assay.likelihood.c_functions import c_functions, density_address
from assay.modelling.spec import make_spec, raters_for
from assay.modelling.structure import build_structure

QUERIES, CHUNKS, SYSTEMS, RATERS = 30, 5, 2, 6
POPULATION_QUERIES = 2000
METHODS = ("posterior", "majority vote")
# Probability of a correct answer: relevant no, yes; sufficient no, yes; misleading no, yes.
# Five careful raters are slightly lenient and miss a third of misleading chunks; the last is poor.
ACCURACY = np.array(
    [
        [0.82, 0.94, 0.86, 0.90, 0.95, 0.70],
        [0.78, 0.95, 0.84, 0.92, 0.93, 0.72],
        [0.85, 0.93, 0.88, 0.88, 0.96, 0.66],
        [0.80, 0.92, 0.85, 0.90, 0.94, 0.70],
        [0.76, 0.96, 0.82, 0.93, 0.95, 0.62],
        [0.55, 0.85, 0.65, 0.80, 0.88, 0.45],
    ]
)
# On the logit scale, in the order of the labels: about two thirds of the chunks are relevant, a
# quarter sufficient, an eighth misleading; the second system and the first ranks are better, and
# queries differ with an SD of 1, for the two systems with a correlation of 0.7.
VALUES: dict[str, Floats] = {
    "main": np.array([0.6, -0.8, -1.6]),
    "interaction_sd": np.array(1.0),
    "interaction_offset": np.array([-0.5]),
    "system_sd": np.array(1.0),
    "system_offset": np.array([[-0.4, -0.3, 0.3], [0.4, 0.3, -0.3]]),
    "rank_sd": np.array(1.0),
    "rank_offset": np.outer(np.linspace(0.6, -0.6, CHUNKS), [1.0, 1.0, -0.3]),
    "cluster_loading": np.array([1.0, 1.0, -0.5]),
    "system_correlation": np.array(0.7),
    "accuracy": ACCURACY,
}


EFFORT = SamplerSettings(draws=400, tune=200, chains=4, target_accept=0.85)
QUICK = replace(EFFORT, draws=100)


@dataclass(frozen=True, kw_only=True, eq=False)
class RealStudy:
    """Real ratings, their fit, and tables of results."""

    ratings: Ratings
    fit: xr.DataTree
    prevalence: Mapping[str, pd.DataFrame]
    reliability: pd.DataFrame
    labels: pd.DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedStudy:
    """SIMULATED ratings, their fit, and results beside the truth.

    metrics : by estimand, metric and system; columns (``truth``, ``posterior`` and ``majority
        vote`` by ``value``, ``mean``, ``lower``, ``upper``)
    titles : what tables call each metric
    """

    ratings: Ratings
    fit: xr.DataTree
    reliability: pd.DataFrame
    metrics: pd.DataFrame
    titles: Mapping[str, str]


def real_study(effort: SamplerSettings, *, seed: int = 1, progress: bool = False) -> RealStudy:
    """Fit the ratings of Dawid & Skene (1979)."""
    ratings = anesthesia_ratings()
    tree = _fit(ratings, effort, seed, progress)
    names = np.array([*ratings.task.labels[0].classes, "tie"])
    told = labels_frame(tree)
    return RealStudy(
        ratings=ratings,
        fit=tree,
        prevalence={e: summarize(metrics(tree, estimand=e)) for e in ESTIMANDS},
        reliability=reliability_frame(tree),
        labels=told.assign(majority_vote=names[majority_labels(ratings)[:, 0]]),
    )


def simulated_ratings(seed: int = 1, *, queries: int = QUERIES) -> Ratings:
    """Simulate a retrieval study: a third of the chunks rated three times, the others once."""
    items = queries * CHUNKS * SYSTEMS
    often = np.arange(items) % 3 == 0
    # Items are sorted by cluster, system and rank: without a permutation, all would have one rank.
    often = np.random.default_rng(seed).permutation(often)
    return simulate(
        "retrieval",
        raters="class_conditional",
        values=VALUES,
        n_items=items,
        n_raters=RATERS,
        ratings_per_item=[3 if again else 1 for again in often],
        n_systems=SYSTEMS,
        n_clusters=queries,
        rng=seed,
    )


def simulated_fit(effort: SamplerSettings, *, seed: int = 1) -> xr.DataTree:
    """Fit the SIMULATED study; the seed is of both."""
    return _fit(simulated_ratings(seed), effort, seed, progress=False)


def simulated_study(tree: xr.DataTree, *, seed: int = 1) -> SimulatedStudy:
    """Compare the fit of the SIMULATED study of this seed with the truth."""
    ratings = simulated_ratings(seed)
    return SimulatedStudy(
        ratings=ratings,
        fit=tree,
        reliability=_with_truth(reliability_frame(tree, "raw"), ratings),
        metrics=_metrics_with_truth(ratings, tree),
        titles=metric_titles(metrics(tree, estimand="finite")),
    )


def _fit(ratings: Ratings, effort: SamplerSettings, seed: int, progress: bool) -> xr.DataTree:
    with warnings.catch_warnings():
        # The report repeats the warnings.
        warnings.simplefilter("ignore", FitWarning)
        return fit(
            ratings, draws=effort.draws, tune=effort.tune, chains=effort.chains, rng=seed,
            target_accept=effort.target_accept, progress=progress,
        )  # fmt: skip


def _with_truth(reliability: pd.DataFrame, ratings: Ratings) -> pd.DataFrame:
    """Return the rows of correct answers, with the simulated accuracy."""
    right = reliability[reliability["true_class"] == reliability["reported_class"]]
    raters, labels = list(ratings.raters.index), ratings.task.label_names
    row = [raters.index(name) for name in right["rater"]]
    column = [
        2 * labels.index(label) + (true == "yes")
        for label, true in zip(right["label"], right["true_class"], strict=True)
    ]
    return right.assign(truth=ACCURACY[row, column])


def _metrics_with_truth(ratings: Ratings, tree: xr.DataTree) -> pd.DataFrame:
    """Return metrics of both estimands: truth, posterior, majority vote."""
    many = simulated_ratings(10_000, queries=POPULATION_QUERIES)
    truths = {"finite": _truth(ratings), "population": _truth(many)}
    key = ["metric", "system"]
    vote = majority_metrics(ratings).set_index(key)[["value", "lower", "upper"]]
    vote.columns = pd.Index(["mean", "lower", "upper"])
    parts = {}
    for estimand in ESTIMANDS:
        told = summarize(metrics(tree, estimand=estimand)).set_index(key)
        posterior = told[["mean", "lower", "upper"]]
        parts[estimand] = pd.concat(
            {"truth": truths[estimand], "posterior": posterior, "majority vote": vote}, axis=1
        )
    return pd.concat(parts, names=["estimand"])


def _truth(ratings: Ratings) -> pd.DataFrame:
    assert ratings.simulated is not None
    known = metrics_of_labels(ratings.simulated.truth, ratings)
    return known.set_index(["metric", "system"])[["value"]]


def covered(table: pd.DataFrame) -> pd.DataFrame:
    """Return whether each method's interval contains the truth."""
    truth = table["truth", "value"]
    return pd.DataFrame(
        {m: (table[m, "lower"] <= truth) & (truth <= table[m, "upper"]) for m in METHODS}
    )


SHOWN = ("topical_precision_at_k", "misleading_context_rate_at_k", "ndcg_at_k")
"""Metrics of the SIMULATED study that are printed; the report and the JSON have all."""


def show_real(console: Console, study: RealStudy) -> None:
    """Print the part on real ratings."""
    console.print(Text("1. REAL RATINGS", "bold"))
    console.print(
        Text(
            "Five anaesthetists judged 45 patients from 1 (fit) to 4 (unfit); the first of them "
            "judged each form three times. These replicates are correlated, because they have the "
            f"rater and the form in common. {SOURCE}."
        )
    )
    _show_check_and_fit(console, study.ratings, study.fit)
    titles = titles_with_names(metrics(study.fit))
    _show(console, metrics_table(study.prevalence, titles, draws=draws_worth(study.fit)))


def show_simulated(console: Console, study: SimulatedStudy) -> None:
    """Print the part on SIMULATED ratings."""
    console.print(Text("2. A SIMULATED STUDY, SO THAT THE TRUTH IS KNOWN", "bold"))
    console.print(
        Text(
            f"SIMULATED: two systems retrieve {CHUNKS} chunks for each of {QUERIES} queries. "
            f"{RATERS} raters, one of them poor, answer three questions about each chunk. The "
            "interface blocks contradictions. A third of the chunks have three ratings, the others "
            "one. The fit does not use the truth."
        )
    )
    _show_check_and_fit(console, study.ratings, study.fit)
    _show(console, simulated_metrics_table(study, "population", SHOWN))
    count = study.metrics.index.get_level_values("metric").nunique()
    head = f"SIMULATED: how many intervals of {count} metrics and {SYSTEMS} systems hold the truth"
    console.print(Text("\n".join([head, *tally(study)])))
    console.print()


def _show(console: Console, table: Table) -> None:
    console.print(table)
    console.print()


def _show_check_and_fit(console: Console, ratings: Ratings, tree: xr.DataTree) -> None:
    """Print the codes of what the check warns of, and the convergence of the fit."""
    report = check(ratings)
    codes = ", ".join(dict.fromkeys(f.code for f in report.at_least("warning")))
    console.print(Text(f"Check: {report.summary}; warnings: {codes or 'none'}"))
    fitted, *doubts = convergence_words(tree)
    console.print(Text("\n".join([f"Fit: {fitted}", *doubts])))
    console.print()


def simulated_metrics_table(
    study: SimulatedStudy, estimand: str, shown: Sequence[str] = ()
) -> Table:
    """Return the table of metrics of one estimand beside the truth, or of those ``shown``."""
    rows: list[list[str]] = []
    table = study.metrics
    part = table[table.index.get_level_values("estimand") == estimand].droplevel("estimand")
    part = part[part.index.isin(shown or study.titles, level="metric")]
    truths = part["truth", "value"]
    told = {method: _column(part, method) for method in METHODS}
    for n, (metric, system) in enumerate(part.index.to_list()):
        if [head := study.titles[metric]] not in rows:
            rows.append([head])
        rows.append([system, f"{truths.iloc[n]:.2f}", *(told[m][n] for m in METHODS)])
    return make_table(
        f"SIMULATED: metrics, estimand {estimand} ({ESTIMAND_WORDS[estimand]})",
        ["System", "TRUTH", "Posterior mean (95%)", "Majority vote (95%)"],
        rows,
        note="Reference: consensus of all raters; no fit uses the TRUTH. Majority vote with a "
        "cluster bootstrap. * the interval misses the TRUTH.",
    )


def _column(part: pd.DataFrame, method: str) -> list[str]:
    """Write the estimates of one method."""
    lines = pd.DataFrame({k: part[method, k] for k in ("mean", "lower", "upper")})
    truths = part["truth", "value"]
    return [_told(line, t) for line, t in zip(lines_of(lines), truths, strict=True)]


def _told(line: Mapping[str, Any], truth: float) -> str:
    """Write an estimate, with a star if its interval misses the truth."""
    star = "" if line["lower"] <= truth <= line["upper"] else "*"
    return interval(line["mean"], line["lower"], line["upper"], 2) + star


def tally(study: SimulatedStudy) -> list[str]:
    """Count, in sentences, the true values within each method's interval."""
    hits = covered(study.metrics)
    lines = []
    for estimand in ESTIMANDS:
        part = hits.loc[estimand]
        counts = ", ".join(f"{m} {int(part[m].sum())} of {len(part)}" for m in METHODS)
        lines.append(f"  {estimand} ({ESTIMAND_WORDS[estimand]}): {counts}")
    return lines


def demo_data(real: RealStudy, simulated: SimulatedStudy) -> dict[str, Any]:
    """Return the results of the demo for JSON."""
    flat = simulated.metrics.copy()
    flat.columns = pd.Index([" ".join(pair) for pair in flat.columns])
    return {
        "real": {
            "source": SOURCE,
            "convergence": convergence_words(real.fit),
            "prevalence": _records(pd.concat(real.prevalence.values())),
            "raters": _records(real.reliability),
            "labels": _records(real.labels),
        },
        "SIMULATED": {
            "convergence": convergence_words(simulated.fit),
            "raters": _records(simulated.reliability),
            "metrics": _records(flat.reset_index()),
        },
    }


def _records(frame: pd.DataFrame) -> Any:
    return json.loads(frame.to_json(orient="records", double_precision=15))


FILES = {"real": "demo_anesthesia.nc", "simulated": "demo_SIMULATED.nc"}
REPORTS = {"real": "assay-demo-report.html", "simulated": "assay-demo-report-SIMULATED.html"}
NOTICES = {
    "real": "",
    "simulated": "SIMULATED: these ratings were drawn from a model. They show what a comparison of "
    "two systems looks like, but have no information on any real system.",
}
TITLES = {
    "real": "Fitness for anaesthesia, judged by five anaesthetists",
    "simulated": "SIMULATED: two retrieval systems, judged by six raters",
}
CLAIMS = {"real": (), "simulated": ("system_2 > system_1 on ndcg_at_k",)}


def run_demo(
    console: Console,
    other: Executor,
    *,
    seed: int = 1,
    quick: bool = False,
    keep: Path | None = None,
    report: bool = True,
    progress: bool = True,
    as_json: bool = False,
) -> None:
    """Run both parts of the demo and show each when it is ready. ``other`` is a second process,
    ``quick`` takes few draws, and ``keep`` is a folder for the fits and the reports.
    """
    if keep is not None:
        with able_to(f"make the folder {keep}"):
            keep.mkdir(parents=True, exist_ok=True)
    if report:
        for name in REPORTS.values():
            require_place((keep or Path()) / name, example=name)
    effort = QUICK if quick else EFFORT
    folder = (keep or Path()) if report else None
    # After an installation, each process compiles half of the machine code.
    other.submit(prepare_simulated)
    density_address(plain=True)
    compile_states(seed)
    fitting = other.submit(simulated_fit, effort, seed=seed)
    real = real_study(effort, seed=seed, progress=progress)
    if not as_json:
        show_real(console, real)
    with waiting("fitting the SIMULATED study", show=progress):
        tree = fitting.result()
    # The longer report is written beside all that is left.
    writing = None if folder is None else other.submit(_report, "simulated", tree, folder, seed)
    simulated = simulated_study(tree, seed=seed)
    if not as_json:
        show_simulated(console, simulated)
    if keep is not None:
        save(real.fit, keep / FILES["real"])
        save(tree, keep / FILES["simulated"])
    if folder is not None:
        _report("real", real.fit, folder, seed)
    if writing is not None:
        with waiting("writing the reports", show=progress):
            writing.result()
    if as_json:
        console.file.write(json.dumps(demo_data(real, simulated)) + "\n")
    else:
        console.print(Text(_next_steps(keep, folder)))


def prepare_simulated() -> None:
    """Compile the density of the SIMULATED study, and load what its fit and report need."""
    density_address(plain=False)
    c_functions()
    load("nutpie", "assay.reporting.writing")


def compile_states(seed: int) -> None:
    """Compile what draws states, for both studies."""
    ratings = simulated_ratings(seed)
    raters = raters_for(ratings.task, None, ratings.raters["group"].unique())
    structure = build_structure(ratings, make_spec(raters))
    rng = np.random.default_rng(seed)
    values = {name: value[None] for name, value in structure.draw(rng).items()}  # from the prior
    sample_states(structure, values, rng)


def _report(name: str, tree: xr.DataTree, folder: Path, seed: int) -> None:
    """Write the report of one part, without its slowest sections."""
    from assay.reporting.material import Material
    from assay.reporting.writing import write_page

    material = Material(
        fit=tree, claims=CLAIMS[name], budget=False, command=f"assay demo --seed {seed}"
    )
    path = folder / REPORTS[name]
    write_page(material, path, title=TITLES[name], notice=NOTICES[name], say=in_options)


def _next_steps(keep: Path | None, reports: Path | None) -> str:
    lines = [
        "Next, with ratings of your own (a CSV with a row for each rating):",
        "  assay check ratings.csv    # what was read; or the options that read it",
        "  assay run ratings.csv      # check, fit, report",
    ]
    if keep is None:
        lines.append("assay demo --keep FOLDER saves the two fits of this demo.")
    else:
        lines.append(f"The fits of this demo: {', '.join(FILES.values())} in {keep}.")
    if reports is not None:
        lines += [
            "Its reports, with the raters, the items and all metrics, for a browser:",
            *(f"  {reports / n}" for n in REPORTS.values()),
        ]
    return "\n".join(lines)
