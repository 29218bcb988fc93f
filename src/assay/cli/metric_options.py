"""Options about metrics: which ones, metrics of the user's own, and differences that matter."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.shell import warn

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from assay.evaluation.registry import Metric

Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Only this metric; repeat.", metavar="METRIC")
]
MetricFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--metric-file",
        help="Python file with metrics of your own (@assay.metric); it is run.",
        metavar="FILE.py",
    ),
]


def register(files: Sequence[Path] | None) -> "list[Metric]":
    """Run the files that register metrics; what they print is no result."""
    if not files:
        return []
    from assay.evaluation import load_metrics

    with redirect_stdout(sys.stderr):
        return [metric for path in files for metric in load_metrics(path)]


def say_unsuited(own: "Sequence[Metric]", tree: "xr.DataTree") -> None:
    """Name the metrics of one's own that are not reported, since the task is not theirs."""
    from assay.fits.datatree import ratings_of

    task = ratings_of(tree).task
    for metric in own:
        if metric.task not in (None, task.name):
            warn(f"metric {metric.name!r} is for task {metric.task}, and left out of {task.name}")
        elif lacks := metric.lacks(task):
            warn(
                f"metric {metric.name!r} is left out: it needs the labels {', '.join(lacks)}, and "
                f"task {task.name} has {', '.join(task.label_names)}"
            )


def say_left_out(left_out: "pd.DataFrame") -> None:
    """Name the metrics of the task that are not reported, and why, where no table says so."""
    if len(left_out):
        warn(f"{', '.join(left_out['metric'])}: left out. {left_out['reason'].iloc[0]}")


def rope_of(text: str | None) -> float | tuple[float, float] | None:
    """Read a region of differences that do not matter: its half width, or both ends."""
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
