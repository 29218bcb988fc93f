"""Errors, problems, notes and warnings of assay.

All errors derive from :class:`AssayError`, and also from the built-in exception that Python
programmers expect. A :class:`Problem` is one fault of the user's input; readers collect all of
them and raise once.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from assay._util.plain_text import in_message

Numbers = Mapping[str, float]
"""Numbers that a message shows, by name."""
NoteLevel = Literal["note", "warning"]


def plain_numbers(given: Mapping[str, Any] | None) -> dict[str, float]:
    """Return finite numbers as Python numbers, without the others."""
    found = {}
    for name, value in (given or {}).items():
        number = value.item() if hasattr(value, "item") else value
        if math.isfinite(number):
            found[name] = number
    return found


class AssayError(Exception):
    """Root of every error that assay raises on purpose.

    What it says holds names from files: it is shown without control characters, and with long
    cells cut.

    Attributes
    ----------
    code : str
        The kind of refusal in short, such as ``too-few-systems``; :mod:`assay.codes` explains it.
    numbers : dict of str to float
        The numbers that the message shows, by name.
    go_on : dict of str to any
        The arguments with which the same call goes on, where some do.
    first : str
        The command of the shell that has to be run before, where one has.
    """

    level: ClassVar[str] = "problem"
    go_on: Mapping[str, Any] = MappingProxyType({})
    first: str = ""

    def __init__(
        self,
        *said: object,
        code: str = "",
        numbers: Numbers | None = None,
        go_on: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(*said)
        self.code = code
        self.numbers = plain_numbers(numbers)
        self.go_on = {} if go_on is None else go_on

    def __str__(self) -> str:
        return in_message(super().__str__())


class TaskError(AssayError, ValueError):
    """A task file, or a rule in it, cannot be used."""


class RatingsError(AssayError, ValueError):
    """The ratings cannot be used; ``problems`` has one entry for each thing wrong.

    Its ``code`` and ``numbers`` are those of the first problem. ``go_on`` is made of those of the
    problems, unless it is given.
    """

    def __init__(
        self,
        problems: "Sequence[Problem] | str",
        source: str = "the ratings",
        *,
        code: str = "",
        numbers: Numbers | None = None,
        go_on: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(problems, str):
            problems = [Problem(what=problems, code=code, numbers=plain_numbers(numbers))]
        self.problems = list(problems)
        many = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        lines = "\n".join(f"  - {p}" for p in self.problems)
        first = self.problems[0] if self.problems else Problem(what="")
        self.source = source
        self.go_on = _go_on(self.problems) if go_on is None else go_on
        self.first = " && ".join(dict.fromkeys(p.first for p in self.problems if p.first))
        said = f"{many} in {source}:\n{lines}{going_on(self.go_on)}"
        super().__init__(said, code=first.code, numbers=first.numbers, go_on=self.go_on)

    @classmethod
    def of(
        cls,
        code: str,
        what: str,
        source: str,
        *,
        go_on: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> "RatingsError":
        """Make an error of a single problem; ``more`` are other fields of :class:`Problem`."""
        return cls([Problem(code=code, what=what, go_on=go_on or {}, **more)], source)


def _go_on(problems: Sequence["Problem"]) -> dict[str, Any]:
    """Return the arguments with which reading goes on; none if a problem needs something else."""
    if not all(problem.go_on or problem.first for problem in problems):
        return {}
    found: dict[str, Any] = {}
    for problem in problems:
        found = _joined(found, problem.go_on)
    return found


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Merge arguments, nested dicts too; the second wins."""
    joined = dict(one)
    for name, value in other.items():
        held = joined.get(name)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            value = _joined(held, value)
        joined[name] = value
    return joined


def going_on(arguments: Mapping[str, Any]) -> str:
    """Return the last line of a refusal: the arguments with which the call can continue."""
    return f"\nGo on with {as_code(arguments)}" if arguments else ""


def as_code(arguments: Mapping[str, Any]) -> str:
    """Mark arguments as code; the command line turns them into options."""
    written = ("=".join((name, repr(value))) for name, value in arguments.items())
    return f"`{', '.join(written)}`"


class ModelError(AssayError, ValueError):
    """The specification of a model cannot be built."""


