"""A table of a result, laid out once for the terminal, the report and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from assay._util.text import UNDEFINED, printable

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table; a heading of the lines below it if it has one cell."""

    cells: tuple[str, ...]

    @property
    def is_heading(self) -> bool:
        """Whether the row is a heading."""
        return len(self.cells) == 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table as shown, and the data frame that files get under its key.

    ``numeric`` columns are aligned right. Cells that are sentences are marked by ``is_prose``.
    """

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: tuple[bool, ...]
    key: str = ""
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    note: str = ""
    is_prose: bool = False

    def __rich__(self) -> "Group":
        """Return the table for the terminal: plain, with lines indented under their headings."""
        from rich.box import Box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        # Only a line of dashes below the header: readable in a pipe and in a file.
        box = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
        table = RichTable(box=box, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for column, right in zip(self.columns, self.numeric, strict=True):
            table.add_column(Text(column), justify="right" if right else "left", overflow="fold")
        under = "  " * any(row.is_heading for row in self.rows)
        for row in self.rows:
            first, *others = map(printable, row.cells)
            first = first if row.is_heading else under + first
            style = "bold" if row.is_heading else None
            table.add_row(*map(Text, (first, *others)), style=style)
        below = [Text(self.note)] if self.note else []
        return Group(Text(self.caption, "bold"), table, *below)


def make_table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    note: str = "",
    right: Sequence[str] = (),
) -> Table:
    """Return a table of words; a row of one cell is a heading, ``right`` are numeric columns."""
    return Table(
        caption=caption,
        columns=tuple(columns),
        rows=tuple(Row(cells=tuple(map(str, row))) for row in rows),
        numeric=tuple(column in right for column in columns),
        note=note,
    )


def table_of(
    key: str,
    caption: str,
    frame: pd.DataFrame,
    shown: Mapping[str, str],
    *,
    under: str = "",
    note: str = "",
    export: pd.DataFrame | None = None,
    is_prose: bool = False,
) -> Table:
    """Make a table of the columns ``shown`` of a data frame, with their headings.

    ``under`` names a column whose values become headings of rows. ``export`` is exported instead of
    a ``frame`` that holds text.
    """
    rows: list[Row] = []
    last = None
    lines = frame[[*shown]].to_numpy(object)
    for head, line in zip(frame[under] if under else [""] * len(frame), lines, strict=True):
        if head != last and head != "":
            rows.append(Row(cells=(printable(head),)))
        last = head
        rows.append(Row(cells=tuple(cell_text(cell) for cell in line)))
    return Table(
        key=key,
        caption=caption,
        columns=tuple(shown.values()),
        rows=tuple(rows),
        numeric=tuple(pd.api.types.is_numeric_dtype(frame[column]) for column in shown),
        frame=frame if export is None else export,
        note=note,
        is_prose=is_prose,
    )


def cell_text(cell: Any) -> str:
    """Write a cell."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return UNDEFINED if cell != cell else f"{cell:.3g}"
    return printable(cell)
