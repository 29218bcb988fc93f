"""What the demo shows: tables of its studies, the SIMULATED one beside the truth."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import xarray as xr
from rich.console import Console, Group
from rich.text import Text

from assay._util.words import interval, lines_of
from assay.checks import check
from assay.cli.studies import CHUNKS, METHODS, QUERIES, RATERS, RealStudy, SimulatedStudy, covered
from assay.data.ratings import Ratings
from assay.display import render
from assay.display.frames import least_certain
from assay.display.notes import ESTIMAND_WORDS, KIND_WORDS, convergence_words
from assay.display.rater_tables import class_tables
from assay.display.terminal import indented, make_table
from assay.evaluation.estimands import ESTIMANDS
from assay.io.datasets import SOURCE

UNCERTAIN = 6


def show_real(console: Console, study: RealStudy) -> None:
    """Print the part on real ratings."""
    console.print(Text("1. REAL RATINGS", "bold"))
    console.print(
        Text(
            f"{SOURCE}: 45 patients, fitness for anaesthesia from 1 (fit) to 4 (unfit), judged by "
            "five anaesthetists. The first judged each form three times; these replicates hang "
            "together: they share what is peculiar to rater and form. Copies of the table differ "
            "in one digit, of patient 7.\n"
        )
    )
    _show_check_and_fit(console, study.ratings, study.fit)
    for table in class_tables(study.reliability, study.ratings.task):
        _show(console, table)
    least = least_certain(study.labels, UNCERTAIN)
    _show(console, render.labels_table(least, len(study.labels), list(least["majority_vote"])))
    _show(console, render.metrics_table(study.prevalence))


def show_simulated(console: Console, study: SimulatedStudy) -> None:
    """Print the part on SIMULATED ratings."""
    console.print(Text("2. A SIMULATED STUDY, SO THAT THE TRUTH IS KNOWN", "bold"))
    console.print(
        Text(
            f"SIMULATED: two systems retrieve {CHUNKS} chunks for each of {QUERIES} queries; "
            f"{RATERS} raters, one of them poor, answer three questions about each chunk in an "
            "interface that blocks contradictions. A tenth of the chunks is rated three times, "
            "the rest once. The fit does not see the truth.\n"
        )
    )
    _show_check_and_fit(console, study.ratings, study.fit)
    _show(console, simulated_reliability_table(study.reliability))
    for estimand in ESTIMANDS:
        _show(console, simulated_metrics_table(study.metrics, estimand))
    console.print(Text("\n".join(["SIMULATED: how many intervals hold the truth", *tally(study)])))
    console.print()


def _show(console: Console, table: Group) -> None:
    console.print(table)
    console.print()


def _show_check_and_fit(console: Console, ratings: Ratings, tree: xr.DataTree) -> None:
    """Print the worst findings of the check and the convergence of the fit."""
    report = check(ratings)
    found = [str(f) for f in report.at_least("warning")] or ["nothing to warn about"]
    console.print(Text(f"Check: {report.summary}"), indented(found))
    console.print(Text("Convergence:"), indented(convergence_words(tree)))
    console.print()


def simulated_reliability_table(frame: pd.DataFrame) -> Group:
    """Return the table of raters beside the truth."""
    told = {
        (line["label"], line["rater"], line["true_class"]): (
            f"{line['truth']:.2f}",
            _told(line, line["truth"]),
        )
        for line in lines_of(frame)
    }
    rows: list[list[str]] = []
    for label in dict.fromkeys(frame["label"]):
        rows.append([label])
        for rater in dict.fromkeys(frame["rater"]):
            rows.append([f"  {rater}", *told[label, rater, "yes"], *told[label, rater, "no"]])
    return make_table(
        "SIMULATED: raters, posterior mean (95% interval)",
        ["label, rater", "TRUTH", "sensitivity", "TRUTH", "specificity"],
        rows,
        caption=f"Kind raw: {KIND_WORDS['raw']}. * the interval misses the TRUTH.",
    )


def simulated_metrics_table(table: pd.DataFrame, estimand: str) -> Group:
    """Return the table of metrics of one estimand beside the truth."""
    rows: list[list[str]] = []
    part = table[table.index.get_level_values("estimand") == estimand].droplevel("estimand")
    truths = part["truth", "value"]
    told = {method: _column(part, method) for method in METHODS}
    for n, (metric, system) in enumerate(part.index.to_list()):
        if [metric] not in rows:
            rows.append([metric])
        rows.append([f"  {system}", f"{truths.iloc[n]:.2f}", *(told[m][n] for m in METHODS)])
    return make_table(
        f"SIMULATED: metrics, estimand {estimand} ({ESTIMAND_WORDS[estimand]})",
        ["metric, system", "TRUTH", "posterior mean (95%)", "majority vote (95%)"],
        rows,
        caption="Reference: consensus of all raters; no fit sees the TRUTH. Majority vote with a "
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
    """Count the true values that lie in each method's interval, in sentences."""
    hits = covered(study.metrics)
    lines = []
    for estimand in ESTIMANDS:
        part = hits.loc[estimand]
        counts = ", ".join(f"{m} {int(part[m].sum())} of {len(part)}" for m in METHODS)
        lines.append(f"  {estimand} ({ESTIMAND_WORDS[estimand]}): {counts}")
    return lines


def demo_data(real: RealStudy, simulated: SimulatedStudy) -> dict[str, Any]:
    """Return what the demo found, ready for JSON."""
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
