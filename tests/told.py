"""Assertions on messages by what programs read of them: codes and numbers."""

import math
from collections.abc import Callable, Iterable
from typing import Any


def told(code: str, **numbers: float) -> Callable[[Any], bool]:
    """Return a check, for ``pytest.raises(..., check=...)``, of an error's code and numbers.

    Without numbers any will do.
    """

    def matches(error: Any) -> bool:
        problems = getattr(error, "problems", None) or [error]
        return any(one.code == code and _alike(one.numbers, numbers) for one in problems)

    matches.__qualname__ = f"told({code!r}, {numbers})"
    return matches


def warned(caught: Iterable[Any], code: str, **numbers: float) -> bool:
    """Whether warnings that pytest recorded hold one of a code, with these numbers."""
    messages = (warning.message for warning in caught)
    return any(
        getattr(message, "code", "") == code and _alike(message.numbers, numbers)
        for message in messages
    )


def _alike(given: dict[str, float], wanted: dict[str, float]) -> bool:
    return not wanted or (
        given.keys() == wanted.keys()
        and all(math.isclose(given[name], wanted[name], rel_tol=1e-6) for name in wanted)
    )
