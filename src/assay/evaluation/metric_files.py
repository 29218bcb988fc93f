"""Metrics of the user's own, from a Python file named on the command line."""

import importlib.util
import sys
import traceback
from hashlib import blake2b
from pathlib import Path

from assay._util.errors import AssayError, ModelError
from assay._util.validation import path_given
from assay.evaluation.registry import Metric, metrics_of_module

EXAMPLE = (
    'import assay\n\n@assay.metric("my_metric", task="retrieval")\ndef my_metric(y, mask):\n'
    "    return (y[..., 0] == 1).any(axis=-1)"
)


def load_metrics(path: str | Path) -> tuple[Metric, ...]:
    r"""Run a Python file of the user's that registers metrics, and return these.

    Parameters
    ----------
    path : str or Path
        A ``.py`` file with functions under :func:`assay.metric`. It is run like any program of
        the user's: name only files that you trust.

    Returns
    -------
    tuple of Metric
        Those that the file registers, in its order. Loading the file again replaces them.

    Raises
    ------
    ModelError
        If it is no path, there is no such file, it is not Python, fails, or registers no metric.

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
            f"{file} is no Python file (.py) that can be read; it may hold\n\n{EXAMPLE}",
            code="metric-file",
        )
    module = _module_name(file)
    _run(file, module)
    found = metrics_of_module(module)
    if not found:
        raise ModelError(
            f"{file} registers no metric; it may hold\n\n{EXAMPLE}", code="metric-file"
        )
    return found


def _module_name(file: Path) -> str:
    """Name a file's module by its place: the same file may replace its own metrics only."""
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
    """Say in which line of the file an error came up."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
