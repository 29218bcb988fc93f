"""The program: how a command joins it, how its options are made, and how it starts."""

import inspect
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from assay.cli.arguments import SEVERAL, is_option
from assay.cli.shell import TYPED, TYPED_SOURCE, in_words


class Command(TyperCommand):
    """A command some of whose options take several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values; keep what was typed."""
        above = [] if ctx.parent is None or ctx.parent.parent is None else [ctx.parent.info_name]
        TYPED.set([*map(str, above), str(ctx.info_name), *args])
        rest = super().parse_args(ctx, repeated(args))
        TYPED_SOURCE.set(str(ctx.params.get("source", "")))
        return rest


def repeated(words: Sequence[str]) -> list[str]:
    """Write an option of several values once for each of them.

    The name of a file may stand last.

    Examples
    --------
    >>> repeated(["a.csv", "--wide", "Ann", "Bob", "--task", "single"])
    ['a.csv', '--wide', 'Ann', '--wide', 'Bob', '--task', 'single']
    """
    written: list[str] = []
    option, values = "", 0
    for n, word in enumerate(words):
        if is_option(word):
            option, values = word, 0
        elif option in SEVERAL:
            if n == len(words) - 1 and values and Path(word).is_file() and not _has_source(words):
                return [word, *written]
            written += [option] * bool(values)
            values += 1
        written.append(word)
    return written


def _has_source(words: Sequence[str]) -> bool:
    """Whether the file stands first, where commands have it."""
    return bool(words) and not is_option(words[0])


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its option values as options of its own.

    A parameter whose annotation is a dataclass stands for the fields of that dataclass.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        own = parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
        parameters += _field_parameters(groups[name]) if name in groups else [own]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _field_parameters(group: Any) -> list[Parameter]:
    """Return the fields of a dataclass as keyword parameters."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(group)
    ]


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


def command(
    example: str, *, of: typer.Typer | None = None, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command, with an example below its help; a decorator.

    A command ``of`` a group stands behind the group's name, and may have another ``name`` than
    its function.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:
        make = (of or app).command(cls=Command, name=name, epilog=f"Example: assay {example}")
        return make(in_words(spread(function)))

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
