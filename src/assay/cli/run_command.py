"""The command that checks, fits and reports in one go."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.errors import FitError
from assay._util.files import able_to
from assay._util.progress import waiting
from assay.cli.arguments import in_options
from assay.cli.fitting_options import Fitting
from assay.cli.options import (
    Baseline,
    Json,
    Level,
    Metrics,
    Quiet,
    Sources,
    Strict,
    name_of,
    stem_of,
)
from assay.cli.program import command
from assay.cli.reading_options import Reading
from assay.cli.shell import end_with, say, say_notes, show, tell, this_command, warn
from assay.cli.tables import records_of

if TYPE_CHECKING:
    from assay.reporting.whole_run import Run


@command("run ratings.csv")
def run(
    sources: Sources,
    fitting: Fitting,
    reading: Reading,
    task: Annotated[
        str | None,
        typer.Option("--task", help="Name of a task, or a .toml file. Default: one label."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results. Default: FILE-results here."),
    ] = None,
    metric: Metrics = None,
    baseline: Baseline = None,
    report: Annotated[bool, typer.Option(help="Write the report.")] = True,
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Check ratings, fit a model, print the main results and write a report."""
    import assay

    fitting.checked()
    with _folder(output, sources) as folder:
        with waiting(f"reading {name_of(sources)}", show=not quiet, stage=True):
            ratings = reading.read(sources, task, fitting.covariates())
        say_notes(ratings.accounting)
        with fitting.asked() as arguments:
            found = assay.run(
                ratings, metric=metric or None, baseline=baseline, level=level, progress=not quiet,
                **arguments,
            )  # fmt: skip
        found.fit.attrs["command"] = this_command()
        files = _write(found, folder, report=report, quiet=quiet)
    if as_json:
        typer.echo(_run_json(found, files))
    else:
        _show(found)
        tell(f"wrote {', '.join(files)} in {folder}")
        if report:
            tell(
                f"for the meaning and the limits of these results, open {files['report.html']} in "
                "a browser"
            )
    for text in found.warnings:
        warn(text)
    end_with(found.fit, strict=strict)


FILES = (".html", ".nc", ".csv", ".json", ".xlsx", ".parquet")
"""Suffixes that a folder of results does not have."""


@contextmanager
def _folder(output: Path | None, sources: list[Path]) -> Iterator[Path]:
    """Make the folder of results before any work is done; remove it if nothing came of that."""
    folder = output or Path(f"{stem_of(sources, 'ratings')}-results")
    if folder.suffix in FILES or (folder.exists() and not folder.is_dir()):
        raise FitError(
            f"{folder} is a file name, but `output=` must name a folder for the results, such as "
            f"`output={folder.stem}`",
            code="file-not-written",
        )
    new = not folder.exists()
    with able_to(f"write in {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if new and not any(folder.iterdir()):
            folder.rmdir()


def _write(found: "Run", folder: Path, *, report: bool, quiet: bool) -> dict[str, Path]:
    """Write the fit, the tables and the report; return their paths.

    No file of an earlier run stays beside this fit.
    """
    import assay
    from assay.reporting.material import Material
    from assay.reporting.whole_run import TABLES
    from assay.reporting.writing import write_page

    replaced = (folder / "fit.nc").exists()
    with waiting("writing the fit", show=not quiet, stage=not report):
        written = [assay.save(found.fit, folder / "fit.nc")]
    if replaced:
        say(f"note: the earlier run in {folder} is replaced")
        for name in ("report.html", *(f"{table}.csv" for table in TABLES)):
            (folder / name).unlink(missing_ok=True)
    with waiting("computing metrics", show=not quiet, unit="draws"):
        written += found.write_tables(folder)
    if report:
        with waiting("writing the report", show=not quiet, stage=True):
            material = Material(
                fit=found.view, level=found.level, command=this_command(), progress=not quiet,
                baseline=found.baseline,
            )  # fmt: skip
            write_page(material, folder / "report.html", say=in_options)
        written.append(folder / "report.html")
    return {path.name: path for path in written}


def _show(found: "Run") -> None:
    """Print the metrics, and the comparison of systems."""
    for table in found.tables():
        show(table, "")


def _run_json(found: "Run", files: dict[str, Path]) -> str:
    """Return files, tables and warnings of a run as JSON."""
    tables = {"metrics": found.metrics, "comparison": found.comparison}
    told = {"files": {name: str(path) for name, path in files.items()}}
    numbers = {name: json.loads(records_of(table)) for name, table in tables.items()}
    return json.dumps(told | numbers | {"warnings": found.warnings})
