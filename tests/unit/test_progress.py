"""A wait that lasts is explained, on a terminal; a short one, or one elsewhere, is not."""

import io
import sys
import time

import pytest

from assay import progress
from assay.progress import waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "stream", "show", "said"),
    [
        (0.3, Terminal, True, True),
        (0.0, Terminal, True, False),
        (0.3, Terminal, False, False),
        (0.3, io.StringIO, True, False),
    ],
)
def test_only_waits_that_last_are_explained(seconds, stream, show, said, monkeypatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setenv("TERM", "xterm")
    found = stream()
    monkeypatch.setattr(sys, "stderr", found)
    with waiting("seeking modes", show=show):
        time.sleep(seconds)
    assert ("seeking modes" in found.getvalue()) == said


def test_an_error_ends_the_wait(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyboardInterrupt), waiting("seeking modes", show=True):
        raise KeyboardInterrupt
