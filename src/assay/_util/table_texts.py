"""Tables as Markdown, and as LaTeX with booktabs."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 3
"""Decimals of numbers in these tables."""
TAG = re.compile(r"<(?=[A-Za-z/!?])")
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


class Cells(NamedTuple):
    """Heads, rows of text (one of a single cell is a heading), and which columns are numeric."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]


def cells_of(frame: "pd.DataFrame") -> Cells:
    """Return the cells of a data frame as text."""
    import pandas as pd

    numeric = [
        pd.api.types.is_numeric_dtype(frame[c]) and not pd.api.types.is_bool_dtype(frame[c])
        for c in frame
    ]
    rows = [[_cell(x) for x in row] for row in frame.to_numpy(object)]
    return Cells([str(c) for c in frame], rows, numeric)


def markdown(cells: Cells) -> str:
    """Write a table in Markdown, numbers aligned right and headings bold."""
    rule = ["---:" if one else "---" for one in cells.numeric]
    empty = [""] * (len(cells.heads) - 1)
    rows = [_escaped(row) for row in cells.rows]
    rows = [[f"**{row[0]}**", *empty] if len(row) == 1 and empty else row for row in rows]
    lines = [_escaped(cells.heads), rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(cells: Sequence[str]) -> list[str]:
    """Escape what splits cells, and what a page of HTML would hide as a tag."""
    texts = [cell.replace("|", r"\|").replace("\n", " ") for cell in cells]
    return [TAG.sub(r"\<", text) for text in texts]


def latex(cells: Cells) -> str:
    """Write a table in LaTeX; it needs the package ``booktabs``."""
    wide = len(cells.heads)
    head, *lines = (_latex_line(row, wide) for row in (cells.heads, *cells.rows))
    form = "".join("r" if one else "l" for one in cells.numeric)
    top, end = rf"\begin{{tabular}}{{{form}}}", r"\end{tabular}"
    return "\n".join([top, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", end, ""])


def _latex_line(cells: Sequence[str], columns: int) -> str:
    texts = [latex_text(cell) for cell in cells]
    if texts[0].startswith(("[", "*")):
        # The line above ends in a command that would take these as its argument.
        texts[0] = f"{{}}{texts[0]}"
    if len(texts) == 1 < columns:
        texts = [rf"\multicolumn{{{columns}}}{{l}}{{{texts[0]}}}"]
    return " & ".join(texts) + r" \\"


def latex_text(text: str) -> str:
    """Escape characters that are commands in LaTeX."""
    return "".join(LATEX.get(letter, letter) for letter in text.replace("\n", " "))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{round(value, DIGITS) + 0.0:.{DIGITS}f}"
    return "" if value is None else str(value)
