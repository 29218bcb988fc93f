"""No step has become much slower than the ledger of speed says."""

import pytest

from benchmarks.speed.ledger import STEPS, WORSE, committed, measure

AGAIN = 3
"""How often a step that looks slow is measured: other work on the machine passes."""
SECONDS_EACH = ("laplace", "nuts")
"""Steps that are done once at first after they have warmed up; others as the ledger does them.

To start a process takes longer than they do: once is noisy, and then all is done again.
"""


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if step.short])
def test_a_step_is_as_fast_as_the_ledger_says(name: str) -> None:
    allowed, found = WORSE * committed()[name], []
    for attempt in range(AGAIN):
        times = 1 if name in SECONDS_EACH and not attempt else None
        found.append(measure(name, turns=1, times=times)["ratio"])
        if found[-1] <= allowed:
            return
    pytest.fail(
        f"{name} takes {min(found)} of {STEPS[name].against}; the ledger allows {allowed:.2f}. "
        "If that is meant: python -m benchmarks ledger --write"
    )


def test_the_ledger_holds_every_step() -> None:
    assert set(committed()) == set(STEPS)
