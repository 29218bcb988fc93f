"""Priors as text and as values, and files of priors.

A :class:`Prior` is a distribution's name and numbers; :mod:`assay.modelling.parameters` uses it.
"""

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay._util.errors import ModelError, suggest
from assay._util.toml_files import FileError, read_toml
from assay._util.validation import cut, path_given, written
from assay.modelling.elicitation import EXAMPLE, Opinion, opinion_beta, opinion_logit_normal

MAX_CHARACTERS = 1_000
MAX_COUNTS = 1_000_000
"""Characters of ``Counts(...)``, which may have a table for each rater."""


def read_call(text: str, where: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Return the name, positional and named arguments of a call in text, ModelError if it is none.

    ``where`` begins the message.
    """
    _require_short(text, where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings of valid text
            call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        positional = [ast.literal_eval(arg) for arg in call.args]
        named = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ModelError(
            f"{where}: {cut(text)} is not a prior. Write a distribution with numbers, e.g. "
            f"'Normal(0, 1)', or an opinion on an accuracy, e.g. {EXAMPLE!r}",
            code="prior-syntax",
        ) from None
    return call.func.id, positional, named


def _require_short(text: str, where: str) -> None:
    """Raise ModelError for texts too long for Python's parser."""
    most = MAX_COUNTS if text.lstrip().startswith("Counts") else MAX_CHARACTERS
    if len(text) > most:
        raise ModelError(
            f"{where}: {cut(text)} has {len(text):,} characters, but at most {most:,} are allowed",
            code="prior-syntax",
            numbers={"characters": len(text), "most": most},
        )


def read_counts(value: Any, where: str) -> Any:
    """Return prior counts as nested tuples, or a mapping from labels to them.

    ModelError is raised unless they are square tables of positive numbers.
    """
    if isinstance(value, Mapping):
        nested = next((k for k, v in value.items() if isinstance(v, Mapping)), None)
        if nested is not None:
            raise ModelError(
                f"{where}, label {cut(str(nested))}: the counts of a label cannot be a dictionary",
                code="prior-counts",
            )
        return {str(k): read_counts(v, f"{where}, label {str(k)[:60]}") for k, v in value.items()}
    try:
        counts = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError, RecursionError):
        counts = np.zeros(0)
    if counts.ndim not in (2, 3) or counts.shape[-1] != counts.shape[-2] or counts.shape[-1] < 2:
        raise ModelError(
            f"{where}: counts must be a square table (true class, reported class), e.g. "
            "[[8, 2], [1, 9]], or one such table for each rater",
            code="prior-counts",
        )
    if not (np.isfinite(counts) & (counts > 0)).all():
        raise ModelError(
            f"{where}: counts must be positive. Write 0.1 for answers that hardly ever occur",
            code="prior-counts",
        )
    return _frozen(counts.tolist())


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def written_prior(value: Any) -> str:
    """Write numbers exactly and as short as possible."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k!r}: {written_prior(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value):
        return f"[{', '.join(written_prior(v) for v in value)}]"
    return repr(float(value)).removesuffix(".0")


PARAMETERS: dict[str, tuple[str, ...]] = {
    "Normal": ("mu", "sigma"),
    "HalfNormal": ("sigma",),
    "Exponential": ("lam",),
    "Gamma": ("alpha", "beta"),
    "Beta": ("alpha", "beta"),
    "Dirichlet": ("a",),
    "Confusion": ("correct", "total"),
    "Counts": ("counts",),
}
"""Distributions that a prior may name, with their parameters in PyMC's order.

