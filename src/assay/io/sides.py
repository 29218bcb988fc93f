"""Tables of preferences: two systems stand in a row, and the answer names a side."""

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from assay.data.class_words import NUMBER, canonical
from assay.io.names import ANSWER_COLUMNS, EXPERTS, names_rater, names_system, squash, words_of
from assay.io.tables import Table, reader_note

LONGEST = 20
"""Most words of a name of a column that has a side in it."""
SAME = {"a": "1", "b": "2", "1": "a", "2": "b"}
"""Letters for numbers of sides, and the other way round."""
PREFERENCES = frozenset(
    {"preference", "preferences", "pref", "prefers", "winner", "better", "comparison", "sbs"}
    | {"präferenz", "préférence", "preferencia", "preferenza", "preferência"}
)
"""Words in names of columns that say which side is better."""
OPPOSITES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("one", "two"))
"""Words for the two sides, in names of columns."""
MOST_WORDS = 12
"""Most distinct words of an answer that names a side."""
WORD = re.compile(r"[^\W\d_]+|\d+")
Sides = tuple[str, str]


def with_one_order(table: Table) -> Table:
    """Give each pair of systems one order, by name, where it stands in both orders.

    Else an answer such as *a* would mean another system in each row. All columns of a side move.
    """
    frame, named = table.frame, {str(column): squash(str(column)) for column in table.frame}
    series = _series(list(named))
    told: dict[frozenset[str], list[tuple[Sides, Sides, dict[str, int]]]] = {}
    for winner in named if series else ():
        values = pd.unique(frame[winner])
        if len(values) > MOST_WORDS:
            continue
        if squash(winner) not in ANSWER_COLUMNS and all(map(NUMBER.fullmatch, values)):
            continue  # the first and the second turn, say
        words = frozenset(map(str, values))
        if words not in told:
            told[words] = list(_told(words, series, named))
        for columns, sides, side in told[words]:
            if winner not in columns and (turned := _turned(frame, columns)).any():
                both = _pairs_of(sides, series)
                of_side = {n: next(w for w, at in side.items() if at == n) for n in (0, 1)}
                opposite = {word: of_side[1 - at] for word, at in side.items()}
                return _reordered(table, winner, columns, turned, opposite, both)
    return _with_signs(table, series)


def _with_signs(table: Table, series: list[dict[str, list[str]]]) -> Table:
    """Give pairs one order whose preferences are numbers: the sign says the side.

    Columns called so are turned, and no pair of raters is one of sides.
    """
    frame = table.frame
    signed = {c: words for c in map(str, frame.columns) if (words := _signed_words(c, frame))}
    for sides in OPPOSITES if signed else ():
        both = _pairs_of(sides, series)
        columns = next(iter(both), ("", ""))
        if not both or any(names_rater(c) or EXPERTS & set(words_of(c)) for c in columns):
            continue
        if {*columns} & signed.keys() or not (turned := _turned(frame, columns)).any():
            continue
        for n, (column, words) in enumerate(signed.items()):
            opposite = {word: _negative(word) for word in words}
            pairs = both if n == 0 else []
            table = _reordered(table, column, columns, turned, opposite, pairs)
        return table
    return table


def _signed_words(column: str, frame: pd.DataFrame) -> set[str]:
    """Return the few numbers of both signs in a column that is called a preference; else none."""
    if not PREFERENCES & set(words_of(column)):
        return set()
    words = {str(word).strip() for word in pd.unique(frame[column])} - {""}
    if not 1 < len(words) <= MOST_WORDS or not all(map(NUMBER.fullmatch, words)):
        return set()
    numbers = [float(word) for word in words]
    return words if min(numbers) < 0 < max(numbers) else set()


def _pairs_of(sides: Sides, series: list[dict[str, list[str]]]) -> list[Sides]:
    """Return the columns of both sides, pair by pair."""
    one, other = sides
    return [
        pair
        for named in series
        if named.keys() >= {*sides}
        for pair in zip(named[one], named[other], strict=False)
    ]


def _negative(word: str) -> str:
    """Return a number of the opposite sign, as text.

    >>> _negative("-2"), _negative("+1"), _negative("0")
    ('2', '-1', '0')
    """
    if float(word) == 0:
        return word
    return word[1:] if word.startswith("-") else f"-{word.lstrip('+')}"


def _series(columns: list[str]) -> list[dict[str, list[str]]]:
    """Return columns whose names differ in one word, by this word."""
    found: dict[tuple[str | None, ...], dict[str, list[str]]] = {}
    for column in columns:
        parts = WORD.findall(column.casefold())
        for n, word in enumerate(parts if len(parts) <= LONGEST else ()):
            rest = (*parts[:n], None, *parts[n + 1 :])
            found.setdefault(rest, {}).setdefault(word, []).append(column)
    return [one for one in found.values() if len(one) > 1]


def _told(
    words: frozenset[str], series: list[dict[str, list[str]]], named: dict[str, str]
) -> Iterator[tuple[Sides, Sides, dict[str, int]]]:
    """Return pairs of columns both of which words name: columns, their words, and sides.

    named : column -> its name as words are compared with it

    A word names a column, or the part of it that differs if these are columns of systems; a letter
    names a number.
    """
    whole = {word: squash(word) for word in words if len(words_of(word)) > 1}
    parts = {word: canonical(word) for word in sorted(words)}
    known, called = set(parts.values()), set(whole.values())
    for columns in series:
        near = [
            part
            for part, ones in columns.items()
            if {part, SAME.get(part, part)} & known or named[ones[0]] in called
        ]
        for sides in combinations(near, 2):
            pair = columns[sides[0]][0], columns[sides[1]][0]
            of_systems = any(map(names_system, pair))
            meant = {one: {one, SAME.get(one, one)} for one in sides}
            side = {
                word: n
                for n in (1, 0)
                for word, part in parts.items()
                if whole.get(word) == named[pair[n]] or (of_systems and part in meant[sides[n]])
            }
            if {*side.values()} == {0, 1}:
                yield pair, sides, side


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
    opposite: dict[str, str],
    both: list[Sides],
) -> Table:
    """Turn the rows: all columns of a side, and the answer, by the word of the other side."""
    frame = table.frame.copy()
    for one, other in both:
        frame.loc[turned, [one, other]] = frame.loc[turned, [other, one]].to_numpy()
    frame.loc[turned, winner] = [opposite.get(w.strip(), w) for w in frame.loc[turned, winner]]
    rows, kinds = int(turned.sum()), frame.drop_duplicates([*columns])
    first = str(kinds[columns[0]].iloc[0]) if len(kinds) == 1 else "the first name of its pair"
    text = (
        f"{winner} names a side, and pairs stand in both orders of {columns[0]} and {columns[1]}: "
        f"{rows} rows are turned, so that {columns[0]} is always {first}"
    )
    return table.noted(reader_note(text, code="sides-ordered", rows=rows), frame=frame)
