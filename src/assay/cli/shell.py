"""How a command speaks and how it ends: errors in words, interrupts."""

import functools
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from assay._util.errors import ArgumentError, AssayError, RatingsError, as_code, going_on
from assay._util.plain_text import in_message
from assay._util.progress import interruptible, waiting
from assay.cli.arguments import in_options, is_option, values_of

if TYPE_CHECKING:
    import xarray as xr

    from assay.data.ratings import Accounting

WRONG_USAGE, INTERRUPTED = 2, 130
TYPED: ContextVar[Sequence[str]] = ContextVar("typed", default=("...",))
TYPED_SOURCE: ContextVar[str] = ContextVar("typed_source", default="")
"""The words that were typed after the program's name."""
SHOWN_NOTES = 5
DOUBTED, NOT_SUPPORTED = 1, 3


def say(text: str) -> None:
    """Say something on standard error."""
    typer.echo(in_message(text), err=True)


def tell(text: str) -> None:
    """Say something on standard output that is no table and no JSON."""
    typer.echo(in_message(text))


def warn(note: str) -> None:
    """Say a warning on standard error, in the words of the command line; its code ends it."""
    say(with_code(f"warning: {in_options(note)}", getattr(note, "code", "")))


def with_code(text: str, code: str) -> str:
    """End a text with its code, unless it does so already.

    Examples
    --------
    >>> with_code("error: no such rater", "unknown-rater")
    'error: no such rater [unknown-rater]'
    """
    end = f"[{code}]"
    return f"{text} {end}" if code and not text.endswith(end) else text


def say_notes(read: "Accounting") -> None:
    """Say how many rows were set aside, and what the reader of a file decided by itself."""
    from assay._util.text import counted

    aside = read.rows_read - read.rows_used
    notes = [f"{aside} of {counted(read.rows_read, 'row')} set aside"] * bool(aside)
    notes += map(in_options, read.notes)
    for note in notes[:SHOWN_NOTES]:
        say(f"note: {note}")
    if len(notes) > SHOWN_NOTES:
        say(f"note: {len(notes) - SHOWN_NOTES} more; assay check has all of them")


def this_command() -> str:
    """Return the command as it was typed, for whoever wants to repeat it.

    Bytes of a file name that are no text are written as escapes: a fit could not hold them.
    """
    typed = shlex.join(["assay", *sys.argv[1:]])
    return typed.encode("utf-8", "backslashreplace").decode()


def fail(text: str, status: int = 1) -> NoReturn:
    """Say what is wrong, with the data or the fit if nothing else is said, and end."""
    say(f"error: {text}")
    raise typer.Exit(status)


def open_fit(path: Path) -> "xr.DataTree":
    """Load a fit, and say what is to be said against its intervals.

    Whoever reads a table of numbers need not have seen what the fit said of itself.
    """
    from assay import load

    with waiting(f"reading {path.name}", show=True):
        tree = load(path)
    say_doubts(tree)
    return tree


def say_doubts(tree: "xr.DataTree") -> None:
    """Say what is wrong with a fit, and that intervals of a mode alone leave something out."""
    from assay.display.notes import convergence_words, doubts
    from assay.inference.settings import MODES_ALONE

    mode_alone = convergence_words(tree)[:1] if tree.attrs["method"] in MODES_ALONE else []
    for note in [*mode_alone, *doubts(tree)]:
        warn(note)


def end_with(tree: "xr.DataTree | None", *, strict: bool) -> None:
    """End with status 1, if that is asked for, where a fit is not to be trusted as it is.

    Every command that makes or reads a fit ends so, after its results are out and its warnings
    are said.
    """
    from assay.display.notes import doubts

    if strict and tree is not None and doubts(tree):
        raise typer.Exit(DOUBTED)


def show(*parts: Any) -> None:
    """Print tables and words on standard output."""
    from assay.display.terminal import make_console, print_parts

    if parts:
        print_parts(make_console(), parts)


def _refusal(error: AssayError) -> str:
    """Say what is wrong; the command that goes on stands on the last line.

    Where the file itself has to be mended first, as the text says, it is the same command.
    """
    said = str(error).removesuffix(going_on(error.go_on))
    own = isinstance(error, RatingsError)  # its problems end with their codes
    text = in_options(said) if own else with_code(in_options(said), error.code)
    if not own:
        return f"{text}\nGo on with: {_going_on(error.go_on)}" if error.go_on else text
    before = "Go on with: " if error.go_on or error.first else "After that: "
    first = f"{error.first} && " if error.first else ""
    return f"{text}\n{before}{first}{_going_on(error.go_on)}"


def _going_on(arguments: Mapping[str, Any]) -> str:
    """Return the command as it was typed, with some arguments in the place of their options."""
    given = {name: value for name, value in arguments.items() if value is not None}
    source = given.pop("source", None)
    more = [name for name in given if name == "classes"]  # words are said beside others
    gone = {in_options(f"`{name}=`") for name in arguments if name not in more}
    kept = without_options(TYPED.get(), gone)
    if source is not None:
        typed = Path(TYPED_SOURCE.get())
        kept = [str(source) if Path(word) == typed else word for word in kept]
    options = f" {in_options(as_code(given))}" if given else ""
    return f"{shlex.join(['assay', *kept])}{options}"


def without_options(words: Sequence[str], names: Collection[str]) -> list[str]:
    """Leave options out of a command, with their values.

    Examples
    --------
    >>> without_options(["check", "--item", "x", "a.csv", "--json"], {"--item"})
    ['check', 'a.csv', '--json']
    """
    kept: list[str] = []
    values = 0.0
    for word in words:
        name, equals, _ = word.partition("=")
        if is_option(word):
            values = 0 if equals or name not in names else values_of(name)
            dropped = name in names
        else:
            dropped = values > 0
            values -= dropped
        if not dropped:
            kept.append(word)
    return kept


def in_words[**P](command: Callable[P, None]) -> Callable[P, None]:
    """Turn what can go wrong with a user's input into words on standard error."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with interruptible():
                command(*args, **kwargs)
        except ArgumentError as error:
            fail(with_code(in_options(str(error)), error.code), WRONG_USAGE)
        except AssayError as error:
            fail(_refusal(error))
        except KeyboardInterrupt as error:
            say(f"interrupted{f': {error}' if str(error) else ''}")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of our output has gone: typer ends without a word
        except OSError as error:
            fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        except MemoryError:
            fail("not enough memory; take fewer draws or chains")

    return run
