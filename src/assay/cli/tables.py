"""Deliver a table: to a file, as JSON, or to the terminal."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay._util.files import TABLE_SUFFIXES, require_place, write_table
from assay.cli.shell import say

if TYPE_CHECKING:
    import pandas as pd


def deliver(
    name: str,
    frame: "pd.DataFrame",
    as_json: bool,
    output: Path | None,
    show: Callable[[], None],
    *,
    extra: "Mapping[str, pd.DataFrame] | None" = None,
) -> None:
    """Write a table to a file, and print it as JSON (with ``extra`` tables) or call ``show``."""
    if output is not None:
        _write(frame, output)
        say(f"wrote {output}: {len(frame)} lines")
    if as_json:
        tables = {name: frame, **(extra or {})}
        texts = [f'"{key}": {records_of(table)}' for key, table in tables.items()]
        typer.echo(f"{{{', '.join(texts)}}}")
    elif output is None:
        show()


def records_of(frame: "pd.DataFrame") -> str:
    """Return the rows of a table as JSON; undefined values are null."""
    return frame.to_json(orient="records", double_precision=15)


def _write(frame: "pd.DataFrame", path: Path) -> None:
    if path.suffix not in TABLE_SUFFIXES:
        raise typer.BadParameter(
            f"{path}: a table ends in {', '.join(TABLE_SUFFIXES)}", param_hint="--output"
        )
    require_place(path, example="table.csv")
    write_table(frame, path)
