"""Where the shipped files are: tasks and rater families as data."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay._util.errors import UnknownNameError, suggest


@cache
def models_folder() -> Path:
    """Return the folder of the catalogue: inside the wheel, or the checkout's ``models/``."""
    package = Path(str(files("assay")))
    shipped = package / "_models"
    return shipped if shipped.is_dir() else package.parents[1] / "models"


def catalogue_path(kind: str, name: str) -> Path:
    """Return the path of one file of the catalogue."""
    return models_folder() / kind / name


def catalogue_names(kind: str) -> list[str]:
    """Return the names of all entries of a kind (``tasks`` or ``raters``), sorted.

    Examples
    --------
    >>> "retrieval" in catalogue_names("tasks")
    True
    """
    return sorted(path.stem for path in (models_folder() / kind).glob("*.toml"))


def catalogue_entry(kind: str, name: str, *, called: str) -> dict[str, Any]:
    """Read one entry of the catalogue.

    Parameters
    ----------
    kind : str
        The folder: ``raters`` or ``prevalence``.
    name : str
        The entry's name.
    called : str
        What an entry of this kind is called in the error.

    Raises
    ------
    UnknownNameError
        If there is no such entry; the message shows the nearest names.

    Examples
    --------
    >>> catalogue_entry("raters", "pooled", called="rater family")["title"]
    'Pooled'
    >>> catalogue_entry("raters", "multinomial", called="rater family")
    Traceback (most recent call last):
        ...
    assay._util.errors.UnknownNameError: no rater family is called 'multinomial'; here it is pooled
    """
    names = catalogue_names(kind)
    if not isinstance(name, str) or name not in names:
        usual = _other_names(kind, names).get(str(name).lower())
        told = f"here it is {usual}" if usual else suggest(name, names, limit=len(names))
        raise UnknownNameError(
            f"no {called} is called {name!r}; {told}", code="unknown-catalogue-name"
        )
    return tomllib.loads(catalogue_path(kind, f"{name}.toml").read_text(encoding="utf-8"))


def _other_names(kind: str, names: list[str]) -> dict[str, str]:
    """Return what entries are called elsewhere, by that name."""
    read = (catalogue_path(kind, f"{name}.toml").read_text(encoding="utf-8") for name in names)
    entries = (tomllib.loads(text) for text in read)
    return {other: e["name"] for e in entries for other in e.get("other_names", [])}
