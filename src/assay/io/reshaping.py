"""Tables of other shapes: columns are raters, items or classes, or a rater and question each."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from assay._util.errors import ArgumentError, Note, RatingsError, as_code, suggest
from assay._util.text import counted, first_names, listed
from assay._util.typing import Ints
from assay.data.class_words import canonical
from assay.data.task import Task
from assay.io.arguments import Arguments, names_in
from assay.io.class_columns import COUNTED, is_mark_column, vote_columns
from assay.io.derived_columns import derived_columns
from assay.io.files.delimited import ROW_NAME
from assay.io.files.file_paths import FILE
from assay.io.formats import Export
from assay.io.likely_columns import FIRST_ROWS, MOST_FREE, are_numbers
from assay.io.names import (
    COUNT,
    EMPTY,
    RECOGNISED,
    ColumnFinder,
    count_column,
    empty_cells,
    words_of,
)
from assay.io.share_tables import (
    TOTALS,
    names_of_shares,
    number_column,
    other_class,
    total_column,
    votes_of_shares,
)
from assay.io.tables import Table, reader_note
from assay.io.unnamed_raters import number_votes, times_counted, without_names
from assay.io.wide_tables import (
    EVERY,
    answer_columns,
    item_of,
    names_people,
    person_of,
)

SHOWN = 5


def reshape(export: Export, task: Task, given: Arguments) -> Export:
    """Give each rating a row, by ``wide=``, ``wide_items=`` or ``counts=``; number raters if
    unnamed. A row is an item (or a pattern of answers with its count) or, for ``wide_items=``, a
    rater.
    """
    table = export.table
    asked = given.shapes
    if not asked:
        return without_names(export, task, given) or export
    if len(asked) > 1:
        raise ArgumentError(
            f"`{asked[0]}=` and `{asked[1]}=` contradict each other about the table; give only one",
            code="two-shapes",
            go_on=dict.fromkeys(asked[1:]),
        )
    columns = _chosen(table, asked[0], task, given)
    roles: dict[str, tuple[str, ...]] = {}
    notes: list[Note] = []
    if asked[0] == "counts":
        found = _of_classes(table, columns, task, given)
    elif asked[0] == "wide":
        columns, notes = _without_derived(table, columns, given)
        table, roles = with_items(table, columns, given)
        found = _melted(table, columns, "rater", task, given, roles=roles)
    else:
        table, roles = with_people(table, _others(table, columns), given)
        found = _melted(table, columns, _apart(table, given), task, given, roles=roles)
    return replace(
        found, roles={**export.roles, **found.roles}, notes=(*export.notes, *found.notes, *notes)
    )


def _without_derived(
    table: Table, columns: list[str], given: Arguments
) -> tuple[list[str], list[Note]]:
    """Return the columns of raters without those computed from them, unless named; note these."""
    notes, kept = list[Note](), list(columns)
    for column, fit in derived_columns(table.frame, columns).items():
        if any(table.finder.get(name) == column for name in names_in(given.wide)):
            others = as_code({"wide": [c for c in columns if c != column]})
            said = f". It is read as a rater. If it was computed, leave it out: {others}"
            notes.append(Note(fit.said(column) + said, code="derived-column"))
            continue
        kept.remove(column)
        if column not in given.named_columns:
            said = ". It is left out; if it is a rater, name it in `wide=`, too"
            notes.append(reader_note(fit.said(column) + said, code="derived-column"))
    return kept, notes


def _apart(table: Table, given: Arguments) -> str:
    """Return the role of columns that ``wide_items=`` names: systems, if ``system=`` is their name.

    No column of the table is called so then, and what is rated is named by other columns too.
    """
    named = isinstance(given.system, str) and table.finder.get(given.system) is None
    return "system" if named and given.system else "item"


def require_one_label(task: Task, given: Arguments) -> None:
    """Refuse such a shape for a task of several labels."""
    if given.shapes and len(task.labels) > 1:
        raise ArgumentError(
            f"`{given.shapes[0]}=` needs a task of one label, and task {task.name} has "
            f"{len(task.labels)}; name another task, or none",
            code="shape-of-one-label",
            numbers={"labels": len(task.labels)},
            go_on={"task": None},
        )


def _chosen(table: Table, argument: str, task: Task, given: Arguments) -> list[str]:
    """Return the columns that an argument names; names may have a wildcard."""
    asked: list[str] = names_in(getattr(given, argument))
    columns, found = table.finder.columns, list[str]()
    for name in asked:
        column = table.finder.get(name)
        if column is not None:
            matching = [column]
        elif name == EVERY and argument == "counts":
            matching = vote_columns(table.frame)
        elif name == EVERY:
            matching = answer_columns(table.frame, task.labels[0], [])
        else:
            matching = [c for c in columns if fnmatchcase(c, name)]
        if not matching:
            near = ([n] if n in columns else get_close_matches(n, columns, n=1) for n in asked)
            raise RatingsError.of(
                "unknown-column",
                f"`{argument}=` names {name!r}, which is no column",
                table.source,
                mend=suggest(name, columns),
                go_on={argument: list(dict.fromkeys(c for one in near for c in one)) or None},
            )
        found += matching
    return list(dict.fromkeys(found))


def _of_classes(table: Table, columns: Sequence[str], task: Task, given: Arguments) -> Export:
    """Read a column for each class, with its number of votes by unnamed raters."""
    of = total_column(table.frame, columns)
    if of in columns and TOTALS & set(words_of(of)):
        columns = [c for c in columns if c != of]
    # The names of the columns, without the word votes if all have it.
    bare = [" ".join(w for w in words_of(c) if w not in COUNTED) for c in columns]
    all_say_so = all(COUNTED & set(words_of(c)) for c in columns)
    names = bare if all_say_so and all(bare) and len(set(bare)) == len(bare) else list(columns)
    shared = votes_of_shares(table.frame, columns, table.source)
    if shared is not None:
        names = names_of_shares(columns)
    if shared is not None and len(columns) == 1:
        total = table.frame[number_column(table.frame)].astype(float).to_numpy()
        names = [other_class(names[0]), *names]
        shared = [total.astype(np.int64) - shared[0], *shared]
    found = [_votes(table, c, columns) for c in columns] if shared is None else shared
    if shared is None and len(columns) == 1 and (of := total_column(table.frame, columns)):
        names = [" ".join(w for w in words_of(columns[0]) if w not in COUNTED | {"n"}) or names[0]]
        names = [other_class(names[0]), *names]
        found = [_votes(table, of, columns) - found[0], *found]
    votes = np.column_stack(found)
    known = [*RECOGNISED["rater"], *[FILE] * (FILE in table.frame)]
    named = given.rater or ColumnFinder(_others(table, columns)).all_of(known)
    by_name = bool(named) and votes.sum(axis=1).max(initial=0) <= 1
    # Rows by named raters are ratings, and a number of each row names no item.
    table, roles = (table, {}) if by_name else with_items(table, columns, given)
    classes = np.array(names, object)
    rows = np.repeat(np.arange(len(votes)), votes.sum(axis=1))
    answers = np.repeat(np.tile(classes, len(votes)), votes.ravel())
    frame = table.frame[_others(table, columns)].iloc[rows].reset_index(drop=True)
    answer = free_name(task.label_names[0], frame)
    frame[answer] = pd.Series(answers, dtype="str")
    note = reader_note(
        f"{counted(len(frame), 'vote')} for {listed(classes.tolist())} were counted",
        code="counts-read",
        votes=len(frame),
    )
    long = replace(table, frame=frame, lines=table.lines[rows])
    options = {"labels": {task.label_names[0]: answer}}
    export = Export(table=long, roles=roles, options=options, title="counts", notes=(note,))
    return export if by_name else number_votes(export, given, task)


def _votes(table: Table, column: str, columns: Sequence[str]) -> Ints:
    """Return the counts of a column; an empty cell is 0, and so is false. A mark and true are 1."""
    cells = table.frame[column].str.strip().replace({"": "0", "false": "0", "true": "1"})
    if is_mark_column(table.frame[column]) and not cells.str.fullmatch(COUNT).all():
        cells = pd.Series((~empty_cells(table.frame[column])).astype(int).astype(str), cells.index)
    odd = ~cells.str.fullmatch(COUNT).to_numpy(bool)
    if odd.any():
        rest = [c for c in columns if c != column]
        raise RatingsError.of(
            "no-counts",
            f"{counted(int(odd.sum()), 'cell')} of {column} hold no number of votes, such as "
            f"{cells[odd].iloc[0]!r}",
            table.source,
            mend=f"leave the column out: {as_code({'counts': rest})}",
            go_on={"counts": rest},
        )
    return np.asarray(cells.astype(float), np.int64)


def _others(table: Table, columns: Sequence[str]) -> list[str]:
    return [str(c) for c in table.frame.columns if c not in columns]


def with_items(
    table: Table, columns: Sequence[str], given: Arguments
) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """Return the table with a column of the item: a recognised name, a unique column, or numbers.

    Grouped answers have no item: each row is repeated by its count.
    """
    if given.item:
        return table, {}
    names = table.frame.get("")
    if names is not None and not names.duplicated().any() and not are_numbers(names):
        # The nameless column holds a name of each row, and not its number.
        renamed = table.frame.rename(columns={"": free_name(ROW_NAME, table.frame)})
        table = replace(table, frame=renamed)
    rest = _others(table, columns)
    item = item_of(rest)
    number = count_column(table.frame[rest])
    if number and not item:
        table = times_counted(table, number)
    elif not item:
        item = next((c for c in rest if table.frame[c].nunique() == len(table.frame)), "")
    if not item:
        table, item = _with_numbers(table, "item", _unique_key(table.frame, rest))
    return table, {"item": _key_of_rows(table.frame, item, rest)}


def with_people(
    table: Table, rest: Sequence[str], given: Arguments
) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """Return the table with a column of the rater: one of people among the ``rest``, or numbers."""
    if given.rater:
        return table, {}
    person = person_of(rest)
    if not person:
        table, person = _with_numbers(table, "rater")
    return table, {"rater": (person,)}


def _key_of_rows(frame: pd.DataFrame, item: str, rest: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that differ in each row, where equal texts or questions may stand in two.

    The item alone, if no other name of an item does, and no system beside it.
    """
    if not frame[item].duplicated().any():
        return (item,)
    finder = ColumnFinder(list(rest))
    others = [c for c in finder.all_of(RECOGNISED["item"]) if not names_people(c)]
    keys: list[tuple[str, ...]] = [(c,) for c in others]
    keys += [(item, c) for c in finder.all_of(RECOGNISED["system"]) if c != item]
    return next((key for key in keys if not frame.duplicated(list(key)).any()), (item,))


