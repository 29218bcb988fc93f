"""Which of several recognised columns is the item, and which others it could be."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.grouping import Codes, unique_rows
from assay.io.identifiers import joined_ids
from assay.io.names import ASKED, GENERIC, OUTRIGHT, squash
from assay.io.reading_log import Ledger

SHOWN = 3
ONE_NAME = "its name is recognised"


def choose_item(
    candidates: Sequence[str], frame: pd.DataFrame, beside: Sequence[str], ledger: Ledger
) -> tuple[str, str]:
    """Choose the item among columns whose names are recognised; never guess between two.

    A column called item wins. Else a column is the item if no rater rates one value of it twice,
    and no other column has that with other groups of rows; numbers of rows are no items.

    Parameters
    ----------
    candidates : sequence of str
        Columns, those of the commonest names first.
    frame : DataFrame
    beside : sequence of str
        Columns that tell ratings of one item apart: the rater, and whatever there is.
    ledger : Ledger
        Two columns that could both be the item are a problem there.

    Returns
    -------
    (str, str)
        The column, ``""`` if it has to be named, and the evidence.
    """
    if len(candidates) < 2 or squash(candidates[0]) in set(map(squash, OUTRIGHT)):
        return candidates[0], ONE_NAME
    rows = frame.drop_duplicates()
    codes = {c: pd.factorize(joined_ids(rows, [c]))[0] for c in candidates}
    numbers = [c for c in candidates if len(np.unique(codes[c])) == len(rows)]
    rated = [c for c in candidates if not (c in numbers and _is_generic(c))] or list(candidates)
    fitting = [c for c in rated if not repeats(codes[c], rows, beside)]
    alike = [c for c in fitting if same_groups(codes[c], codes[fitting[0]])]
    if fitting and len(alike) == len(fitting) and not (set(alike) <= set(numbers) < set(rated)):
        return fitting[0], _evidence(fitting[0], [c for c in rated if c not in fitting])
    _ask(rated, fitting, codes, ledger)
    return "", ""


def _is_generic(column: str) -> bool:
    return squash(column) in set(map(squash, GENERIC))


def repeats(item: Codes, rows: pd.DataFrame, beside: Sequence[str]) -> int:
    """Count the rows in which a rater rates an item again."""
    keys = [pd.factorize(joined_ids(rows, [c]))[0] for c in beside]
    return len(rows) - len(unique_rows(item, *keys)[0])


def same_groups(one: Codes, other: Codes) -> bool:
    """Whether two columns put the same rows together."""
    pairs = len(unique_rows(one, other)[0])
    return pairs == len(np.unique(one)) == len(np.unique(other))


def _evidence(column: str, others: Sequence[str]) -> str:
    if not others:
        return ONE_NAME
    return f"{ONE_NAME}, and raters rate one {' or '.join(others)} more than once, no {column}"


def _ask(
    rated: Sequence[str], fitting: Sequence[str], codes: dict[str, Codes], ledger: Ledger
) -> None:
    shown = fitting if len(fitting) > 1 else rated
    sizes = ", ".join(f"{c} ({len(np.unique(codes[c]))} values)" for c in shown)
    if len(fitting) > 1:
        because = "no rater rates one value of any of them twice"
    elif fitting:
        because = f"each value of {fitting[0]} stands in one row only"
    else:
        because = "raters rate values of each of them more than once"
    ledger.problem(
        "which-item",
        f"{len(shown)} columns could be the item: {sizes}; {because}",
        mend=f"name it: {' or '.join(f'`item={c!r}`' for c in shown)}",
        role="item",
        numbers={"columns": len(shown)},
        go_on={"item": shown[0]},
    )


def ask_for_system(column: str, system: Sequence[str], frame: pd.DataFrame, ledger: Ledger) -> None:
    """Ask whether answers of several systems to one question are one item or several."""
    if squash(column) not in set(map(squash, ASKED)) or not system:
        return
    names = joined_ids(frame, [column])
    pairs = len(unique_rows(pd.factorize(names)[0], pd.factorize(joined_ids(frame, system))[0])[0])
    if pairs > names.nunique():
        ledger.problem(
            "item-or-system",
            f"one {column} stands under several values of {system[0]}: the item may be the "
            f"{column}, or what each {system[0]} makes of it",
            mend=f"name it: `item={[column, *system]!r}`; `item={column!r}` if the truth is the "
            f"same for all of {system[0]}",
            go_on={"item": [column, *system]},
        )


def other_items(
    keys: Sequence[Sequence[str]], rest: Sequence[str], frame: pd.DataFrame, beside: Sequence[str]
) -> list[list[str]]:
    """Name the keys under which no rater would rate an item more than once, a few of them.

    Parameters
    ----------
    keys : sequence of sequence of str
        Keys that could be the item by their names.
    rest : sequence of str
        All other columns: one of them could be if its values stand in several rows.
    frame : DataFrame
        Distinct rows.
    beside : sequence of str
        Columns that tell ratings of one item apart.
    """
    found = []
    for key in [*map(list, keys), *([c] for c in rest)]:
        codes = pd.factorize(joined_ids(frame, key))[0]
        named = key[0] not in rest or len(np.unique(codes)) < len(frame)
        if named and not repeats(codes, frame, beside):
            found.append(key)
    return found[:SHOWN]
