"""A table of a result, laid out once for the terminal, the report, notebooks and files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from assay._util.files import SHOWN_SUFFIXES, draft, write_table
from assay._util.html import cell_html, coded, foldable, with_minus
from assay._util.table_texts import Cells, latex, markdown
from assay._util.text import UNDEFINED, notes_said, printable, rounded

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console, ConsoleOptions, RenderableType

NUMBER = re.compile(r"[<>]?-?\d[\d.,]*%?")
BETWEEN, NARROW = 2, 10
"""Blanks between the columns of a terminal, and the width to which text is narrowed first."""
DIGITS, MOST_DECIMALS = 3, 4
"""Significant digits of the largest number of a column, and the most decimals of all."""


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

    ``marks`` explain marks in the cells. Cells that are sentences are marked by ``is_prose``,
    tables without some lines of their frame by ``is_cut``.
    """

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: tuple[bool, ...]
    key: str = ""
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    note: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    is_prose: bool = False
    is_cut: bool = False

    @property
    def whole_note(self) -> str:
        """The note, with the explanation of the marks."""
        return f"{self.note}{notes_said(self.marks)}".strip()

    def to_html(self, most: int | None = None) -> "Markup":
        """Return the table as HTML, escaped; of ``most`` rows at most."""
        from markupsafe import Markup, escape

        head = "".join(
            f'<th scope="col"{_aligned(right)}>{foldable(with_minus(name))}</th>'
            for name, right in zip(self.columns, self.numeric, strict=True)
        )
        body = "".join(self._html_rows(most))
        caption = escape(self.caption)
        left = 0 if most is None else len(self.rows) - most
        more = [f"{left} more line{'s' * (left > 1)}."] * (left > 0)
        note = coded(" ".join(filter(None, [self.whole_note, *more])))
        below = f'\n<p class="note">{note}</p>' if note else ""
        return Markup(
            f'<div class="scroll" role="region" aria-label="Table: {caption}" tabindex="0">\n'
            f"<table>\n<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>{body}\n</tbody>\n</table>\n</div>{below}"
        )

    def _html_rows(self, most: int | None) -> Iterator[str]:
        from markupsafe import escape

        for n, row in enumerate(self.rows[:most]):
            if row.is_heading:
                yield "</tbody><tbody>" if n else ""
                span = f'scope="rowgroup" colspan="{len(self.columns)}"'
                name = escape(with_minus(row.cells[0]))
                yield f"\n<tr><th {span}><span>{name}</span></th></tr>"
                continue
            first, *others = zip(row.cells, map(_aligned, self.numeric), strict=True)
            cells = [f'<th scope="row"{first[1]}>{foldable(first[0])}</th>']
            cells += [f"<td{aligned}>{cell_html(cell)}</td>" for cell, aligned in others]
            yield f"\n<tr>{''.join(cells)}</tr>"

    def text(self, suffix: str) -> str:
        """Return the table in Markdown (``.md``) or LaTeX (``.tex``), with caption and note."""
        rows = [row.cells for row in self.rows]
        cells = Cells(self.columns, rows, self.numeric)
        lines = [self.note, *(f"{mark} {text}" for text, mark in self.marks.items())]
        if suffix == ".md":
            below = "\n".join(f"\n{line}" for line in lines if line)
            return f"**{self.caption}**\n\n{markdown(cells)}{below}\n"
        above = "".join(f"% {line}\n" for line in [self.caption, *lines] if line)
        return f"{above}{latex(cells)}"

    def write(self, path: Path) -> Path:
        """Write a file: Markdown and LaTeX as shown unless cut, else the numbers of the frame."""
        if path.suffix in SHOWN_SUFFIXES and not self.is_cut:
            write_shown([self], path)
        else:
            write_table(self.frame, path)
        return path

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        """Yield the table for the terminal: plain, with lines indented under their headings."""
        from rich.text import Text

        widths = self._widths(options.max_width)
        yield Text(self.caption, "bold")
        yield self._grid([self.columns], widths)
        yield Text("-" * min(sum(widths) + BETWEEN * (len(widths) - 1), options.max_width))
        lines: list[tuple[str, ...]] = []
        for row in self.rows:
            if not row.is_heading:
                lines.append((self._under + row.cells[0], *row.cells[1:]))
                continue
            yield from [self._grid(lines, widths)] if lines else []
            lines = []
            yield Text(printable(row.cells[0]), "bold")
        yield from [self._grid(lines, widths)] if lines else []
        for line in [self.note, *(f"{mark} {text}" for text, mark in self.marks.items())]:
            yield from [Text(line)] if line else []

    @property
    def _under(self) -> str:
        return "  " * any(row.is_heading for row in self.rows)

    def _widths(self, most: int) -> list[int]:
        """Return the width of each column: the widest texts are narrowed first, then numbers."""
        from rich.cells import cell_len

        lines = [self.columns, *(row.cells for row in self.rows if not row.is_heading)]
        widths = [
            max(cell_len(printable(cell)) for cell in column) for column in zip(*lines, strict=True)
        ]
        widths[0] += len(self._under)
        texts = [n for n, cells in enumerate(zip(*lines[1:], strict=True)) if _is_text(cells)]
        room = max(most - BETWEEN * (len(widths) - 1), len(widths))
        for columns, least in ((texts, NARROW), (range(len(widths)), 1)):
            while sum(widths) > room and max((widths[n] for n in columns), default=0) > least:
                widths[max(columns, key=lambda n: widths[n])] -= 1
        return widths

    def _grid(self, lines: "Sequence[tuple[str, ...]]", widths: Sequence[int]) -> "RenderableType":
        """Return rows of text in columns of these widths."""
        from rich.table import Table as RichTable
        from rich.text import Text

        grid = RichTable.grid(padding=(0, BETWEEN, 0, 0), pad_edge=False)
        for width, right in zip(widths, self.numeric, strict=True):
            grid.add_column(justify="right" if right else "left", overflow="fold", width=width)
        for line in lines:
            grid.add_row(*(Text(printable(cell)) for cell in line))
        return grid


