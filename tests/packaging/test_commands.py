"""The README has two commands that set themselves up, and .ci/run runs the second."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiers import LONG_FROM, is_long, long_ones

ROOT = Path(__file__).parents[2]
SETUP = "python3.12 -m venv .venv && "
MARKED = re.compile(r"^<!-- (\w+) -->\n+```\w*\n(.*?)\n```$", flags=re.MULTILINE | re.DOTALL)


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> dict[str, str]:
    """The fenced block after each marker comment."""
    return dict(MARKED.findall(readme()))


def test_readme_has_exactly_two_commands() -> None:
    assert list(commands()) == ["demo", "tests"]
    assert readme().count("-m venv") == 2


@pytest.mark.parametrize("name", ["demo", "tests"])
def test_command_is_one_line_that_sets_itself_up(name: str) -> None:
    command = commands()[name]
    assert "\n" not in command
    assert command.startswith(SETUP)
    assert "-c constraints.txt" in command


def test_commands_end_with_what_they_are_for() -> None:
    assert commands()["demo"].endswith(".venv/bin/assay demo")
    steps = commands()["tests"].split(" && ")
    assert [step.removeprefix(".venv/bin/") for step in steps[-5:]] == [
        "ruff check .",
        "ruff format --check .",
        "mypy",
        "lint-imports",
        "python -m pytest",
    ]


def checkout(folder: Path, *, text: str) -> Path:
    """A folder with the real .ci/run beside a README of our own."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    (folder / "README.md").write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, path: str | None = None, *tier: str) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    assert bash is not None
    environment = os.environ | ({"PATH": path} if path else {})
    return subprocess.run(
        [bash, str(folder / ".ci" / "run"), *tier],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def with_python(folder: Path) -> str:
    """A PATH on which python3.12 is there, whatever this machine has."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python3.12").symlink_to(shutil.which("true") or "/bin/true")
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def test_ci_runs_the_command_of_the_readme(tmp_path: Path) -> None:
    text = "<!-- demo -->\n```sh\nfalse\n```\n<!-- tests -->\n\n```sh\necho a && echo b\n```\n"
    done = run(checkout(tmp_path, text=text), with_python(tmp_path))
    assert done.returncode == 0
    assert done.stdout == "+ echo a && echo b\na\nb\n"


def test_the_fast_tier_is_the_command_on_fewer_tests(tmp_path: Path) -> None:
    folder = checkout(tmp_path, text="<!-- tests -->\n```sh\necho a && echo b\n```\n")
    done = run(folder, with_python(tmp_path), "fast")
    assert done.stdout.endswith("a\nb --fast tests/unit tests/exact tests/fuzz\n")


def test_long_tests_are_noted_and_left_out() -> None:
    timed = [
        SimpleNamespace(nodeid="tests/a.py::one[x]", when="call", duration=LONG_FROM),
        SimpleNamespace(nodeid="tests/a.py::two", when="call", duration=LONG_FROM / 2),
        SimpleNamespace(nodeid="tests/b.py::three", when="setup", duration=2 * LONG_FROM),
    ]
    long = long_ones(timed)
    assert long == ["tests/a.py::one[x]", "tests/b.py"]
    left_out = ["tests/a.py::one[x]", "tests/b.py::three", "tests/b.py::four"]
    assert all(is_long(test, long) for test in left_out)
    assert not any(is_long(test, long) for test in ("tests/a.py::two", "tests/a.py::one[y]"))


def test_ci_fails_as_the_command_fails(tmp_path: Path) -> None:
    text = "<!-- tests -->\n```sh\nexit 7 && echo b\n```\n"
    assert run(checkout(tmp_path, text=text), with_python(tmp_path)).returncode == 7


def test_ci_without_a_command_says_so(tmp_path: Path) -> None:
    done = run(checkout(tmp_path, text="```sh\necho a\n```\n"), with_python(tmp_path))
    assert done.returncode == 2
    assert "<!-- tests -->" in done.stderr


def test_ci_without_python_says_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("awk", "dirname"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = run(checkout(tmp_path, text="<!-- tests -->\n```sh\necho a\n```\n"), str(tools))
    assert done.returncode == 2
    assert "install Python 3.12" in done.stderr
