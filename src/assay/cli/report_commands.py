"""Commands that write reports: report and demo."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay._util.files import FIT_SUFFIXES, require_place
from assay._util.progress import waiting
from assay.cli.arguments import in_options
from assay.cli.claims import Claims, claims_frame, end_with_claims, read_claims
from assay.cli.decision_commands import Pseudonyms
from assay.cli.fitting_options import Fitting
from assay.cli.options import (
    Baseline,
    Json,
    Level,
    MetricFiles,
    Quiet,
    Seed,
    Strict,
    register,
    say_unsuited,
)
from assay.cli.program import command
from assay.cli.reading_options import Reading
from assay.cli.shell import say, say_doubts, show, this_command
from assay.cli.tables import records_of

if TYPE_CHECKING:
    from assay.fits.view import Fit
    from assay.reporting.material import Material
    from assay.reporting.page import Page

NETCDF = b"\x89HDF"


@command('report fit.nc -o report.html --claim "B > A on ndcg_at_k"')
def report(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="A fit (.nc, .zarr), or ratings to read and fit."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
    fitting: Fitting,
    reading: Reading,
    task: Annotated[
        str | None, typer.Option("--task", help="Task of the ratings, by name or as a .toml file.")
    ] = None,
    claim: Claims = None,
    human: Annotated[
        list[str] | None,
        typer.Option(help="Rater or rater group of humans; repeat.", metavar="NAME"),
    ] = None,
    metric_file: MetricFiles = None,
    stability: Annotated[
        bool,
        typer.Option(help="Refit without each rater, and with other priors, rules and kernels."),
    ] = False,
    budget: Annotated[
        bool, typer.Option(help="Show the sources of uncertainty, and the gain from more data.")
    ] = True,
    baseline: Baseline = None,
    short: Annotated[
        bool, typer.Option("--short", help="Leave out the appendix: at most four printed pages.")
    ] = False,
    pseudonyms: Pseudonyms = None,
    tables: Annotated[
        Path | None, typer.Option(help="Folder for the tables behind the report.")
    ] = None,
    table_format: Annotated[
        Literal["csv", "tsv", "json", "jsonl", "parquet", "md", "tex", "xlsx"],
        typer.Option(help="Of those tables."),
    ] = "csv",
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
    strict: Strict = False,
) -> None:
    """Write a report of a fit as one HTML file. Exit status 3: a claim does not hold."""
    from assay.reporting.material import Material
    from assay.reporting.writing import export_tables, write_page

    own = register(metric_file)
    claims = read_claims(claim)
    require_place(output, example="report.html")
    fit = _fit_of(sources, task, fitting, reading, quiet)
    if pseudonyms is not None:
        from assay.reporting.pseudonyms import with_pseudonyms

        fit = with_pseudonyms(fit, pseudonyms)
    material = Material(
        fit=fit, claims=claims,
        human=tuple(human or ()), stability=stability, budget=budget, level=level,
        command=this_command(), progress=not quiet, baseline=baseline, short=short,
    )  # fmt: skip
    say_unsuited(own, material.view)
    page = write_page(material, output, say=in_options)
    say(f"wrote {output}")
    if tables is not None:
        say(f"wrote {len(export_tables(page, tables, table_format))} tables in {tables}")
    if as_json:
        typer.echo(_report_json(material, page, output))
    elif material.verdicts:
        show(*(result.sentence for result in material.verdicts))
    say_doubts(material.view)
    end_with_claims(material.view, material.verdicts, strict=strict)


def _report_json(material: "Material", page: "Page", output: Path) -> str:
    """Return file, findings, gaps, claims and warnings of a report as JSON."""
    from assay.inference.diagnostics import fit_warnings

    told = {
        "report": str(output),
        "findings": [finding.to_dict() for finding in page.findings],
        "gaps": [gap.to_dict() for gap in page.gaps],
        "claims": json.loads(records_of(claims_frame(material.verdicts))),
        "warnings": [note.to_dict() for note in fit_warnings(material.view)],
    }
    return json.dumps(told)


def _fit_of(
    sources: list[Path], task: str | None, fitting: Fitting, reading: Reading, quiet: bool
) -> "Fit":
    """Load a fit, or read ratings and fit them."""
    only = sources[0] if len(sources) == 1 else None
    if only is not None and (only.suffix in FIT_SUFFIXES or _starts_as_netcdf(only)):
        from assay import load

        with waiting(f"reading {only.name}", show=not quiet):
            return load(only)
    fitting.checked()
    return fitting.fit(sources, task, reading, progress=not quiet)


def _starts_as_netcdf(source: Path) -> bool:
    """Whether a file is a netCDF fit, whatever its name."""
    if not source.is_file():
        return False
    with source.open("rb") as file:
        return file.read(len(NETCDF)) == NETCDF


@command("demo --keep fits")
def demo(
    seed: Seed = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Few draws, for a first look.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="Save the two fits, and the reports, in this folder.")
    ] = None,
    report: Annotated[
        bool, typer.Option(help="Write a report of each part: assay-demo-report*.html.")
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Analyse real ratings, and a simulated study with known truth."""
    from assay.cli.side_process import load, side_process

    with side_process() as other:
        other.submit(load, "assay.cli.demo")  # while this process imports it too
        from assay.cli.demo import run_demo
        from assay.display.terminal import make_console

        run_demo(
            make_console(), other, seed=seed, quick=quick, keep=keep, report=report,
            progress=not quiet, as_json=as_json,
        )  # fmt: skip
