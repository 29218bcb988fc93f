"""No step has become much slower than the ledger of speed says."""

import pytest

from benchmarks.speed.ledger import STEPS, WORSE, committed, measure

AGAIN = 3
"""How often a step that looks slow is measured: other work on the machine passes.

At first it is done once after it has warmed up, then as often as the ledger does it.
"""


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if step.short])
def test_a_step_is_as_fast_as_the_ledger_says(name: str) -> None:
    allowed, found = WORSE * committed()[name], []
    for attempt in range(AGAIN):
        found.append(measure(name, turns=1, times=None if attempt else 1)["ratio"])
        if found[-1] <= allowed:
            return
    pytest.fail(
        f"{name} takes {min(found)} of {STEPS[name].against}; the ledger allows {allowed:.2f}. "
        "If that is meant: python -m benchmarks ledger --write"
    )


def test_the_ledger_holds_every_step() -> None:
    assert set(committed()) == set(STEPS)
