"""Choose the item among several recognised columns, or the places of lists as items."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from assay._util.grouping import unique_rows
from assay._util.text import listed
from assay._util.typing import Ints
from assay.io.identifiers import joined_ids, keys_of
from assay.io.names import ASKED, GENERIC, OUTRIGHT, is_called
from assay.io.reading_log import Ledger

if TYPE_CHECKING:
    from assay.io.columns import ColumnArg, Role

SHOWN = 3
ONE_NAME = "its name is recognised"
MOST_RANKS = 1000
MOSTLY_THERE = 0.8
"""Smallest share of the places of a list that must occur for numbers to be ranks."""


def choose_item(
    candidates: Sequence[str], frame: pd.DataFrame, beside: Sequence[str], ledger: Ledger
) -> tuple[str, str]:
    """Return the column of the item and the evidence; ``""`` and a problem if two are possible.

    A column called item wins. Else the item is the column of which no rater rates a value twice
    (``beside``: rater and the like), unless another such column groups rows differently. Columns
    that number the rows are no items.
    """
    if len(candidates) < 2 or is_called(candidates[0], OUTRIGHT):
        return candidates[0], ONE_NAME
    rows = frame.drop_duplicates()
    codes = {c: keys_of(rows, [c]) for c in candidates}
    numbers = [c for c in candidates if len(np.unique(codes[c])) == len(rows)]
    rated = [c for c in candidates if not (c in numbers and is_called(c, GENERIC))] or list(
        candidates
    )
    fitting = [c for c in rated if not repeats(codes[c], rows, beside)]
    alike = [c for c in fitting if same_groups(codes[c], codes[fitting[0]])]
    if fitting and len(alike) == len(fitting) and not (set(alike) <= set(numbers) < set(rated)):
        return fitting[0], _evidence(fitting[0], [c for c in rated if c not in fitting])
    _ask(rated, fitting, codes, ledger)
    return "", ""


def repeats(item: Ints, rows: pd.DataFrame, beside: Sequence[str]) -> int:
    """Count the rows in which a rater rates an item again."""
    keys = [keys_of(rows, [c]) for c in beside]
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
    if not is_called(column, ASKED) or not system:
        return
    names = joined_ids(frame, [column])
    pairs = len(unique_rows(keys_of(frame, [column]), keys_of(frame, system))[0])
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
        codes = keys_of(frame, key)
        named = key[0] not in rest or len(np.unique(codes)) < len(frame)
        if named and not repeats(codes, frame, beside):
            found.append(key)
    return found[:SHOWN]


def key_in_lists(
    roles: "Mapping[str, Role]",
    frame: pd.DataFrame,
    asked: "Mapping[str, ColumnArg]",
    beside: Sequence[str],
    ledger: Ledger,
) -> dict[str, tuple[str, ...]]:
    """Return columns of the item and the rank by role, if places in lists name the items.

    Empty if a named or recognised column identifies items alone, or if names are no places: a
    document may be the same item in several lists.
    """
    decided = asked.get("item") is not None or any(p.role == "item" for p in ledger.problems)
    cluster, inner = _nested(roles)
    rows = frame.drop_duplicates()
    if decided or "rater" not in roles or not inner or not _repeats([inner], rows, beside):
        return {}
    system = roles["system"].columns if "system" in roles else ()
    lists = [*cluster, *system]
    ranks = roles["rank"].columns == (inner,) if "rank" in roles else _ranks(inner, lists, rows)
    key = [str(c) for c in frame.columns if c in {*lists, inner}]
    if not ranks or inner in lists or _repeats(key, rows, beside):
        return {}
    found = {"cluster": cluster, "item": tuple(key)}
    if "rank" not in roles and asked.get("rank") is None:
        found["rank"] = (inner,)
    ledger.note(
        f"{inner} counts the places of a list, so {listed(key)} together name the item. `item=` "
        "names other columns",
        code="item-of-list",
    )
    return found


def _nested(roles: "Mapping[str, Role]") -> tuple[tuple[str, ...], str]:
    """Return the columns of the cluster, and the one that may name items within a list.

    That is the recognised item, or the rank. A column of questions is the cluster of ranked lists.
    """
    cluster = roles["cluster"].columns if "cluster" in roles else ()
    rank = roles["rank"].columns[0] if "rank" in roles else ""
    if "item" not in roles:
        return cluster, rank if cluster else ""
    item = roles["item"].columns
    if len(item) > 1 or not roles["item"].evidence.startswith(ONE_NAME):
        return cluster, ""
    if is_called(item[0], ASKED):
        return (item, rank) if not cluster else (cluster, "")
    return cluster, item[0] if cluster and not is_called(item[0], OUTRIGHT) else ""


def _repeats(key: Sequence[str], rows: pd.DataFrame, beside: Sequence[str]) -> int:
    return repeats(keys_of(rows, key), rows, beside)


def _ranks(column: str, lists: Sequence[str], rows: pd.DataFrame) -> bool:
    """Whether a column counts the places of every list, from 0 or 1."""
    words = rows[column].str.strip()
    if not words.str.fullmatch(r"\d{1,4}(\.0+)?").all():
        return False
    places = pd.DataFrame({"list": joined_ids(rows, lists), "rank": words.astype(float)})
    places = places.drop_duplicates()
    least, most = places["rank"].min(), places["rank"].max()
    if least > 1 or most > MOST_RANKS or most == least:
        return False
    ends = places.groupby("list")["rank"].agg(["max", "size"])
    return bool(np.sum(ends["size"]) >= MOSTLY_THERE * np.sum(ends["max"] - least + 1))
