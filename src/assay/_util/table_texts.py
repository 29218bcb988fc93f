"""Tables as text for papers and notes: Markdown, and LaTeX with booktabs."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 3
"""Decimals of numbers in a table that is read."""
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def markdown(frame: "pd.DataFrame") -> str:
    r"""Write a table in Markdown, numbers to the right.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown(pd.DataFrame({"rater": ["a|b"], "mean": [0.51236]})))
    | rater | mean |
    | --- | ---: |
    | a\|b | 0.512 |
    <BLANKLINE>
    """
    heads, rows, right = _cells(frame)

    def line(cells: list[str]) -> str:
        return (
            f"| {' | '.join(re.sub(r'([|])', r'\\\1', c).replace(chr(10), ' ') for c in cells)} |"
        )

    rule = f"| {' | '.join('---:' if one else '---' for one in right)} |"
    return "\n".join([line(heads), rule, *map(line, rows), ""])


def latex(frame: "pd.DataFrame") -> str:
    r"""Write a table in LaTeX; the document needs the package ``booktabs``.

    Examples
    --------
    >>> import pandas as pd
    >>> print(latex(pd.DataFrame({"rater": ["r_1"], "mean": [0.51236]})))
    \begin{tabular}{lr}
    \toprule
    rater & mean \\
    \midrule
    r\_1 & 0.512 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    heads, rows, right = _cells(frame)
    lines = [" & ".join(map(latex_text, cells)) + r" \\" for cells in (heads, *rows)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}",
            r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def latex_text(text: str) -> str:
    r"""Escape what LaTeX would take for a command.

    Examples
    --------
    >>> latex_text("50% of a_b")
    '50\\% of a\\_b'
    """
    return "".join(LATEX.get(letter, letter) for letter in text.replace("\n", " "))


def _cells(frame: "pd.DataFrame") -> tuple[list[str], list[list[str]], list[bool]]:
    """Return the heads, the cells as text, and which columns hold numbers."""
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
