"""Nothing heavy is imported before it is needed."""

import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

HEAVY = (
    "arviz", "matplotlib", "numba", "nutpie", "pymc", "pytensor", "xml.etree.ElementTree",
)  # fmt: skip
HELP = "import sys; sys.argv = ['assay', '--help']; from assay.cli import main; main()"


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONWARNINGS": "default", "COLUMNS": "120"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def seconds(code: str, bytecode: Path) -> float:
    """Processor time, the shortest of three runs: other work on the machine hardly moves it.

    A first run writes the bytecode, as a user's first run does, whatever this machine is set to.
    """
    environment = {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""}
    python(code, **environment)
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert python(code, **environment).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


@pytest.mark.parametrize(
    "code",
    [
        "import assay",
        "import assay; assay.load_task('retrieval')",
        "import assay; assay.Ratings; assay.read_ratings",
    ],
)
def test_import_is_light(code: str) -> None:
    done = python(f"{code}\nimport sys\nprint(*sorted(sys.modules))")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "assay" in loaded
    assert not loaded & set(HEAVY)


def test_import_of_the_package_alone_needs_no_pandas() -> None:
    done = python("import assay, sys; print('pandas' in sys.modules)")
    assert done.stdout == "False\n"


def test_every_public_name_resolves() -> None:
    done = python("import assay\nfor name in assay.__all__:\n    getattr(assay, name)")
    assert done.returncode == 0, done.stderr


def test_no_module_takes_the_place_of_a_public_name() -> None:
    """Whoever imports a module sets it as an attribute of the package."""
    done = python(
        "import assay, pkgutil\n"
        "print({m.name for m in pkgutil.iter_modules(assay.__path__)} & set(assay.__all__))"
    )
    assert done.stdout == "set()\n", done.stderr


def test_help_starts_about_as_fast_as_pandas(tmp_path: Path) -> None:
    done = python(HELP)
    assert done.returncode == 0, done.stderr
    assert "check" in done.stdout
    assert seconds(HELP, tmp_path) < 1.2 * seconds("import pandas", tmp_path)


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "assay", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"assay {version('assay')}\n"


def test_help_is_light() -> None:
    done = python(
        f"import atexit, sys\natexit.register(lambda: print('LOADED', *sys.modules))\n{HELP}"
    )
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert "assay.cli" in loaded
    assert not loaded & {*HEAVY, "pandas"}