def write_shown(tables: Sequence[Table], path: Path) -> None:
    """Write tables to a file as they are shown, in Markdown or LaTeX."""
    with draft(path) as unfinished:
        text = "\n".join(table.text(path.suffix) for table in tables)
        unfinished.write_text(text, encoding="utf-8")


def _is_text(cells: Sequence[str]) -> bool:
    return not all(re.match(r"[<>]?-?[\d.]", cell) for cell in cells if cell != UNDEFINED)


def _aligned(right: bool) -> str:
    return ' class="number"' if right else ""


def make_table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    note: str = "",
    marks: Mapping[str, str] | None = None,
) -> Table:
    """Return a table of words; a row of one cell is a heading of those below."""
    made = tuple(Row(cells=tuple(map(str, row))) for row in rows)
    return Table(
        caption=caption,
        columns=tuple(columns),
        rows=made,
        numeric=_numeric(made, len(columns)),
        note=note,
        marks=marks or {},
    )


def table_of(
    key: str,
    caption: str,
    frame: pd.DataFrame,
    shown: Mapping[str, str],
    *,
    under: str = "",
    note: str = "",
    marks: Mapping[str, str] | None = None,
    export: pd.DataFrame | None = None,
    is_prose: bool = False,
    is_cut: bool = False,
) -> Table:
    """Make a table of the columns ``shown`` of a data frame, with their headings. Values of column
    ``under`` become headings of rows; ``export`` replaces a ``frame`` that holds text.
    """
    rows: list[Row] = []
    last = None
    lines = zip(*(_column(frame[name]) for name in shown), strict=True)
    for head, line in zip(frame[under] if under else [""] * len(frame), lines, strict=True):
        if head != last and head != "":
            rows.append(Row(cells=(printable(head),)))
        last = head
        rows.append(Row(cells=line))
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in shown]
    looks = _numeric(rows, len(shown))
    return Table(
        key=key,
        caption=caption,
        columns=tuple(shown.values()),
        rows=tuple(rows),
        numeric=tuple(a or b for a, b in zip(numeric, looks, strict=True)),
        frame=frame if export is None else export,
        note=note,
        marks=marks or {},
        is_prose=is_prose,
        is_cut=is_cut,
    )


def _numeric(rows: Sequence[Row], columns: int) -> tuple[bool, ...]:
    """Whether all cells of a column are numbers or empty; the first column has names."""
    lines = [row.cells for row in rows if not row.is_heading]
    cells = list(zip(*lines, strict=True))[1:] if lines else []
    numbers = [
        any(column) and all(NUMBER.fullmatch(cell) for cell in column if cell) for column in cells
    ]
    return (*[False] * (columns - len(numbers)), *numbers)


def _column(cells: pd.Series) -> list[str]:
    """Write the cells of a column."""
    if not pd.api.types.is_float_dtype(cells):
        return [cell_text(cell) for cell in cells.astype(object)]
    decimals = _decimals(cells.to_numpy(float))
    return [UNDEFINED if cell != cell else rounded(cell, decimals) for cell in cells]


def _decimals(numbers: np.ndarray) -> int:
    """Return the decimals of a column: those that none of its numbers needs to be told from 0."""
    known = np.abs(numbers[np.isfinite(numbers)])
    if not known.size or np.array_equal(known, np.round(known)):
        return 0
    decimals = int(np.clip(DIGITS - 1 - np.floor(np.log10(known.max())), 0, DIGITS))
    while decimals < MOST_DECIMALS and (np.round(known[known > 0], decimals) == 0).any():
        decimals += 1
    return decimals


def cell_text(cell: Any) -> str:
    """Write a cell."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return UNDEFINED if cell != cell else f"{cell:.3g}"
    return printable(cell)
