"""The program: its options before a command, how a command joins it, and how it starts."""

import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from assay.cli.shell import in_words
from assay.cli.spreading import spread

app = typer.Typer(
    name="assay",
    help="What is true of items that several raters judged, how reliable each rater is, and what "
    "that means for metrics, with honest uncertainty.",
    epilog="Start with: assay demo. Exit status: 0 done, 1 no result (or, with --strict, a "
    "warning), 2 wrong usage, 3 a claim is contradicted or undecided.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command, with an example below its help; a decorator."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        return app.command(epilog=f"Example: assay {example}")(in_words(spread(function)))

    return add


def _version(asked: bool) -> None:
    if asked:
        from assay import __version__

        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def assay(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that goes away (`| head`) ends the program without a word, as elsewhere.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        _forgive(stream)
    app()


def _forgive(stream: Any) -> None:
    """Let names that the terminal cannot show be shown as escapes."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
