"""Tables with a column for each rater and question, system or item: ``--wide`` with a pattern."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from assay._util.errors import RatingsError
from assay._util.text import counted, listed
from assay.io.arguments import Arguments, names_in
from assay.io.formats import Export
from assay.io.name_patterns import (
    ITEM,
    LABEL,
    RATER,
    SYSTEM,
    Parts,
    distinct_parts,
    few_values,
    parts_of,
    said_of,
    slots_of,
)
from assay.io.names import ALL_KNOWN, EMPTY, REMARKS, bare, names_sureness, squash
from assay.io.reshaping import free_name, long_table, with_items, with_people
from assay.io.tables import Table, reader_note

ANSWER = "answer"
"""Name of the column of answers where names have no question."""


def columns_apart(export: Export, given: Arguments) -> tuple[Export, Arguments]:
    """Give each rating a row, if ``wide=`` is a pattern of raters or items in names of columns.

    A row is an item, or a person if the names have items. With systems, an item is what a system
    made of a row, which is a cluster. Columns of few values become labels, unless the caller names
    some.
    """
    pattern = names_in(given.wide)[0] if given.wide else ""
    slots = slots_of(pattern)
    if not {RATER, ITEM} & set(slots):
        return export, given
    columns = _columns(export.table, pattern)
    beside = [str(c) for c in export.table.frame.columns if str(c) not in columns]
    if ITEM in slots:
        table, roles = with_people(export.table, beside, given)
    else:
        table, roles = with_items(export.table, list(columns), given)
    rest = table.frame.drop(columns=list(columns))
    roles = _whole_rows(rest, roles, slots)
    parts = distinct_parts(columns)
    labels = parts.get(LABEL, (ANSWER,))
    names = {label: free_name(label, rest) for label in labels}
    texts = _texts(table.frame, columns, LABEL)
    few = [
        label for label in labels
        if label not in texts and not names_sureness(label) and squash(label) not in REMARKS
    ]  # fmt: skip
    answers = few or list(labels)
    keys = {slot: free_name(slot, rest) for slot in (RATER, SYSTEM, ITEM) if slot in slots}
    each = list(dict.fromkeys(tuple(one[slot] for slot in keys) for one in columns.values()))
    number = {key: str(n) for n, key in enumerate(each)}
    places = {
        (number[tuple(one[slot] for slot in keys)], one.get(LABEL, ANSWER)): column
        for column, one in columns.items()
    }
    of = free_name("number", rest)
    long, empty, _ = long_table(table, places, of, names, answers, EMPTY)
    row = long.frame[of].astype(int)
    cells = {
        name: row.map(dict(enumerate(key[n] for key in each))).astype("str")
        for n, name in enumerate(keys.values())
    }
    frame = long.frame.drop(columns=of).assign(**cells)
    pairs = LABEL in slots  # several cells make a rating
    note = reader_note(
        f"{counted(len(columns), 'column')} were read as {said_of(columns)}"
        + f"; {counted(empty, 'pair' if pairs else 'cell')}{' of item and rater' * pairs} without "
        "an answer: left out" * bool(empty),
        code="columns-read",
        columns=len(columns),
        empty=empty,
    )
    known = {slot: (name,) for slot, name in keys.items()}
    made = replace(
        export, table=replace(long, frame=frame), roles={**export.roles, **roles, **known},
        notes=(*export.notes, note),
        title=f"a column for each {listed([s.replace(LABEL, 'question') for s in slots])}",
    )  # fmt: skip
    found = {n: names[n] for n in answers} if LABEL in slots else names[ANSWER]
    given = replace(given, wide=None, labels=found if given.labels is None else given.labels)
    return _of_systems(made, given, roles) if SYSTEM in slots else (made, given)


def _columns(table: Table, pattern: str) -> Mapping[str, Parts]:
    """Return the columns of a pattern, with the parts of their names. Without a slot for labels,
    those of texts are left out, and those that are recognised by name.
    """
    names = [str(c) for c in table.frame.columns]
    apart = LABEL in slots_of(pattern)
    twice = len(set(slots_of(pattern))) < len(slots_of(pattern))
    own = [] if twice else [c for c in names if apart or bare(c) not in ALL_KNOWN]
    found = parts_of(own, pattern) if own else {}
    if not found:
        raise RatingsError.of(
            "unknown-column",
            f"no column is called like {pattern}",
            table.source,
            mend=f"columns: {listed(names)}",
            go_on={"wide": None},
        )
    who = RATER if RATER in slots_of(pattern) else ITEM
    texts = set() if apart else _texts(table.frame, found, who)
    kept = {c: parts for c, parts in found.items() if parts[who] not in texts}
    return kept or found


def _texts(frame: pd.DataFrame, columns: Mapping[str, Parts], slot: str) -> set[str]:
    """Return the parts in a slot of which a column holds many values."""
    return {
        parts[slot] for c, parts in columns.items() if slot in parts and not few_values(frame[c])
    }


def _whole_rows(
    rest: pd.DataFrame, roles: dict[str, tuple[str, ...]], slots: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return the roles with a column of the item that differs in each row, if there is one.

    A document may stand in several, beside what names the row.
    """
    item = roles.get(ITEM)
    if item is None or SYSTEM not in slots or not rest.duplicated(list(item)).any():
        return roles
    return {**roles, ITEM: next(((str(c),) for c in rest if not rest[c].duplicated().any()), item)}


def _of_systems(
    made: Export, given: Arguments, roles: Mapping[str, tuple[str, ...]]
) -> tuple[Export, Arguments]:
    """Make what a system did with a row, or with an item in the names, the item."""
    system, asked = made.roles[SYSTEM], names_in(given.item)
    row = tuple(asked) or roles.get(ITEM) or made.roles[ITEM]
    if given.cluster is None and len(row) == 1:
        given = replace(given, cluster=row[0])
    if asked:
        return made, replace(given, item=[*asked, *system])
    return replace(made, roles={**made.roles, ITEM: (*row, *system)}), given
