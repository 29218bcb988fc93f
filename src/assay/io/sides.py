"""Tables of preferences: two systems stand in a row, and the answer names a side."""

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from assay.data.class_words import NUMBER, canonical
from assay.io.names import names_system, squash, words_of
from assay.io.tables import Table, reader_note

MOST_WORDS = 12
"""Most distinct words of an answer that names a side."""
WORD = re.compile(r"[^\W\d_]+|\d+")
Sides = tuple[str, str]


def with_one_order(table: Table) -> Table:
    """Give each pair of systems one order, by name, where it stands in both orders.

    Else an answer such as *a* would mean another system in each row. All columns of a side move.
    """
    frame = table.frame
    pairs = list(_pairs(list(map(str, frame.columns))))
    for winner in map(str, frame.columns) if pairs else ():
        words = [str(word) for word in pd.unique(frame[winner])]
        if len(words) > MOST_WORDS:
            continue
        for columns, sides in pairs:
            side = {word: _side(word, columns, sides) for word in words}
            if winner in columns or {0, 1} - set(side.values()):
                continue
            turned = _turned(frame, columns)
            if not turned.any():
                continue
            return _reordered(table, winner, columns, turned, side, pairs, sides)
    return table


def _pairs(columns: list[str]) -> Iterator[tuple[Sides, Sides]]:
    """Return pairs of columns whose names differ in one word, and these words."""
    parts = {column: WORD.findall(column.casefold()) for column in columns}
    for one, other in combinations(columns, 2):
        mine, theirs = parts[one], parts[other]
        differ = [n for n, word in enumerate(mine) if theirs[n : n + 1] != [word]]
        if len(mine) == len(theirs) and len(differ) == 1:
            yield (one, other), (mine[differ[0]], theirs[differ[0]])


def _side(word: str, columns: Sides, sides: Sides) -> int | None:
    """Return the side that a word of the answer names, 0 or 1; None for another word.

    It names a column, or the part of it that differs, if these are columns of systems.
    """
    of_systems = any(map(names_system, columns))
    for side in (0, 1):
        is_column = len(words_of(word)) > 1 and squash(word) == squash(columns[side])
        if is_column or (of_systems and canonical(word) == sides[side]):
            return side
    return None


def _turned(frame: pd.DataFrame, columns: Sides) -> np.ndarray:
    """Return the rows whose pair is to be turned; none unless a pair stands in both orders."""
    one, other = (frame[c].str.strip().to_numpy(str) for c in columns)
    told = (one != "") & (other != "") & (one != other)
    orders = set(zip(one[told], other[told], strict=True))
    names = {name for pair in orders for name in pair}
    if not any((b, a) in orders for a, b in orders) or all(map(NUMBER.fullmatch, names)):
        return np.zeros(len(frame), bool)
    return np.asarray(told & (one > other))


def _reordered(
    table: Table,
    winner: str,
    columns: Sides,
    turned: np.ndarray,
    side: dict[str, int | None],
    pairs: list[tuple[Sides, Sides]],
    sides: Sides,
) -> Table:
    """Turn the rows: all columns of a side, and the words of the answer."""
    frame = table.frame.copy()
    for (one, other), own in pairs:
        if own == sides:
            frame.loc[turned, [one, other]] = frame.loc[turned, [other, one]].to_numpy()
    words = {n: next(w for w, at in side.items() if at == n) for n in (0, 1)}
    other_side = {w: words[1 - at] for w, at in side.items() if at is not None}
    frame.loc[turned, winner] = [other_side.get(w, w) for w in frame.loc[turned, winner]]
    rows, kinds = int(turned.sum()), frame.drop_duplicates([*columns])
    first = str(kinds[columns[0]].iloc[0]) if len(kinds) == 1 else "the first name of its pair"
    text = (
        f"{winner} names a side, and pairs stand in both orders of {columns[0]} and {columns[1]}: "
        f"{rows} rows are turned, so that {columns[0]} is always {first}"
    )
    return table.noted(reader_note(text, code="sides-ordered", rows=rows), frame=frame)
