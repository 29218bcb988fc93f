"""Assertions on refusals by what programs read of them: codes and numbers."""

import math
from collections.abc import Callable
from typing import Any


def refusal(code: str, **numbers: float) -> Callable[[Any], bool]:
    """Return a check, for ``pytest.raises(..., check=...)``, of an error's code and numbers.

    Without numbers any will do.
    """

    def matches(error: Any) -> bool:
        told = getattr(error, "problems", None) or [error]
        found = [(one.code, dict(one.numbers)) for one in told]
        assert any(of == code and _alike(given, numbers) for of, given in found), (
            f"{found}, and not {code} {numbers}"
        )
        return True

    return matches


def _alike(given: dict[str, float], wanted: dict[str, float]) -> bool:
    return not wanted or (
        given.keys() == wanted.keys()
        and all(math.isclose(given[name], wanted[name], rel_tol=1e-6) for name in wanted)
    )
