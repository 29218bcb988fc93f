"""A header of two rows: names over several columns, such as raters, and names of each below."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from assay._util.errors import Note
from assay._util.text import first_names
from assay.data.class_words import NUMBER
from assay.io.names import KNOWN, bare
from assay.io.tables import reader_note

SEEN_ROWS = 5000
"""Rows below a header in which its names are looked for."""
FEWEST_ALIKE, MOST_ALIKE = 4, 2
"""Fewest names of columns that have the same few words below them, and most of these words."""


def header_of_two(
    names: Sequence[str], frame: pd.DataFrame
) -> tuple[list[str], int, tuple[Note, ...]]:
    """Return the names of the columns, the number of rows that belong to the header, and a note.

    The second row is part of the header if none of its words occurs below it, nor is a number; and
    if equal names above it stand over the same words, or names are left out above it, as they are
    beside merged cells, and names without a second row stand beside them. An answer recurs.

    >>> frame = pd.DataFrame([["", "ok", "tone", "ok", "tone"], *[list("1yaxb"), list("2yaxa")]])
    >>> header_of_two(["id", "Ann", "", "Ben", ""], frame)[0]
    ['id', 'Ann_ok', 'Ann_tone', 'Ben_ok', 'Ben_tone']
    """
    one_row: tuple[list[str], int, tuple[Note, ...]] = (list(names), 0, ())
    upper, lower = [str(name).strip() for name in names], _cells(frame.head(1))
    below = [n for n, word in enumerate(lower) if word and word != upper[n]]
    if len(set(filter(None, upper))) == len(upper) == len(below):
        return one_row  # every column has a name of its own
    over = list(upper)
    for n in below:
        over[n] = over[n] or (over[n - 1] if n and n - 1 in below else "")
    groups: dict[str, list[int]] = {}
    for n in below:
        groups.setdefault(over[n], []).append(n)
    several = {name: at for name, at in groups.items() if name and len(at) > 1}
    if not _are_names(lower, below, frame) or any(
        len({lower[n] for n in at}) < len(at) for at in several.values()
    ):
        return one_row
    beside = len(below) < len(lower) and any(upper[n] for n in range(len(upper)) if n not in below)
    alone = Counter(lower[at[0]] for name, at in groups.items() if name and len(at) == 1)
    same = Counter(frozenset(lower[n] for n in at) for at in several.values()).most_common(1)
    is_grid = bool(same) and same[0][1] > 1
    left_out = not any(upper[n] for at in several.values() for n in at[1:])
    is_tree = bool(several) and beside and left_out
    says_nothing = (
        not several and beside and len(below) >= FEWEST_ALIKE and len(alone) <= MOST_ALIKE
    )
    if not (is_grid or is_tree or says_nothing):
        return one_row
    made = list(upper)
    for n in below:
        parts = [over[n], lower[n]] if over[n] in several or alone[lower[n]] < 2 else [over[n]]
        made[n] = "_".join(filter(None, parts))
    made[0] = made[0] if 0 not in below or over[0] in several else _corner(upper[0], lower[0])
    rows, third = 1, _cells(frame.iloc[1:2])
    if third and third[0] and not any(third[1:]):  # pandas writes the name of its index there
        made[0], rows = third[0], 2
    shown = first_names([made[n] for n in below])
    said = f"the header has two rows, and columns are called by both: {shown}"
    if says_nothing:
        words = first_names(list(dict.fromkeys(lower[n] for n in below)))
        said = f"the row under the header is part of it, and is left out: {words}"
    return made, rows, (reader_note(said, code="header-rows", rows=rows),)


def _cells(frame: pd.DataFrame) -> list[str]:
    """Return the cells of the only row as text; none if there is no row."""
    rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy()
    return [str(cell).strip() for cell in rows[0]] if len(rows) else []


def _are_names(lower: Sequence[str], below: Sequence[int], frame: pd.DataFrame) -> bool:
    """Whether the words of the first row are no numbers, and occur nowhere below it."""
    rest = frame.iloc[1:SEEN_ROWS]
    if not below or rest.empty or any(NUMBER.fullmatch(lower[n]) for n in below):
        return False
    return not any((rest.iloc[:, n].astype(str).str.strip() == lower[n]).any() for n in below)


def _corner(upper: str, lower: str) -> str:
    """Return the name of the rows; pandas writes the names of both header rows there instead."""
    return next((name for name in (upper, lower) if bare(name) in KNOWN["item"]), "")


def with_flat_columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """Return a table whose names of columns have several levels with these joined.

    >>> columns = pd.MultiIndex.from_tuples([("id", ""), ("Ann", "tone")])
    >>> list(with_flat_columns(pd.DataFrame([[1, "a"]], columns=columns))[0].columns)
    ['id', 'Ann_tone']
    """
    if not isinstance(frame.columns, pd.MultiIndex):
        return frame, ()
    names = ["_".join(filter(None, map(str, levels))) for levels in frame.columns]
    said = f"names of columns have several levels, which are joined: {first_names(names)}"
    note = reader_note(said, code="header-rows", rows=frame.columns.nlevels)
    return frame.set_axis(names, axis=1), (note,)
