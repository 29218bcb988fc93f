"""Arguments that a message marks as code, written as the options that stand for them."""

import ast
import re
import shlex
import warnings
from collections.abc import Iterator
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer.core import TyperOption

SEVERAL = ("--wide", "--wide-items", "--counts")
"""Options that take all values up to the next option."""
OTHER_NAMES = {"classes": "word", "claims": "claim", "rng": "seed", "covariates": "covariate"}
"""Arguments whose option has another name, with that name."""


def is_option(word: str) -> bool:
    """Whether a word of a command is an option: no number, and not standard input.

    Examples
    --------
    >>> [is_option(word) for word in ("--item", "-o", "-1", "-", "item")]
    [True, True, False, False, False]
    """
    return re.match(r"--?[A-Za-z]", word) is not None


def in_options(text: str) -> str:
    """Write the arguments that a message marks as options; all else stays as it is.

    Messages mark every argument as code: its name, an equals sign and, where it matters, its
    value, between backticks.

    Examples
    --------
    >>> in_options("Take more draws (`draws=`, `tune=`).")
    'Take more draws (--draws, --tune).'
    >>> in_options("Use `method='nuts'`; `gains={'good': 1}` is an argument of Python alone")
    "Use --method nuts; `gains={'good': 1}` is an argument of Python alone"
    >>> in_options('`raters={"judge": "mace", "people": "pooled"}, prevalence="dirichlet"`')
    '--raters judge=mace --raters people=pooled --prevalence dirichlet'
    >>> in_options("say so: `score_range=(0, 100)`")
    'say so: --score-range 0 100'
    >>> in_options('`classes={"relevance": {"partially yes": "partially"}}`')
    "--word 'relevance:partially yes=partially'"
    """
    return "".join(_written(text.split("`")))


def _written(parts: list[str]) -> Iterator[str]:
    """Write the parts of a text between its backticks; a value may hold backticks itself."""
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
    """Write arguments as they are typed on the command line; None if they are no options."""
    name, equals, value = code.partition("=")
    if not equals or name not in option_of():
        return None
    if not value:
        return option_of()[name].opts[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of what it can still read
            call = ast.parse(f"_({code})", mode="eval").body
        given = call.keywords if isinstance(call, ast.Call) and not call.args else []
        typed = [_typed(option_of()[one.arg or ""], _value(one.value)) for one in given]
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError):
        return None
    return " ".join(typed) or None


@cache
def option_of() -> dict[str, "TyperOption"]:
    """Return the option that stands for each argument, as the commands define them."""
    from typer.core import TyperGroup, TyperOption
    from typer.main import get_command

    from assay.cli import app

    program = get_command(app)
    assert isinstance(program, TyperGroup)
    groups = [one for one in program.commands.values() if isinstance(one, TyperGroup)]
    # An option of a command that stands for itself goes before one of a group's command.
    commands = [one for group in groups for one in group.commands.values()]
    found = {
        str(one.name): one
        for command in [*commands, *program.commands.values()]
        for one in command.params
        if isinstance(one, TyperOption)
    }
    return found | {name: found[other] for name, other in OTHER_NAMES.items()}


def values_of(name: str) -> float:
    """Return how many words of a command an option takes.

    Examples
    --------
    >>> values_of("--item"), values_of("--score-range"), values_of("--wide"), values_of("--json")
    (1, 2, inf, 0)
    """
    if name in SEVERAL:
        return inf
    found = [one for one in option_of().values() if name in one.opts]
    return 0 if not found or found[0].is_flag else found[0].nargs


def _value(node: ast.expr) -> Any:
    """Return the value that code stands for; a bare name, such as a placeholder, is a text."""
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
    """Write an option with its value, once for each value that it has; a tuple is one of two."""
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
    """Whether several labels are called as their columns are."""
    return len(labels) > 1 and all(k == v and "=" not in str(k) for k, v in labels.items())


def _each(given: dict[Any, Any] | list[Any]) -> Iterator[str]:
    """Give the values of an argument as its option takes them."""
    if isinstance(given, list):
        yield from map(_word, given)
        return
    for key, word in given.items():
        inner = word if isinstance(word, dict) else {"": word}
        yield from (f"{key}{f':{w}' if w else ''}={_word(name)}" for w, name in inner.items())


def _word(value: object) -> str:
    return "..." if value is ... else str(value)
