"""However the package is built, it carries its catalogue."""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TASKS = sorted(path.name for path in (ROOT / "models" / "tasks").glob("*.toml"))


def pip(*arguments: str, python: str = sys.executable, cwd: Path = ROOT) -> None:
    done = subprocess.run(
        [python, "-m", "pip", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def hatchling(target: str, folder: Path) -> Path:
    """Build one archive with the backend itself, without a network."""
    code = f"from hatchling import build; print(build.build_{target}({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return folder / done.stdout.split()[-1]


def test_sdist_carries_scripts_of_benchmarks_and_none_of_their_results(tmp_path: Path) -> None:
    with tarfile.open(hatchling("sdist", tmp_path)) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    benchmarks = [name for name in names if name.startswith("benchmarks/")]
    assert "benchmarks/worlds/scenarios.py" in benchmarks
    assert [name for name in benchmarks if "/results/" in name] == []
    assert "models/tasks/single.toml" in names
    # Folders that docs/ links to are in their own place, and only there.
    assert {"models/raters/pooled.md", "notebooks/own_model.ipynb"} <= set(names)
    assert [name for name in names if name.startswith(("docs/families", "docs/notebooks/"))] == []


def wheel_from_tree(folder: Path) -> Path:
    return hatchling("wheel", folder)


def wheel_from_sdist(folder: Path) -> Path:
    with tarfile.open(hatchling("sdist", folder)) as archive:
        archive.extractall(folder, filter="data")
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    pip("wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module", params=[wheel_from_tree, wheel_from_sdist])
def wheel(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> zipfile.ZipFile:
    build: Callable[[Path], Path] = request.param
    return zipfile.ZipFile(build(tmp_path_factory.mktemp("build")))


def test_wheel_carries_every_file_of_the_catalogue(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if name.startswith("assay/_models/")}
    models = ROOT / "models"
    files = [path for path in models.rglob("*") if path.is_file()]
    assert shipped == {f"assay/_models/{path.relative_to(models).as_posix()}" for path in files}
    assert TASKS


def test_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"assay", f"assay-{version('assay')}.dist-info"}
    assert "assay/py.typed" in wheel.namelist()


def test_wheel_finds_its_catalogue_away_from_the_checkout(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path)
    code = (
        "import assay; print(assay.__file__); print(assay.load_task('ais').name); "
        "[assay.load_example(name) for name in ('caries', 'judge_study')]"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    where, name = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert name == "ais"


@pytest.mark.slow
def test_wheel_in_an_empty_environment_runs_the_demo(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    pip("install", "-q", "-c", constraints, str(wheel_from_tree(tmp_path)), python=python)
    done = subprocess.run(
        [str(tmp_path / "env" / "bin" / "assay"), "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
