"""Lists and objects in the cells of text tables: JSON, or what Python and NumPy print."""

import json
import re
from typing import Any

STRINGS_AND_WORDS = re.compile(
    r"""'(?P<single>(?:[^'\\]|\\.)*)'|"(?:[^"\\]|\\.)*"|\b(?P<word>None|True|False|nan)\b"""
)
"""What Python prints otherwise than JSON, and strings in which nothing is to be replaced."""
WORDS = {"None": "null", "nan": "null", "True": "true", "False": "false"}
ELEMENT = re.compile(r"""'([^'\\]*)'|"([^"\\]*)"|(-?\d+(?:\.\d*)?)(?=[\s,]|$)""")
BETWEEN = re.compile(r"[\s,]+")
"""What NumPy prints of lists: elements, and what stands between them."""
NESTED = re.compile(
    r"""array\(.*\)|\[\s*['"\d\[{-].*\]|\(\s*['"\d-].*,.*\)|\{\s*['"].*\}""", re.DOTALL
)
"""What Python and JSON write for lists, arrays, tuples and dicts."""


FENCE = re.compile(r"\s*```[\w-]*\s*\n(?P<inside>.*?)\n?\s*```\s*", re.DOTALL)
"""What models write around JSON: a block of code."""


def unfenced(cell: str) -> str:
    r"""Return what stands in a block of code; the cell itself if it is no such block.

    >>> unfenced('```json\n{"score": 5}\n```'), unfenced("a ```b```")
    ('{"score": 5}', 'a ```b```')
    """
    found = FENCE.fullmatch(cell)
    return found["inside"].strip() if found else cell.strip()


def parsed(cell: str) -> Any:
    """Return the value in a cell that is JSON, or that Python prints of lists and dicts; else None.

    >>> parsed("[{'who': 'ann', 'said': None}]")
    [{'who': 'ann', 'said': None}]
    """
    cell = unfenced(cell)
    for text in (cell, STRINGS_AND_WORDS.sub(_as_json, cell)):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            continue
    return None


def elements(cell: str) -> list[object] | None:
    """Return the elements of a list as JSON, Python or NumPy writes it; none of an empty cell.

    >>> elements('["a", 1]'), elements("['a', 'b']"), elements("['a' 'b']"), elements("[a b]")
    (['a', 1], ['a', 'b'], ['a', 'b'], None)
    """
    if not cell.strip():
        return []
    items = parsed(cell)
    if items is not None:
        return items if isinstance(items, list) else None
    inside = unfenced(cell)[1:-1]
    if BETWEEN.sub("", ELEMENT.sub("", inside)):
        return None
    return [one[1] or one[2] or one[3] for one in ELEMENT.finditer(inside)]


def is_nested(cell: str) -> bool:
    """Whether a cell is a list, array, tuple or dict, as JSON or as Python prints it."""
    cell = unfenced(cell)
    return cell.endswith(("]", "}", ")")) and NESTED.fullmatch(cell) is not None


def _as_json(found: re.Match[str]) -> str:
    """Write a string or a word of Python as JSON has it."""
    if found["word"]:
        return WORDS[found["word"]]
    if found["single"] is None:
        return found[0]
    inside = found["single"].replace("\\'", "'")
    return '"' + re.sub(r'(?<!\\)"', r"\\\g<0>", inside) + '"'
