"""Choose the item among several recognised columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from assay._util.grouping import unique_rows
from assay._util.typing import Ints
from assay.io.identifiers import joined_ids
from assay.io.names import ASKED, GENERIC, OUTRIGHT, squash
from assay.io.reading_log import Ledger

SHOWN = 3
ONE_NAME = "its name is recognised"


def choose_item(
    candidates: Sequence[str], frame: pd.DataFrame, beside: Sequence[str], ledger: Ledger
) -> tuple[str, str]:
    """Return the column of the item and the evidence; ``""`` and a problem if two are possible.

    A column called item wins. Else the item is the column of which no rater rates a value twice
    (``beside``: rater and the like), unless another such column groups rows differently. Columns
    that number the rows are no items.
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


def repeats(item: Ints, rows: pd.DataFrame, beside: Sequence[str]) -> int:
    """Count the rows in which a rater rates an item again."""
    keys = [pd.factorize(joined_ids(rows, [c]))[0] for c in beside]
    return len(rows) - len(unique_rows(item, *keys)[0])


def same_groups(one: Ints, other: Ints) -> bool:
    """Whether two columns group the rows in the same way."""
    pairs = len(unique_rows(one, other)[0])
    return pairs == len(np.unique(one)) == len(np.unique(other))


def _evidence(column: str, others: Sequence[str]) -> str:
    if not others:
        return ONE_NAME
    return f"{ONE_NAME}, and raters rate one {' or '.join(others)} more than once, but no {column}"


def _ask(
    rated: Sequence[str], fitting: Sequence[str], codes: dict[str, Ints], ledger: Ledger
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
    """Add a problem if answers of several systems may be one item or several."""
    if squash(column) not in set(map(squash, ASKED)) or not system:
        return
    names = joined_ids(frame, [column])
    pairs = len(unique_rows(pd.factorize(names)[0], pd.factorize(joined_ids(frame, system))[0])[0])
    if pairs > names.nunique():
        ledger.problem(
            "item-or-system",
            f"one {column} appears under several values of {system[0]}: the item may be the "
            f"{column}, or the output of each {system[0]} for it",
            mend=f"name it: `item={[column, *system]!r}`; `item={column!r}` if the truth is the "
            f"same for all of {system[0]}",
            go_on={"item": [column, *system]},
        )


def other_items(
    keys: Sequence[Sequence[str]], rest: Sequence[str], frame: pd.DataFrame, beside: Sequence[str]
) -> list[list[str]]:
    """Return a few keys with which no rater would rate an item twice.

    ``keys`` may be the item by name; other columns (``rest``) need values that occur in several
    rows.
    """
    found = []
    for key in [*map(list, keys), *([c] for c in rest)]:
        codes = pd.factorize(joined_ids(frame, key))[0]
        named = key[0] not in rest or len(np.unique(codes)) < len(frame)
        if named and not repeats(codes, frame, beside):
            found.append(key)
    return found[:SHOWN]
