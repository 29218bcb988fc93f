"""List the benchmarks, or run one of them.

    python -m benchmarks
    python -m benchmarks scenarios --runs 20 --seed 1

A benchmark is a script in the folder of its question whose docstring says so: it has a line that
begins with ``python -m benchmarks NAME``. Options after the name are its own, see ``--help``.
"""

import ast
import subprocess
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def benchmarks() -> dict[str, Path]:
    """Return the scripts by name, in the order of their questions."""
    return {
        path.stem: path
        for path in sorted(FOLDER.glob("*/*.py"))
        if f"python -m benchmarks {path.stem}" in _docstring(path)
    }


def listing() -> str:
    """Return the benchmarks below their questions, with the first line of what each says."""
    lines: list[str] = []
    question = ""
    for name, path in benchmarks().items():
        if path.parent.name != question:
            question = path.parent.name
            readme = (path.parent / "README.md").read_text("utf-8").splitlines()
            lines += ["", f"{question}: {readme[2]}"]
        lines.append(f"  {name:21} {_docstring(path).partition(chr(10))[0]}")
    return "\n".join(lines[1:])


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def main(given: Sequence[str]) -> int:
    """Do what the command line asks for; returns the exit status."""
    if not given:
        sys.stdout.write(f"{listing()}\n")
        return 0
    name, *options = given
    found = benchmarks()
    if name not in found:
        near = get_close_matches(name, found, n=3) or list(found)
        sys.stderr.write(f"There is no benchmark {name}; there is {', '.join(near)}\n")
        return 2
    module = f"benchmarks.{found[name].parent.name}.{name}"
    return subprocess.run([sys.executable, "-m", module, *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
