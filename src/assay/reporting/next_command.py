"""The command of the next fit: the typed one with other options, or the calls in Python."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import PurePath
from typing import Any

from assay._util.text import without_folders
from assay._util.typed_options import typed_options
from assay.io import read_ratings
from assay.modelling.spec import Spec, recipe_of
from assay.reporting.material import Material

TRUTH_FILE, TASK_FILE = "TRUTH.csv", "TASK.toml"
"""Files in a command that the reader has yet to make."""
FLAGS = {
    "--json", "--keep-interrupted", "--no-keep-interrupted", "--no-report", "--no-set-aside",
    "--ordered", "--quiet", "--report", "--set-aside", "--strict", "--unordered", "-q",
}  # fmt: skip
"""Options without a value, of the commands that fit."""
OTHER_READING = {"--covariate", "--no-set-aside", "--unordered", "--word"}
"""Options of reading that are not named as an argument."""
OF_OTHERS = ("draws", "tune", "chains")
"""Arguments that are not kept where another method is the remedy."""


@dataclass(frozen=True, kw_only=True)
class NextFit:
    """Arguments of a fit without the reasons against this one.

    reading, fitting : arguments of ``read_ratings`` and of ``fit`` that change
    truth : the items whose truth it needs; empty if none are needed
    direct : what to write into the task file so that a system can be best; empty if it can be
    """

    reading: Mapping[str, Any] = field(default_factory=dict)
    fitting: Mapping[str, Any] = field(default_factory=dict)
    truth: str = ""
    direct: str = ""


def words_of(command: str) -> list[str]:
    """Return the words of a command that reads ratings and fits a model; empty for others."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    fits = words[:1] == ["assay"] and words[1:2] in (["run"], ["fit"])
    return words if fits else []


def _takes(option: str) -> int:
    """Return how many words an option takes; of several, the others stay where they are."""
    return 0 if option in FLAGS else 1


def value_of(words: Sequence[str], *names: str) -> str:
    """Return the value of an option in a command; empty without it."""
    for name, part in typed_options(words, _takes):
        if name in names:
            return part[1] if part[1:] else part[0].partition("=")[2]
    return ""


def typed_again(words: Sequence[str], planned: NextFit, stem: str) -> str:
    """Write the command of a fit again, with other options; ``stem`` names its usual folder."""
    changed = {**planned.reading, **planned.fitting}
    if planned.direct and not value_of(words, "--task").endswith(".toml"):
        changed["task"] = TASK_FILE
    gone = OF_OTHERS if "method" in changed else ()
    dropped = {_flag(name) for name in [*changed, *gone]}
    output = value_of(words, "-o", "--output") or (f"{stem}-results" * (words[1] == "run"))
    dropped |= {"-o", "--output"} if output else set()
    parts = typed_options(words, _takes)
    kept = [word for name, part in parts if name not in dropped for word in part]
    options = [part for name, value in changed.items() for part in _option(name, value)]
    options += ["-o", _next_name(output)] if output else []
    return without_folders(shlex.join([*kept, *options]))


def _option(name: str, value: Any) -> list[str]:
    """Write an argument as options; lists and mappings repeat the option."""
    if isinstance(value, Mapping):
        value = ["=".join((str(key), str(one))) for key, one in value.items()]
    values = value if isinstance(value, list) else [value]
    return [part for one in values for part in (_flag(name), str(one))]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _next_name(path: str) -> str:
    """Name the output of the next fit, so that this one stays."""
    name = PurePath(path)
    return f"{name.with_suffix('')}-2{name.suffix}"


def called_again(material: Material, planned: NextFit) -> str:
    """Write the fit as Python, where no command made this one."""
    spec, lines = material.view.spec, []
    accounting = material.ratings.accounting
    source = repr(without_folders(accounting.source) if accounting.sha256 else "ratings.csv")
    reading = dict(planned.reading) | ({"task": TASK_FILE} if planned.direct else {})
    if reading:
        lines.append(f"ratings = assay.read_ratings({_arguments(source, reading)})")
    own = {"raters": spec.raters, "prevalence": spec.prevalence, "reference": spec.reference}
    plain = {"raters": recipe_of(material.ratings, None), "prevalence": Spec().prevalence}
    fitting = {k: v for k, v in own.items() if v is not None and v != plain.get(k)}
    fitting |= planned.fitting
    lines.append(f"fit = assay.fit({_arguments('ratings', fitting)})")
    return "\n".join(lines)


def _arguments(first: str, given: Mapping[str, Any]) -> str:
    return ", ".join([first, *(f"{name}={value!r}" for name, value in given.items())])


def drafting(words: Sequence[str]) -> str:
    """Write the command that drafts the task file: the files and how a command reads them."""
    reading = {_flag(name) for name in signature(read_ratings).parameters} | OTHER_READING
    kept = [
        word
        for name, part in typed_options(words[2:], _takes)
        if not name or name in reading - {"--task"}
        for word in part
    ]
    return without_folders(shlex.join(["assay", "task", "init", *kept, "-o", TASK_FILE]))
