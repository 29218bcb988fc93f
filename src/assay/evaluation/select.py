"""The choice of metrics: by task, by name, or from a user's file."""

import importlib.util
import sys
import traceback
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from assay._util.errors import AssayError, ModelError, UnknownNameError, nearest, suggest
from assay._util.validation import names_given, path_given
from assay.data.generic_metrics import generic_names
from assay.data.task import Task
from assay.evaluation.generic import generic_metric
from assay.evaluation.prevalence import prevalence_metrics, telling_shares
from assay.evaluation.registry import Metric, metrics_of_module, metrics_of_task, registered


def metrics_for(task: Task) -> tuple[Metric, ...]:
    """Return the metrics of the task file, then others registered for the task or for every task;
    without names, the prevalence of each class (``telling_shares``).
    """
    named = [generic_metric(name, task) or _usable(registered(name), task) for name in task.metrics]
    others = [m for m in metrics_of_task(task) if m not in named and not m.lacks(task)]
    return (*(named or telling_shares(task)), *others)


def choose_metrics(task: Task, names: Sequence[str] | str | None = None) -> tuple[Metric, ...]:
    """Return the named metrics, ``prevalence[<label>=<class>]`` and generic ones
    (:mod:`assay.evaluation.generic`) among them; those that the task reports if none is named.
    """
    default = metrics_for(task)
    if names is None:
        return default
    reported = "None for those that the task reports"
    wanted = names_given("metric", names, what="metric", otherwise=reported)
    shares = {m.name: m for m in [*prevalence_metrics(task), *prevalence_metrics(task, other=True)]}
    free = {m.name: m for m in metrics_of_task(task)}
    known = {m.name: m for m in default} | free | shares
    found = {name: known.get(name) or generic_metric(name, task) for name in wanted}
    for name, metric in found.items():
        if metric is None:
            names = list(dict.fromkeys([*known, *generic_names(task)]))
            raise UnknownNameError(
                f"task {task.name} has no metric called {name!r}; {suggest(name, names)}",
                code="unknown-metric",
                go_on={"metric": [near] if (near := nearest(name, names)) else None},
            )
    return tuple(_usable(metric, task) for metric in found.values() if metric is not None)


def _usable(found: Metric, task: Task) -> Metric:
    if lacks := found.lacks(task):
        raise ModelError(
            f"metric {found.name!r} needs the labels {', '.join(lacks)}, which task {task.name} "
            f"does not have; its labels: {', '.join(task.label_names)}",
            code="metric-unavailable",
        )
    return found


EXAMPLE = (
    'import assay\n\n@assay.metric("my_metric", task="retrieval")\ndef my_metric(y, mask):\n'
    "    return (y[..., 0] == 1).any(axis=-1)"
)


def load_metrics(path: str | Path) -> tuple[Metric, ...]:
    r"""Run a user's Python file that registers metrics, and return these metrics.

    Parameters
    ----------
    path : str or Path
        A ``.py`` file with functions decorated by :func:`assay.metric`. The file is executed: name
        only files that you trust.

    Returns
    -------
    tuple of Metric
        Those that the file registers, in its order. Loading the file again replaces them.

    Raises
    ------
    ModelError
        If there is no such Python file, or if it fails or registers no metric.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "mine.py")
    ...     _ = file.write_text(
    ...         "from assay.evaluation import metric\n"
    ...         "@metric('doctest_any', task='of a doctest')\n"
    ...         "def any_yes(y, mask):\n"
    ...         "    return (y[..., 0] == 1).any(axis=-1)\n"
    ...     )
    ...     [m.name for m in load_metrics(file)]
    ['doctest_any']
    """
    file = path_given("path", path).resolve()
    if not file.is_file() or file.suffix != ".py":
        raise ModelError(
            f"{file} is not a readable Python file (.py). It may hold\n\n{EXAMPLE}",
            code="metric-file",
        )
    module = _module_name(file)
    _run(file, module)
    found = metrics_of_module(module)
    if not found:
        raise ModelError(
            f"{file} registers no metric. It may hold\n\n{EXAMPLE}", code="metric-file"
        )
    return found


def _module_name(file: Path) -> str:
    """Name a file's module by its path: the same file may replace only its own metrics."""
    digest = blake2b(str(file).encode(), digest_size=6).hexdigest()
    return f"assay_metrics_{file.stem}_{digest}"


def _run(file: Path, name: str) -> None:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ModelError(f"{file} cannot be loaded as a Python module", code="metric-file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ModelError(
            f"{file}{_line(error, file)}: {_words(error)}", code="metric-file"
        ) from error


def _line(error: Exception, file: Path) -> str:
    """Return the line of the file in which an error was raised."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
