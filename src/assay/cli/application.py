"""The application that commands are added to: what the whole command line says of itself."""

import typer

app = typer.Typer(
    name="assay",
    help="Estimate the truth of items that several raters judged, the reliability of each rater, "
    "and metrics, with their uncertainty.",
    epilog="Start with: assay demo. Exit status: 0 done, 1 no result (or, with --strict, a "
    "warning), 2 wrong usage, 3 a claim is contradicted or undecided.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
