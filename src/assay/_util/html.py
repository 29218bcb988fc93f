"""Results as HTML for notebooks, and text as HTML."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from assay._util.table_texts import DIGITS

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

SHOWN_LINES = 10
SHORT = 8
"""Length of words that never break: a name such as system_1."""
PARTS = re.compile(r"(?<=\w)[_/\[=](?=\w)|(?<=[a-z]{3})(?=[A-Z])|(?<=\w)(?=@[\w-]+\.)")
"""Where the parts of a name meet."""
OPTION = re.compile(r"(?<!\S)--?[\w-]+")
ENDS = re.compile(r"\([^()\s]+ to [^()\s]+\)")


def notebook_html(
    summary: str,
    tables: "Mapping[str, pd.DataFrame]",
    items: Sequence[str] = (),
    *,
    lines: int = SHOWN_LINES,
) -> str:
    """Return a result as HTML, escaped: a summary, sentences, and the first lines of tables."""
    parts = []
    for title, table in tables.items():
        if len(table):
            more = len(table) - lines
            below = f"<p>{more} more line{'s' * (more > 1)}</p>" if more > 0 else ""
            shown = table.head(lines).to_html(
                index=False, border=0, float_format=lambda x: f"{x:.{DIGITS}f}", na_rep=""
            )
            parts.append(f"<p><b>{escape(title)}</b></p>{shown}{below}")
    return summary_html(summary, items, parts)


def summary_html(summary: str, items: Sequence[str], parts: Sequence[str]) -> str:
    """Return a summary, sentences and pieces of HTML; all but the pieces are escaped."""
    said = f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in items)}</ul>" if items else ""
    return f"<div><p><b>{escape(summary)}</b></p>{said}{''.join(parts)}</div>"


def foldable(name: str) -> "Markup":
    """Escape a name; long words may break where their parts meet: signs, capitals, a host."""
    from markupsafe import Markup, escape

    # Escaping adds none of these signs.
    return Markup(
        " ".join(
            PARTS.sub(r"\g<0><wbr>", str(escape(word))) if len(word) > SHORT else str(escape(word))
            for word in name.split(" ")
        )
    )


def coded(text: str) -> "Markup":
    """Escape a text, and show what it marks as code as code."""
    from markupsafe import Markup, escape

    parts = re.split(r"`([^`]+)`", text)
    shown = [f"<code>{escape(part)}</code>" if n % 2 else str(escape(with_minus(part)))
             for n, part in enumerate(parts)]  # fmt: skip
    return Markup("".join(shown))


def command_html(text: str) -> "Markup":
    """Escape commands, each as a block, with no line break within the name of an option.

    A line after ``#`` says what the next command assumes.
    """
    from markupsafe import Markup, escape

    lines = []
    for line in str(escape(text)).splitlines(keepends=True):
        kind = "choice" if line.startswith("#") else "line"
        lines.append(f'<b class="{kind}">{OPTION.sub(r"<span>\g<0></span>", line)}</b>')
    return Markup("".join(lines))


def cell_html(text: str) -> "Markup":
    """Escape the text of a cell, with no line break between the ends of an interval."""
    from markupsafe import Markup

    return Markup(ENDS.sub(r"<span>\g<0></span>", coded(text)))


def with_minus(text: str) -> str:
    """Write hyphens of negative numbers and differences as minus signs."""
    return re.sub(r"(?<![\w-])-(?=\.?\d)|(?<= )-(?= )", "\N{MINUS SIGN}", text)