def _unique_key(frame: pd.DataFrame, rest: Sequence[str]) -> tuple[str, ...]:
    """Return the first two or three columns that differ in each row together; empty if none do."""
    head = frame.head(FIRST_ROWS)
    named = [c for c in rest if c in frame and head[c].nunique() > 1][:MOST_FREE]
    for key in (key for size in (2, 3) for key in combinations(named, size)):
        if not head.duplicated(list(key)).any() and not frame.duplicated(list(key)).any():
            return key
    return ()


def _with_numbers(table: Table, role: str, key: Sequence[str] = ()) -> tuple[Table, str]:
    """Name each row by its number; the columns of a ``key`` could name it."""
    name = free_name(role, table.frame)
    numbers = pd.Series(np.arange(1, len(table.frame) + 1).astype(str), dtype="str")
    note = reader_note(
        f"no column names the {role}s, so each row is one, called by its number"
        + f"; `{role}={list(key)!r}` names them" * bool(key),
        code="rows-numbered",
    )
    return table.noted(note, frame=table.frame.assign(**{name: numbers})), name


def free_name(name: str, frame: pd.DataFrame) -> str:
    """Return a name that no column has."""
    while name in frame.columns:
        name = f"{name}_"
    return name


def _melted(
    table: Table,
    columns: Sequence[str],
    role: str,
    task: Task,
    given: Arguments,
    *,
    roles: dict[str, tuple[str, ...]],
) -> Export:
    """Give each filled cell of some columns a row; the column's name plays a role."""
    meant = {canonical(word) for words in (given.classes or {}).values() for word in words}
    answer = task.label_names[0]
    rest = table.frame[_others(table, columns)]
    own = given.system if role == "system" and isinstance(given.system, str) else role
    named, said = free_name(own, rest), free_name(answer, rest)
    places = {(column, answer): column for column in columns}
    table, empty, nothing = long_table(
        table, places, named, {answer: said}, [answer], EMPTY - meant
    )
    note = reader_note(
        f"{counted(len(columns), 'column')} were read as {role}s: {first_names(columns)}"
        + (f"; {counted(empty, 'cell')} without an answer are not ratings" if empty else "")
        + (f", {listed(nothing)} among them" if nothing else ""),
        code="columns-read",
        columns=len(columns),
        empty=empty,
    )
    options: dict[str, Any] = {"labels": {answer: said}}
    return Export(
        table=table,
        roles={**roles, role: (named,)},
        options=options,
        title=f"a column for each {role}",
        notes=(note,),
    )