``Confusion(correct, total)`` is the Dirichlet prior of a confusion's row: counts with sum
``total``, the share ``correct`` on the true class, the rest spread evenly. ``Counts([[8, 2], [1,
9]])`` gives all counts, true class by reported class, for all raters; (rater, true class, reported
class) for each rater; or a mapping from labels to either.
"""
ABOUT = "About"
"""Name of a prior in words (an :class:`~assay.modelling.elicitation.Opinion`)."""
POSITIVE = ("HalfNormal", "Exponential", "Gamma")
"""Distributions of positive unknowns, whose unconstrained value is the log."""
EXCHANGEABLE = {
    "HalfNormal": POSITIVE,
    "Confusion": ("Confusion", "Counts"),
}
"""Distributions that can replace a default; others only replace their own kind."""
LOG_ODDS = ("mean_binary",)
"""Priors of log odds of a right answer, which an opinion on accuracy can replace."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """A named distribution with numbers or arrays as parameters.

    key : name by which the user replaces it, such as ``sd`` or ``expert.sd``; may be empty
    parts : priors that it was joined from
    """

    name: str
    values: tuple[Any, ...]
    key: str = field(default="", compare=False, repr=False)
    parts: tuple["Prior", ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        """Write the prior as in a TOML file."""
        if self.name == ABOUT:
            return str(self.values[0])
        return f"{self.name}({', '.join(written_prior(v) for v in self.values)})"

    def by_key(self) -> dict[str, "Prior"]:
        """Return this prior, or those it was joined from, by the names that replace them."""
        if self.key:
            return {self.key: self}
        return {key: prior for part in self.parts for key, prior in part.by_key().items()}


def distinct(priors: Iterable[Prior]) -> tuple[Prior, ...]:
    """Return priors without duplicates of a key."""
    return tuple({prior.key: prior for prior in priors}.values())


def parse_prior(text: str, *, where: str = "prior") -> Prior:
    """Read a prior from text, or raise ModelError, whose message begins with ``where``.

    It is ``"Normal(0, 1)"``, ``"Counts([[8, 2], [1, 9]])"``, or an opinion, ``"about 85 % accurate,
    90 % between 70 and 95"``.
    """
    if not isinstance(text, str):
        raise ModelError(
            f"{where}: {written(text)} is not a prior. Write it as text: 'Normal(0, 1)'",
            code="prior-syntax",
        )
    if text.strip().lower().startswith("about"):
        return Prior(name=ABOUT, values=(Opinion.parse(str(text), where=where),))
    name, positional, named = read_call(str(text), where)
    if name not in PARAMETERS:
        raise ModelError(
            f"{where}: no distribution {cut(name)}; {suggest(name, list(PARAMETERS))}",
            code="prior-syntax",
        )
    wanted = PARAMETERS[name]
    given = dict(zip(wanted, positional, strict=False)) | named
    if set(given) != set(wanted) or len(positional) + len(named) != len(wanted):
        raise ModelError(
            f"{where}: {cut(str(text))}; {name} takes {', '.join(wanted)}", code="prior-syntax"
        )
    if name == "Counts":
        return Prior(name=name, values=(read_counts(given["counts"], where),))
    try:
        numbers = {w: float(given[w]) for w in wanted}
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"{where}: {cut(str(text))}; {name} takes numbers", code="prior-syntax"
        ) from None
    positive = wanted if name not in {"Normal", "Confusion"} else wanted[1:]
    if any(numbers[w] <= 0 for w in positive) or not all(np.isfinite([*numbers.values()])):
        raise ModelError(
            f"{where}: {cut(str(text))}; {', '.join(positive)} must be positive",
            code="prior-syntax",
        )
    if name == "Confusion" and not 0 < numbers["correct"] < 1:
        raise ModelError(
            f"{where}: {cut(str(text))}; correct must be a share between 0 and 1",
            code="prior-syntax",
        )
    return Prior(name=name, values=tuple(numbers.values()))


def write_prior(value: Any, *, where: str = "prior") -> str:
    """Write a prior as text for :func:`parse_prior`. Arrays ([rater,] true class, reported class),
    and mappings from labels to these, become ``Counts``.
    """
    if isinstance(value, str | Prior):
        return str(value)
    if not isinstance(value, Mapping | Sequence) and np.ndim(value) == 0:
        raise ModelError(
            f"{where}: {written(value)} is not a prior. Write it as text, e.g. 'Normal(0, 1)'",
            code="prior-syntax",
        )
    return str(Prior(name="Counts", values=(read_counts(value, where),)))


def override(
    defaults: Mapping[str, Prior],
    priors: Mapping[str, str | Prior],
    *,
    owner: str,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Prior]:
    """Replace default priors by the user's; names without a default are ignored. Opinions take the
    default's kind. ``keys`` are the names as the user wrote them.
    """
    chosen = {name: replace(prior, key=name) for name, prior in defaults.items()}
    for name, prior in priors.items():
        if name not in defaults:
            continue
        where = f"prior {name} of {owner}"
        value = prior if isinstance(prior, Prior) else parse_prior(prior, where=where)
        if value.name == ABOUT:
            value = _settle(value.values[0], name, defaults[name], where)
        kinds = EXCHANGEABLE.get(defaults[name].name, (defaults[name].name,))
        if value.name not in kinds:
            raise ModelError(
                f"{where}: {value} cannot replace {defaults[name]}; the prior can be "
                f"{' or '.join(kinds)}",
                code="prior-kind",
            )
        chosen[name] = replace(value, key=(keys or {}).get(name, name))
    return chosen


def _settle(opinion: Opinion, name: str, default: Prior, where: str) -> Prior:
    """Return an opinion as a distribution of the default's kind."""
    if default.name == "Normal" and name in LOG_ODDS:
        return Prior(name="Normal", values=opinion_logit_normal(opinion))
    if default.name not in {"Beta", "Confusion"}:
        raise ModelError(
            f"{where}: '{opinion}' cannot replace {default}, which is not a probability",
            code="prior-kind",
        )
    alpha, beta = opinion_beta(opinion)
    if default.name == "Beta":
        return Prior(name="Beta", values=(alpha, beta))
    return Prior(name="Confusion", values=(opinion.mean, alpha + beta))


