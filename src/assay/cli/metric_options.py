"""Options about metrics: which ones, metrics of the user's own, and differences that matter."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

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


def register(files: Sequence[Path] | None) -> None:
    """Run the files that register metrics."""
    if files:
        from assay.evaluation import load_metrics

        for path in files:
            load_metrics(path)


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
