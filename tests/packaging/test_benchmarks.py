"""``python -m benchmarks`` lists every script that can be run, and all of them can be imported."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from assay.cli import app
from benchmarks.__main__ import benchmarks, listing, main
from benchmarks.record import COMMANDS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
QUESTIONS = sorted(path.parent.name for path in FOLDER.glob("*/README.md"))
HELPERS = {"growth_point", "peers_assay", "peers_check", "peers_em", "peers_numpyro", "peers_stan"}
"""Scripts that others run, in processes of their own."""


def has_main(path: Path) -> bool:
    return 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")


def test_every_script_with_a_command_is_listed_below_its_question() -> None:
    scripts = {path.stem for path in FOLDER.glob("*/*.py") if has_main(path)}
    assert set(benchmarks()) == scripts - HELPERS
    assert scripts >= HELPERS
    told = listing()
    assert [line.partition(":")[0] for line in told.splitlines() if line[:1].isalpha()] == QUESTIONS
    for name in benchmarks():
        assert re.search(rf"^  {name} +\S", told, re.MULTILINE), name


def test_each_readme_has_each_script_and_where_its_results_are_from() -> None:
    assert QUESTIONS == [
        "calibration", "dependence", "mutation", "real_data", "scaling", "speed", "worlds"
    ]  # fmt: skip
    for question in QUESTIONS:
        text = (FOLDER / question / "README.md").read_text(encoding="utf-8")
        assert f"[`{question}/`]" in (FOLDER / "README.md").read_text(encoding="utf-8")
        assert re.search(r"^Results: 20\d\d-\d\d-\d\d", text, re.MULTILINE), question
        for name, path in benchmarks().items():
            assert (path.parent.name != question) or f"`{name}.py`" in text


def test_the_record_has_a_call_of_every_command() -> None:
    program = get_command(app)
    groups = {name: one for name, one in program.commands.items() if hasattr(one, "commands")}
    every = {name for name in program.commands if name not in groups} - {"demo"}
    every |= {f"{group} {name}" for group, one in groups.items() for name in one.commands}
    called = [" ".join(words) for words in COMMANDS.values()]
    assert [name for name in every if not any(call.startswith(f"{name} ") for call in called)] == []


def test_a_name_that_is_none_is_refused_with_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario"]) == 2
    assert capsys.readouterr().err == "There is no benchmark scenario; there is scenarios\n"


def test_a_script_runs_with_its_own_options() -> None:
    command = [sys.executable, "-m", "benchmarks", "rare_events", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--sets" in done.stdout


def test_what_scripts_import_of_each_other_is_there() -> None:
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module.startswith("benchmarks"):
                continue
            where = ROOT / node.module.replace(".", "/")
            for alias in node.names:
                if where.is_dir():
                    assert (where / f"{alias.name}.py").is_file(), (path, alias.name)
                else:
                    source = where.with_suffix(".py").read_text(encoding="utf-8")
                    assert re.search(rf"\b{alias.name}\b", source), (path, alias.name)


def test_the_results_that_a_page_reads_are_there() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"benchmarks/\w+/results/[\w/]*\w\.(?:csv\.gz|csv|png|json)", text):
            assert (ROOT / name).is_file(), (page.name, name)
