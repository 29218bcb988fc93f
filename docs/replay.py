"""Replay the transcripts of a page: python docs/replay.py PAGE.md ... writes today's output.

A fence ``pycon`` holds Python with its output, a fence ``console`` commands of ``assay`` with
theirs. The fences of a page run from top to bottom, in one namespace and one empty folder. The
tests replay them and compare.
"""

import contextlib
import doctest
import io
import itertools
import math
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WIDTH = "100"
"""Columns of the terminal."""
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w])")
SAMPLED = re.compile(
    r"(?<=effective sample size )\d+( of the parameters and \d+)?"
    r"|(?<=about )\d+(?= more clusters)|(?<=R-hat )[\d.]+\d"
)
"""Numbers of a sampler's run, which differ much where processors round otherwise."""
CUT = "...\n"
"""A line that stands for lines left out."""

Step = tuple[str, str]
"""What is typed, and what a page shows."""


def steps(kind: str, body: str) -> list[Step]:
    """Return what is typed in a fence, each with its output."""
    if kind == "console":
        parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
        return [(f"{typed}\n", said) for typed, _, said in (p.partition("\n") for p in parts)]
    found: list[Step] = []
    for part in re.split(r"^>>> ", body, flags=re.MULTILINE)[1:]:
        first, *lines = part.splitlines(keepends=True)
        more = list(itertools.takewhile(lambda line: line.startswith("..."), lines))
        source = first + "".join(line[4:] or "\n" for line in more)
        found.append((source, "".join(lines[len(more) :])))
    return found


def replay(text: str) -> Iterator[tuple[str, Step, str]]:
    """Run a page; yield the kind of each step, the step, and what it prints today."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with folder(), plain_output():
        for kind, body in FENCE.findall(text):
            for step in steps(kind, body):
                run = run_python if kind == "pycon" else run_command
                yield kind, step, run(step[0], namespace)


@contextlib.contextmanager
def folder() -> Iterator[None]:
    """Work in an empty folder."""
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(made):
        yield


@contextlib.contextmanager
def plain_output() -> Iterator[None]:
    """Print tables of one width, without progress bars, warnings of fits and line wraps."""
    import pandas as pd

    before = dict(os.environ)
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", TERM="dumb")
    shown = ("display.width", int(WIDTH), "display.max_columns", 12, "display.precision", 2)
    try:
        with pd.option_context(*shown), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_python(source: str, namespace: dict[str, Any]) -> str:
    """Run one statement as an interactive Python would, and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "<transcript>", "single"), namespace)
    return printed.getvalue()


def run_command(typed: str, _: dict[str, Any]) -> str:
    """Run a command of the package, or show a file, and return what the terminal shows."""
    from typer.testing import CliRunner

    from assay.cli import app

    words = shlex.split(typed)
    if words[0] == "cat":
        return Path(words[1]).read_text(encoding="utf-8")
    if words[0] != "assay":
        raise ValueError(f"{typed!r} is no command of assay")
    done = CliRunner().invoke(app, words[1:], prog_name="assay")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def same(wanted: str, found: str) -> bool:
    """Return whether a page shows what is printed; ``...`` stands for anything.

    Numbers may differ in their last digits, and those of a sampler's run in all.
    """
    wanted, found = SAMPLED.sub("#", wanted), SAMPLED.sub("#", found)
    shown, printed = NUMBER.findall(wanted), NUMBER.findall(found)
    if CUT in wanted:
        printed = printed[: len(shown)]
    alike = len(shown) == len(printed) and all(map(_near, shown, printed))
    words = NUMBER.sub("#", wanted), NUMBER.sub("#", _trimmed(found))
    return alike and doctest.OutputChecker().check_output(*words, FLAGS)


def _near(one: str, other: str) -> bool:
    return math.isclose(float(one), float(other), rel_tol=0.05, abs_tol=0.02)


def _trimmed(text: str) -> str:
    """Return lines without the blanks at their ends and without empty lines at the end."""
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def rewritten(text: str) -> str:
    """Return the page with today's output, except where a page shows its beginning only.

    An output that ends in a line ``...`` keeps as many lines as it has.
    """
    outputs = iter([_trimmed(found) for _, _, found in replay(text)])

    def fence(match: re.Match[str]) -> str:
        kind, lines = match[1], []
        for typed, shown in steps(kind, match[2]):
            lines.append(_typed(kind, typed) + _kept(shown, next(outputs)))
        return f"```{kind}\n{''.join(lines)}```"

    return FENCE.sub(fence, text)


def _typed(kind: str, source: str) -> str:
    if kind == "console":
        return f"$ {source}"
    first, *others = source.splitlines()
    return "\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in others), ""])


def _kept(shown: str, found: str) -> str:
    if not shown.endswith(CUT):
        return found
    kept = shown.count("\n") - 1
    lines = found.splitlines(keepends=True)
    return "".join(lines[:kept]) + CUT * (len(lines) > kept)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
