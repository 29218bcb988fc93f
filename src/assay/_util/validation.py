"""What may be given as an argument: choices, counts, flags, numbers, names; all else is refused."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from assay._util.errors import ArgumentError, suggest

LONGEST = 60
"""Letters of an argument that an error repeats."""


def written(given: object) -> str:
    """Write an argument as it was given; of a long one, what kind of thing it is.

    Examples
    --------
    >>> written("95"), written(list(range(99)))
    ("'95'", 'a list')
    """
    text = repr(given)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    kind = type(given).__name__
    return f"a{'n' * (kind[0] in 'aeiouAEIOU')} {kind}"


def argument(name: str, given: object) -> str:
    """Write an argument with its value, marked as code.

    Every argument that a message names is marked so: the command line writes it as an option.
    A longer name, such as that of an argument in the user's own code, is prose.

    Examples
    --------
    >>> argument("draws", 0), argument("metric 'cost': kind", 3)
    ('`draws=0`', "metric 'cost': kind=3")
    """
    said = f"{name}={written(given)}"
    return f"`{said}`" if name.isidentifier() else said


def cut(text: str, most: int = LONGEST) -> str:
    r"""Quote a text for a message; of a long one, its beginning.

    Examples
    --------
    >>> cut("a\x1b[2J"), cut("word " * 20, most=10)
    ("'a\\x1b[2J'", "'word word ...'")
    """
    return repr(text if len(text) <= most else f"{text[:most]}...")


def require_choice(
    name: str, given: object, allowed: Sequence[str], *, otherwise: str = ""
) -> None:
    """Refuse what is none of some words.

    Parameters
    ----------
    name : str
        Of the argument.
    given : object
    allowed : sequence of str
    otherwise : str
        What else may be given, for the error.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> require_choice("incomplete", "drops", ("predict", "drop"))
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `incomplete='drops'`; did you mean drop?
    """
    # Arrays and trees answer a comparison with words entry by entry.
    if not isinstance(given, str) or given not in allowed:
        hint = suggest(str(given), allowed) + (otherwise and f", or {otherwise}")
        raise ArgumentError(f"{argument(name, given)}; {hint}", code="argument-choice")


def require_count(name: str, given: Any, *, least: int = 1, otherwise: str = "") -> int:
    """Return a whole number; refuse what is none, or too small a one.

    Parameters
    ----------
    name : str
        Of the argument.
    given : object
    least : int
    otherwise : str
        What else may be given, for the error.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> require_count("sessions", 2)
    2
    >>> require_count("sessions", 2.5)
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `sessions=2.5`; it must be a whole number of at least 1
    """
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        allowed = f"a whole number of at least {least}" + (otherwise and f", or {otherwise}")
        raise ArgumentError(
            f"{argument(name, given)}; it must be {allowed}",
            code="argument-count",
            numbers={"least": least},
        )
    return int(given)


def require_flag(name: str, given: object) -> bool:
    """Return true or false; refuse all else: ``"no"`` would count as true.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> require_flag("budget", "no")
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `budget='no'`; it must be True or False
    """
    if not isinstance(given, bool | np.bool_):
        raise ArgumentError(
            f"{argument(name, given)}; it must be True or False", code="argument-flag"
        )
    return bool(given)


def require_number(name: str, given: Any, suits: Callable[[float], bool], *, allowed: str) -> float:
    """Return a number; refuse what is none, or does not suit.

    Parameters
    ----------
    name : str
    given : object
    suits : callable
        Whether a number is one of those allowed; NaN never is.
    allowed : str
        Those allowed, in words.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> require_number("scale", "wide", lambda x: x > 0, allowed="a number above 0")
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `scale='wide'`; it must be a number above 0
    """
    if not is_number(given) or not suits(float(given)):
        raise ArgumentError(
            f"{argument(name, given)}; it must be {allowed}", code="argument-number"
        )
    return float(given)


def numbers_given(
    name: str, given: Any, suits: Callable[[float], bool], *, allowed: str
) -> list[float]:
    """Return the numbers that an argument gives: one, or several.

    Parameters
    ----------
    name, given, suits, allowed
        As for :func:`require_number`; ``allowed`` in the plural.

    Raises
    ------
    ArgumentError
        If it gives none, or one of them does not suit.

    Examples
    --------
    >>> numbers_given("wrong", 0.1, lambda x: x < 1, allowed="shares")
    [0.1]
    >>> numbers_given("wrong", ["a"], lambda x: x < 1, allowed="shares")
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `wrong=['a']`; they must be shares
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    numbers = list(given) if several else [given]
    if not numbers or not all(is_number(one) and suits(float(one)) for one in numbers):
        raise ArgumentError(
            f"{argument(name, given)}; they must be {allowed}", code="argument-number"
        )
    return [float(one) for one in numbers]


def is_number(given: object) -> bool:
    """Whether something is a real number; true and false are none."""
    return isinstance(given, Real) and not isinstance(given, bool)


def names_given(name: str, given: Any, *, what: str, otherwise: str = "") -> list[str]:
    """Return the names that an argument gives: one, or several; each once.

    Parameters
    ----------
    name : str
        Of the argument.
    given : object
    what : str
        What the names are of, in the singular.
    otherwise : str
        What else may be given, for the error.

    Raises
    ------
    ArgumentError
        If it gives none, or something else.

    Examples
    --------
    >>> names_given("metric", "ndcg_at_k", what="metric")
    ['ndcg_at_k']
    >>> names_given("human", 3, what="rater")
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `human=3`; it must be the name of a rater, or a list of names
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    names = list(given) if several else [given]
    if not names or not all(isinstance(one, str) for one in names):
        allowed = f"the name of a {what}, or a list of names" + (otherwise and f", or {otherwise}")
        raise ArgumentError(f"{argument(name, given)}; it must be {allowed}", code="argument-names")
    return list(dict.fromkeys(map(str, names)))


def path_given(name: str, given: Any) -> Path:
    """Return the path that an argument gives.

    Raises
    ------
    ArgumentError
        If it is no path.

    Examples
    --------
    >>> path_given("path", 3)
    Traceback (most recent call last):
    assay._util.errors.ArgumentError: `path=3`; it must be a path
    """
    if not isinstance(given, str | Path):
        raise ArgumentError(f"{argument(name, given)}; it must be a path", code="argument-path")
    return Path(given)
