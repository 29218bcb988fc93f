"""Tables as Markdown, and as LaTeX with booktabs."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 3
"""Decimals of numbers in these tables."""
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def markdown(frame: "pd.DataFrame") -> str:
    """Write a table in Markdown, numbers aligned right."""
    heads, rows, right = _cells(frame)

    def line(cells: list[str]) -> str:
        return (
            f"| {' | '.join(re.sub(r'([|])', r'\\\1', c).replace(chr(10), ' ') for c in cells)} |"
        )

    rule = f"| {' | '.join('---:' if one else '---' for one in right)} |"
    return "\n".join([line(heads), rule, *map(line, rows), ""])


def latex(frame: "pd.DataFrame") -> str:
    """Write a table in LaTeX; it needs the package ``booktabs``."""
    heads, rows, right = _cells(frame)
    lines = [" & ".join(map(latex_text, cells)) + r" \\" for cells in (heads, *rows)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}",
            r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def latex_text(text: str) -> str:
    """Escape characters that are commands in LaTeX."""
    return "".join(LATEX.get(letter, letter) for letter in text.replace("\n", " "))


def _cells(frame: "pd.DataFrame") -> tuple[list[str], list[list[str]], list[bool]]:
    """Return heads, cells as text, and whether each column is numeric."""
    import pandas as pd

    right = [
        pd.api.types.is_numeric_dtype(frame[c]) and not pd.api.types.is_bool_dtype(frame[c])
        for c in frame
    ]
    return (
        [str(c) for c in frame],
        [[_cell(x) for x in row] for row in frame.to_numpy(object)],
        right,
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{round(value, DIGITS) + 0.0:.{DIGITS}f}"
    return "" if value is None else str(value)
