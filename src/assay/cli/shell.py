"""Output of commands, errors in words, interrupts and exit status."""

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
from assay._util.typed_options import typed_options
from assay.cli.arguments import in_options, values_of

if TYPE_CHECKING:
    from assay.data.ratings import Accounting
    from assay.fits.view import Fit, FitView

WRONG_USAGE, INTERRUPTED = 2, 130
TYPED: ContextVar[Sequence[str]] = ContextVar("typed", default=("...",))
TYPED_SOURCES: ContextVar[Sequence[str]] = ContextVar("typed_sources", default=())
"""The words of the command as typed, and its files."""
SHOWN_NOTES = 5
DOUBTED, NOT_SUPPORTED = 1, 3


def say(text: str) -> None:
    """Print on standard error."""
    typer.echo(in_message(text), err=True)


def tell(text: str) -> None:
    """Print on standard output what is neither table nor JSON."""
    typer.echo(in_message(text))


def warn(note: str) -> None:
    """Print a warning on standard error, with options for arguments and its code at the end."""
    say(with_code(f"warning: {in_options(note)}", getattr(note, "code", "")))


def with_code(text: str, code: str) -> str:
    """Append the code to a text that does not end with it."""
    end = f"[{code}]"
    return f"{text} {end}" if code and not text.endswith(end) else text


def say_notes(read: "Accounting") -> None:
    """Print how many rows were set aside, and the first decisions of the reader."""
    from assay._util.text import counted

    aside = read.rows_read - read.rows_used
    notes = [f"{aside} of {counted(read.rows_read, 'row')} set aside"] * bool(aside)
    notes += map(in_options, read.notes)
    for note in notes[:SHOWN_NOTES]:
        say(f"note: {note}")
    if len(notes) > SHOWN_NOTES:
        say(f"note: {len(notes) - SHOWN_NOTES} more; assay check shows all of them")


def this_command() -> str:
    """Return the command as typed, to be repeated.

    Bytes that are no text become escapes, which a fit can store.
    """
    typed = shlex.join(["assay", *sys.argv[1:]])
    return typed.encode("utf-8", "backslashreplace").decode()


def fail(text: str, status: int = 1) -> NoReturn:
    """Print an error and exit."""
    say(f"error: {text}")
    raise typer.Exit(status)


def open_fit(path: Path) -> "FitView":
    """Load a fit and print its warnings."""
    from assay import load
    from assay.fits.view import FitView

    with waiting(f"reading {path.name}", show=True):
        view = FitView.of(load(path))
    say_doubts(view)
    return view


def say_doubts(fit: "Fit") -> None:
    """Warn of doubts about a fit, and of intervals of a mode alone."""
    from assay.display.notes import convergence_words, doubts
    from assay.inference.settings import MODES_ALONE

    mode_alone = convergence_words(fit)[:1] if fit.attrs["method"] in MODES_ALONE else []
    for note in [*mode_alone, *doubts(fit)]:
        warn(note)


def end_with(fit: "Fit | None", *, strict: bool) -> None:
    """Exit with status 1 if ``strict`` and there are doubts about the fit.

    Every command on a fit calls this last, after its results and warnings.
    """
    from assay.display.notes import doubts

    if strict and fit is not None and doubts(fit):
        raise typer.Exit(DOUBTED)


def show(*parts: Any) -> None:
    """Print tables and text on standard output."""
    from assay.display.terminal import make_console, print_parts

    if parts:
        print_parts(make_console(), parts)


def _refusal(error: AssayError) -> str:
    """Say what is wrong; the command that goes on stands on the last line, if it is another."""
    said = str(error).removesuffix(going_on(error.go_on))
    own = isinstance(error, RatingsError)  # each of its problems ends with its code
    text = in_options(said) if own else with_code(in_options(said), error.code)
    first = f"{error.first} && " if error.first else ""
    command = _going_on(error.go_on)
    another = sorted(shlex.split(command)[1:]) != sorted(TYPED.get())
    return f"{text}\nGo on with: {first}{command}" if first or another else text


def _going_on(arguments: Mapping[str, Any]) -> str:
    """Return the typed command with these arguments instead of the typed options."""
    given = {name: value for name, value in arguments.items() if value is not None}
    source = given.pop("source", None)
    more = [name for name in given if name == "classes"]  # words are added to those given
    gone = {in_options(f"`{name}=`") for name in arguments if name not in more}
    kept = without_options(TYPED.get(), gone)
    if "truth" in arguments and "truth" not in given:
        kept = _without_gold(kept)
    if source is not None:
        kept = _with_source(kept, str(source))
    options = f" {in_options(as_code(given))}" if given else ""
    return f"{shlex.join(['assay', *kept])}{options}"


def _without_gold(words: Sequence[str]) -> list[str]:
    """Remove the options of a fit that need the truth."""
    parts = typed_options(words, values_of)
    gold = ("--reference", "gold")
    return [
        word
        for name, part in parts
        if name != "--gold-chosen" and (name, part[-1].rpartition("=")[2]) != gold
        for word in part
    ]


def _with_source(words: Sequence[str], source: str) -> list[str]:
    """Write a file for those that were typed; of several, only for those that are not there."""
    typed = [Path(file) for file in TYPED_SOURCES.get()]
    absent = [file for file in typed if not file.exists()]
    wrong = absent if len(typed) > 1 and absent else typed
    places = [n for n, word in enumerate(words) if Path(word) in wrong]
    written = dict.fromkeys(places[:1], source)
    return [written.get(n, word) for n, word in enumerate(words) if n not in places[1:]]


def without_options(words: Sequence[str], names: Collection[str]) -> list[str]:
    """Remove options and their values from a command."""
    parts = typed_options(words, values_of)
    return [word for name, part in parts if name not in names for word in part]


def in_words[**P](command: Callable[P, None]) -> Callable[P, None]:
    """Decorate a command: print errors in words, with the exit status for each kind."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with interruptible():
                command(*args, **kwargs)
        except ArgumentError as error:
            fail(_refusal(error), WRONG_USAGE)
        except AssayError as error:
            fail(_refusal(error))
        except KeyboardInterrupt as error:
            say(f"interrupted{f': {error}' if str(error) else ''}")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of our output is gone: typer ends silently
        except OSError as error:
            fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        except MemoryError:
            fail("not enough memory. Take fewer draws or chains")

    return run
