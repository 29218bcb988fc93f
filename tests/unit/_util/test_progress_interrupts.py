"""Ctrl-C where libraries take it badly: while a fit is written or read."""

import asyncio
import signal
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py  # type: ignore[import-untyped]
import pytest
import xarray as xr
from typer.testing import CliRunner
from zarr.storage import LocalStore

import assay
from assay._util.files import Unwritten, draft
from assay._util.progress import unbroken
from assay.cli.program import app
from assay.evaluation.draws import StoredStates
from assay.fits import storage
from assay.fits.datatree import group

NAMES = ("fit.nc", "fit.zarr")


@pytest.fixture(autouse=True)
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


def test_threads_get_no_signals() -> None:
    def work() -> None:
        with unbroken():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[Any] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


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
