"""Options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay._util.errors import ArgumentError

Source = Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or an exported folder.")]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="Name of a task, 'single' for one label with the classes of the file, or a .toml "
        "file.  \\[required]",
    ),
]
"""Not required by typer, whose words for a missing option do not say what it could be."""
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
FitFile = Annotated[Path, typer.Argument(help="File that 'assay fit' wrote.", show_default=False)]
Table = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the table: .csv, .tsv, .parquet or .json."),
]
Strict = Annotated[bool, typer.Option("--strict", help="End with status 1 if there is a warning.")]
Level = Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of the intervals.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]
Incomplete = Annotated[
    Literal["predict", "drop"], typer.Option(help="What to do with panels not all rated.")
]
Estimands = Annotated[
    Literal["population", "finite", "both"],
    typer.Option(help="About clusters like these, or these items."),
]


def require_task(task: str | None, *, source: str = "") -> str:
    """Return the task that was named; say which there are if none was, after what the source is.

    Raises
    ------
    ArgumentError
        If none was.
    """
    if task is not None:
        return task
    from assay.data.catalogue import catalogue_names

    known = ", ".join(catalogue_names("tasks"))
    raise ArgumentError(
        f"{source}--task is missing. It is one of {known} ('single' is one label with the classes "
        "of the file), or a .toml file of yours",
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
