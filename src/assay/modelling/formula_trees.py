"""Checks of formulas against an allow-list, by the tokens and the tree of formulae.

A fit contains its formula and may come from anywhere, so a formula must not run code.
"""

from collections.abc import Iterator, Mapping
from math import comb
from typing import Any

from assay._util.errors import ModelError, suggest

MAX_CHARACTERS = 2_000
MAX_NESTING = 20
"""Largest depth of nested brackets."""
MAX_OPERATORS = 150
"""Largest depth of nested operators and calls; a sum of 100 terms has 99."""
MAX_TERMS = 200
"""Largest number of terms after expanding products and powers."""
MAX_POWER = 9
"""Largest n of ``(a + b)**n``, all interactions up to this order."""
MAX_COLUMNS = 50
"""Largest ``df=`` or ``degree=`` of a spline or polynomial."""
MAX_NUMBER = 1e15

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("abs", "exp", "log", "log10", "log1p", "log2", "sqrt"), ()),
    **dict.fromkeys(("C", "I", "center", "scale", "standardize"), ()),
    "S": ("omit",), "T": ("ref",), "poly": ("degree", "raw"),
    "bs": ("df", "knots", "degree", "center", "lower_bound", "upper_bound"),
}  # fmt: skip
"""Functions that a formula may call, with their arguments after the data."""
POSITIONAL: Mapping[str, tuple[str, ...]] = {**ARGUMENTS, "bs": ("df", "knots", "degree")}
"""Arguments that need no name, in order."""
COUNTS = ("df", "degree")

WORDS = frozenset({"IDENTIFIER", "BQNAME", "NUMBER", "STRING", "PYTHON_LITERAL"})
COMPARISONS = frozenset(
    {"EQUAL_EQUAL", "BANG_EQUAL", "LESS_EQUAL", "LESS", "GREATER_EQUAL", "GREATER"}
)
ALGEBRA = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "COLON", "STAR_STAR", "PIPE"})
"""Operators between terms."""
ARITHMETIC = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "STAR_STAR"}) | COMPARISONS
"""Operators between numbers, inside a call."""
TOKENS = WORDS | ALGEBRA | ARITHMETIC | {"LEFT_PAREN", "RIGHT_PAREN", "COMMA", "EQUAL", "TILDE"}

BACKTICKS = (
    "a column name with characters other than letters, digits and _ needs backticks, as in "
    "'~ `answer length`'"
)


class RefusedError(ModelError):
    """A formula is not allowed; the message is the end of a sentence."""


def read_tree(text: str) -> tuple[str, Any]:
    """Return a formula without its tilde, and its tree; raise RefusedError if it is not allowed."""
    if len(text) > MAX_CHARACTERS:
        raise RefusedError(
            f"it has {len(text):,} characters, but at most {MAX_CHARACTERS:,} are allowed",
            code="formula-size",
            numbers={"characters": len(text), "most": MAX_CHARACTERS},
        )
    tokens = _right_side(_scanned(text), text)
    _check_tokens(tokens)
    tree = _parsed([token for token, _ in tokens])
    if sum(1 for _ in walk(tree)) > 4 * MAX_CHARACTERS or _depth(tree) > MAX_OPERATORS:
        raise _too_deep()
    _check_terms(tree)
    if count_terms(tree) > MAX_TERMS:
        raise RefusedError(
            f"it has more than {MAX_TERMS} terms when written out. Write fewer interactions",
            code="formula-size",
            numbers={"most": MAX_TERMS},
        )
    return _written(tokens), tree


def column_names(tree: Any) -> list[str]:
    """Return the columns of a tree in order, without duplicates."""
    found = []
    for node in walk(tree):
        if type(node).__name__ == "Variable":
            found.append(str(node.name.lexeme))
        elif type(node).__name__ == "QuotedName":
            found.append(str(node.expression.lexeme[1:-1]))
    return list(dict.fromkeys(found))


def walk(tree: Any) -> Iterator[Any]:
    """Yield the nodes of a tree from left to right, without function and argument names.

    A list replaces recursion, as a tree may be deeper than Python's stack.
    """
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left.extend(reversed(_children(node)))


def _children(node: Any) -> list[Any]:
    match type(node).__name__:
        case "Binary":
            return [node.left, node.right]
        case "Unary":
            return [node.right]
        case "Grouping":
            return [node.expression]
        case "Call":
            return list(node.args)
        case "Assign":
            return [node.value]
    return []


def _depth(tree: Any) -> int:
    deepest, left = 0, [(tree, 1)]
    while left:
        node, depth = left.pop()
        deepest = max(deepest, depth)
        left.extend((child, depth + 1) for child in _children(node))
    return deepest


Tokens = list[tuple[Any, str]]
"""Tokens of formulae, each with the blanks before it."""


