"""Text on the terminal: the console, lists, a check. Only `cli` prints."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from assay._util.plain_text import plain
from assay._util.text import printable
from assay.checks.findings import Check
from assay.data.task import Label
from assay.display.table import Table, table_of


def binary_heading(label: Label) -> str:
    """Name a binary label, with its positive class unless that is yes."""
    positive = label.classes[1]
    return label.name if positive == "yes" else f"{label.name} (positive: {positive})"


SHOWN_LINES = 12
UNFOLDED = 100_000
"""Characters of a line where no width is known."""


class PlainConsole(Console):
    """A console that shows no control characters except its own colours.

    Names from files occur in sentences, titles and cells.
    """

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            part if part.control else Segment(plain(part.text), part.style) for part in buffer
        )


def make_console() -> Console:
    """Return a console that prints text unchanged: no markup, no colours for numbers.

    Outside a terminal, and without ``COLUMNS``, lines are not wrapped.
    """
    as_it_is: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}
    console = PlainConsole(**as_it_is)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return PlainConsole(width=UNFOLDED, **as_it_is)


def print_parts(console: Console, parts: Sequence[Any]) -> None:
    """Print tables and words; in a file or a pipe, without blanks at the ends of lines."""
    with console.capture() as caught:
        for part in parts:
            console.print(part)
    lines = caught.get().splitlines()
    text = "\n".join(lines if console.is_terminal else map(str.rstrip, lines))
    console.file.write(f"{text}\n")


def indented(lines: Sequence[str]) -> Padding:
    """Return lines indented by two spaces, including wrapped ones."""
    return Padding(Text("\n".join(map(printable, lines))), (0, 0, 0, 2), expand=False)


def frame_table(title: str, frame: pd.DataFrame, *, is_cut: bool = False) -> Table:
    """Return the first lines of a data frame as a table; ``is_cut`` if it lacks columns."""
    more = len(frame) - SHOWN_LINES
    heads = {str(c): str(c).replace("_", " ") for c in frame.columns}
    note = f"{more} more lines: see --json" if more > 0 else ""
    shown = frame.rename(columns=str).head(SHOWN_LINES)
    return table_of("", title, shown, heads, note=note, is_cut=is_cut or more > 0)


def check_parts(report: Check) -> list[Text | Padding | Table]:
    """Return the findings of a check by topic, and its tables."""
    blocks: list[Text | Padding | Table] = [Text(printable(report.summary), "bold")]
    for topic in dict.fromkeys(f.topic for f in report.findings):
        found = [str(f) for f in report.findings if f.topic == topic]
        blocks += [Text(f"\n{topic}"), indented(found)]
    for name, table in report.tables.items():
        if len(table):
            blocks += [Text(), frame_table(name, table)]
    return blocks
