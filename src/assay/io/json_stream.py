"""Records of JSON one by one, to save memory."""

import json
import re
from collections.abc import Iterator
from typing import Any

from assay._util.errors import RatingsError

SPACE = re.compile(r"[ \t\r\n]*")


def stream_records(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list with their numbers, or those of all lines with their lines."""
    decode = json.JSONDecoder().raw_decode
    place = _skip(text, 0)
    inside = text.startswith("[", place)
    place = _skip(text, place + 1) if inside else place
    number, counted = (0, 0) if inside else (1, 0)
    while place < len(text) and not (inside and text[place] == "]"):
        if inside:
            number += 1
        else:
            number, counted = number + text.count("\n", counted, place), place
        try:
            value, place = decode(text, place)
        except (ValueError, RecursionError) as error:
            raise RatingsError.of(
                "json-file", f"the JSON is damaged: {error}", name,
                mend="export or download it again",
            ) from None  # fmt: skip
        if isinstance(value, dict):
            yield number, value
        place = _skip(text, place)
        if inside and text.startswith(",", place):
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
