"""Options that several commands share, and what they mean."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay._util.errors import ArgumentError
from assay.cli.shell import warn

if TYPE_CHECKING:
    import pandas as pd

    from assay.evaluation.registry import Metric
    from assay.fits.view import Fit


Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV, Excel, JSON, Parquet or Feather file, the export of a tool, a folder, or - "
        "for standard input. Several files are read as one table.",
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="Name of a task, 'single' for one label with the classes of the file, or a .toml "
        "file. Default: the task that the columns fit.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
FitFile = Annotated[Path, typer.Argument(help="File that 'assay fit' wrote.", show_default=False)]
Table = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the table: .csv, .tsv, .parquet or .json."),
]
Strict = Annotated[bool, typer.Option("--strict", help="End with status 1 if there is a warning.")]
Level = Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of the intervals.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of random numbers.")]
Baseline = Annotated[
    str | None,
    typer.Option(help="Compare each other system with this one only.", metavar="SYSTEM"),
]
Incomplete = Annotated[
    Literal["predict", "drop"], typer.Option(help="Predict or drop panels with unrated items.")
]
Estimands = Annotated[
    Literal["population", "finite", "both"],
    typer.Option(help="Inference on clusters like these, or on these items only."),
]


def source_of(paths: list[Path]) -> Path | list[Path]:
    """Return what ``read_ratings`` reads: the one file, or the list of several."""
    return paths[0] if len(paths) == 1 else paths


def name_of(paths: list[Path]) -> str:
    """Return the name of the one file, or how many there are."""
    return paths[0].name if len(paths) == 1 else f"{len(paths)} files"


def stem_of(paths: list[Path], several: str) -> str:
    """Return what results are named after: the one file; else ``several``."""
    return (paths[0].name.partition(".")[0] if len(paths) == 1 else "") or several


def require_task(task: str | None) -> str:
    """Return the task; refuse None, since data in partitions need a name."""
    if task is not None:
        return task
    from assay.data.task_files import catalogue_names

    known = ", ".join(catalogue_names("tasks"))
    raise ArgumentError(
        f"a folder of partitions needs --task. Give one of {known} ('single' is one label with "
        "the classes of the file), or a .toml file of your own",
        code="task-missing",
    )


def pairs(
    texts: list[str] | None, option: str, split: Callable[[str, str], tuple[str, str, str]]
) -> dict[str, str]:
    """Split texts NAME=VALUE at the equals sign that ``split`` finds."""
    found = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        found[name] = value
    return found


Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Only this metric; repeat.", metavar="METRIC")
]
MetricFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--metric-file",
        help="Python file with metrics of your own (@assay.metric). The file is executed.",
        metavar="FILE.py",
    ),
]


def register(files: Sequence[Path] | None) -> "list[Metric]":
    """Run the files that register metrics; their output goes to standard error."""
    if not files:
        return []
    from assay.evaluation import load_metrics

    with redirect_stdout(sys.stderr):
        return [metric for path in files for metric in load_metrics(path)]


def say_unsuited(own: "Sequence[Metric]", fit: "Fit") -> None:
    """Warn of own metrics that do not suit the task, and are not reported."""
    from assay.fits.view import FitView

    task = FitView.of(fit).task
    for metric in own:
        if metric.task not in (None, task.name):
            warn(
                f"metric {metric.name!r} is left out: it is for task {metric.task}, not {task.name}"
            )
        elif lacks := metric.lacks(task):
            warn(
                f"metric {metric.name!r} is left out: it needs the labels {', '.join(lacks)}, but "
                f"task {task.name} has {', '.join(task.label_names)}"
            )


def say_left_out(left_out: "pd.DataFrame") -> None:
    """Warn of metrics of the task that are left out, and why."""
    if len(left_out):
        warn(f"{', '.join(left_out['metric'])}: left out. {left_out['reason'].iloc[0]}")


def rope_of(text: str | None) -> float | tuple[float, float] | None:
    """Parse a region of practical equivalence: half width, or both ends."""
    try:
        numbers = [] if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        numbers = [0.0] * 3
    match numbers:
        case []:
            return None
        case [width]:
            return width
        case [low, high]:
            return low, high
    raise typer.BadParameter(f"{text!r} is not NUMBER or LOW,HIGH", param_hint="--rope")
