"""Whatever a formula says: what passes holds columns, numbers and transforms, and nothing else."""

from contextlib import suppress
from typing import Any

import pytest
from formulae.expr import Call, Variable
from formulae.parser import Parser
from formulae.scanner import Scanner
from hypothesis import given, settings
from hypothesis import strategies as st

from assay._util.errors import ModelError
from assay.modelling.formula_trees import ARGUMENTS, walk
from assay.modelling.spec import check_formula, covariate_names

QUOTES = st.sampled_from(["'", '"', "`", "", "\\'"])
CHAINS = st.sampled_from(
    ["pd.io.common.os.system", "np.load", "exec", "x.__class__", "__import__", "open", "os.system"]
)
LEAVES = st.one_of(
    st.sampled_from(["x", "length", "1", "0", "2.5", "`a b`", "True", "None"]),
    CHAINS,
    st.builds(lambda a, b, t: f"{a}{t}{b}", QUOTES, QUOTES, st.text("ab()+.'\"`", max_size=6)),
)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "*", ":", "-", "/", "|", "**", "==", "=", ",", "~", ".", ""])
    called = st.one_of(st.sampled_from(sorted(ARGUMENTS)), CHAINS, QUOTES)
    return st.one_of(
        st.builds(lambda a, o, b: f"{a} {o} {b}", inner, operators, inner),
        st.builds(lambda c, a, b: f"{c}({a}, {b})", called, inner, inner),
        st.builds(lambda c, a: f"{c}({a})", called, inner),
        st.builds(lambda f, a: f.format(a), st.sampled_from(["({})", "{{{}}}", "[{}]"]), inner),
        st.builds(lambda a, t: f"{t}{a}{t}", inner, QUOTES),
    )


FORMULAS = st.one_of(st.recursive(LEAVES, grown, max_leaves=12), st.text(max_size=30))


@settings(max_examples=400, deadline=None)
@given(FORMULAS)
def test_what_passes_calls_transforms_of_columns_alone(text: str) -> None:
    with suppress(ModelError):
        written = check_formula(text)
        tokens = Scanner(written.removeprefix("~ ")).scan()
        assert not [t for t in tokens if t.kind == "IDENTIFIER" and "." in t.lexeme]
        parser = Parser(tokens)
        nodes: list[Any] = list(walk(parser.parse()))
        assert parser.at_end()
        calls = [node for node in nodes if isinstance(node, Call)]
        assert all(isinstance(call.callee, Variable) for call in calls)
        assert {call.callee.name.lexeme for call in calls} <= set(ARGUMENTS)
        assert check_formula(written) == written
        assert set(covariate_names(written)) == set(covariate_names(text))


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_text_of_one_quote_passes(quote: str) -> None:
    text = f"~ I(x == {quote}a b{quote})"
    assert check_formula(text) == text
