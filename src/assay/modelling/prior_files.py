"""Priors as a user gives them: by name, or in a TOML file of the form that the catalogue has."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._util.errors import ModelError
from assay._util.toml_files import FileError, read_toml
from assay._util.validation import path_given, written
from assay.modelling.priors import parse_prior, write_prior

Source = Mapping[str, Any] | str | Path
Priors = Source | Sequence[Source] | None
"""Priors by name, or the TOML file that they stand in; or several of these."""
EXAMPLE = '[priors]\nmean_binary = "Normal(2, 0.5)"'


def given_priors(priors: Priors) -> dict[str, Any]:
    """Return priors by name, those of files among them; later ones go before earlier ones.

    Examples
    --------
    >>> given_priors([{"sd": "HalfNormal(1)"}, {"sd": "HalfNormal(2)"}])
    {'sd': 'HalfNormal(2)'}
    """
    found: dict[str, Any] = {}
    for source in _sources(priors):
        found |= read_priors(source) if isinstance(source, str | Path) else source
    return found


def named_priors(priors: Priors) -> list[str]:
    """Return the names of the priors that are given by name, not in a file."""
    return [name for one in _sources(priors) if not isinstance(one, str | Path) for name in one]


def _sources(priors: Priors) -> Sequence[Source]:
    if priors is None:
        return []
    sources: list[Any] = (
        list(priors) if isinstance(priors, Sequence) and not isinstance(priors, str) else [priors]
    )
    if not all(isinstance(one, Mapping | str | Path) for one in sources):
        raise ModelError(
            f"priors={written(priors)}; give priors by name, {{'main': 'Normal(0, 1)'}}, the path "
            "of a TOML file, or a list of these",
            code="prior-file",
        )
    return sources


def read_priors(path: str | Path) -> dict[str, str]:
    r"""Read priors by name from the table ``[priors]`` of a TOML file.

    Parameters
    ----------
    path : str or path
        A value is a prior as text; an array is prior counts of a confusion, an inline table has
        such counts by label. A prior of one rater group or rater stands under its name:
        ``expert.accuracy = "Beta(9, 1)"``, or in a table ``[priors.expert]``.

    Returns
    -------
    dict of str to str
        As ``priors=`` of :func:`assay.fit` takes them: ``name``, or ``owner.name``.

    Raises
    ------
    ModelError
        If the file cannot be read, or a prior in it; every one is named, with the file.

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
    """Return the table ``[priors]``."""
    if "\0" not in str(path) and not path.exists():
        raise ModelError(
            f"{path}: there is no such file; priors= takes priors by name or the path of a TOML "
            f"file, e.g.\n{EXAMPLE}",
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
            f"{path} {seen}; all priors stand in one table, e.g.\n{EXAMPLE}", code="prior-file"
        )
    return priors


def _flat(table: Mapping[str, Any], owner: str = "") -> Iterator[tuple[str, Any]]:
    """Names of priors with their values; a table that holds no counts belongs to an owner."""
    for key, value in table.items():
        name = f"{owner}{key}"
        by_label = (
            isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values())
        )
        if isinstance(value, dict) and not by_label:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value
