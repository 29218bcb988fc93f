"""Cells of text tables that hold objects, or lists of them, as JSON or as Python prints it."""

import ast
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from assay._util.text import counted, listed
from assay.io.files.json_records import flattened
from assay.io.tables import Table, cell_text, reader_note

OPENING, CLOSING = ("{", "[{"), ("}", "}]")
NOTHING = ("", "[]")


def unnested(table: Table) -> Table:
    """Give the objects in cells columns of their own, and each of a list of objects a row.

    Nothing changes where a filled cell of a column is something else. Rows without any are left
    out.
    """
    frame = table.frame
    parsed = {c: made for c in map(str, frame.columns) if (made := _objects(frame[c])) is not None}
    if not parsed:
        return table
    filled = np.any([[bool(held[cell]) for cell in frame[c]] for c, held in parsed.items()], axis=0)
    empty = int((~filled).sum())
    table = table.taking(np.flatnonzero(filled))
    records = [
        {str(c): parsed[c][cell] if c in parsed else cell for c, cell in row.items()}
        for row in table.frame.to_dict("records")
    ]
    rows, of = flattened(records)
    flat = pd.DataFrame(rows)
    text = pd.DataFrame({c: flat[c].map(_text).astype("str") for c in flat.columns})
    note = reader_note(
        f"cells of {listed([*parsed])} hold objects, which were taken apart into rows and columns"
        + f"; {counted(empty, 'row')} without any: left out" * bool(empty),
        code="nested-read",
        columns=len(parsed),
        empty=empty,
    )
    return replace(table.noted(note), frame=text, lines=table.lines[np.array(of)])


def _objects(column: "pd.Series[str]") -> dict[str, Any] | None:
    """Return what each distinct cell holds; None if a filled one is no object or list of them."""
    found: dict[str, Any] = {}
    for cell in map(str, pd.unique(column)):
        bare = "".join(cell.split())
        if bare in NOTHING:
            found[cell] = None
            continue
        if not bare.startswith(OPENING) or not bare.endswith(CLOSING):
            return None
        try:
            value = json.loads(cell)
        except (ValueError, RecursionError):
            try:
                value = ast.literal_eval(cell)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return None
        if not isinstance(value, dict) and not all(isinstance(one, dict) for one in value):
            return None
        found[cell] = value
    return found if any(found.values()) else None


def _text(value: object) -> str:
    return "" if value is None or value is np.nan or value != value else cell_text(value)
