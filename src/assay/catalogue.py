"""Where the shipped files are: tasks and rater families as data."""

from functools import cache
from importlib.resources import files
from pathlib import Path


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
