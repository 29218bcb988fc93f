"""A wait that lasts is explained, on a terminal; a short one, or one elsewhere, is not."""

import io
import re
import sys
import time

import numpy as np
import pytest

import assay
from assay._util import progress
from assay._util.progress import progress_bar, steps, waiting
from assay.inference.density import Density


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


def shown(monkeypatch) -> Terminal:
    """A terminal on which waits are shown at once."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def plain(stream: Terminal) -> str:
    """What a terminal shows, without its colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def test_a_wait_of_known_length_says_its_rate_and_the_time_left(monkeypatch) -> None:
    stream = shown(monkeypatch)
    with waiting("drawing labels", show=True, total=40, unit="draws"):
        for _ in range(20):
            steps()(1)
            time.sleep(0.03)
    last = plain(stream).split("drawing labels")[-1]
    assert "20/40 draws" in last
    assert "/s" in last
    assert "0:00:00 left" in last or "0:00:01 left" in last


def test_a_wait_of_unknown_length_says_its_rate(monkeypatch) -> None:
    stream = shown(monkeypatch)
    with waiting("seeking modes", show=True, unit="passes"):
        for _ in range(20):
            steps()(1)
            time.sleep(0.03)
    last = plain(stream).split("seeking modes")[-1]
    assert "20 passes, " in last
    assert "left" not in last


def test_sampling_says_its_rate(monkeypatch) -> None:
    stream = shown(monkeypatch)
    with progress_bar(2, 50, show=True) as show:
        for done in range(20):
            show([(done, 0), (done, 1)])
            time.sleep(0.03)
    last = plain(stream).split("sampling")[-1]
    assert "38/100 draws, " in last
    assert "/s 1 divergent" in last


def test_steps_that_nobody_waits_for_are_nothing() -> None:
    with waiting("seeking modes", show=False):
        steps()(1)
    steps()(1)


def test_a_fit_says_how_far_its_search_and_its_labels_are(monkeypatch) -> None:
    stream = shown(monkeypatch)
    ratings = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    assay.fit(ratings, raters="pooled", method="map", draws=30, chains=2, rng=1)
    said = plain(stream)
    assert " passes" in said
    assert "/60 draws" in said


@pytest.mark.filterwarnings("ignore::assay.FitWarning")
def test_metrics_say_how_many_draws_they_have_read(monkeypatch) -> None:
    ratings = assay.simulate("retrieval", n_items=40, n_raters=4, n_systems=2, rng=1)
    fit = assay.fit(ratings, method="map", draws=30, chains=2, rng=1, progress=False)
    stream = shown(monkeypatch)
    with waiting("computing metrics", show=True, unit="draws"):
        assay.metrics(fit, estimand="finite")
        time.sleep(0.3)
    # All for the values, and some for the panels on which they are undefined.
    assert "80 draws, " in plain(stream)


def test_an_interrupt_in_compiled_code_is_an_interrupt(monkeypatch) -> None:
    """Python wraps it where it comes while a compiled function hands over its result."""

    def interrupted(self: Density, x: np.ndarray) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    ratings = assay.simulate("single", n_items=40, n_raters=4, rng=1)
    monkeypatch.setattr(Density, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        assay.fit(ratings, raters="pooled", method="map", draws=2, chains=1, progress=False)


def test_other_errors_of_compiled_code_stay_what_they_are() -> None:
    with pytest.raises(SystemError, match="broken"), waiting("seeking modes", show=False):
        raise SystemError("broken")
