"""No input ends in a traceback or runs code: mutations of a corpus, and grammars that try."""

import random
from pathlib import Path

import pytest
from fuzz_targets import SECONDS, TARGETS, USUAL, fuzz

ENOUGH = 5_000


def test_a_quick_run_takes_less_than_35_seconds() -> None:
    assert sum(SECONDS.get(name, USUAL) for name in TARGETS) < 35


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_ends_in_a_traceback(name: str) -> None:
    """The same inputs each time: a failure can be repeated."""
    tally = fuzz(name, 1, most=ENOUGH, seconds=SECONDS.get(name, USUAL))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.counts["accepted"] + tally.counts["refused"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_ends_in_a_traceback_in_a_longer_run(name: str) -> None:
    seed = random.SystemRandom().randrange(2**32)
    tally = fuzz(name, seed, most=100_000, seconds=120)
    assert not tally.failures, f"seed {seed}\n" + "\n".join(tally.failures)


def test_the_page_has_the_counts_of_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = page.partition("<!-- counts -->")[2].partition("<!-- end of counts -->")[0]
    rows = [line.strip("| \n").split(" | ") for line in table.splitlines() if line[:2] == "| "][1:]
    assert [row[0] for row in rows] == [*TARGETS, "all"]
    counts = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in rows}
    for name, (tried, accepted, refused, tracebacks, acts) in counts.items():
        assert tried == accepted + refused, name
        assert (tracebacks, acts) == (0, 0), name
        assert tried >= 100, name