def _scanned(text: str) -> Tokens:
    from formulae.scanner import ScanError, Scanner

    if text.count("`") % 2:
        raise RefusedError("a backtick is not closed", code="formula-syntax")
    found: Tokens = []
    blank = ""
    try:
        scanner = Scanner(text)
        while not scanner.at_end():
            scanner.start = scanner.current
            scanner.scan_token()
            if len(scanner.tokens) > len(found):
                found.append((scanner.tokens[-1], blank))
                blank = ""
            else:
                blank += text[scanner.start : scanner.current]
    except (ScanError, ValueError, IndexError) as error:
        raise RefusedError(
            f"it cannot be read: {error}. Write e.g. '~ language + length'", code="formula-syntax"
        ) from None
    return found


def _right_side(tokens: Tokens, text: str) -> Tokens:
    """Return the tokens after the tilde; raise RefusedError if there are others before it."""
    tildes = [n for n, (token, _) in enumerate(tokens) if token.kind == "TILDE"]
    if tildes and tildes[-1] > 0:
        right = text.rpartition("~")[2].strip()
        raise RefusedError(
            f"it has a left side, but a formula here always explains the labels. Write '~ {right}'",
            code="formula-syntax",
        )
    return tokens[len(tildes) :]


def _check_tokens(tokens: Tokens) -> None:
    """Raise RefusedError for tokens not listed; remove ``np.`` from function names."""
    depth = 0
    for n, (token, _) in enumerate(tokens):
        called = n + 1 < len(tokens) and tokens[n + 1][0].kind == "LEFT_PAREN"
        if token.kind == "IDENTIFIER":
            if called:
                token.lexeme = token.lexeme.removeprefix("np.")
                if token.lexeme not in ARGUMENTS:
                    known = suggest(token.lexeme, sorted(ARGUMENTS), limit=len(ARGUMENTS))
                    raise RefusedError(
                        f"it calls {token.lexeme!r}; {known}", code="formula-function"
                    )
            elif "." in token.lexeme:
                raise RefusedError(BACKTICKS, code="formula-syntax")
        elif token.kind == "STRING" and token.lexeme[0] != token.lexeme[-1]:
            raise RefusedError(
                f"{token.lexeme} begins and ends with different quotes. Write a text without "
                "quotes in it, because either kind of quote ends a text",
                code="formula-syntax",
            )
        elif token.kind not in TOKENS:
            raise RefusedError(
                BACKTICKS if token.kind == "PERIOD"
                else f"{token.lexeme!r} is not available; write I(...) instead of braces",
                code="formula-syntax",
            )  # fmt: skip
        depth += (token.kind == "LEFT_PAREN") - (token.kind == "RIGHT_PAREN")
        if depth > MAX_NESTING:
            raise RefusedError(
                f"it nests more than {MAX_NESTING} brackets",
                code="formula-size",
                numbers={"most": MAX_NESTING},
            )


def _too_deep() -> RefusedError:
    return RefusedError(
        f"it nests more than {MAX_OPERATORS} operators",
        code="formula-size",
        numbers={"most": MAX_OPERATORS},
    )


def _parsed(tokens: list[Any]) -> Any:
    from formulae.parser import ParseError, Parser
    from formulae.token import Token

    # The intercept that formulae adds to every formula; columns are then centred.
    before = [Token("NUMBER", "1", 1), Token("PLUS", "+")]
    parser = Parser([*before, *tokens, Token("EOF", "")])
    try:
        tree = parser.parse()
    except RecursionError:
        raise _too_deep() from None
    except (ParseError, AttributeError) as error:
        raise RefusedError(
            f"it cannot be read: {error}. Write e.g. '~ language + length'", code="formula-syntax"
        ) from None
    if not parser.at_end():
        raise RefusedError(
            f"it cannot be read from {parser.peek().lexeme!r} on", code="formula-syntax"
        )
    return tree


def _written(tokens: Tokens) -> str:
    return "".join(f"{blank}{token.lexeme}" for token, blank in tokens).strip()


def _check_terms(node: Any) -> None:
    """Raise RefusedError for an expression that is no sum or product of terms."""
    match type(node).__name__:
        case "Grouping":
            _check_terms(node.expression)
        case "Binary":
            _require_operator(node, ALGEBRA)
            _check_terms(node.left)
            if node.operator.kind != "STAR_STAR":
                _check_terms(node.right)
            elif count_terms(node.left) == 1:
                raise RefusedError(
                    "the power of a single term has no effect. Write I(length**2)",
                    code="formula-syntax",
                )
            else:
                _check_power(node.right)
        case "Unary":
            _check_terms(node.right)
        case "Literal":
            if type(node.value) is not int or node.value not in (0, 1):
                raise RefusedError(
                    f"{node.value!r} is not a term. Write numbers inside I(...)",
                    code="formula-syntax",
                )
        case "Call":
            _check_call(node)
        case _:
            _check_column(node)


