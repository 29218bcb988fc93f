"""Everything that can go wrong, said in words.

One root, :class:`AssayError`, so that a caller can catch all of it; each subclass is also the
built-in exception that Python programmers expect. A :class:`Problem` is one thing wrong with the
user's input; readers collect them all and raise once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from assay.plain_text import in_message


class AssayError(Exception):
    """Root of every error that assay raises on purpose.

    What it says holds names from files: it is shown without control characters, and with long
    cells cut.
    """

    def __str__(self) -> str:
        return in_message(super().__str__())


class TaskError(AssayError, ValueError):
    """A task file, or a rule in it, cannot be used."""


class RatingsError(AssayError, ValueError):
    """The ratings cannot be used; ``problems`` has one entry for each thing wrong."""

    def __init__(self, problems: "Sequence[Problem] | str", source: str = "the ratings") -> None:
        self.problems = [Problem(what=problems)] if isinstance(problems, str) else list(problems)
        many = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        lines = "\n".join(f"  - {p}" for p in self.problems)
        super().__init__(f"{many} in {source}:\n{lines}")

    @classmethod
    def of(cls, code: str, what: str, source: str, *, mend: str = "") -> "RatingsError":
        """Make an error of a single problem."""
        return cls([Problem(code=code, what=what, mend=mend)], source)


class ModelError(AssayError, ValueError):
    """A model specification that cannot be built."""


class UnknownNameError(AssayError, KeyError):
    """A name that is not in a catalogue; the message shows the nearest valid ones."""

    def __str__(self) -> str:
        return in_message(str(self.args[0]))


class FitError(AssayError, ValueError):
    """A fit that cannot be made, read or used."""


class ArgumentError(ModelError, FitError):
    """An argument of a wrong kind, or out of range: to be caught as either of the two."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing wrong.

    Attributes
    ----------
    what : str
    where : str
        Columns, lines.
    allowed : str
    mend : str
        What to do.
    role : str
        The role, such as ``item``, for which no column was found; not part of the text.
    code : str
        The kind of problem in short, such as ``truth-vocabulary``, for programs. The text ends
        with it, in brackets.
    """

    what: str
    where: str = ""
    allowed: str = ""
    mend: str = ""
    role: str = ""
    code: str = ""

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
    """Say which valid names are nearest to ``name``.

    Examples
    --------
    >>> suggest("retreival", ["ais", "retrieval"])
    'did you mean retrieval?'
    >>> suggest("zzz", ["ais", "retrieval"])
    'valid: ais, retrieval'
    """
    near = get_close_matches(str(name), valid, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    shown = ", ".join(valid[:limit])
    return f"valid: {shown}{', ...' if len(valid) > limit else ''}"


class FitWarning(UserWarning):
    """Something about a fit that its reader must know."""

    def __str__(self) -> str:
        return in_message(super().__str__())


class Aside(str):
    """A sentence about a fit that is worth a line, and no reason to distrust the fit."""

    __slots__ = ()
