"""Records of JSON one by one, to save memory."""

import json
import re
from collections.abc import Iterator
from typing import Any

from assay._util.errors import RatingsError
from assay._util.text import counted

SPACE = re.compile(r"[ \t\r\n]*")


def stream_records(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list with their numbers, or those of all lines with their lines."""
    place = _skip(text, 0)
    values = _of_list(text, place + 1) if text.startswith("[", place) else _of_lines(text, place)
    records = 0
    try:
        for number, value in values:
            if isinstance(value, dict):
                records += 1
                yield number, value
    except (ValueError, RecursionError) as error:
        raise damaged(f"{error}, after {counted(records, 'whole record')}", name) from None


def damaged(what: str, name: str) -> RatingsError:
    """Refuse JSON that is damaged or ends early."""
    return RatingsError.of(
        "json-file", f"the JSON is damaged or ends early: {what}", name,
        mend="export or download it again, so that no record is lost",
    )  # fmt: skip


def _of_list(text: str, place: int) -> Iterator[tuple[int, Any]]:
    """Yield the values of a list with their numbers; ``place`` is after its bracket."""
    decode = json.JSONDecoder().raw_decode
    number, place = 0, _skip(text, place)
    closed = text.startswith("]", place)
    while not closed:
        number += 1
        value, place = decode(text, place)
        yield number, value
        place = _skip(text, place)
        closed = text.startswith("]", place)
        if not closed:
            if not text.startswith(",", place):
                raise json.JSONDecodeError("Expecting ',' or ']'", text, place)
            place = _skip(text, place + 1)
    place = _skip(text, place + 1)
    if place < len(text):
        raise json.JSONDecodeError("Extra data after the list", text, place)


def _of_lines(text: str, place: int) -> Iterator[tuple[int, Any]]:
    """Yield all values with their lines."""
    decode = json.JSONDecoder().raw_decode
    line, counted_to = 1, 0
    while place < len(text):
        line, counted_to = line + text.count("\n", counted_to, place), place
        value, place = decode(text, place)
        yield line, value
        place = _skip(text, place)


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
