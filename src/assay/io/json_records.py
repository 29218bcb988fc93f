"""JSON, one value or one a line, as records."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from assay._util.errors import RatingsError

BEGINS = re.compile(r"\s*(\{\s*[\"}]|\[\s*[\[{\"\d\]-])")
"""How objects, and lists of values, begin; a header in brackets does not begin so."""


def looks_like_json(text: str) -> bool:
    r"""Whether a text begins as JSON.

    Examples
    --------
    >>> [looks_like_json(text) for text in ('[{"a": 1}]', '{"a": 1}\n{"a": 2}', "[id],label")]
    [True, True, False]
    """
    return BEGINS.match(text) is not None


def parse_json(text: str, source: str) -> Any:
    """Return the value of a text, or the list of the values of its lines.

    Raises
    ------
    RatingsError
        If it is neither; the message names the line.
    """
    if not _first_line_is_whole(text):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RatingsError.of("json-file", f"the JSON is damaged: {error}", source) from None
    values = []
    for n, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise RatingsError.of("json-file", f"line {n} is no JSON: {error}", source) from None
    return values


def _first_line_is_whole(text: str) -> bool:
    """Whether the first of several lines is a JSON object by itself."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip() and first.startswith("["):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def records_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; a single object is one record."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, dict)]


def first_records(value: Any, number: int) -> Sequence[Mapping[str, Any]]:
    """Return the first objects of a list; a single object is one record."""
    values = value if isinstance(value, list) else [value]
    return list(islice((one for one in values if isinstance(one, dict)), number))
