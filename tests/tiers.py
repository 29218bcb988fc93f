"""The fast tier of the tests leaves out what ``long.txt`` lists."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

LONG = Path(__file__).parent / "long.txt"
"""Tests that take long, and files whose fixtures do; ``pytest --note-long`` writes it."""
LONG_FROM = 1.0
"""Seconds from which a test is long."""


def is_long(test: str, long: Collection[str]) -> bool:
    """Return whether a test, or the file that it stands in, is one of those."""
    return test in long or test.partition("::")[0] in long


def long_ones(reports: Sequence[Any]) -> list[str]:
    """Return the tests that took long, and the files in which fixtures did."""
    long = [one for one in reports if one.duration >= LONG_FROM]
    return sorted({
        one.nodeid.partition("::")[0] if one.when == "setup" else one.nodeid for one in long
    })  # fmt: skip
