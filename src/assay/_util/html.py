"""Results as HTML for notebooks: a summary, notes and the first lines of tables."""

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
    """Return a result as HTML, escaped: a summary, sentences, and the first lines of tables."""
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
