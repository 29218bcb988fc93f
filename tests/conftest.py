"""Fixtures that several folders of tests share."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from quick_fits import without_departures
from tiers import LONG, is_long, long_ones

from assay.cli.garbage import collect_rarely

collect_ignore = ["fixtures"]
"""Scripts there make fixtures, with packages that the tests do without."""


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real ratings beside the project; skip (in CI: fail) without it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if folder.is_dir():
        return folder
    reason = "the real ratings at ../shared/data are not here"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def departures_unsought() -> Iterator[None]:
    """Fit without the tests of independent raters, for tests that look at no warning."""
    with without_departures():
        yield


def pytest_configure() -> None:
    """Search for garbage in cycles rarely: a worker holds a million objects until its end."""
    collect_rarely()


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of each search."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help=f"leave out what {LONG.name} lists")
    parser.addoption("--note-long", action="store_true", help=f"write {LONG.name} anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        long = set(LONG.read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[one for one in items if is_long(one.nodeid, long)])
        items[:] = [one for one in items if not is_long(one.nodeid, long)]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.getoption("--note-long"):
        told = [one for kind in terminalreporter.stats.values() for one in kind]
        timed = [one for one in told if isinstance(one, pytest.TestReport)]
        LONG.write_text("".join(f"{one}\n" for one in long_ones(timed)), encoding="utf-8")
