"""Assertions on the reader's notes by what programs read of them: codes and numbers."""

from typing import Any

from assay.data.ratings import Ratings


def note_codes(ratings: Ratings) -> list[str]:
    """Return the codes of all notes on what was read."""
    return [getattr(note, "code", "") for note in ratings.accounting.notes]


def note_of(ratings: Ratings, code: str) -> Any:
    """Return the one note of a code: a text with ``numbers``."""
    (found,) = (n for n in ratings.accounting.notes if getattr(n, "code", "") == code)
    return found
