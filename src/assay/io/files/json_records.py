"""JSON (one value, or one a line) as records, whatever the layout of the table."""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_object_dtype

from assay._util.errors import RatingsError, as_code
from assay._util.text import counted
from assay.io.names import ANSWER_COLUMNS, KNOWN, WORDS, squash
from assay.io.tables import AGAIN, SET_ASIDE, rows_of

SPACE = re.compile(r"[ \t\r\n]*")
BEGINS = re.compile(r"\s*(\{\s*[\"}]|\[\s*[\[{\"\d\]-])")
"""Beginnings of objects and lists; a header in brackets does not match."""
COLUMN_NAMES = KNOWN["item"] | KNOWN["rater"] | set(map(squash, ANSWER_COLUMNS))
FEWEST_NAMES = 2
"""Fewest keys with column names for an object to hold columns."""
RATING_LISTS = tuple(WORDS["rating_lists"])
LISTS = set(map(squash, RATING_LISTS))
JUDGING = frozenset(WORDS["judging"])
JUDGES = frozenset({"model", "modelname", "modelid", "llm"})
JUDGE = "judge_model"
"""Name of the column of the models that judge."""
IDENTIFYING = frozenset({"id", "uid", "uuid", "name", "email", "username", "value", "key"})
"""Last parts of a path that mean nothing alone."""
OWNERS = KNOWN["rater"] | KNOWN["item"] | KNOWN["system"]
"""Names that an object has which is a record of its own."""
ANSWERS = {squash(n) for n in (*ANSWER_COLUMNS, "score")}
LAST_NUMBER = re.compile(r"[\s_.-]*(\d+)$")
SURROGATES = re.compile(
    r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Escapes of surrogate halves; an escaped backslash is skipped."""
Record = dict[str, Any]


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
    r"""Return the records of damaged JSON that can be read, their places (number in a list, or
    line), and what cannot be. Of a damaged list, the record is lost where reading ends.

    >>> sound_records('[{"a": 1}, {"a": 2')
    ([{'a': 1}], [1], [2])
    >>> sound_records('{"a": 1}\n{"a"\n{"a": 3}')
    ([{'a': 1}, {'a': 3}], [1, 3], [2])
    """
    found, lost, number = list[tuple[int, Any]](), list[int](), 0
    if text.lstrip().startswith("["):
        try:
            for number, value in _of_list(text, text.index("[") + 1):
                found.append((number, value))
        except (ValueError, RecursionError):
            lost.append(number + 1)
    else:
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                found += [(number, json.loads(line))] if line.strip() else []
            except (ValueError, RecursionError):
                lost.append(number)
    records = {n: value for n, value in found if isinstance(value, dict)}
    return list(records.values()), list(records), lost


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


def looks_like_json(text: str) -> bool:
    """Whether a text begins as JSON."""
    return BEGINS.match(text) is not None


def without_lone_surrogates(text: str) -> str:
    """Replace escapes of lone surrogates, which text cannot hold, by question marks."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return SURROGATES.sub(lambda found: "?" if found["lone"] else found[0], text)


def parse_json(text: str, source: str) -> tuple[Any, list[int] | None]:
    """Return the value of a text; or the values of its lines, and their numbers."""
    # The first of several lines may be a whole JSON object.
    first, _, rest = text.lstrip().partition("\n")
    try:
        by_line = bool(rest.strip()) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        by_line = False
    if not by_line:
        try:
            return json.loads(text), None
        except (ValueError, RecursionError) as error:
            deque(stream_records(text, source), maxlen=0)  # says how many records are whole
            raise damaged_json(str(error), text, source) from None
    values, lines = [], []
    for n, line in enumerate(text.split("\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", error)
            whole = counted(len(values), "whole record")
            raise damaged_json(
                f"line {n} is not JSON: {why}, after {whole}", text, source
            ) from None
        lines.append(n)
    return values, lines


def records_of(value: Any) -> list[Record]:
    """Return the records of a value: objects in a list, rows under a header, or columns."""
    if isinstance(value, list):
        if value and all(isinstance(row, list) for row in value):
            return [dict(zip(map(str, value[0]), row, strict=False)) for row in value[1:]]
        return [one for one in value if isinstance(one, dict)]
    return _of_object(value) if isinstance(value, dict) else []


def _of_object(value: Record) -> list[Record]:
    """Return the records of an object."""
    held = list(value.values())
    if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        return records_of([value["columns"], *value["data"]])
    if held and all(isinstance(cells, list) for cells in held) and _named(value):
        return [dict(zip(value, row, strict=False)) for row in zip(*held, strict=False)]
    if held and all(isinstance(cells, dict) for cells in held):
        if _named(value):
            return [{key: cells.get(n) for key, cells in value.items()} for n in held[0]]
        if _named(held[0]) or _are_alike(held):
            return [{"index": key, **cells} for key, cells in value.items()]
    lists = [key for key, cells in value.items() if _has_objects(cells)]
    known = [key for key in lists if squash(key) in LISTS]
    if len(lists) == 1 and not _named({k: v for k, v in value.items() if k != lists[0]}):
        return records_of(value[lists[0]])
    if len(known) == 1 and not _named(value):
        return records_of(value[known[0]])
    first = [value[key][0] for key in lists]
    if len(lists) > 1 and len({frozenset(one) for one in first}) == 1 and _answers(first[0]):
        return [{"list": key, **one} for key in lists for one in value[key]]
    return [value]


def _are_alike(held: Sequence[Record]) -> bool:
    """Whether several objects have the same keys, so that each is a record of its own."""
    return len(held) > 1 and len(held[0]) > 1 and len({frozenset(one) for one in held}) == 1


def _named(keys: Mapping[str, Any]) -> bool:
    """Whether keys are names of columns of ratings."""
    return sum(squash(str(key)) in COLUMN_NAMES for key in keys) >= FEWEST_NAMES


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def flattened(records: Sequence[Record]) -> tuple[list[Record], list[int]]:
    """Return flat rows, and the record of each: nested objects become columns, lists rows.

    A column has the last part of its path as its name, if unique.
    """
    cells = (cell for record in records for cell in record.values())
    if not any(isinstance(cell, dict) or _has_objects(cell) for cell in cells):
        return list(records), list(range(len(records)))
    rows: list[Record] = []
    of: list[int] = []
    for n, record in enumerate(records):
        made = _rows(record, "")
        rows += made
        of += [n] * len(made)
    names = _short({path: None for row in rows for path in row})
    return [{names[path]: cell for path, cell in row.items()} for row in rows], of


def flat_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
    """Return a table whose nested cells are columns and rows, and the row of each of its rows.

    >>> flat, of = flat_frame(pd.DataFrame({"label": [{"value": "x"}, {"value": "y"}]}))
    >>> flat["label"].tolist(), of
    (['x', 'y'], [0, 1])
    """
    nested = [n for n, kind in enumerate(frame.dtypes) if is_object_dtype(kind)]
    cells = (cell for n in nested for cell in frame.iloc[:, n])
    if not any(isinstance(cell, dict) for cell in cells):
        return frame, list(range(len(frame)))
    rows, of = flattened([dict(row) for _, row in rows_of(frame, None)])
    return pd.DataFrame(rows), of


def _rows(record: Record, path: str) -> list[Record]:
    """Return the rows of a record; ``path`` is the prefix of its keys."""
    flat: Record = {}
    lists: dict[str, list[Record]] = {}
    _split(record, path, flat, lists)
    if not lists:
        return [flat]
    # The list of ratings is the only list, or the one with such a name.
    ends = {path.rpartition(".")[2]: path for path in reversed(list(lists))}
    name = next((ends[name] for name in RATING_LISTS if name in ends), "")
    name = next(iter(lists)) if len(lists) == 1 else name
    for other in lists:
        if other != name:
            flat[other] = lists[other]
    if not name:
        return [flat]
    return [{**flat, **row} for one in lists[name] for row in _rows(one, f"{name}.")]


def _split(record: Record, path: str, flat: Record, lists: dict[str, list[Record]]) -> None:
    """Separate the cells of a record, nested ones too, from its lists of objects."""
    numbered = _numbered(record)
    for stem, made in numbered.items():
        lists[f"{path}{stem}"] = made
    for key, cell in record.items():
        if _stem(key) in numbered:
            continue
        if _are_records(cell):
            lists[f"{path}{key}"] = [{key: name, **one} for name, one in cell.items()]
        elif isinstance(cell, dict) and cell:
            _split(cell, f"{path}{key}.", flat, lists)
        elif _has_objects(cell):
            lists[f"{path}{key}"] = cell
        else:
            flat[f"{path}{key}"] = cell


def _are_records(value: Any) -> bool:
    """Whether an object holds ratings: alike, with an answer and a rater, item or system each."""
    held = list(value.values()) if isinstance(value, dict) else []
    return (
        all(isinstance(one, dict) for one in held)
        and _are_alike(held)
        and not OWNERS.isdisjoint(map(squash, held[0]))
        and _answers(held[0])
    )


def is_rating(value: Any) -> bool:
    """Whether a value is an object with a rater and an answer."""
    return (
        isinstance(value, dict)
        and not KNOWN["rater"].isdisjoint(map(squash, value))
        and _answers(value)
    )


def _answers(record: Record) -> bool:
    """Whether a record has an answer or a score, by name."""
    return not ANSWERS.isdisjoint(map(squash, record))


def _numbered(record: Record) -> dict[str, list[Record]]:
    """Return the records that stand side by side in a record under numbered keys.

    >>> _numbered({"text 1": {"model": "a", "score": 3}, "text 2": {"model": "b", "score": 5}})
    {'text': [{'text': '1', 'model': 'a', 'score': 3}, {'text': '2', 'model': 'b', 'score': 5}]}
    """
    found: dict[str, Record] = {}
    for key, cell in record.items():
        if isinstance(cell, dict) and (stem := _stem(key)):
            found.setdefault(stem, {})[key] = cell
    return {
        stem: [{stem: LAST_NUMBER.split(key)[1], **one} for key, one in held.items()]
        for stem, held in found.items()
        if _are_records(held)
    }


def _stem(key: str) -> str:
    """Return a key without the number at its end; "" if it has none."""
    return LAST_NUMBER.split(str(key))[0] if LAST_NUMBER.search(str(key)) else ""


def _short(paths: Mapping[str, None]) -> dict[str, str]:
    """Return the column name of each path: its last part, if no other path as short has it, and it
    does not only identify (``rater.id`` is ``rater``).

    >>> _short({"id": None, "tone.says": None, "length.says": None, "tone.why": None})
    {'id': 'id', 'tone.says': 'tone.says', 'length.says': 'length.says', 'tone.why': 'why'}
    """
    taken: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: path.count(".")):
        *before, end = path.split(".")
        if before and squash(end) in JUDGES and squash(before[-1]) in JUDGING:
            end = JUDGE
        named = bool(before) and squash(end) in IDENTIFYING and squash(before[-1]) not in LISTS
        taken.setdefault(before[-1] if named else end, []).append(path)
    short = {
        held[0]: name
        for name, held in taken.items()
        if len(held) == 1 or held[0].count(".") < held[1].count(".")
    }
    return {path: short.get(path, path) for path in paths}
