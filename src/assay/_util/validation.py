"""Checks of arguments: choices, counts, flags, numbers, names, paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from assay._util.errors import ArgumentError, suggest

LONGEST = 60
"""Most characters of an argument that an error repeats."""
MOST_DRAWS = 1_000_000
"""Most draws of one call: more digits than any number needs."""


def written(given: object) -> str:
    """Write an argument as given, or its type if it is long."""
    text = repr(given)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    kind = type(given).__name__
    return f"a{'n' * (kind[0] in 'aeiouAEIOU')} {kind}"


def argument(name: str, given: object) -> str:
    """Write an argument with its value, marked as code, which the command line turns into an
    option. A name that is no identifier, as in the user's own code, stays prose.
    """
    said = f"{name}={written(given)}"
    return f"`{said}`" if name.isidentifier() else said


def cut(text: str, most: int = LONGEST) -> str:
    """Quote the beginning of a text for a message."""
    return repr(text if len(text) <= most else f"{text[:most]}...")


def require_choice(
    name: str, given: object, allowed: Sequence[str], *, otherwise: str = ""
) -> None:
    """Raise `ArgumentError` unless ``given`` is one of ``allowed``."""
    # Arrays and trees compare element by element, so check the type first.
    if not isinstance(given, str) or given not in allowed:
        hint = suggest(str(given), allowed) + (otherwise and f", or {otherwise}")
        raise ArgumentError(f"{argument(name, given)}; {hint}", code="argument-choice")


def require_count(
    name: str, given: Any, *, least: int = 1, most: float = inf, otherwise: str = ""
) -> int:
    """Return a whole number from ``least`` to ``most``; refuse all else."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or not least <= given <= most:
        bound = f"at least {least}" if most == inf else f"from {least} to {most:,.0f}"
        allowed = f"a whole number {'of ' * (most == inf)}{bound}"
        raise ArgumentError(
            f"{argument(name, given)}; it must be {allowed}{otherwise and f', or {otherwise}'}",
            code="argument-count",
            numbers={"least": least, "most": most},
        )
    return int(given)


def require_draws(name: str, given: Any) -> int:
    """Return a number of draws: from 1 to a million, since a table holds a number for each."""
    return require_count(name, given, most=MOST_DRAWS)


def require_flag(name: str, given: object) -> bool:
    """Return True or False; refuse all else, because ``"no"`` would count as true."""
    if not isinstance(given, bool | np.bool_):
        raise ArgumentError(
            f"{argument(name, given)}; it must be True or False", code="argument-flag"
        )
    return bool(given)


def require_number(name: str, given: Any, suits: Callable[[float], bool], *, allowed: str) -> float:
    """Return a number that ``suits``; refuse all else. ``allowed`` says in words which suit."""
    if not is_number(given) or not suits(float(given)):
        raise ArgumentError(
            f"{argument(name, given)}; it must be {allowed}", code="argument-number"
        )
    return float(given)


def numbers_given(
    name: str, given: Any, suits: Callable[[float], bool], *, allowed: str
) -> list[float]:
    """Return one or several numbers that all suit, as `require_number` does."""
    several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    numbers = list(given) if several else [given]
    if not numbers or not all(is_number(one) and suits(float(one)) for one in numbers):
        raise ArgumentError(
            f"{argument(name, given)}; they must be {allowed}", code="argument-number"
        )
    return [float(one) for one in numbers]


def is_number(given: object) -> bool:
    """Whether something is a real number other than True and False."""
    return isinstance(given, Real) and not isinstance(given, bool)


def names_given(name: str, given: Any, *, what: str, otherwise: str = "") -> list[str]:
    """Return one or several names, each once; ``what`` is the singular of what they name."""
    several = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    names = list(given) if several else [given]
    if not names or not all(isinstance(one, str) for one in names):
        allowed = f"the name of a {what}, or a list of names" + (otherwise and f", or {otherwise}")
        raise ArgumentError(f"{argument(name, given)}; it must be {allowed}", code="argument-names")
    return list(dict.fromkeys(map(str, names)))


def require_text(name: str, given: object) -> None:
    """Raise `ArgumentError` unless ``given`` is a text or None."""
    if not isinstance(given, str | None):
        raise ArgumentError(f"{argument(name, given)}; it must be a text", code="argument-names")


def path_given(name: str, given: Any) -> Path:
    """Return a path; refuse all else."""
    if not isinstance(given, str | Path):
        raise ArgumentError(f"{argument(name, given)}; it must be a path", code="argument-path")
    return Path(given)
