"""Results as tables of text for the terminal. Only `cli` prints."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from rich.box import Box
from rich.console import Console, Group
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from assay._util.plain_text import plain
from assay._util.words import printable
from assay.data.task import Label


def binary_heading(label: Label) -> str:
    """Name a label of two classes, and the class that sensitivity is about unless it is yes.

    Examples
    --------
    >>> binary_heading(Label(name="mail", classes=("ham", "spam")))
    'mail (positive: spam)'
    >>> binary_heading(Label(name="misleading", classes=("no", "yes")))
    'misleading'
    """
    positive = label.classes[1]
    return label.name if positive == "yes" else f"{label.name} (positive: {positive})"


# A line of dashes below the header and nothing else: it reads well in a pipe and in a file.
HEAD = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
SHOWN_LINES = 12
UNFOLDED = 100_000
"""Characters of a line where nobody says how wide lines may be."""


class PlainConsole(Console):
    """A console that shows no control characters but its own colours.

    Names come from files, and stand in sentences, titles and cells.
    """

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            part if part.control else Segment(plain(part.text), part.style) for part in buffer
        )


def make_console() -> Console:
    """Return a console that prints text as it is: no markup, no colours added to numbers.

    What is no terminal has no width (unless ``COLUMNS`` gives it one): nothing is folded there.
    """
    as_it_is: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}
    console = PlainConsole(**as_it_is)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return PlainConsole(width=UNFOLDED, **as_it_is)


def print_parts(console: Console, parts: Sequence[Any]) -> None:
    """Print tables and words; into a file or a pipe without blanks at the ends of lines."""
    with console.capture() as caught:
        for part in parts:
            console.print(part)
    lines = caught.get().splitlines()
    text = "\n".join(lines if console.is_terminal else map(str.rstrip, lines))
    console.file.write(f"{text}\n")


def make_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    caption: str = "",
    right: Sequence[str] = (),
) -> Group:
    """Return a table below a title that says what it is about, and above a caption.

    Parameters
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences
        A row of one cell is a heading of the rows that follow.
    caption : str
    right : sequence of str
        Columns whose cells stand to the right.
    """
    table = Table(box=HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        side = "right" if column in right else "left"
        table.add_column(Text(column), justify=side, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        style = "bold" if len(row) == 1 else None
        table.add_row(*(Text(printable(cell)) for cell in row), style=style)
    below = [Text(caption)] if caption else []
    return Group(Text(title, "bold"), table, *below)


def indented(lines: Sequence[str]) -> Padding:
    """Return lines set in by two spaces, wrapped ones too."""
    return Padding(Text("\n".join(map(printable, lines))), (0, 0, 0, 2), expand=False)


def frame_table(title: str, frame: pd.DataFrame) -> Group:
    """Return the first lines of a data frame as a table."""
    more = len(frame) - SHOWN_LINES
    heads = {c: str(c).replace("_", " ") for c in frame.columns}
    numbers = [head for c, head in heads.items() if pd.api.types.is_numeric_dtype(frame[c])]
    rows = [[_short(cell) for cell in row] for row in frame.head(SHOWN_LINES).to_numpy(object)]
    caption = f"{more} more lines: see --json" if more > 0 else ""
    return make_table(title, list(heads.values()), rows, caption=caption, right=numbers)


def _short(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
