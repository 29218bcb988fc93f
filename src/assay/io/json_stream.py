"""Records of JSON one by one, to save memory."""

import json
import re
from collections.abc import Iterator
from typing import Any

from assay._util.errors import RatingsError, as_code
from assay._util.text import counted
from assay.io.tables import AGAIN, SET_ASIDE

BROKEN = object()
"""What stands for a record that is no JSON."""
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
        what = (
            f"the JSON is damaged or ends early: {error}, after {counted(records, 'whole record')}"
        )
        raise damaged_json(what, text, name) from None


def sound_records(text: str) -> tuple[list[dict[str, Any]], list[int], list[int]]:
    r"""Return the records of damaged JSON that can be read, their places, and what cannot be.

    Returns
    -------
    records : list of dict
    places : list of int
        The number of each in a list, or its line.
    lost : list of int
        The lines that are no JSON; of a list the place of the record where reading ends.

    Examples
    --------
    >>> sound_records('[{"a": 1}, {"a": 2')
    ([{'a': 1}], [1], [2])
    >>> sound_records('{"a": 1}\n{"a"\n{"a": 3}')
    ([{'a': 1}, {'a': 3}], [1, 3], [2])
    """
    found = _sound_in_list(text) if text.lstrip().startswith("[") else _sound_lines(text)
    records = [(n, value) for n, value in found if isinstance(value, dict)]
    lost = [n for n, value in found if value is BROKEN]
    return [value for _, value in records], [n for n, _ in records], lost


def _sound_lines(text: str) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append((number, json.loads(line)))
            except (ValueError, RecursionError):
                found.append((number, BROKEN))
    return found


def _sound_in_list(text: str) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    try:
        found.extend(_of_list(text, text.index("[") + 1))
    except (ValueError, RecursionError):
        found.append((len(found) + 1, BROKEN))
    return found


def damaged_json(what: str, text: str, source: str) -> RatingsError:
    """Refuse JSON that cannot be parsed; the records of it that can be are offered."""
    sound = len(sound_records(text)[0])
    again = AGAIN
    if sound:
        again += f"; or read the {counted(sound, 'record')} that are whole: {as_code(SET_ASIDE)}"
    return RatingsError.of(
        "json-file", what, source, mend=again, go_on=SET_ASIDE if sound else None
    )


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
