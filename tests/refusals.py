"""Assertions on refusals by what programs read of them: codes and numbers."""

import math
from collections.abc import Callable
from typing import Any


def refusal(code: str, **numbers: float) -> Callable[[Any], bool]:
    """Return a check, for ``pytest.raises(..., check=...)``, of an error's code and numbers.

    Without numbers any will do.
    """

    def matches(error: Any) -> bool:
        problems = getattr(error, "problems", None) or [error]
        return any(one.code == code and _alike(one.numbers, numbers) for one in problems)

    matches.__qualname__ = f"refusal({code!r}, {numbers})"
    return matches


def _alike(given: dict[str, float], wanted: dict[str, float]) -> bool:
    return not wanted or (
        given.keys() == wanted.keys()
        and all(math.isclose(given[name], wanted[name], rel_tol=1e-6) for name in wanted)
    )
