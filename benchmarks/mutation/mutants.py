"""Mutation testing: which share of small changes of the code do the tests notice?

    pip install --target LIBRARY cosmic-ray coverage
    PYTHONPATH=src:.:LIBRARY python -m benchmarks mutants comparison --draw 60 --seed 1
    PYTHONPATH=src:.:LIBRARY python -m benchmarks mutants comparison --again

A run over all mutants would take days, so a sample is drawn: places in the package at random, and
one change of cosmic-ray's at each. Annotations, decorators, messages of errors and text of
f-strings are left out. The tests run in a copy of the last commit. First, coverage says which tests
reach which line; then each mutant is tried by the tests that reach it, the quick ones first. Those
beyond ``--budget`` seconds are not run.

``--again`` tries the survivors with the tests of the last commit, in the sources of the first run.
Results go to ``results/mutants.csv``. Its last column is filled by hand: why a survivor is
equivalent to the original, or ``display`` for text that nobody computes with.
"""

import argparse
import ast
import difflib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).resolve().parent / "results" / "mutants.csv"
TESTS = {
    "comparison": [
        "tests/unit/comparison", "tests/properties/test_comparison.py",
        "tests/unit/validation/test_stability.py", "tests/unit/display/test_result_tables.py",
        "src/assay/comparison",
    ],
    "evaluation": [
        "tests/unit/evaluation", "tests/properties/test_metrics.py",
        "tests/exact/test_metric_oracles.py", "tests/exact/test_panels.py",
        "src/assay/evaluation",
    ],
    "likelihood": [
        "tests/unit/likelihood", "tests/properties/test_collapse.py",
        "tests/exact/test_likelihood.py", "tests/exact/test_layers.py",
        "tests/exact/test_density.py", "tests/exact/test_plain_density.py",
        "tests/exact/test_partition.py", "tests/exact/test_prevalence.py",
    ],
}  # fmt: skip
"""Where the tests of a package are. Tests elsewhere reach it too."""
COLUMNS = [
    "package", "commit", "seed", "file", "line", "operator", "occurrence", "change", "first",
    "last", "equivalent",
]  # fmt: skip
PYTEST = [
    "-q", "-n", "0", "-p", "no:cacheprovider",
    "--deselect=tests/unit/evaluation/test_draws.py::test_metrics_of_fifty_thousand_items"
    "_and_a_thousand_draws_stay_below_2_gb",
]  # fmt: skip
GRACE = 120.0
"""Seconds that a mutant may take beyond three times what its tests took."""


@dataclass(frozen=True)
class Mutant:
    """One change at one place, by cosmic-ray's operator and occurrence."""

    file: str
    line: int
    operator: str
    occurrence: int

    def of(self, code: bytes) -> str:
        """Return the changed source."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        return str(mutate_code(code, get_operator(self.operator)(), self.occurrence))


def drawn(tree: Path, package: str, draw: int, seed: int) -> list[Mutant]:
    """Draw places of a package, and one mutant at each."""
    places: dict[tuple[str, Any], list[Mutant]] = {}
    for path in sorted((tree / "src/assay" / package).glob("*.py")):
        for start, mutant in _mutants(path, path.relative_to(tree).as_posix()):
            places.setdefault((mutant.file, start), []).append(mutant)
    rng = random.Random(seed)
    return [rng.choice(places[place]) for place in rng.sample(sorted(places), draw)]


def _mutants(path: Path, name: str) -> Iterator[tuple[Any, Mutant]]:
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.plugins import get_operator, operator_names

    text = path.read_text("utf-8")
    skipped, lines = _skipped(ast.parse(text)), text.splitlines()
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for operator in operator_names():
        made = get_operator(operator)
        if made.arguments() or "Decorator" in operator:
            continue
        spans = [span for node in nodes for span in made().mutation_positions(node)]
        for occurrence, (start, _) in enumerate(spans):
            in_words = any(low <= start < high for low, high in skipped)
            if not in_words and not _is_star(lines[start[0] - 1], start[1]):
                yield start, Mutant(name, start[0], operator, occurrence)


def _is_star(line: str, column: int) -> bool:
    """Return whether a star unpacks or sets arguments apart, where cosmic-ray sees a product."""
    before = line[:column].rstrip()
    starts = not before or before[-1] in "([{,=:"
    return starts and line[column] == "*" and not line[column:].startswith(("* ", "** "))


def _skipped(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the places where a change means nothing: types, decorators, words."""
    nodes: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            nodes += [*node.decorator_list, *filter(None, [node.returns])]
        elif isinstance(node, ast.ClassDef):
            nodes += node.decorator_list
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            nodes.append(node.annotation)
        elif isinstance(node, ast.JoinedStr):
            nodes.append(node)
        elif isinstance(node, ast.Raise) and node.exc:
            nodes.append(node.exc)
    for node in tree.body:  # names of types
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
            nodes.append(node.value)
    return [
        ((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset))  # type: ignore[attr-defined]
        for n in nodes
    ]