class UnknownNameError(AssayError, KeyError):
    """No catalogue has this name; the message shows the nearest valid names."""

    def __str__(self) -> str:
        return in_message(str(self.args[0]))


class FitError(AssayError, ValueError):
    """A fit cannot be made, read or used."""


class ArgumentError(ModelError, FitError):
    """An argument has a wrong type or is out of range; a ModelError and a FitError."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One fault of the input.

    Attributes
    ----------
    what : str
    where : str
        Columns and lines.
    allowed : str
    mend : str
        What to do.
    role : str
        The role without a column, such as ``item``; not part of the text.
    code : str
        The kind of problem, such as ``truth-vocabulary``. The text ends with it, in brackets.
    numbers : mapping of str to float
        The numbers that the text shows, by name.
    go_on : mapping of str to any
        The arguments with which the same call goes on: a guess is one that the text names as such,
        and None leaves an argument out.
    first : str
        The command of the shell after which the same call goes on.
    """

    level: ClassVar[str] = "problem"

    what: str
    where: str = ""
    allowed: str = ""
    mend: str = ""
    role: str = ""
    code: str = ""
    numbers: Numbers = field(default_factory=dict, hash=False)
    go_on: Mapping[str, Any] = field(default_factory=dict, hash=False)
    first: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", plain_numbers(self.numbers))

    def __str__(self) -> str:
        text = self.what
        if self.where:
            text += f" ({self.where})"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.mend:
            text += f"; {self.mend}"
        return f"{text} [{self.code}]" if self.code else text


def suggest(name: object, valid: Sequence[str], limit: int = 12) -> str:
    """Return the valid names nearest to ``name``, or the first valid ones."""
    near = get_close_matches(str(name), valid, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    shown = ", ".join(valid[:limit])
    return f"valid: {shown}{', ...' if len(valid) > limit else ''}"


def nearest(name: object, valid: Iterable[str]) -> str | None:
    """Return the valid name that is nearest to ``name``, if one is near."""
    return next(iter(get_close_matches(str(name), list(valid), n=1)), None)


class Note(str):
    """A sentence about a fit, with its code and numbers for programs.

    Attributes
    ----------
    code : str
        The kind of note, such as ``class-drift``; :mod:`assay.codes` explains it. Notes of fits by
        earlier versions have none.
    level : {"warning", "note"}
        A ``note`` is no reason to distrust the fit.
    numbers : dict of str to float
        The numbers that the sentence shows, by name.
    """

    code: str
    level: NoteLevel
    numbers: dict[str, float]

    def __new__(
        cls,
        text: str,
        *,
        code: str = "",
        level: NoteLevel = "warning",
        numbers: Numbers | None = None,
    ) -> "Note":
        """Make a note of a sentence."""
        note = super().__new__(cls, text)
        note.code, note.level, note.numbers = code, level, plain_numbers(numbers)
        return note

    def to_dict(self) -> dict[str, Any]:
        """Return the note as a dict for JSON."""
        return {
            "code": self.code,
            "level": self.level,
            "numbers": self.numbers,
            "text": str(self),
        }


def notes_json(notes: Iterable[Note]) -> str:
    """Return notes as JSON."""
    return json.dumps([note.to_dict() for note in notes])


def note_from(told: Mapping[str, Any]) -> Note:
    """Return the note that :meth:`Note.to_dict` wrote."""
    return Note(told["text"], code=told["code"], level=told["level"], numbers=told["numbers"])


class FitWarning(UserWarning):
    """Something about a fit that its reader must know; its text ends with its code.

    Attributes
    ----------
    code, level, numbers
        As those of a :class:`Note`.
    """

    def __init__(
        self,
        text: str = "",
        *,
        code: str = "",
        level: NoteLevel = "warning",
        numbers: Numbers | None = None,
    ) -> None:
        super().__init__(text)
        self.code, self.level, self.numbers = code, level, plain_numbers(numbers)

    @classmethod
    def of(cls, note: Note) -> "FitWarning":
        """Make a warning of a note."""
        return cls(str(note), code=note.code, level=note.level, numbers=note.numbers)

    @property
    def text(self) -> str:
        """The sentence without its code."""
        return in_message(super().__str__())

    def __str__(self) -> str:
        text = self.text
        return f"{text} [{self.code}]" if self.code else text
