"""What a notebook shows of a result: a line, a list, and tables whose first lines are shown."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from assay._util.table_texts import DIGITS

if TYPE_CHECKING:
    import pandas as pd

SHOWN_LINES = 10


def notebook_html(
    summary: str,
    tables: "Mapping[str, pd.DataFrame]",
    items: Sequence[str] = (),
    *,
    lines: int = SHOWN_LINES,
) -> str:
    """Return a result as HTML; whatever comes from the data is escaped.

    Parameters
    ----------
    summary : str
        One line.
    tables : mapping of str to DataFrame
        By title; those without lines are left out.
    items : sequence of str
        Sentences, such as warnings, that stand between the two.
    lines : int
        How many lines of each table are shown.

    Examples
    --------
    >>> import pandas as pd
    >>> text = notebook_html("one < two", {"T": pd.DataFrame({"n": [1, 2]})}, lines=1)
    >>> "one &lt; two" in text, "1 more line" in text
    (True, True)
    """
    parts = [f"<p><b>{escape(summary)}</b></p>"]
    if items:
        parts.append(f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in items)}</ul>")
    for title, table in tables.items():
        if len(table):
            more = len(table) - lines
            below = f"<p>{more} more line{'s' * (more > 1)}</p>" if more > 0 else ""
            shown = table.head(lines).to_html(
                index=False, border=0, float_format=lambda x: f"{x:.{DIGITS}f}", na_rep=""
            )
            parts.append(f"<p><b>{escape(title)}</b></p>{shown}{below}")
    return f"<div>{''.join(parts)}</div>"
