"""Fixtures that several folders of tests share."""

import os
from pathlib import Path

import pytest

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
