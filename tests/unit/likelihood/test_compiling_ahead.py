"""A first fit compiles what draws states in a second process."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

import assay
from assay.fits import latent_states
from assay.likelihood import compiling_ahead
from assay.likelihood.compiling import folder
from assay.likelihood.compiling_ahead import AT_WORK, compile_ahead, wait_for_draws

NAMES = ("bundle_nodes", "draw_nodes", "panel_nodes", "recover_draw")


@pytest.fixture(autouse=True)
def forget_the_folder() -> Iterator[None]:
    folder.cache_clear()
    AT_WORK.clear()
    yield
    folder.cache_clear()
    AT_WORK.clear()


@pytest.mark.parametrize(("task", "panels"), [("single", False), ("retrieval", True)])
def test_it_compiles_what_a_fit_calls(
    task: str, panels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called, ahead = set(), set()
    monkeypatch.setattr(
        compiling_ahead,
        "_compile",
        lambda function, *given: ahead.add((function.__name__, *map(numba.typeof, given))),
    )
    for name in NAMES:
        real = getattr(latent_states, name)

        def seen(*given: Any, name: str = name, real: Any = real) -> Any:
            called.add((name, *map(numba.typeof, given)))
            return real(*given)

        monkeypatch.setattr(latent_states, name, seen)
    ratings = assay.simulate(task, n_items=24, n_raters=3, n_clusters=6, n_systems=2, rng=1)
    model: Any = {} if panels else {"raters": "hierarchical", "prevalence": "dirichlet"}
    assay.fit(ratings, method="map", starts=1, rng=1, progress=False, **model)
    compiling_ahead.compile_draws(panels)
    assert called == ahead


def test_the_process_runs_and_leaves_nothing_to_wait_for() -> None:
    work = "from assay.likelihood.compiling_ahead import compile_draws; compile_draws(False)"
    done = subprocess.run([sys.executable, "-P", "-c", work], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("what", "value"),
    [
        (None, None),
        ("cores", lambda: 1),
        ("active_children", lambda: ["another"]),
        ("parent_process", lambda: "another"),
    ],
)
def test_it_starts_only_where_a_core_is_free(
    what: str | None, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling_ahead, "folder", lambda: tmp_path)
    for name, free in (("cores", 2), ("active_children", []), ("parent_process", None)):
        monkeypatch.setattr(compiling_ahead, name, lambda free=free: free)
    monkeypatch.setattr(compiling_ahead.SETTINGS, "DISABLE_JIT", 0)
    if what is not None:
        monkeypatch.setattr(compiling_ahead, what, value)
    started = []
    monkeypatch.setattr(
        compiling_ahead.subprocess, "Popen", lambda command, **_: started.append(command) or _Done()
    )
    compile_ahead(panels=False)
    assert len(started) == (what is None)
    wait_for_draws()
    assert not AT_WORK


def test_it_does_not_start_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling_ahead, "folder", lambda: tmp_path)
    monkeypatch.setattr(compiling_ahead, "cores", lambda: 2)
    monkeypatch.setattr(compiling_ahead, "active_children", list)
    monkeypatch.setattr(compiling_ahead, "parent_process", lambda: None)
    (tmp_path / "likelihood").mkdir()
    (tmp_path / "likelihood" / "marginal.bundle_nodes-170.py312.nbi").touch()
    monkeypatch.setattr(
        compiling_ahead.subprocess, "Popen", lambda *_, **__: pytest.fail("started")
    )
    compile_ahead(panels=False)


class _Done:
    """A process that has ended."""

    def wait(self, _seconds: float) -> int:
        return 0
