"""The program: how commands are registered, how options are made, and the entry point."""

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

from assay._util.typed_options import is_option
from assay.cli.application import app
from assay.cli.arguments import SEVERAL
from assay.cli.garbage import collect_rarely
from assay.cli.shell import TYPED, TYPED_SOURCES, in_words


class Command(TyperCommand):
    """A command with options that take several values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat such options before each value, and store the words as typed."""
        above = [] if ctx.parent is None or ctx.parent.parent is None else [ctx.parent.info_name]
        TYPED.set([*map(str, above), str(ctx.info_name), *args])
        rest = super().parse_args(ctx, repeated(args))
        _refuse_strays(list(map(str, ctx.params.get("sources") or ())), args, ctx)
        TYPED_SOURCES.set(tuple(map(str, ctx.params.get("sources") or ())))
        return rest


def repeated(words: Sequence[str]) -> list[str]:
    """Repeat an option of several values before each of them.

    ``--wide Ann Bob`` becomes ``--wide Ann --wide Bob``. The last word may be the name of the file.
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


def _refuse_strays(sources: Sequence[str], words: Sequence[str], ctx: Any) -> None:
    """Refuse a second word behind an option, unless it is one of several files."""
    after = [n for n, word in enumerate(words) if n > 1 and is_option(words[n - 2])]
    stray = [words[n] for n in after if words[n] in sources and not Path(words[n]).exists()]
    if len(sources) > 1 and stray:
        raise typer.BadParameter(
            f"{stray[0]} is no file. An option takes one value, so repeat it: --item A --item B",
            ctx, param_hint="FILE...",
        )  # fmt: skip


def _has_source(words: Sequence[str]) -> bool:
    """Whether the file comes first, its usual place."""
    return bool(words) and not is_option(words[0])


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by options for its fields."""
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


def command(
    example: str, *, of: typer.Typer | None = None, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a function as a command; ``example`` is shown below its help.

    The command belongs to the group ``of``, and is called as its function unless ``name`` is given.
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command line."""
    if hasattr(signal, "SIGPIPE"):
        # End silently when the reader of a pipe goes away (`| head`).
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        _forgive(stream)
    app()


def _forgive(stream: Any) -> None:
    """Show characters that the terminal lacks as escapes."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
