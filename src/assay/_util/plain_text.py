"""Text as it may be shown: without control characters, and without cells of a page's length."""

import re
import unicodedata

LONGEST_CELL = 200
"""Characters of one quoted cell in a message."""
SHOWN_OF_IT = 100
JOINERS = "\u200c\u200d"
"""Invisible, and part of how some scripts and emoji are written."""
_QUOTED = re.compile(r"(?<!\w)'[^'\n]*'|(?<!\w)\"[^\"\n]*\"")
"""Quotes in pairs from the left: what stands between two short cells is no cell."""
_UNBROKEN = re.compile(rf"\S{{{2 * LONGEST_CELL},}}")


def plain(text: str, kept: str = "\n") -> str:
    r"""Replace what could garble a terminal, or hide what stands there, by question marks.

    Examples
    --------
    >>> plain("a\x1b[2Jb\n90\u00a0%"), plain("abc\u202edcba")
    ('a?[2Jb\n90\xa0%', 'abc?dcba')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_plain(c, kept) else "?" for c in text)


def _is_plain(character: str, kept: str) -> bool:
    if character.isprintable() or character in kept or character in JOINERS:
        return True
    return unicodedata.category(character) == "Zs"  # spaces of other widths


def short_cells(text: str) -> str:
    """Cut quoted cells and words of a page's length.

    Examples
    --------
    >>> len(short_cells("the class 'x" + 5000 * "y" + "' is unknown"))
    125
    """
    if len(text) <= LONGEST_CELL:
        return text
    found = _QUOTED.sub(_shortened, text)
    return _UNBROKEN.sub(lambda word: f"{word[0][:SHOWN_OF_IT]}...", found)


def _shortened(cell: re.Match[str]) -> str:
    """Return a quoted cell, cut if it is long."""
    if len(cell[0]) <= LONGEST_CELL:
        return cell[0]
    return f"{cell[0][:SHOWN_OF_IT]}...{cell[0][-1]}"


def in_message(text: str) -> str:
    """Return the text of a message as it is shown."""
    return short_cells(plain(text))