class Reach:
    """A plugin of pytest: which test reaches which line, and how long it takes."""

    def __init__(self, tree: Path, package: str) -> None:
        import coverage

        self.coverage = coverage.Coverage(
            data_file=None, source=[str(tree / "src/assay" / package)], config_file=False
        )
        self.seconds: dict[str, float] = {}
        self.coverage.start()
        self.coverage.switch_context("import")

    def pytest_runtest_setup(self, item: Any) -> None:
        """Count what a fixture reaches for all tests of its file."""
        self.coverage.switch_context(item.nodeid.partition("::")[0])

    def pytest_runtest_call(self, item: Any) -> None:
        """Count what a test reaches for it."""
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the time of a test that passes."""
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration

    def write(self, tree: Path, path: Path) -> None:
        """Write the tests of each line of each file."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            Path(file).relative_to(tree).as_posix(): {
                str(line): [c for c in contexts if c not in ("", "import")]
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        path.write_text(json.dumps({"seconds": self.seconds, "lines": lines}))


def reaching(reach: dict[str, Any], mutant: Mutant, code: bytes, budget: float) -> list[str]:
    """Return the tests that reach the statement of a mutant, the quick ones first."""
    lines, seconds = reach["lines"].get(mutant.file, {}), reach["seconds"]
    low, high = _statement(ast.parse(code), mutant.line)
    heard = {c for n in range(low, high + 1) for c in lines.get(str(n), [])}
    if not heard:  # run on import
        heard = {c for contexts in lines.values() for c in contexts}
    chosen = [t for t in seconds if t in heard or t.partition("::")[0] in heard]
    kept, spent = [], 0.0
    for test in sorted(chosen, key=lambda t: seconds[t]):
        spent += seconds[test]
        if spent > budget and kept:
            break
        kept.append(test)
    return kept


def _statement(tree: ast.Module, line: int) -> tuple[int, int]:
    """Return the lines of the smallest statement at a line; of a compound one, its head.

    A default value is run on import, so that the head of a function has the lines of its body.
    """
    found = (line, line)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            body = getattr(node, "body", None)
            if not body:
                found = (node.lineno, node.end_lineno or line)
            elif line < body[0].lineno and isinstance(node, ast.FunctionDef):
                found = (body[0].lineno, node.end_lineno or line)
            elif line < body[0].lineno:
                found = (node.lineno, body[0].lineno - 1)
    return found


def in_child(tree: Path, log: Path, given: Sequence[str], limit: float, plugin: Any = None) -> str:
    """Run pytest in a fork, which has the other packages imported; returns what became of it."""
    import pytest

    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(tree)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.path[:0] = [str(tree / "src"), str(tree)]
        sys.dont_write_bytecode = plugin is None  # of a mutant
        made = plugin() if plugin else None
        status = int(pytest.main([*PYTEST, *given], plugins=[made] if made else []))
        if made:
            made.write(tree, log.with_suffix(".json"))
        os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "killed"
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timed out"


def tried(tree: Path, mutant: Mutant, reach: dict[str, Any], budget: float, log: Path) -> str:
    """Write a mutant into the copy, run its tests and put the source back."""
    path = tree / mutant.file
    code, times = path.read_bytes(), path.stat()
    tests = reaching(reach, mutant, code, budget)
    if not tests:
        return "survived"
    limit = GRACE + 3 * sum(reach["seconds"][test] for test in tests)
    try:
        path.write_text(mutant.of(code), encoding="utf-8")
        os.utime(path, (1e9, 1e9))  # no byte code of another source is taken for its own
        return in_child(tree, log, ["-x", *tests], limit)
    finally:
        path.write_bytes(code)
        os.utime(path, (times.st_atime, times.st_mtime))


def change_of(mutant: Mutant, code: bytes) -> str:
    """Return the lines that a mutant changes, before and after."""
    before, after = code.decode().splitlines(), mutant.of(code).splitlines()
    diff = [d for d in difflib.ndiff(before, after) if d[:2] in ("- ", "+ ")]
    return " -> ".join(d[2:].strip() for d in diff)


