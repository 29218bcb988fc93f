"""No step has become much slower than the ledger of speed says."""

import pytest

from benchmarks.speed.ledger import STEPS, WORSE, committed, measure, measure_apart

AGAIN = 2
"""How often a step that looks slow is measured again: other work on the machine passes."""
SECONDS_EACH = ("laplace", "nuts")
"""Steps that are done once at first after they have warmed up; others as the ledger does them."""
SHORT = [name for name, step in STEPS.items() if step.short]


@pytest.fixture(scope="module")
def ratios() -> dict[str, float]:
    """Steps and references, each in one process: to start one takes longer than most steps do."""
    times = {name: 1 if name in SECONDS_EACH else None for name in SHORT}
    ours, theirs = (measure_apart(side, times) for side in ("run", "reference"))
    return {name: ours[name].seconds / theirs[name].seconds for name in SHORT}


@pytest.mark.parametrize("name", SHORT)
def test_a_step_is_as_fast_as_the_ledger_says(name: str, ratios: dict[str, float]) -> None:
    allowed, found = WORSE * committed()[name], [ratios[name]]
    while found[-1] > allowed and len(found) <= AGAIN:
        found.append(measure(name, turns=1)["ratio"])
    assert min(found) <= allowed, (
        f"{name} takes {min(found)} of {STEPS[name].against}; the ledger allows {allowed:.2f}. "
        "If that is meant: python -m benchmarks ledger --write"
    )


def test_the_ledger_holds_every_step() -> None:
    assert set(committed()) == set(STEPS)
