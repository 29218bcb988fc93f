"""Machine code is kept on disk, and never that of other sources."""

import gc
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest

import assay
from assay.likelihood import compiling
from assay.likelihood.compiling import compiled, digest, folder, kept_on_disk, linked
from assay.likelihood.machine_code import CheckedFiles

SUM = """
from assay.likelihood.compiling import linked


@linked()
def total_of(numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total
"""
CALLERS = """
from assay.likelihood.compiling import compiled
from assay.likelihood.sums import total_of
""" + "".join(
    f"""

@compiled()
def times_{factor}(numbers):
    return {factor} * total_of(numbers)
"""
    for factor in range(4)
)
PLAY = """
import numpy as np
from assay.likelihood import callers

FOUND = [getattr(callers, f"times_{factor}") for factor in range(4)]
numbers = np.array([1.0, 2.0])
print(*(each(numbers) for each in FOUND))
print(*(sum(each.stats.cache_hits.values()) for each in FOUND))
"""
COMPILED, KEPT = [0.0, 3.0, 6.0, 9.0, *[0.0] * 4], [0.0, 3.0, 6.0, 9.0, *[1.0] * 4]
"""Multiples of a sum, and hits of the cache: none, then one each."""


@pytest.fixture(autouse=True)
def forget_the_folder() -> Iterator[None]:
    folder.cache_clear()
    yield
    folder.cache_clear()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Copy the package, with small functions more: the kernels take long to compile."""
    ours, copy = Path(assay.__file__).parent, tmp_path / "source"
    shutil.copytree(ours, copy / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in (("sums", SUM), ("callers", CALLERS)):
        (copy / "assay" / "likelihood" / f"{name}.py").write_text(text, encoding="utf-8")
    return copy


def play(source: Path, kept: Path) -> list[float]:
    """Add 1 and 2 with the package in a folder: multiples of the sum, and hits of the cache."""
    done = subprocess.run(
        [sys.executable, "-c", PLAY],
        env=os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(kept)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_change_in_another_file_is_noticed(source: Path, tmp_path: Path) -> None:
    assert play(source, tmp_path / "kept") == COMPILED
    assert play(source, tmp_path / "kept") == KEPT
    # The functions stand in callers.py, and call what stands in sums.py.
    changed = source / "assay" / "likelihood" / "sums.py"
    changed.write_text(SUM.replace("total = 0.0", "total = 0.5"), encoding="utf-8")
    assert play(source, tmp_path / "kept") == [0.0, 3.5, 7.0, 10.5, *[0.0] * 4]


def test_every_file_of_the_package_is_in_the_digest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiling, "files", lambda _: tmp_path)
    found = {digest()}
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1")
        found.add(digest())
        (tmp_path / name).write_text("x = 2")
        found.add(digest())
    assert len(found) == 5
    (tmp_path / "notes.txt").touch()
    assert digest() in found


def test_the_folder_that_is_asked_for_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert folder() == tmp_path / digest()
    with kept_on_disk() as keep:
        assert keep
        assert str(tmp_path / digest()) == numba.config.CACHE_DIR
    assert str(tmp_path) == numba.config.CACHE_DIR


def test_threads_that_compile_side_by_side_leave_the_setting_as_it_was() -> None:
    before, own = numba.config.CACHE_DIR, str(folder())

    def work(_: int) -> bool:
        seen = []
        for _ in range(20):
            with kept_on_disk():
                time.sleep(1e-4)
                seen.append(own == numba.config.CACHE_DIR)
        return all(seen)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert before == numba.config.CACHE_DIR


def test_where_nothing_can_be_written_functions_are_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiling, "is_writable", lambda _: False)
    assert folder() is None

    @compiled()
    def add(a, b):  # type: ignore[no-untyped-def]
        return a + b

    assert add(1, 2) == 3
    assert add.stats.cache_path is None


@pytest.mark.slow
def test_damaged_and_foreign_code_is_compiled_anew(source: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert play(source, kept) == COMPILED
    for suffix in ("nbi", "nbc"):
        files = list(kept.rglob(f"*.{suffix}"))
        assert len(files) == 4
        for n, file in enumerate(files):
            whole = file.read_bytes()
            half = len(whole) // 2
            flipped = whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :]
            file.write_bytes((b"", whole[:-1], flipped, b"something else")[n])
        assert play(source, kept) == COMPILED
        assert play(source, kept) == KEPT


@pytest.mark.parametrize("content", [b"", b"\x80\x05garbage", b"x" * 5000])
def test_an_index_that_is_no_index_is_no_traceback(tmp_path: Path, content: bytes) -> None:
    files = CheckedFiles(str(tmp_path), "f", "stamp")
    files.save("key", {"code": 1})
    assert files.load("key") == {"code": 1}
    (tmp_path / "f.nbi").write_bytes(content)
    assert files.load("key") is None
    files.save("key", 2)
    assert files.load("key") == 2
    for file in tmp_path.glob("*.nbc"):
        file.write_bytes(content)
    assert files.load("key") is None
    shutil.rmtree(tmp_path)
    files.save("key", 3)  # nowhere to write


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such owners there")
def test_folders_that_others_can_write_into_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    own = folder()
    assert own == tmp_path / digest()
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)
    folder.cache_clear()
    assert folder() != own
    own.chmod(0o700)
    monkeypatch.setattr("assay._util.files.os.getuid", lambda: own.stat().st_uid + 1)
    folder.cache_clear()
    assert folder() is None


def test_a_linked_function_is_plain_in_python_and_compiled_in_its_caller() -> None:
    @linked()
    def twice(a):  # type: ignore[no-untyped-def]
        return 2 * a

    @compiled()
    def add(a):  # type: ignore[no-untyped-def]
        return twice(a) + 1

    assert gc.isenabled()
    assert (add(2), twice(2)) == (5, 4)
    assert not hasattr(twice, "py_func")
    assert gc.isenabled()
