"""Cells of text tables that hold the ratings of an item, in JSON or as Python prints it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import RatingsError, as_code
from assay._util.text import counted, does, listed
from assay._util.validation import cut
from assay.data.class_words import canonical
from assay.io.files.json_records import ANSWERS, LISTS, flattened, is_rating
from assay.io.names import ANSWER_COLUMNS, EMPTY, squash, words_of
from assay.io.printed_values import parsed, unfenced
from assay.io.tables import Table, cell_text, reader_note

NOTHING = EMPTY | {"[]", "{}"}
OPENING = ("[", "{", "`", " ", "\n", "\t")
"""How a cell begins that may hold ratings."""
MIN_BROKEN = 3
"""Distinct cells without ratings that are few in any column."""
MOST_BROKEN = 0.2
"""Largest share of the filled cells without ratings in a column of ratings."""
BY_NAME = LISTS | set(map(squash, ANSWER_COLUMNS))
"""Names of columns whose objects have an answer by rater or by question."""
JUDGED = frozenset(
    {"judge", "judgment", "judgement", "judgments", "ratings", "evaluation", "eval", "output"}
)
"""Words in the name of such a column, where no other column is the answer."""


def unnested(table: Table, *, lenient: bool = False) -> Table:
    """Give each rating in the cells of a column a row, and each answer of an object a column.

    Nothing changes where many filled cells have something else; of a few, the rows are refused, or
    lost if ``lenient``. Rows without any rating are left out.
    """
    frame = table.frame
    alone = not any(squash(str(c)) in ANSWERS for c in frame.columns)
    parsed = {
        c: made
        for c in map(str, frame.columns)
        if (made := _ratings(frame[c], c, alone)) is not None
    }
    if not parsed:
        return table
    broken = ~np.all([frame[c].isin(held.keys()) for c, held in parsed.items()], axis=0)
    if broken.any() and not lenient:
        raise _of_broken_cells(table, parsed)
    without = dict.fromkeys(table.lines[broken].tolist(), "a cell without ratings")
    table = replace(table.taking(~broken), lost={**table.lost, **without})
    frame = table.frame
    filled = np.any([[bool(held[cell]) for cell in frame[c]] for c, held in parsed.items()], axis=0)
    empty = int((~filled).sum())
    table = table.taking(np.flatnonzero(filled))
    records = []
    for row in table.frame.to_dict("records"):
        cells = {str(c): parsed[c][cell] if c in parsed else cell for c, cell in row.items()}
        if alone and len(parsed) == 1 and isinstance(one := cells[next(iter(parsed))], dict):
            kept = {c: cell for c, cell in cells.items() if c not in parsed}
            cells = kept | one if kept.keys().isdisjoint(one) else cells
        records.append(cells)
    rows, of = flattened(records)
    flat = pd.DataFrame(rows)
    text = pd.DataFrame({c: flat[c].map(_text).astype("str") for c in flat.columns})
    note = reader_note(
        f"each rating in the cells of {listed([*parsed])} has a row or a column"
        + f"; {counted(empty, 'row')} without any: left out" * bool(empty),
        code="nested-read",
        columns=len(parsed),
        empty=empty,
    )
    return replace(table.noted(note), frame=text, lines=table.lines[np.array(of)])


def _of_broken_cells(table: Table, parsed: Mapping[str, Mapping[str, Any]]) -> RatingsError:
    """Return the error about the first column in which a few cells hold no ratings."""
    held = {c: table.frame[c].isin(known.keys()).to_numpy(bool) for c, known in parsed.items()}
    column, rows = next((c, ~known) for c, known in held.items() if not known.all())
    cells = table.frame[column][rows]
    return RatingsError.of(
        "broken-cells",
        f"{counted(len(cells), 'cell')} of {column} {does(len(cells), 'hold')} no ratings, as the "
        f"others do: {cut(cells.iloc[0])}",
        table.source,
        where=table.where(rows, column),
        mend=f"mend or empty them; or leave these rows out: {as_code({'set_aside': True})}",
        numbers={"cells": len(cells)},
        go_on={"set_aside": True},
    )


def _ratings(column: "pd.Series[str]", name: str, alone: bool) -> dict[str, Any] | None:
    """Return the ratings in each distinct cell but a few; None if many have something else.

    A list has objects with a rater and an answer each. An object has a plain answer for each key;
    or it has one that is called so, or its column is called after a judge, and no column of the
    table is called an answer (it stands ``alone``).
    """
    # Ratings in cells are objects; most columns have no brace at all.
    if not column.str.contains("{", regex=False).any() or not column.str.startswith(OPENING).any():
        return None
    found: dict[str, Any] = {}
    kinds, broken = set(), []
    for cell in map(str, pd.unique(column)):
        bare = unfenced(cell)
        if canonical(bare) in NOTHING:
            found[cell] = None
            continue
        value = parsed(bare) if bare[0] + bare[-1] in ("[]", "{}") else None
        if value is None:
            broken.append(cell)
            if len(broken) > max(MIN_BROKEN, MOST_BROKEN * len(column)):
                return None
            continue
        if isinstance(value, list):
            is_told = all(map(is_rating, value))
        else:
            plain = isinstance(value, dict) and not any(
                isinstance(one, list | dict) for one in value.values()
            )
            is_told = (
                plain
                and not is_rating(value)
                and (
                    squash(name) in BY_NAME
                    or (alone and bool(JUDGED & set(words_of(name))))
                    or (alone and not ANSWERS.isdisjoint(map(squash, value)))
                )
            )
        kinds.add(type(value))
        if not is_told or len(kinds) > 1:
            return None
        found[cell] = value
    if not any(found.values()):
        return None
    filled = (~column.isin([cell for cell, value in found.items() if value is None])).sum()
    return found if column.isin(broken).sum() <= MOST_BROKEN * filled else None


def _text(value: object) -> str:
    return "" if value is None or value is np.nan or value != value else cell_text(value)
