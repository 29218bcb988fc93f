"""Deliver a table: to a file, as JSON, or to the terminal."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay._util.files import SHOWN_SUFFIXES, TABLE_SUFFIXES, require_place, write_table
from assay._util.text import counted
from assay.cli.shell import say, show

if TYPE_CHECKING:
    import pandas as pd

    from assay.display.table import Table


def deliver(
    name: str,
    frame: "pd.DataFrame",
    as_json: bool,
    output: Path | None,
    shown: "Callable[[], Sequence[Table | str]]",
    *,
    extra: "Mapping[str, pd.DataFrame] | None" = None,
) -> None:
    """Write a table to a file, and print it as JSON (with ``extra`` tables) or as ``shown``.

    Markdown and LaTeX hold the shown tables, unless these leave out lines.
    """
    if output is not None:
        say(f"wrote {output}: {_write(frame, output, shown)}")
    if as_json:
        frames = {name: frame, **(extra or {})}
        texts = [f'"{key}": {records_of(table)}' for key, table in frames.items()]
        typer.echo(f"{{{', '.join(texts)}}}")
    elif output is None:
        show(*shown())


def records_of(frame: "pd.DataFrame") -> str:
    """Return the rows of a table as JSON; undefined values are null."""
    return frame.to_json(orient="records", double_precision=15)


def require_table(path: Path, *, example: str) -> None:
    """Refuse an output that cannot be written; the example is such a file in the folder."""
    if path.suffix not in TABLE_SUFFIXES:
        raise typer.BadParameter(
            f"{path}: a table ends in {', '.join(TABLE_SUFFIXES)}", param_hint="--output"
        )
    require_place(path, example=example)


def _write(frame: "pd.DataFrame", path: Path, shown: "Callable[[], Sequence[Table | str]]") -> str:
    """Write a table, and return what was written."""
    require_table(path, example="table.csv")
    if path.suffix in SHOWN_SUFFIXES:
        from assay.display.table import Table, write_shown

        tables = [part for part in shown() if isinstance(part, Table)]
        if tables and not any(table.is_cut for table in tables):
            write_shown(tables, path)
            return counted(len(tables), "table")
    write_table(frame, path)
    return counted(len(frame), "line")
