"""Commands that read ratings: check, agreement and fit."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.files import require_fit_place
from assay._util.progress import waiting
from assay.cli.arguments import in_options
from assay.cli.fitting_options import Fitting
from assay.cli.options import (
    Json,
    Level,
    MetricFiles,
    Quiet,
    Sources,
    Strict,
    Table,
    TaskName,
    register,
    require_task,
)
from assay.cli.program import command
from assay.cli.reading_options import Reading
from assay.cli.rescue import write_fit
from assay.cli.shell import INTERRUPTED, end_with, open_fit, say, show, tell, warn
from assay.cli.tables import deliver

if TYPE_CHECKING:
    import xarray as xr

    from assay.checks.findings import Check


@command("check ratings.csv --system model")
def check(
    sources: Sources,
    reading: Reading,
    task: TaskName = None,
    metric_files: MetricFiles = None,
    as_json: Json = False,
    strict: Strict = False,
) -> None:
    """Report what the ratings can and cannot answer, before fitting a model."""
    register(metric_files)
    ratings = reading.read(sources, task)
    from assay import check as check_ratings

    report = check_ratings(ratings)
    if as_json:
        typer.echo(report.to_json())
    else:
        from assay.display.terminal import check_parts

        show(*check_parts(_in_options(report)))
    if report.at_least("warning" if strict else "problem"):
        raise typer.Exit(1)


def _in_options(report: "Check") -> "Check":
    """Return the check with Python arguments rewritten as options."""
    findings = (replace(found, text=in_options(found.text)) for found in report.findings)
    tables = dict(report.tables)
    if "roles" in tables:
        evidence = tables["roles"]["evidence"].map(in_options)
        tables["roles"] = tables["roles"].assign(evidence=evidence)
    return replace(report, findings=tuple(findings), tables=tables)


@command("agreement ratings.csv --task retrieval --fit fit.nc")
def agreement(
    sources: Sources,
    reading: Reading,
    task: TaskName = None,
    fit_file: Annotated[
        Path | None,
        typer.Option(
            "--fit", help="A fit of these ratings, to compare with its expected agreement."
        ),
    ] = None,
    level: Level = 0.95,
    as_json: Json = False,
    output: Table = None,
    strict: Strict = False,
) -> None:
    """Report the agreement of raters, with the usual coefficients."""
    from assay.display.rater_tables import agreement_table
    from assay.raters.agreements import agreement as measure

    ratings = reading.read(sources, task)
    view = None if fit_file is None else open_fit(fit_file)
    found = measure(ratings, fit=view, level=level)

    extra = {"pairwise": found.pairwise, "intra_rater": found.intra_rater}
    deliver(
        "agreement", found.table, as_json, output, lambda: [agreement_table(found)], extra=extra
    )
    end_with(view, strict=strict)


@command("fit ratings.csv --task retrieval -o fit.nc")
def fit(
    sources: Sources,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .nc, or a .zarr folder.")
    ],
    fitting: Fitting,
    reading: Reading,
    task: TaskName = None,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Fit a model to ratings and write the fit to one file."""
    fitting.checked()
    require_fit_place(output)
    folder = sources[0] if len(sources) == 1 and sources[0].is_dir() else None
    if fitting.dask is not None and folder is not None and any(folder.glob("*.parquet")):
        tree = fitting.fit_dataset(folder, require_task(task), reading, output, progress=not quiet)
    else:
        tree = fitting.fit(sources, task, reading, progress=not quiet)
        with waiting(f"writing {output.name}", show=not quiet):
            write_fit(tree, output, fitting)
    _report_fit(tree, output, as_json, default=not fitting.raters)
    if fitting.interrupted(tree):
        raise typer.Exit(INTERRUPTED)
    end_with(tree, strict=strict)


def _report_fit(tree: "xr.DataTree", output: Path, as_json: bool, *, default: bool) -> None:
    """Print where the fit was written, its convergence, and its warnings.

    ``default`` says whether the data chose the raters' model.
    """
    from assay.display.notes import convergence_words, parts_from_data

    words, *notes = convergence_words(tree)
    if as_json:
        typer.echo(_fit_json(tree, output))
    else:
        tell(f"wrote {output}: {words}")
    if default and (added := parts_from_data(tree)):
        say(f"note: {added}")
    for note in notes:
        warn(note)


def _fit_json(tree: "xr.DataTree", output: Path) -> str:
    """Return file, settings, row counts, diagnostics and warnings of a fit as JSON."""
    about = {name: tree.attrs[name] for name in ("method", "seed", "reference")}
    read = json.loads(tree.attrs["accounting"])
    rows = {name: read[name] for name in ("rows_read", "rows_used", "notes")}
    told = {name: json.loads(tree.attrs[name]) for name in ("diagnostics", "warnings")}
    return json.dumps({"fit": str(output), **about, **rows, **told}, default=int)
