"""``tests/long.txt`` names tests and files that are there; other lines leave nothing out."""

from pathlib import Path

import pytest
from tiers import LONG

ROOT = Path(__file__).parents[2]


def test_every_line_names_a_file_or_a_test_that_is_collected(
    request: pytest.FixtureRequest,
) -> None:
    """In a run of some files, the tests of the others are not known: only that the files are."""
    if request.config.option.keyword or any("::" in one for one in request.config.args):
        pytest.skip("a run of some tests of a file does not know the others")
    tests = {item.nodeid for item in request.session.items}
    files = {test.partition("::")[0] for test in tests}
    lines = LONG.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    gone = [
        line
        for line in lines
        if not (ROOT / (file := line.partition("::")[0])).is_file()
        or (file in files and line not in tests | files)
    ]
    assert gone == []
