"""Arguments that messages mark, and the options that stand for them."""

import ast
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import assay
from assay.cli.arguments import OTHER_NAMES, in_options, option_of, values_of
from assay.cli.fitting_options import Fitting
from assay.cli.reading_options import Reading

SOURCE = Path(assay.__file__).parent
CODE_OF_THE_USER = ("evaluation/select.py",)
"""Files whose texts show code that a user writes into a file."""
PYTHON_ALONE = {
    "additive", "address", "asynchronous", "ax", "better", "client", "clusters", "contrast",
    "executor", "fit", "gains", "informed", "out", "ratings_per_item",
    "reading", "retriever", "scores", "when",
}  # fmt: skip
"""Arguments that messages name and the command line does not have."""
NAMED = re.compile(r"(?<![\w.\[])([a-z_]+|\0)=(?![=?])")
CODE = re.compile(r"`([^`]*)`")


NO_ARGUMENTS = (
    "_util/validation.py", "cli/arguments.py", "comparison/counts.py", "data/states.py",
    "evaluation/prevalence.py", "inference/diagnostics.py", "io/files/delimited.py",
    "io/multi_select.py", "io/wide_tables.py", "modelling/confusion.py",
    "modelling/families/joint.py", "modelling/formula_trees.py", "modelling/layers/impressions.py",
    "reporting/data.py", "reporting/next_command.py",
)  # fmt: skip
"""Files with texts that set something equal that is no argument, such as a label and its class."""


def public_arguments() -> set[str]:
    """Return the names of the arguments of all public functions."""
    found = (getattr(assay, name) for name in assay.__all__)
    return {
        argument
        for one in found
        if inspect.isfunction(one)
        for argument in inspect.signature(one).parameters
    }


def texts() -> Iterator[tuple[str, str]]:
    """Yield where each text of the source stands, with zeros for what is filled in."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        within = {
            id(one)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr | ast.Expr)
            for one in ([node.value] if isinstance(node, ast.Expr) else node.values)
        }
        for node in ast.walk(tree):
            if place in CODE_OF_THE_USER or id(node) in within:
                continue
            if isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "\0" for p in node.values)
                yield f"{place}:{node.lineno}", "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{place}:{node.lineno}", node.value


def marked() -> set[str]:
    """Return the arguments that messages mark with their name."""
    spans = (span for _, text in texts() for span in CODE.findall(text))
    return {match for span in spans for match in NAMED.findall(span) if match != "\0"}


def test_no_message_names_an_argument_that_is_not_marked() -> None:
    public = public_arguments()
    bare = [
        (place, text)
        for place, text in texts()
        for name in NAMED.findall(CODE.sub("", text))
        if not text.startswith("<")  # HTML has attributes
        if name in public or (name == "\0" and not place.startswith(NO_ARGUMENTS))
    ]
    assert bare == []


def test_each_marked_argument_is_an_option_or_of_python_alone() -> None:
    found = marked()
    assert {"rank", "classes", "estimand", "draws"} <= found
    assert found - set(option_of()) == PYTHON_ALONE


def test_options_stand_for_arguments_of_the_functions() -> None:
    assert set(OTHER_NAMES) <= public_arguments()
    options = {one.name for one in fields(Reading)} | {one.name for one in fields(Fitting)}
    assert options <= set(option_of())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("several: `item=['query', 'chunk']`", "several: --item query --item chunk"),
        ('name it: `rater="..."`', "name it: --rater ..."),
        ("in order: `sessions=[...]`", "in order: --sessions ..."),
        ('`labels={"relevant": "Is it?"}`', "--labels 'relevant=Is it?'"),
        ("`audit=''`", "--audit ''"),
        ("`stability=True`, or not", "--stability, or not"),
        ("`budget=False`, or not", "--no-budget, or not"),
        ("use `reference=None` (one consensus)", "use no --reference (one consensus)"),
        ("`score_range=(0, 100)` and `rope=(0.1, 0.2)`", "--score-range 0 100 and --rope 0.1,0.2"),
        ("(`target_accept=0.98`)", "(--target-accept 0.98)"),
        ("`method='nuts', draws=2000`", "--method nuts --draws 2000"),
        ("`raters={group: recipe}`", "--raters group=recipe"),
        ("`rng=3` and `mylabel=` and `score=x`", "--seed 3 and `mylabel=` and --score x"),
        ("`labels={no value}`", "`labels={no value}`"),
        ("draws= and draws=3 of a user", "draws= and draws=3 of a user"),
        ("write `ordered = true`, `", "write `ordered = true`, `"),
        ("`assay.agreement(ratings, fit=fit)`", "`assay.agreement(ratings, fit=fit)`"),
        ("`method='nuts', gains={}`", "`method='nuts', gains={}`"),
        ("`draws=1, **more`", "`draws=1, **more`"),
        ("a ` b, `classes={'x': {'a`b': 'c'}}` d", "a ` b, --word 'x:a`b=c' d"),
    ],
)
def test_values_are_written_as_they_are_typed(text: str, said: str) -> None:
    assert in_options(text) == said


def test_options_take_as_many_values_as_they_define() -> None:
    options = ("--item", "--score-range", "--wide", "--json")
    assert [values_of(option) for option in options] == [1, 2, math.inf, 0]
