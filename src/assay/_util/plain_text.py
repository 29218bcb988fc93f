"""Text for messages: no control characters, no overlong cells."""

import re
import unicodedata

LONGEST_CELL = 200
"""Most characters of a quoted cell in a message."""
SHOWN_OF_IT = 100
JOINERS = "\u200c\u200d"
"""Invisible characters that some scripts and emoji need."""
_QUOTED = re.compile(r"(?<!\w)'[^'\n]*'|(?<!\w)\"[^\"\n]*\"")
"""Quoted cells, paired from the left."""
_UNBROKEN = re.compile(rf"\S{{{2 * LONGEST_CELL},}}")


def plain(text: str, kept: str = "\n") -> str:
    """Replace characters that could garble a terminal or hide text by question marks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_plain(c, kept) else "?" for c in text)


def _is_plain(character: str, kept: str) -> bool:
    if character.isprintable() or character in kept or character in JOINERS:
        return True
    return unicodedata.category(character) == "Zs"  # spaces of other widths


def short_cells(text: str) -> str:
    """Cut overlong quoted cells and words."""
    if len(text) <= LONGEST_CELL:
        return text
    found = _QUOTED.sub(_shortened, text)
    return _UNBROKEN.sub(lambda word: f"{word[0][:SHOWN_OF_IT]}...", found)


def _shortened(cell: re.Match[str]) -> str:
    """Return a quoted cell, cut if long."""
    if len(cell[0]) <= LONGEST_CELL:
        return cell[0]
    return f"{cell[0][:SHOWN_OF_IT]}...{cell[0][-1]}"


def in_message(text: str) -> str:
    """Return a text as messages show it."""
    return short_cells(plain(text))
