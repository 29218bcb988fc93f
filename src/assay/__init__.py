"""assay: what is true of items that several raters judged, and how sure one can be.

The data flow, one function a step::

    ratings.csv -> read_ratings -> Ratings -> build_model -> pm.Model -> fit -> DataTree -> metrics

Names are imported when they are first used, so that ``import assay`` stays quick and does not
import PyMC until a model is built.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.checking import check
    from assay.errors import AssayError, FitWarning
    from assay.evaluation import metric, metrics
    from assay.fitting import fit
    from assay.labels import label_draws, label_probabilities, state_probabilities
    from assay.model import build_model
    from assay.ratings import Ratings
    from assay.reading import read_ratings
    from assay.reliability import rater_reliability
    from assay.simulation import simulate
    from assay.storage import load, save
    from assay.summary import summarize
    from assay.task import Task, load_task

_HOME = {
    "AssayError": "errors",
    "FitWarning": "errors",
    "Ratings": "ratings",
    "Task": "task",
    "build_model": "model",
    "check": "checking",
    "fit": "fitting",
    "label_draws": "labels",
    "label_probabilities": "labels",
    "load": "storage",
    "load_task": "task",
    "metric": "evaluation",
    "metrics": "evaluation",
    "rater_reliability": "reliability",
    "read_ratings": "reading",
    "save": "storage",
    "simulate": "simulation",
    "state_probabilities": "labels",
    "summarize": "summary",
}

__all__ = [
    "AssayError",
    "FitWarning",
    "Ratings",
    "Task",
    "build_model",
    "check",
    "fit",
    "label_draws",
    "label_probabilities",
    "load",
    "load_task",
    "metric",
    "metrics",
    "rater_reliability",
    "read_ratings",
    "save",
    "simulate",
    "state_probabilities",
    "summarize",
]

try:
    __version__ = version("assay")
except PackageNotFoundError:  # pragma: no cover
    __version__ = "0+unknown"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = getattr(import_module(f"assay.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
