"""Mutation testing: which places are drawn from, which tests try a mutant, and the counts."""

import ast
from pathlib import Path

import pandas as pd

from benchmarks.mutation.mutants import (
    RESULTS,
    Mutant,
    _is_star,
    _skipped,
    _statement,
    counts,
    reaching,
)

CODE = """\
@dataclass(frozen=True)
class A:
    x: int | None = 1 + 2


def f(*given, level: float | None = 0.95, **more):
    total = sum(
        given[0] * 2,
        level,
    )
    if total > 3:
        raise ValueError("a" + "b")
    return f"{total - 1}"
"""


def test_types_decorators_and_words_are_left_out() -> None:
    lines = CODE.splitlines()
    spans = _skipped(ast.parse(CODE))
    skipped = [lines[low[0] - 1][low[1] : high[1]] for low, high in spans]
    assert sorted(skipped) == sorted(
        ["dataclass(frozen=True)", "int | None", "float | None", 'ValueError("a" + "b")',
         'f"{total - 1}"']
    )  # fmt: skip
    stars = [(n, c) for n, line in enumerate(lines) for c, s in enumerate(line) if s == "*"]
    found = [lines[n][c:].split()[0] for n, c in stars if _is_star(lines[n], c)]
    assert found == ["*given,", "**more):"]


def test_a_mutant_has_the_tests_of_its_statement_the_quick_ones_first() -> None:
    tree = ast.parse(CODE)
    assert _statement(tree, 8) == (7, 10)
    assert _statement(tree, 11) == (11, 11)
    assert _statement(tree, 6) == (7, 13)  # defaults: the lines of the body
    reach = {
        "seconds": {"a.py::slow": 9.0, "a.py::quick": 1.0, "b.py::other": 0.1, "b.py::own": 2.0},
        "lines": {"f.py": {"7": ["a.py"], "12": ["b.py::own"]}},
    }
    tried = [
        reaching(reach, Mutant("f.py", line, "", 0), CODE.encode(), budget)
        for line, budget in ((8, 60.0), (12, 60.0), (8, 5.0))
    ]
    assert tried == [["a.py::quick", "a.py::slow"], ["b.py::own"], ["a.py::quick"]]


def test_counts_leave_equivalent_mutants_out_and_are_those_of_the_page() -> None:
    lines = [("killed", ""), ("timed out", ""), ("survived", ""), ("survived", "the same value")]
    table = pd.DataFrame(lines, columns=["last", "equivalent"]).assign(package="p")
    table["first"] = "survived"
    (row,) = counts(table)
    assert row == "| p | 4 | 1 | 0 of 3 (0 %) | 2 of 3 (67 %) | 1 | 1 |"
    page = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text("utf-8")
    results = pd.read_csv(RESULTS, keep_default_na=False)
    for row in counts(results):
        assert row in page
    left = results[(results["last"] == "survived") & (results["equivalent"] == "")]
    for name, line in zip(left["file"], left["line"], strict=True):
        assert f"`{name.removeprefix('src/assay/')}`, line {line}" in page
