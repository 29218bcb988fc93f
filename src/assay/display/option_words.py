"""Arguments that a text names, written as the options of the command line that stand for them."""

import ast
import re
import shlex
import warnings
from collections.abc import Iterator

READING = (
    "item", "rater", "labels", "label", "value", "cluster", "rank", "system", "panel", "group",
    "weight", "stratum", "replicate", "session", "seconds", "score", "confidence", "audit",
    "score_range", "sessions", "panels", "truth", "partial", "resolve", "response",
)  # fmt: skip
FITTING = (
    "raters", "prevalence", "reference", "gold_chosen", "formula", "replicates", "method", "draws",
    "tune", "chains", "target_accept", "sampler", "checkpoint", "keep_interrupted", "priors",
)  # fmt: skip
REPORTING = ("human", "stability", "budget", "tables", "level")
OTHERWISE = {"classes": "word", "claims": "claim", "rng": "seed", "covariates": "covariate"}
"""Arguments whose option has another name."""
OPTIONS = {name: name.replace("_", "-") for name in (*READING, *FITTING, *REPORTING)} | OTHERWISE

_NAME = "|".join(sorted(OPTIONS, key=len, reverse=True))
_VALUE = (
    r"""'[^']*'|"[^"]*"|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\[\]]*\]|\([\d., ]+\)|\d+(?:\.\d+)?|True"""
)
_ONE = rf"(?<![\w\[])(?:{_NAME})=(?:{_VALUE}|(?=[\s,;:.)]|$))"
_RUN = re.compile(rf"{_ONE}(?:, {_ONE})*")
_CALL = re.compile(rf"\bread_ratings\(((?:{_NAME})=)(?:\.\.\.)?\)")
"""A call that shows an argument without its value."""
_EACH = re.compile(rf"(?<![\w\[])({_NAME})=({_VALUE}|)")


def in_options(text: str) -> str:
    """Write arguments that a text names as the options that they are on the command line.

    Several with values are written as they are typed.

    Examples
    --------
    >>> in_options("Take more draws (draws=, tune=).")
    'Take more draws (--draws, --tune).'
    >>> in_options("Use method='nuts'; unlock it with system= or score_range=")
    'Use --method nuts; unlock it with --system or --score-range'
    >>> in_options('raters={"judge": "mace", "people": "pooled"}, prevalence="dirichlet"')
    '--raters judge=mace --raters people=pooled --prevalence dirichlet'
    >>> in_options("say so: score_range=(0, 100)")
    'say so: --score-range 0 100'
    >>> in_options("name its column with read_ratings(stratum=...)")
    'name its column with --stratum'
    >>> in_options("prevalence[label=1] is a metric")
    'prevalence[label=1] is a metric'
    >>> in_options('classes={"relevance": {"partially yes": "partially"}}')
    "--word 'relevance:partially yes=partially'"
    """
    return _RUN.sub(_written, _CALL.sub(r"\1", text))


def _written(run: re.Match[str]) -> str:
    """Write a run of arguments: as they are typed if each has a value, else as a list."""
    found = _EACH.findall(run[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of what it can still read
            options = [" ".join(_typed(OPTIONS[name], value)) for name, value in found]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return run[0]  # what only looks like a value
    return (" " if all(value for _, value in found) else ", ").join(options)


def _typed(option: str, text: str) -> Iterator[str]:
    """Give an option with its value, once for each value that it has; a tuple is one of two."""
    if text.startswith("("):
        yield f"--{option} {' '.join(map(str, ast.literal_eval(text)))}"
        return
    for value in _values(ast.literal_eval(text)) if text else [None]:
        yield f"--{option}" if value is None else f"--{option} {shlex.quote(value)}"


def _values(given: object) -> Iterator[str | None]:
    """Give the values of an argument as the option takes them; None for one that is only on."""
    match given:
        case True:
            yield None
        case dict():
            for key, word in given.items():
                inner = word if isinstance(word, dict) else {"": word}
                yield from (f"{key}{f':{w}' if w else ''}={name}" for w, name in inner.items())
        case list():
            yield from map(str, given)
        case _:
            yield str(given)
