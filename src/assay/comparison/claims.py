"""The language of claims about systems, and its parser: ``B > A by 0.03 on m``, ``B < 0.5 * A on
m``, ``B = A within 0.02 on m``, ``m of B < 0.1``, ``m < 0.1``; also ``>=``, ``<=``. Names with
spaces or signs stand in quotes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from assay._util.errors import ArgumentError
from assay._util.typing import Bools, Floats
from assay._util.validation import cut, written
from assay.comparison.contrasts import TIE, contrast

Relation = Literal[">", ">=", "<", "<=", "="]
RELATIONS: dict[str, Relation] = {
    ">": ">", ">=": ">=", "≥": ">=", "<": "<", "<=": "<=", "≤": "<=", "=": "=", "==": "=",
}  # fmt: skip

MAX_CHARACTERS = 1_000

GRAMMAR = r"""
?start: pair | equality | bound
pair: name ORDER [NUMBER "*"] name ["by"i NUMBER] "on"i name
equality: name EQUAL [NUMBER "*"] name "within"i NUMBER "on"i name
bound: name ["of"i name] ORDER NUMBER
name: NAME | NUMBER | STRING
ORDER: ">=" | "<=" | ">" | "<" | "≥" | "≤"
EQUAL: "==" | "="
NUMBER.2: /[+\-\u2212]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![^\s<>=≥≤*])/
NAME: /[^\s"'“”<>=≥≤*\[\]]+(\[[^\]]*\])?/
STRING: /"[^"]*"|'[^']*'|“[^”]*”/
%ignore /\s+/
"""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement about one metric that is true or false in each draw.

    system : the system it is about; None for all panels pooled
    other : the system it is compared with; None if compared with a number
    number : the margin (``by``, ``within``; 0 if none) or, without ``other``, the bound
    factor : factor of the other system's value
    """

    text: str
    metric: str
    system: str | None
    other: str | None
    relation: Relation
    number: float
    factor: float = 1.0

    @property
    def subject(self) -> str:
        """Name of the number that the claim bounds: a system's value, or a difference."""
        if self.other is not None:
            return contrast(str(self.system), self.other, self.factor)
        return "it" if self.system is None else f"that of {self.system}"

    @property
    def region(self) -> tuple[float, float]:
        """The interval of the subject's values for which the claim is true."""
        if self.relation == "=":
            return -self.number, self.number
        upward = self.relation in (">", ">=")
        end = self.number if upward or self.other is None else -self.number
        return (end, np.inf) if upward else (-np.inf, end)

    @property
    def closed(self) -> bool:
        """Whether the ends of the region belong to it."""
        return self.relation not in (">", "<")

    def holds(self, values: Floats) -> Bools:
        """Return whether the claim is true for each value of the subject; false for NaN."""
        low, high = self.region
        # A closed end includes values within rounding error of it; an open end excludes them.
        slack = TIE if self.closed else -TIE
        return np.asarray((values >= low - slack) & (values <= high + slack))


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=True)


def parse_claim(text: str) -> Claim:
    """Read a claim.

    Parameters
    ----------
    text : str
        In one of the forms

        * ``B > A on ndcg_at_k``: higher (``>=``, ``<``, ``<=`` likewise);
        * ``B > A by 0.03 on ndcg_at_k``: higher by more than that, ``B < A by 0.03 on ...``
          lower by more than that; a negative margin claims non-inferiority;
        * ``B < 0.5 * A on unsupported_claim_rate``: less than half as high;
        * ``B = A within 0.02 on ndcg_at_k``: practically equal;
        * ``unsupported_claim_rate of B < 0.1``, or without ``of`` for all panels pooled.

        Names that hold spaces or are words of the language stand in quotes.

    Returns
    -------
    Claim

    Raises
    ------
    ArgumentError
        If the text is no claim, or it compares a system with itself.

    Examples
    --------
    >>> claim = parse_claim('"system B" > A by 0.03 on ndcg_at_k')
    >>> claim.system, claim.other, claim.relation, claim.number, claim.metric
    ('system B', 'A', '>', 0.03, 'ndcg_at_k')
    """
    if not isinstance(text, str):
        raise ArgumentError(f"claim {written(text)} is no text; {FORMS}", code="claim-syntax")
    if len(text) > MAX_CHARACTERS:
        raise ArgumentError(
            f"claim {cut(text)} has {len(text):,} characters; at most {MAX_CHARACTERS} are allowed",
            code="claim-syntax",
            numbers={"characters": len(text), "most": MAX_CHARACTERS},
        )
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        hint = f"{PER_CENT}; {FORMS}" if "%" in text else FORMS
        raise ArgumentError(
            f"claim {cut(text)} cannot be read{_place(error)}; {hint}", code="claim-syntax"
        ) from None
    claim = _FORM[tree.data](text, tree.children)
    if not np.isfinite([claim.number, claim.factor]).all():
        raise ArgumentError(f"claim {cut(text)}: its number is not finite", code="claim-number")
    if claim.factor <= 0:
        raise ArgumentError(
            f"claim {cut(text)}: the factor of a system must be positive", code="claim-number"
        )
    if claim.other is not None and claim.system == claim.other:
        raise ArgumentError(
            f"claim {cut(text)} compares {cut(claim.system or '')} with itself", code="claim-itself"
        )
    if claim.relation == "=" and claim.number <= 0:
        raise ArgumentError(
            f"claim {cut(text)}: the number after within must be positive, such as 0.02",
            code="claim-number",
        )
    return claim


FORMS = (
    "write one of: B > A on METRIC; B > A by 0.03 on METRIC; B < 0.5 * A on METRIC; "
    "B = A within 0.02 on METRIC; METRIC of B < 0.1; METRIC < 0.1. The signs >=, < and <= work "
    "too. Write names with spaces in quotes"
)

PER_CENT = "write a percentage as a share: 0.03 for three percentage points"

Parts = Sequence[Token | Tree[Token] | None]


def _place(error: UnexpectedInput) -> str:
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return " at its end"
    return f" at character {error.column}"


def _pair(text: str, parts: Parts) -> Claim:
    """Read an order or an equality of two systems; only an order may lack its margin."""
    first, order, factor, second, margin, metric = parts
    return Claim(
        text=text,
        metric=_word(metric),
        system=_word(first),
        other=_word(second),
        relation=RELATIONS[str(order)],
        number=0.0 if margin is None else _number(margin),
        factor=1.0 if factor is None else _number(factor),
    )


def _bound(text: str, parts: Parts) -> Claim:
    metric, system, order, number = parts
    return Claim(
        text=text,
        metric=_word(metric),
        system=None if system is None else _word(system),
        other=None,
        relation=RELATIONS[str(order)],
        number=_number(number),
    )


_FORM = {"pair": _pair, "equality": _pair, "bound": _bound}


def _number(token: Token | Tree[Token] | None) -> float:
    """Read a number, which may have a typographic minus sign."""
    return float(str(token).replace("\u2212", "-"))


def _word(node: Token | Tree[Token] | None) -> str:
    """Return a name without its quotes."""
    assert isinstance(node, Tree)
    token = node.children[0]
    assert isinstance(token, Token)
    return token[1:-1] if token.type == "STRING" else str(token)