def copy_of(commit: str, folder: Path, parts: Sequence[str] = ()) -> None:
    """Unpack a commit, or parts of it, into a folder."""
    folder.mkdir(exist_ok=True)
    packed = subprocess.run(["git", "archive", commit, *parts], cwd=ROOT, stdout=-1, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)


def changed_tests(commit: str) -> list[str]:
    """Return the files of tests that are new or differ since a commit."""
    command = ["git", "diff", "--name-only", "--diff-filter=d", commit, "HEAD", "--", "tests"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split()
    return [name for name in names if Path(name).name.startswith("test_")]


def reach_of(tree: Path, package: str, changed: Sequence[str]) -> dict[str, Any]:
    """Return what each test reaches: as kept beside the copy, and anew for changed files."""
    kept, log = tree.with_suffix(".reach.json"), tree.with_suffix(".log")
    reach: dict[str, Any] = {"seconds": {}, "lines": {}}
    if kept.exists():
        reach = json.loads(kept.read_text())
    done = {test.partition("::")[0] for test in reach["seconds"]}
    own = TESTS[package]
    files = [name for name in changed if name.startswith(tuple(own))]
    for test in [one for one in reach["seconds"] if one.partition("::")[0] in files]:
        del reach["seconds"][test]  # it may be gone
    files += [name for name in own if not any(one.startswith(name) for one in done)]
    if not files:
        return reach
    in_child(tree, log, files, 3600, lambda: Reach(tree, package))
    found = json.loads(log.with_suffix(".json").read_text())
    reach["seconds"] |= found["seconds"]
    for file, lines in found["lines"].items():
        known = reach["lines"].setdefault(file, {})
        for line, contexts in lines.items():
            known[line] = sorted({*known.get(line, []), *contexts})
    kept.write_text(json.dumps(reach))
    return reach


def preload() -> None:
    """Import the other packages once, so that each mutant's run begins with them."""
    code = (
        "import sys, pymc, assay; [getattr(assay, n) for n in dir(assay)];"
        "print(*sorted(n for n in sys.modules if not n.startswith(('assay', '__'))), sep=chr(10))"
    )
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True)
    for name in out.stdout.decode().split():
        try:
            __import__(name)
        except Exception:  # a part of a package that another part makes
            continue


def counts(table: pd.DataFrame) -> list[str]:
    """Return the lines of the page's table: killed before and after are of those not equivalent.

    The columns: package, drawn, equivalent, killed at first, killed at last, of these timed out,
    survived.
    """
    lines = []
    for package, of in table.groupby("package", sort=False):
        real = of[of["equivalent"] == ""]
        killed = [int((real[when] != "survived").sum()) for when in ("first", "last")]
        shares = [f"{n} of {len(real)} ({n / len(real):.0%})".replace("%", " %") for n in killed]
        late = (real["last"] == "timed out").sum()
        cells = [package, len(of), len(of) - len(real), *shares, late, len(real) - killed[1]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def main() -> None:
    """Draw mutants or take the survivors, try them, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("package", choices=list(TESTS))
    parser.add_argument("--draw", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant")
    parser.add_argument("--again", action="store_true", help="only the survivors, with new tests")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "mutants")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    table = pd.read_csv(RESULTS, keep_default_na=False) if RESULTS.exists() else pd.DataFrame()
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    mine = table[table["package"] == given.package] if len(table) else table
    commit = mine["commit"].iloc[0] if given.again else head
    given.folder.mkdir(exist_ok=True, parents=True)
    tree = given.folder / given.package
    copy_of(commit, tree)
    if given.again:
        copy_of(head, tree, ["tests"])
    preload()

    log = given.folder / f"{given.package}.log"
    reach = reach_of(tree, given.package, [] if commit == head else changed_tests(commit))
    if given.again:
        rows = mine[(mine["last"] == "survived") & (mine["equivalent"] == "")]
        for place, row in rows.iterrows():
            mutant = Mutant(row["file"], row["line"], row["operator"], row["occurrence"])
            own = log.with_suffix(f".{place}.log")
            table.loc[place, "last"] = tried(tree, mutant, reach, given.budget, own)
            table.to_csv(RESULTS, index=False)
        return
    table = table[table["package"] != given.package] if len(table) else table
    for mutant in drawn(tree, given.package, given.draw, given.seed):
        change = change_of(mutant, (tree / mutant.file).read_bytes())
        outcome = tried(tree, mutant, reach, given.budget, log)
        line = [
            given.package, head[:8], given.seed, mutant.file, mutant.line, mutant.operator,
            mutant.occurrence, change, outcome, outcome, "",
        ]  # fmt: skip
        table = pd.concat([table, pd.DataFrame([line], columns=COLUMNS)], ignore_index=True)
        table.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