def long_table(
    table: Table,
    places: Mapping[tuple[str, str], str],
    role: str,
    names: Mapping[str, str],
    answers: Sequence[str],
    nothing: Set[str],
) -> tuple[Table, int, list[str]]:
    """Give each row and name with an answer a row; count the others, and return their words.

    ``places`` has the column of a name and a label. ``role`` and ``names`` are the new columns.
    """
    who = list(dict.fromkeys(name for name, _ in places))
    rest = table.frame[_others(table, list(places.values()))]
    blank = pd.Series("", index=rest.index, dtype="str")
    cells, empty, words = {}, np.ones(len(rest) * len(who), bool), []
    for label in names:
        columns = [places.get((name, label)) for name in who]
        held = [(blank if c is None else table.frame[c]).to_numpy(object) for c in columns]
        cells[label] = np.column_stack(held).ravel()
    for label in answers:
        raw, distinct = pd.factorize(cells[label])
        none = np.array([canonical(str(word)) in nothing for word in distinct], bool)
        words += [str(word) for word in distinct[none] if word.strip()]
        empty &= none[raw]
    row = np.repeat(np.arange(len(rest)), len(who))[~empty]
    frame = rest.take(row).reset_index(drop=True)
    frame[role] = pd.Series(np.tile(np.array(who, object), len(rest))[~empty], dtype="str")
    for label, name in names.items():
        frame[name] = pd.Series(cells[label][~empty], dtype="str")
    known = {
        name: {table.ordered.get(c, ()) for (_, asked), c in places.items() if asked == label}
        for label, name in names.items()
    }
    ordered = {**table.ordered, **{n: one.pop() for n, one in known.items() if len(one) == 1}}
    table = replace(table, frame=frame, lines=table.lines[row], ordered=ordered)
    return table, int(empty.sum()), words
