"""The language of rules: Boolean expressions over the labels of a task.

``->``, ``or``, ``and``, ``not``, ``==``, ``!=`` and ``exactly_one(...)``, ``at_most_one(...)``,
``at_least_one(...)``, from lowest to highest precedence. A bare label means that a binary label has
its second class ("yes"). A label that does not apply satisfies no comparison: ``a``, ``a == x``
and ``a != x`` are all false where ``a`` is not asked.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from numpy.typing import NDArray

from assay._util.errors import TaskError, suggest
from assay._util.typing import Bools
from assay._util.validation import cut

NOT_ASKED = -2
MAX_CHARACTERS = 10_000
MAX_DEPTH = 100
"""Largest number of nested operators of a rule."""

GRAMMAR = r"""
?start: implies
?implies: either | either "->" implies -> implies
?either: both ("or" both)*
?both: negation ("and" negation)*
?negation: "not" negation -> negation | atom
?atom: "(" implies ")"
     | COUNT "(" implies ("," implies)* ")" -> count
     | name "==" value -> equal
     | name "!=" value -> unequal
     | name -> label
name: NAME | STRING
value: NAME | STRING | NUMBER
COUNT.2: /(exactly_one|at_most_one|at_least_one)(?=\s*\()/
NAME: /(?!(?:and|or|not)\b)[^\W\d][\w.]*/
NUMBER: /-?\d+(\.\d+)?/
STRING: /"[^"]*"|'[^']*'/
%import common.WS
%ignore WS
"""

PLAIN = re.compile(r"(?!(?:and|or|not)$)[^\W\d][\w.]*|-?\d+(\.\d+)?")
"""Names and values that a rule may write without quotes."""

Codes = Mapping[str, NDArray[np.integer]]


@dataclass(frozen=True, kw_only=True)
class Expression:
    """A parsed rule: its text, the labels it names, and its evaluation."""

    text: str
    labels: tuple[str, ...]
    evaluate: Callable[[Codes], Bools]

    def __call__(self, codes: Codes) -> Bools:
        """Return whether the expression holds, for one array of class codes per label."""
        return self.evaluate(codes)


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


def parse(text: str, classes: Mapping[str, tuple[str, ...]]) -> Expression:
    """Parse a rule over labels with the given classes."""
    if len(text) > MAX_CHARACTERS:
        raise TaskError(
            f"rule {cut(text)} has {len(text):,} characters, but at most {MAX_CHARACTERS:,} are "
            "allowed",
            code="rule-syntax",
            numbers={"characters": len(text), "most": MAX_CHARACTERS},
        )
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        column = getattr(error, "column", None)
        place = (
            f" at character {column}" if isinstance(column, int) and column > 0 else " at its end"
        )
        raise TaskError(
            f"rule {cut(text)} cannot be read{place}; allowed: label names, ->, or, and, not, "
            "==, !=, exactly_one(...), at_most_one(...), at_least_one(...), parentheses. Quote "
            "names with characters other than letters, digits, dots and underscores",
            code="rule-syntax",
        ) from None
    if _depth(tree) > MAX_DEPTH:
        raise TaskError(
            f"rule {cut(text)} nests more than {MAX_DEPTH} operators. Write several rules",
            code="rule-syntax",
            numbers={"most": MAX_DEPTH},
        )
    used: list[str] = []
    evaluate = _compile(tree, text, classes, used)
    return Expression(text=text, labels=tuple(dict.fromkeys(used)), evaluate=evaluate)


def _depth(tree: Tree[Token]) -> int:
    """Return the depth of a tree, without recursion."""
    deepest, left = 0, [(tree, 1)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        left += [(child, depth + 1) for child in node.children if isinstance(child, Tree)]
    return deepest


def _compile(
    node: Tree[Token], text: str, classes: Mapping[str, tuple[str, ...]], used: list[str]
) -> Callable[[Codes], Bools]:
    """Turn a syntax tree into a function of class codes."""
    kind = node.data
    if kind in {"label", "equal", "unequal"}:
        return _comparison(node, text, classes, used)
    if kind == "count":
        head, *rest = node.children
        parts = [_compile(c, text, classes, used) for c in rest if isinstance(c, Tree)]
        compare = {"exactly_one": np.equal, "at_most_one": np.less_equal}.get(
            str(head), np.greater_equal
        )
        return lambda codes: np.asarray(compare(sum(p(codes).astype(int) for p in parts), 1))
    parts = [_compile(c, text, classes, used) for c in node.children if isinstance(c, Tree)]
    if kind == "implies":
        return lambda codes: ~parts[0](codes) | parts[1](codes)
    if kind == "negation":
        return lambda codes: ~parts[0](codes)
    join = np.logical_or if kind == "either" else np.logical_and
    return lambda codes: reduce(join, [p(codes) for p in parts])


def _word(token: object) -> str:
    """Return a name or a value without its enclosing quotes."""
    text = str(token)
    return text[1:-1] if text[0] in "\"'" else text


def as_written(name: str) -> str:
    """Write a name as in rules: in quotes if it is not plain."""
    quote = '"' if "'" in name else "'"
    return name if PLAIN.fullmatch(name) else f"{quote}{name}{quote}"


def _comparison(
    node: Tree[Token], text: str, classes: Mapping[str, tuple[str, ...]], used: list[str]
) -> Callable[[Codes], Bools]:
    words = [_word(c.children[0]) for c in node.children if isinstance(c, Tree)]
    label = words[0]
    if label not in classes:
        raise TaskError(
            f"rule {cut(text)} names {cut(label)}, which is not a label of the task; "
            f"{suggest(label, list(classes))}",
            code="unknown-label",
        )
    used.append(label)
    if node.data == "label":
        if not classes[label]:
            raise TaskError(
                f"rule {cut(text)} names {cut(label)}, whose classes come from the data. List "
                "the classes in the task file (classes = [...]), or leave the rule out",
                code="rule-open-classes",
            )
        if len(classes[label]) != 2:
            raise TaskError(
                f"rule {cut(text)} uses {label!r} as yes or no, but it has the classes "
                f"{', '.join(classes[label])}. "
                f"Write {as_written(label)} == {as_written(classes[label][0])}",
                code="rule-not-binary",
            )
        return lambda codes: codes[label] == 1
    if words[1] not in classes[label]:
        raise TaskError(
            f"rule {cut(text)}: {cut(words[1])} is not a class of {label!r}; "
            f"{suggest(words[1], list(classes[label]))}",
            code="unknown-class",
        )
    code = classes[label].index(words[1])
    if node.data == "equal":
        return lambda codes: codes[label] == code
    return lambda codes: (codes[label] != code) & (codes[label] != NOT_ASKED)
