"""Waits that last are explained on a terminal; Ctrl-C while a fit is written or read."""

import asyncio
import io
import re
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py  # type: ignore[import-untyped]
import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner
from zarr.storage import LocalStore

import assay
from assay._util import progress
from assay._util.files import Unwritten, draft
from assay._util.progress import progress_bar, steps, unbroken, waiting
from assay.cli.program import app
from assay.evaluation.draws import StoredStates
from assay.fits import storage
from assay.fits.datatree import group
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


def log_of(monkeypatch) -> io.StringIO:
    """Standard error of a process, redirected to a file."""
    found = io.StringIO()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setattr(sys, "__stderr__", found)
    return found


def test_a_log_has_a_line_for_each_stage(monkeypatch) -> None:
    log = log_of(monkeypatch)
    for show, stage in ((True, True), (True, False), (False, True)):
        with waiting(f"show {show}, stage {stage}", show=show, stage=stage):
            pass
    assert log.getvalue() == "show True, stage True\n"


def test_a_log_says_once_how_long_sampling_takes(monkeypatch) -> None:
    log = log_of(monkeypatch)
    monkeypatch.setattr(progress, "BEFORE_FORECAST", 0.05)
    with progress_bar(2, 50, show=True, tune=20) as show:
        show([(4, 0), (5, 0)])
        time.sleep(0.06)
        show([(4, 0), (5, 0)])  # a tenth of the draws tells the time of the others
        assert "left" not in log.getvalue()
        for done in range(10, 50, 10):
            show([(done, 0), (done, 0)])
    first, second = log.getvalue().splitlines()
    assert first == "sampling 2 chains of 30 draws after a warm-up of 20"
    assert re.fullmatch(r"sampling: about [01] s left", second)


def test_elsewhere_than_in_a_log_there_are_no_lines(monkeypatch) -> None:
    found = io.StringIO()  # as in a notebook, which takes the stream of the process away
    monkeypatch.setattr(sys, "stderr", found)
    with waiting("checking", show=True, stage=True):
        pass
    assert found.getvalue() == ""


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


NAMES = ("fit.nc", "fit.zarr")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have Ctrl-C do what it does in a program: who runs the tests may ignore it."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread alone")
    if not hasattr(signal, "pthread_kill"):
        pytest.skip("signals are sent otherwise here")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def fit() -> xr.DataTree:
    ratings = assay.simulate("single", n_items=20, n_raters=3, rng=1)
    return assay.fit(ratings, raters="pooled", method="map", draws=10, chains=1, starts=1, rng=1)


class Heap:
    """Something that Python can refer to weakly."""


def press() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def press_where_it_is_dropped() -> None:
    """Press Ctrl-C while a weak reference calls back, where Python drops every exception."""
    there = Heap()
    _watched = weakref.ref(there, lambda _: press())
    del there


def press_while_stored(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Press Ctrl-C while Zarr or HDF5 writes (``set``) or reads (``get``) its first array."""
    pressed: list[str] = []

    def now(name: str) -> bool:
        pressed.append(name)
        return len(pressed) == 1

    slow = getattr(LocalStore, method)

    async def stored(self: LocalStore, key: str, *args: Any, **more: Any) -> Any:
        if "/c" in key and now(key):
            press()
            await asyncio.sleep(0.5)
        return await slow(self, key, *args, **more)

    monkeypatch.setattr(LocalStore, method, stored)
    python = {"set": "__setitem__", "get": "__getitem__"}[method]
    quick = getattr(h5py.Dataset, python)

    def kept(self: h5py.Dataset, *args: Any) -> Any:
        if now(self.name):
            press_where_it_is_dropped()
        return quick(self, *args)

    monkeypatch.setattr(h5py.Dataset, python, kept)


@pytest.mark.usefixtures("ctrl_c")
def test_what_is_unbroken_comes_to_its_end() -> None:
    def work() -> None:
        with unbroken():
            press()
            with unbroken():
                press()
                done.append("inner")
            done.append("outer")

    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    with pytest.raises(KeyboardInterrupt):
        press()


@pytest.mark.usefixtures("ctrl_c")
def test_threads_get_no_signals() -> None:
    def work() -> None:
        with unbroken():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[Any] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("old", [False, True])
def test_an_interrupt_while_a_fit_is_saved_leaves_what_was_there(
    fit: xr.DataTree, tmp_path: Path, name: str, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old:
        other = fit.copy()
        other.attrs["method"] = "em"
        assay.save(other, tmp_path / name)
    press_while_stored(monkeypatch, "set")
    with pytest.raises(Unwritten, match=rf"{name} was not written") as said:
        assay.save(fit, tmp_path / name)
    assert ("old file" in str(said.value)) == old
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == [name] * old
    if old:
        assert assay.load(tmp_path / name).attrs["method"] == "em"


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_an_interrupt_while_a_fit_is_read_comes_once_the_variable_is_read(
    fit: xr.DataTree, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = assay.save(fit, tmp_path / name)
    press_while_stored(monkeypatch, "get")
    with pytest.raises(KeyboardInterrupt):
        assay.load(path)
    assert pending() == []


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_while_states_are_read_comes_once_the_block_is_read(
    fit: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = assay.save(fit, tmp_path / "fit.zarr")
    monkeypatch.setattr(storage, "LARGE", 0)
    states = StoredStates(group(assay.load(path), "labels")["state"])
    press_while_stored(monkeypatch, "get")
    with pytest.raises(KeyboardInterrupt):
        states[:]
    assert pending() == []


def pending() -> list[Any]:
    """Return what Zarr still does in the background."""
    import zarr.core.sync as background

    (loop,) = background.loop
    assert loop is not None

    async def others() -> list[Any]:
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    return asyncio.run_coroutine_threadsafe(others(), loop).result(5)


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_once_a_file_is_in_its_place_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(self: Path, target: Path) -> Path:
        press()
        return move(self, target)

    move = Path.replace
    monkeypatch.setattr(Path, "replace", replace)
    with (
        pytest.raises(KeyboardInterrupt, match=r"a\.txt was written") as said,
        draft(tmp_path / "a.txt") as unfinished,
    ):
        unfinished.write_text("new")
    assert not isinstance(said.value, Unwritten)
    assert (tmp_path / "a.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("options", "left"),
    [
        ([], "the draws were finished but are lost (--checkpoint FOLDER keeps them)"),
        (["--method", "map"], "the draws were finished but are lost"),
        (
            ["--checkpoint", "chains"],
            "the draws are finished in chains, and the same command uses them",
        ),
    ],
)
def test_the_command_line_says_what_became_of_the_draws(
    fit: xr.DataTree,
    tmp_path: Path,
    options: list[str],
    left: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, output = tmp_path / "ratings.csv", tmp_path / "fit.zarr"
    source.write_text("item,rater,label\n1,a,x\n2,a,y\n1,b,x\n2,b,y\n")
    monkeypatch.setattr("assay.fit", lambda *_, **__: fit)
    press_while_stored(monkeypatch, "set")
    arguments = ["fit", str(source), "--task", "single", "-o", str(output), *options]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == f"interrupted: {output} was not written; {left}"
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.csv"]
