"""Commands that export labels for other tools, and methods for a paper."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay._util.files import draft, require_place
from assay.cli.options import FitFile, Json, Strict
from assay.cli.program import command
from assay.cli.shell import end_with, open_fit, say, show


@command("export fit.nc --to huggingface -o labels.jsonl")
def export(
    fit_file: FitFile,
    to: Annotated[
        Literal["huggingface", "cleanlab", "argilla", "qrels", "pragmata"],
        typer.Option(help="Tool that reads the file."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    label: Annotated[
        str | None, typer.Option(help="The label, if the file holds one only.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="Whose scores, for pragmata; all panels by default.")
    ] = None,
    strict: Strict = False,
) -> None:
    """Write labels or scores for Hugging Face, cleanlab, Argilla, trec_eval or pragmata."""
    import assay

    view = open_fit(fit_file)
    assay.export_labels(view, output, to=to, label=label, system=system)
    say(f"wrote {output}")
    end_with(view, strict=strict)


@command("methods fit.nc --bibtex references.bib")
def methods(
    fit_file: FitFile,
    bibtex: Annotated[
        Path | None, typer.Option(help="File for the references.", metavar="FILE.bib")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="The paragraph in LaTeX.")] = False,
    as_json: Json = False,
    strict: Strict = False,
) -> None:
    """Write the methods paragraph for a paper, with its references."""
    import json

    import assay

    view = open_fit(fit_file)
    found = assay.methods(view)
    if bibtex is not None:
        require_place(bibtex, example="references.bib")
        with draft(bibtex) as unfinished:
            unfinished.write_text(found.bibtex, encoding="utf-8")
        say(f"wrote {bibtex}: {len(found.references)} entries")
    if as_json:
        typer.echo(json.dumps({"paragraph": found.paragraph, "references": found.references}))
    else:
        show(found.latex if latex else str(found))
    end_with(view, strict=strict)