Source = Mapping[str, Any] | str | Path
Priors = Source | Sequence[Source] | None
"""Priors by name, a TOML file of priors, or several of these."""
EXAMPLE_FILE = '[priors]\nmean_binary = "Normal(2, 0.5)"'


def given_priors(priors: Priors) -> dict[str, Any]:
    """Return all priors by name, reading files; later ones replace earlier ones."""
    found: dict[str, Any] = {}
    for source in _sources(priors):
        found |= read_priors(source) if isinstance(source, str | Path) else source
    return found


def named_priors(priors: Priors) -> list[str]:
    """Return the names of the priors given by name, not in a file."""
    return [name for one in _sources(priors) if not isinstance(one, str | Path) for name in one]


def _sources(priors: Priors) -> Sequence[Source]:
    if priors is None:
        return []
    sources: list[Any] = (
        list(priors) if isinstance(priors, Sequence) and not isinstance(priors, str) else [priors]
    )
    if not all(isinstance(one, Mapping | str | Path) for one in sources):
        raise ModelError(
            f"`priors={written(priors)}` cannot be used. Give a dictionary such as {{'main': "
            "'Normal(0, 1)'}, the path of a TOML file, or a list of these",
            code="prior-file",
        )
    return sources


def read_priors(path: str | Path) -> dict[str, str]:
    r"""Read priors by name from the table ``[priors]`` of a TOML file.

    Parameters
    ----------
    path : str or path
        A value is a prior as text, an array of prior counts of a confusion, or an inline table of
        such counts by label. A prior of one rater group or rater has its name first,
        ``expert.accuracy = "Beta(9, 1)"``, or is in a table ``[priors.expert]``.

    Returns
    -------
    dict of str to str
        For ``priors=`` of :func:`assay.fit`, by ``name`` or ``owner.name``.

    Raises
    ------
    ModelError
        If the file, or a prior in it, cannot be read; all faults are listed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '[priors]\naccuracy = "Beta(2, 1)"\nexpert.accuracy = "Beta(9, 1)"'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "priors.toml"
    ...     _ = path.write_text(text)
    ...     read_priors(path)
    {'accuracy': 'Beta(2, 1)', 'expert.accuracy': 'Beta(9, 1)'}
    """
    place = path_given("path", path)
    found, problems = {}, []
    for name, value in _flat(_table(place)):
        try:
            text = write_prior(value, where=name)
            parse_prior(text, where=name)
            found[name] = text
        except ModelError as error:
            problems.append(str(error))
    if problems:
        raise ModelError(
            f"{place}: " + "\n  ".join(["these priors cannot be read:", *problems]),
            code="prior-syntax",
            numbers={"problems": len(problems)},
        )
    return found


def _table(path: Path) -> dict[str, Any]:
    """Return the table ``[priors]`` of a file."""
    if "\0" not in str(path) and not path.exists():
        raise ModelError(
            f"{path}: there is no such file. `priors=` takes priors by name or the path of a TOML "
            f"file, e.g.\n{EXAMPLE_FILE}",
            code="prior-file",
        )
    try:
        content = read_toml(path)
    except FileError as error:
        raise ModelError(f"{path}: the file {error}", code="prior-file") from None
    others = sorted(set(content) - {"priors"})
    priors = content.get("priors")
    if others or not isinstance(priors, dict):
        seen = f"has {', '.join(others)}" if others else "has no table [priors]"
        raise ModelError(
            f"{path} {seen}. Write all priors into one table, e.g.\n{EXAMPLE_FILE}",
            code="prior-file",
        )
    return priors


def _flat(table: Mapping[str, Any], owner: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values of priors; a table without counts belongs to an owner."""
    for key, value in table.items():
        name = f"{owner}{key}"
        by_label = (
            isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values())
        )
        if isinstance(value, dict) and not by_label:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value
