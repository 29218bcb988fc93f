"""Python arguments in messages, rewritten as options of the command line."""

import ast
import shlex
import warnings
from collections.abc import Iterator
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

from assay.cli.application import app

if TYPE_CHECKING:
    from typer.core import TyperOption

SEVERAL = ("--wide", "--wide-items", "--counts")
"""Options that take all values up to the next option."""
OTHER_NAMES = {"classes": "word", "claims": "claim", "rng": "seed", "covariates": "covariate"}
"""Arguments whose option has another name."""


def in_options(text: str) -> str:
    """Rewrite the arguments that a message marks by backticks as options, such as ``draws=`` or
    ``method='nuts'`` as ``--draws`` and ``--method nuts``; other text stays.
    """
    return "".join(_written(text.split("`")))


def _written(parts: list[str]) -> Iterator[str]:
    """Rewrite the parts between backticks; a value may itself contain backticks."""
    yield parts[0]
    start = 1
    while start < len(parts):
        for end in range(start + 1, len(parts)):
            options = _options("`".join(parts[start:end]))
            if options is not None:
                yield options + parts[end]
                break
        else:
            end = start
            yield f"`{parts[start]}"
        start = end + 1


def _options(code: str) -> str | None:
    """Write arguments as options; None if they are no options."""
    name, equals, value = code.partition("=")
    if not equals or name not in option_of():
        return None
    if not value:
        return option_of()[name].opts[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings of odd but valid code
            call = ast.parse(f"_({code})", mode="eval").body
        given = call.keywords if isinstance(call, ast.Call) and not call.args else []
        typed = [_typed(option_of()[one.arg or ""], _value(one.value)) for one in given]
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        return None
    return " ".join(typed) or None


@cache
def option_of() -> dict[str, "TyperOption"]:
    """Return the option of each argument, as the commands define them."""
    from typer.core import TyperGroup, TyperOption
    from typer.main import get_command

    program = get_command(app)
    assert isinstance(program, TyperGroup)
    groups = [one for one in program.commands.values() if isinstance(one, TyperGroup)]
    # Options of top-level commands take precedence over those of grouped commands.
    commands = [one for group in groups for one in group.commands.values()]
    found = {
        str(one.name): one
        for command in [*commands, *program.commands.values()]
        for one in command.params
        if isinstance(one, TyperOption)
    }
    return found | {name: found[other] for name, other in OTHER_NAMES.items()}


def values_of(name: str) -> float:
    """Return how many words an option takes."""
    if name in SEVERAL:
        return inf
    found = [one for one in option_of().values() if name in one.opts]
    return 0 if not found or found[0].is_flag else found[0].nargs


def _value(node: ast.expr) -> Any:
    """Return the value of a syntax tree; a bare name, such as a placeholder, is text."""
    match node:
        case ast.Name():
            return node.id
        case ast.List():
            return [_value(one) for one in node.elts]
        case ast.Dict():
            keys = (ast.Constant(None) if key is None else key for key in node.keys)
            return dict(zip(map(_value, keys), map(_value, node.values), strict=True))
        case _:
            return ast.literal_eval(node)


def _typed(option: "TyperOption", value: Any) -> str:
    """Write an option with its value; a dict or a list repeats it, a tuple does not."""
    name = option.opts[0]
    match value:
        case None:
            return f"no {name}"
        case bool():
            return name if value else (option.secondary_opts or [f"no {name}"])[0]
        case tuple():
            return f"{name} {(' ' if option.nargs > 1 else ',').join(map(str, value))}"
        case list() if name in SEVERAL:
            return " ".join([name, *(shlex.quote(_word(one)) for one in value)])
        case dict() if name == "--labels" and _are_columns(value):
            return " ".join(f"{name} {shlex.quote(one)}" for one in value)
        case dict() | list():
            return " ".join(f"{name} {shlex.quote(one)}" for one in _each(value))
        case _:
            return f"{name} {shlex.quote(_word(value))}"


def _are_columns(labels: dict[Any, Any]) -> bool:
    """Whether each of several labels has the name of its column."""
    return len(labels) > 1 and all(k == v and "=" not in str(k) for k, v in labels.items())


def _each(given: dict[Any, Any] | list[Any]) -> Iterator[str]:
    """Yield the values of an argument as its option takes them."""
    if isinstance(given, list):
        yield from map(_word, given)
        return
    for key, word in given.items():
        inner = word if isinstance(word, dict) else {None: word}
        yield from (
            f"{key}{'' if w is None else f':{w}'}={_word(name)}" for w, name in inner.items()
        )


def _word(value: object) -> str:
    return "..." if value is ... else str(value)
