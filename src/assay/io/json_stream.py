"""The records of JSON one after the other, so that only one of them is held as objects."""

import json
import re
from collections.abc import Iterator
from typing import Any

from assay._util.errors import RatingsError
from assay.io.sources import JsonSource, Source

SPACE = re.compile(r"[ \t\r\n]*")


def records_in(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the objects of a list, or of all lines, with their number, from 1.

    Raises
    ------
    RatingsError
        If the text is no JSON; the message names the line.
    """
    if isinstance(source, JsonSource):
        yield from enumerate(_parsed(source.text, source.name), start=1)
    else:
        frame = source.frame  # type: ignore[attr-defined]
        yield from enumerate(frame.to_dict("records"), start=1)


def _parsed(text: str, name: str) -> Iterator[dict[str, Any]]:
    decode = json.JSONDecoder().raw_decode
    place = _skip(text, 0)
    inside = text.startswith("[", place)
    place = _skip(text, place + 1) if inside else place
    while place < len(text):
        if inside and text[place] == "]":
            break
        try:
            value, place = decode(text, place)
        except (ValueError, RecursionError) as error:
            raise RatingsError.of("json-file", f"the JSON is damaged: {error}", name) from None
        if isinstance(value, dict):
            yield value
        place = _skip(text, place)
        if inside and text.startswith(",", place):
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