def _check_power(node: Any) -> None:
    power = getattr(node, "value", None)
    if type(power) is not int or not 1 <= power <= MAX_POWER:
        raise RefusedError(
            f"a power of terms must be a whole number from 1 to {MAX_POWER}. For the power of a "
            "column, write I(length**2)",
            code="formula-syntax",
            numbers={"most": MAX_POWER},
        )


def _check_call(node: Any) -> None:
    """Raise RefusedError for a function that is not listed, or for other arguments."""
    name = node.callee.name.lexeme if type(node.callee).__name__ == "Variable" else ""
    if name not in ARGUMENTS or node.callee.level is not None:
        raise RefusedError(
            "it calls an expression, but only named transforms can be called",
            code="formula-function",
        )
    if not node.args or type(node.args[0]).__name__ == "Assign":
        raise RefusedError(
            f"{name}(...) needs a column as its first argument, as in {name}(length)",
            code="formula-function",
        )
    _check_numbers(node.args[0])
    for argument, value in _arguments(name, node.args[1:]):
        _check_value(name, argument, value)


def _arguments(name: str, args: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments after the data, by name."""
    seen: set[str] = set()
    for n, arg in enumerate(args):
        if type(arg).__name__ == "Assign":
            argument, value = arg.name.name.lexeme, arg.value
        else:
            argument = POSITIONAL[name][n] if n < len(POSITIONAL[name]) else f"argument {n + 2}"
            value = arg
        if argument not in ARGUMENTS[name] or argument in seen:
            known = ", ".join(f"{a}=" for a in ARGUMENTS[name]) or "nothing else"
            raise RefusedError(
                f"{name} takes a column and {known}, each once, but not {argument}",
                code="formula-function",
            )
        seen.add(argument)
        yield argument, value


def _check_value(name: str, argument: str, node: Any) -> None:
    """Raise RefusedError for an argument that is not one literal."""
    signed = type(node).__name__ == "Unary"
    literal = node.right if signed else node
    if type(literal).__name__ != "Literal":
        raise RefusedError(
            f"{argument}= of {name} must be one number, or one text", code="formula-function"
        )
    _check_literal(literal)
    whole = type(literal.value) is int and not signed
    if argument in COUNTS and literal.value is not None and not (
        whole and 0 <= literal.value <= MAX_COLUMNS
    ):  # fmt: skip
        raise RefusedError(
            f"{argument}= of {name} must be a whole number of at most {MAX_COLUMNS}",
            code="formula-function",
            numbers={"most": MAX_COLUMNS},
        )


def _check_numbers(node: Any) -> None:
    """Raise RefusedError for data of a call that are not allowed; turn integers into floats.

    Powers of floats overflow, while those of integers may use all memory.
    """
    match type(node).__name__:
        case "Grouping":
            _check_numbers(node.expression)
        case "Binary":
            _require_operator(node, ARITHMETIC)
            _check_numbers(node.left)
            _check_numbers(node.right)
        case "Unary":
            _check_numbers(node.right)
        case "Literal":
            _check_literal(node)
            if type(node.value) is int:
                node.lexeme, node.value = str(node.value), float(node.value)
        case "Call":
            _check_call(node)
        case _:
            _check_column(node)


def _check_literal(node: Any) -> None:
    if isinstance(node.value, int | float) and not node.value <= MAX_NUMBER:
        raise RefusedError(
            f"it has a number larger than {MAX_NUMBER:,.0f}",
            code="formula-size",
            numbers={"most": MAX_NUMBER},
        )


def _check_column(node: Any) -> None:
    if type(node).__name__ == "QuotedName":
        return
    if type(node).__name__ != "Variable" or node.level is not None:
        raise RefusedError(
            "it cannot be read: a term must be a column, or a transform of a column",
            code="formula-syntax",
        )


def _require_operator(node: Any, allowed: frozenset[str]) -> None:
    sign = node.operator.lexeme
    if node.operator.kind not in allowed:
        where = "inside I(...) only" if node.operator.kind in COMPARISONS else "between terms only"
        raise RefusedError(f"{sign} may stand {where}", code="formula-syntax")


def count_terms(node: Any) -> int:
    """Return an upper limit of the number of terms of an expression."""
    match type(node).__name__:
        case "Grouping":
            return count_terms(node.expression)
        case "Unary":
            return count_terms(node.right)
        case "Binary":
            left = count_terms(node.left)
            if node.operator.kind == "STAR_STAR":
                return sum(comb(left, k) for k in range(1, node.right.value + 1))
            right = count_terms(node.right)
            match node.operator.kind:
                case "PLUS" | "MINUS":
                    return left + right
                case "COLON" | "PIPE":
                    return left * right
            return left + right + left * right
    return 1
