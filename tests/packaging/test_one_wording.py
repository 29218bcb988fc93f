"""Tests repeat no sentence of a message: they assert its code, its numbers and names."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from prose import literals, template

import assay

UNIT = Path(__file__).resolve().parents[1] / "unit"
SOURCE = Path(assay.__file__).parent
RUN = 6
"""Words in a row that are a wording."""
WITH_WORDINGS = {
    "comparison/test_claims.py": "a claim is a sentence of the user",
    "modelling/families/test_families.py": "an opinion on a prior is a sentence of the user",
    "modelling/test_elicitation.py": "likewise",
    "modelling/test_priors.py": "likewise",
    "reporting/test_advice.py": "what a report cuts from a warning of a fit",
}
"""Tests that have words of messages, and why."""


def runs(node: ast.AST) -> Iterator[str]:
    """Yield each run of words of the texts in some code, between their placeholders."""
    for one in literals(node):
        for part in (template(one) or "").split("Value"):
            words = re.findall(r"[\w'=%-]+", part)
            yield from (" ".join(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def parts(path: Path, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of some kinds in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def makes_a_message(function: ast.AST) -> bool:
    """Whether a function gives a code."""
    return any(isinstance(n, ast.keyword) and n.arg == "code" for n in ast.walk(function))


@cache
def worded() -> frozenset[str]:
    """Return the runs of words in all functions that make messages."""
    made = (f for path in SOURCE.rglob("*.py") for f in parts(path, ast.FunctionDef))
    return frozenset(
        run for function in made if makes_a_message(function) for run in runs(function)
    )


def wordings(path: Path) -> set[str]:
    """Return the words of messages that a file of tests asserts, alone or in a table of cases."""
    asserting = (ast.Assert, ast.Dict, ast.List, ast.Tuple, ast.keyword)
    return {run for node in parts(path, *asserting) for run in runs(node) if run in worded()}


def test_no_other_test_has_the_words_of_a_message() -> None:
    found = {path.relative_to(UNIT).as_posix(): wordings(path) for path in UNIT.rglob("test_*.py")}
    assert {name: said for name, said in found.items() if said and name not in WITH_WORDINGS} == {}
    assert [name for name in WITH_WORDINGS if not found[name]] == []
