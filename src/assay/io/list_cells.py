"""Cells that hold several values: lists, as tools export them, and options of a question."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from assay._util.errors import Note
from assay._util.text import counted
from assay.data.class_words import NUMBER, canonical
from assay.data.task import Label
from assay.io.arguments import ColumnArg
from assay.io.cells import spellings
from assay.io.names import ANSWER_COLUMNS, EMPTY, KNOWN, RECOGNISED, ColumnFinder, Roles, squash
from assay.io.printed_values import elements, is_nested
from assay.io.reading_log import Ledger
from assay.io.tables import SET_ASIDE, Table, cell_text, reader_note
from assay.io.wide_tables import names_people

FIRST_CELLS = 100
VERDICT = re.compile(r"\[\[\s*([^\[\]{}'\",]+?)\s*\]\]")
"""A word in double brackets, [[A]]: the form in which prompts ask judges for a verdict."""
NAMED = ("rater", "item", "cluster", "system")
"""Roles whose names may be lists of parts."""
Lists = dict[str, list[object]]


def single_elements(table: Table) -> Table:
    """Replace lists of one element by it, and empty ones by nothing, with a note.

    Other cells of the column may be plain; columns with longer lists stay as they are. So are words
    in double brackets, as prompts ask judges for.
    """
    frame, notes = table.frame, []
    for column in table.frame.columns:
        if not table.frame[column].str.startswith("[").any():
            continue
        cells = [c for c in map(str, pd.unique(table.frame[column])) if c and _may_be_list(c)]
        lists = {
            cell: items
            for cell in cells
            if (items := [hit[1]] if (hit := VERDICT.fullmatch(cell)) else elements(cell))
            is not None
        }
        if lists and max(map(len, lists.values())) == 1:
            words = {cell: _text(items[0]) if items else "" for cell, items in lists.items()}
            told = [words.get(cell, cell) for cell in frame[column]]
            frame = frame.assign(**{column: pd.Series(told, frame.index, dtype="str")})
            text = f"cells of {column} are lists of one element, which stands for them"
            notes.append(reader_note(text, code="lists-of-one"))
    return table.noted(*notes, frame=frame) if notes else table


def named_singly(table: Table) -> Table:
    """Call lists of raters and of their answers by what an element is: annotators, labels."""
    columns = [str(c) for c in table.frame]
    known = KNOWN["rater"] | set(map(squash, ANSWER_COLUMNS))
    names = {c: c.removesuffix("s") for c in columns if c.endswith("s")}
    new = {c: one for c, one in names.items() if squash(one) in known and one not in columns}
    raters = [c for c, one in new.items() if one in ColumnFinder([one]).all_of(RECOGNISED["rater"])]
    several = [c for c in raters if longest(lists_of(table.frame[c])) > 1]
    if len(several) != 1 or len(beside := parallel(table.frame, several[0])) < 2:
        return table
    return replace(table, frame=table.frame.rename(columns={c: new[c] for c in beside if c in new}))


def without_uneven_lists(table: Table, rater: object) -> Table:
    """Set rows aside whose list of raters is longer or shorter than their lists of answers."""
    column = _list_of_raters(table, rater)
    if not column:
        return table
    mine = np.array(_sizes(table.frame[column]))
    others = [np.array(_sizes(table.frame[c])) for c in table.frame.columns if c != column]
    beside = [own for own in others if len(own) and 2 * np.sum(own == mine) > len(mine)]
    even = np.all([own == mine for own in beside], axis=0) if beside else np.ones(len(mine), bool)
    uneven = dict.fromkeys(table.lines[~even].tolist(), "lists of different lengths")
    return replace(table.taking(even), lost={**table.lost, **uneven})


def _list_of_raters(table: Table, rater: object) -> str:
    """Return the column whose cells are lists of raters; "" if there is none."""
    names = [rater] if isinstance(rater, str) and rater else list(RECOGNISED["rater"])
    found = table.finder.all_of(names)[:1]
    return next((c for c in found if longest(lists_of(table.frame[c])) > 1), "")


def explode_ratings(table: Table, rater: object) -> Table:
    """Give each rating a row where a row has a list of raters, and parallel lists of answers."""
    column = _list_of_raters(table, rater)
    apart = parallel(table.frame, column) if column else []
    if len(apart) < 2:
        return table
    words = {
        c: {cell: [*map(_text, items)] for cell, items in lists_of(table.frame[c]).items()}
        for c in apart
    }
    text = f"each rating has a row: the lists in {', '.join(apart)} are taken apart together"
    made = exploded(table, words, reader_note(text, code="lists-apart", columns=len(apart)))
    if empty := sum(not words[column][cell] for cell in table.frame[column]):
        text = f"{counted(empty, 'row')} without any rating: left out"
        made = made.noted(reader_note(text, code="rows-without-rating", rows=empty))
    return made


def exploded(table: Table, words: Mapping[str, Mapping[str, Sequence[str]]], note: Note) -> Table:
    """Give each element of parallel lists a row, with a note.

    ``words`` has the elements in each distinct cell, by column.
    """
    frame, column = table.frame, next(iter(words))
    rows = np.repeat(np.arange(len(frame)), [len(words[column][cell]) for cell in frame[column]])
    columns = {
        column: pd.Series([word for cell in frame[column] for word in held[cell]], dtype="str")
        for column, held in words.items()
    }
    return table.taking(rows, note, **columns)


def named_by_lists(table: Table, asked: Mapping[str, ColumnArg]) -> Table:
    """Join the parts of a name that are a list, such as a model and its prompt. Nothing changes
    where columns not in ``asked`` have lists, too: these may be of raters.
    """
    lists = {str(c): lists_of(table.frame[c]) for c in table.frame}
    several = [c for c, held in lists.items() if longest(held) > 1]
    for role in NAMED:
        found = table.finder.all_of(asked.get(role) or RECOGNISED[role])[:1]
        column = next((c for c in found if c in several), "")
        if not column or (role == "rater" and several != [column]):
            continue
        if len(parallel(table.frame, column)) > 1:
            continue
        words = {cell: "/".join(map(_text, items)) for cell, items in lists[column].items()}
        frame = table.frame.assign(**{column: table.frame[column].map(words).astype("str")})
        text = f"cells of {column} are lists: their parts name the {role} together"
        return table.noted(reader_note(text, code="name-lists"), frame=frame)
    return table


def longest(lists: Lists) -> int:
    """Return the length of the longest list."""
    return max(map(len, lists.values()), default=0)


def parallel(frame: pd.DataFrame, column: str) -> list[str]:
    """Return the columns whose lists have the same lengths as those of a column."""
    sizes = {str(c): _sizes(frame[c]) for c in frame.columns}
    mine = sizes[column]
    return [c for c, own in sizes.items() if own and mine and own == mine]


def _sizes(column: "pd.Series[str]") -> list[int]:
    lists = lists_of(column)
    return [len(lists[cell]) for cell in column] if lists else []


def require_plain(columns: Sequence[str], answers: Sequence[str], ledger: Ledger) -> bool:
    """Add a problem, and return True, if cells hold several values.

    No column may hold lists of several elements; ``answers`` may hold no list, array or dict.
    """
    frame = ledger.table.frame
    for column in dict.fromkeys(columns):
        lists = lists_of(frame[column])
        if longest(lists) > 1:
            beside = [c for c in parallel(ledger.table.frame, column) if c != column]
            more = f"; lists of as many elements: {', '.join(beside)}" if beside else ""
            ledger.problem(
                "list-cells",
                f"cells of {column} are lists of several elements, such as "
                f"{max(lists, key=len)[:60]}{more}",
                allowed="a row for each rating: the item, the rater, the answer",
                mend="name the lists that belong together by `rater=` and `labels=`; their "
                "elements become rows"
                if beside
                else "write one value into each cell, or name another column",
            )
            return True
    for column in answers:
        odd = [str(cell) for cell in pd.unique(frame[column]) if is_nested(str(cell))]
        if odd:
            rows = np.flatnonzero(frame[column].isin(odd))
            ledger.problem(
                "nested-cells",
                f"{counted(len(rows), 'cell', 'are')} no single answer but a list, an array or a "
                f"dict, such as {odd[0][:60]}",
                where=ledger.table.where(rows, column),
                allowed="one answer a cell",
                mend="write the answer itself into the cell; to keep lists, give the DataFrame, or "
                "save it by frame.to_parquet(path)",
                numbers={"cells": len(rows)},
                go_on={} if len(rows) == len(frame) else SET_ASIDE,
            )
            return True
    return False


def without_nested(frame: pd.DataFrame, answers: Sequence[str], ledger: Ledger) -> pd.DataFrame:
    """Set rows aside whose cell of an answer is a list, an array or a dict; it becomes empty."""
    for column in dict.fromkeys(answers):
        odd = [str(cell) for cell in pd.unique(frame[column]) if is_nested(str(cell))]
        rows = frame[column].isin(odd)
        if rows.any() and not rows.all():
            ledger.set_aside(rows.to_numpy(bool), "several answers in a cell")
            frame = frame.assign(**{column: frame[column].mask(rows, "")})
    return frame


def lists_of(column: "pd.Series[str]") -> Lists:
    """Return the list in each distinct cell; empty if a filled cell is no list."""
    found: Lists = {}
    # Fast path: the first cells rule out nearly every column.
    if not all(_may_be_list(cell) for cell in column.head(FIRST_CELLS)):
        return {}
    for cell in map(str, pd.unique(column)):
        if not _may_be_list(cell):
            return {}
        items = elements(cell)
        if items is None:
            return {}
        found[cell] = items
    return found if any(found.values()) else {}


def _may_be_list(cell: str) -> bool:
    """Whether a cell is empty or in brackets."""
    return not cell.strip() or (cell.startswith("[") and cell.endswith("]"))


def _text(item: object) -> str:
    return "" if item is None else cell_text(item).strip()


SEPARATORS = ("|", ";", "\n", ",", "+", "&")
EVERYDAY = (",", "+", "&")
"""Separators that occur in plain text; then each part must also be an answer alone."""
OF_NAMES = ("+", "&")
"""Separators that occur in names (R&D); then options must be combined in several ways."""
FEWEST_ROWS = 3
"""Fewest rows for lists of equal length to be the answers of as many raters."""
MOST_OPTIONS = 24
"""Most options that a proposed task file lists."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Cells with several answers: separator, cells and options; ``votes`` if a cell repeats one."""

    separator: str
    cells: tuple[str, ...]
    options: tuple[str, ...]
    votes: bool = False


def joined_answers(words: Sequence[str], label: Label) -> Joined | None:
    """Find cells that join several answers, all classes of the label, by a separator.

    If data define the classes, most such cells must have parts that occur alone, or elsewhere in
    other numbers or places: "agree, strongly" beside "disagree, strongly" is one answer.
    """
    filled = [word for word in words if canonical(word) not in EMPTY]
    for separator in SEPARATORS:
        parts = {word: _parts(word, separator) for word in filled}
        several = {w: ps for w, ps in parts.items() if len(ps) > 1 and all(ps)}
        if several and _are_answers(parts, several, label, separator):
            used = {ps[0] for ps in parts.values() if len(ps) == 1}
            used |= {part for ps in several.values() for part in ps}
            options = [name for name in label.classes if name in used] or sorted(used)
            votes = any(len(set(ps)) < len(ps) for ps in several.values())
            return Joined(
                separator=separator, cells=tuple(several), options=tuple(options), votes=votes
            )
    return None


def _parts(word: str, separator: str) -> list[str]:
    """Split a cell; some forms end it with the separator."""
    return [part.strip() for part in word.strip().strip(separator).split(separator)]


def _are_answers(
    parts: Mapping[str, Sequence[str]],
    several: Mapping[str, Sequence[str]],
    label: Label,
    separator: str,
) -> bool:
    """Whether the parts of cells are answers."""
    if label.classes:
        known = spellings(label)
        named = {*label.classes, *map(canonical, known)}
        unknown = [ps for w, ps in several.items() if w not in known and canonical(w) not in known]
        return any(all(canonical(p) in named or p in named for p in ps) for ps in unknown)
    if separator in OF_NAMES and len({frozenset(ps) for ps in several.values()}) < 2:
        return False
    if separator == "," and all(
        (len(ps) == 2 and all(NUMBER.fullmatch(part) for part in ps)) for ps in several.values()
    ):
        return False
    alone = {ps[0] for ps in parts.values() if len(ps) == 1}
    uses = Counter(part for ps in several.values() for part in ps)
    often = 1 if separator not in EVERYDAY else np.inf
    known_parts = [all(p in alone or uses[p] > often for p in ps) for ps in several.values()]
    places = Counter(
        part for part, _ in {(p, n) for ps in several.values() for n, p in enumerate(ps)}
    )
    varied = len({len(ps) for ps in several.values()}) > 1 or bool(alone & set(uses))
    varied |= max(places.values()) > 1
    return varied and 2 * sum(known_parts) >= len(several)


def chosen_options(
    table: Table, column: str, label: Label, *, has_rater: bool
) -> dict[str, tuple[str, ...]]:
    """Return the options in each distinct cell, if cells hold several; empty cells choose none.

    Cells that look like the answers of several raters are no multiple choice.
    """
    cells = table.frame[column]
    lists = lists_of(cells)
    if longest(lists) > 1:
        beside = [other for other in parallel(table.frame, column) if other != column]
        if beside or _are_votes(lists, len(cells), has_rater=has_rater):
            return {}
        return {cell: tuple(map(str, items)) for cell, items in lists.items()}
    distinct = _distinct(cells)
    found = joined_answers(distinct, label)
    if found is None or found.votes:
        return {}
    return {
        cell: tuple(part for part in _parts(cell, found.separator) if part)
        if canonical(cell) not in EMPTY
        else ()
        for cell in distinct
    }


def _are_votes(lists: Lists, rows: int, *, has_rater: bool) -> bool:
    """Whether lists are the answers of several raters: they repeat one, or are of one length."""
    repeated = any(len(set(map(str, items))) < len(items) for items in lists.values())
    alike = rows >= FEWEST_ROWS and len(set(map(len, lists.values()))) == 1
    return repeated or (alike and not has_rater)


def require_one_answer(
    columns: Mapping[str, str], labels: Mapping[str, Label], roles: Roles, ledger: Ledger
) -> bool:
    """Add a problem, and return True, if cells of answers hold several."""
    for name, column in columns.items():
        if _from_lists(column, roles, ledger):
            return True
        found = joined_answers(_distinct(ledger.table.frame[column]), labels[name])
        if found is None:
            continue
        sign, apart = found.separator, rf"\s*{re.escape(found.separator)}\s*"
        if found.votes:
            start = f"frame[{column!r}] = frame[{column!r}].str.split({apart!r}, regex=True); "
            _report_votes(column, found.cells, start, roles, ledger)
        else:
            spaced = any(f"{sign} " in cell or f" {sign}" in cell for cell in found.cells)
            tight = f".str.replace({apart!r}, {sign!r}, regex=True)" * spaced
            start = f"options = frame[{column!r}]{tight}"
            _report(column, found.cells, found.options, start, sign, ledger)
        return True
    return False


def _distinct(column: "pd.Series[str]") -> list[str]:
    return [str(word) for word in pd.unique(column)]


def _from_lists(column: str, roles: Roles, ledger: Ledger) -> bool:
    """Report lists of several answers."""
    frame = ledger.table.frame
    lists = lists_of(frame[column])
    if longest(lists) < 2:
        return False
    beside = [c for c in parallel(frame, column) if c != column]
    raters = roles["rater"].columns[0] if "rater" in roles else ""
    if raters and lists_of(frame[raters]) and raters not in beside:
        sizes = [
            frame[c].map({k: len(v) for k, v in lists_of(frame[c]).items()})
            for c in (column, raters)
        ]
        rows = np.flatnonzero(sizes[0] != sizes[1])
        ledger.problem(
            "list-cells",
            f"in {counted(len(rows), 'row')} the lists of {raters} and {column} differ in length",
            where=ledger.table.where(rows, column),
            allowed="a list of raters, and one of as many answers",
            mend="complete these rows, or leave them out: `set_aside=True`",
            numbers={"rows": len(rows)},
            go_on=SET_ASIDE,
        )
        return True
    if beside and "rater" not in roles:
        who = next((c for c in beside if names_people(c)), beside[0])
        ledger.problem(
            "list-cells",
            f"cells of {column} are lists of several elements, such as "
            f"{max(lists, key=len)[:60]}; lists of as many elements: {', '.join(beside)}",
            allowed="a row for each rating, or lists of raters and of their answers",
            mend=f"if one of these lists names the raters, give `rater={who!r}`",
            go_on={"rater": who},
        )
        return True
    options = dict.fromkeys(str(item) for items in lists.values() for item in items)
    several = [cell for cell, items in lists.items() if len(items) > 1]
    read = "" if column in ledger.table.lists else (
        f"frame[{column!r}] = frame[{column!r}].map(json.loads, na_action='ignore'); "
    )  # fmt: skip
    if _are_votes(lists, len(frame), has_rater="rater" in roles):
        _report_votes(column, several, read, roles, ledger)
        return True
    words = all(isinstance(item, str) for items in lists.values() for item in items)
    join = (
        ".str.join('|')"
        if words
        else ".map(lambda chosen: '|'.join(map(str, chosen)), na_action='ignore')"
    )
    start = f"{read}options = frame[{column!r}]{join}"
    _report(column, several, list(options), start, "|", ledger)
    return True


def _report_votes(
    column: str,
    cells: Sequence[str],
    start: str,
    roles: Roles,
    ledger: Ledger,
) -> None:
    """Report cells with answers of several raters, and how to give each a row."""
    item = list(roles["item"].columns) if "item" in roles else []
    named = "" if item else "frame = frame.rename_axis('item').reset_index(); "
    example = max(cells, key=len).replace("\n", "\\n")
    ledger.problem(
        "list-cells",
        f"cells of {column} hold several answers, such as {example[:60]}. They repeat or always "
        "have the same number, so they look like the answers of several raters",
        allowed="a row for each rating: the item, the rater, the answer",
        mend=f"give each answer a row, in Python: {start}{named}frame = "
        f"frame.explode({column!r}).reset_index(drop=True); frame['rater'] = "
        f"frame.groupby({item or ['item']!r}).cumcount(). The raters have no names, so fit "
        '`raters="pooled"`. If they have none, `rater="row"` does the same',
        go_on={"rater": "row"},
    )


def _report(
    column: str,
    cells: Sequence[str],
    options: Sequence[str],
    start: str,
    separator: str,
    ledger: Ledger,
) -> None:
    """Report a multiple choice, with the calls that make each option a label."""
    frame = ledger.table.frame
    rows = np.flatnonzero(frame[column].isin(cells))
    empty = frame[column].str.strip().isin(["", "[]"]).any()
    kept = f".where(frame[{column!r}].str.len() > 0)" * bool(empty)
    example = max(cells, key=len).replace("\n", "\\n")
    ledger.problem(
        "multi-select",
        f"{counted(len(rows), 'cell', 'hold')} several answers in column {column}, such as "
        f"{example[:60]}: several options can be chosen, and each option is a label of its own",
        where=ledger.table.where(rows, column),
        mend="leave out `task=`, and each option is a label by itself; or make a column of each "
        f"option, in Python: {start}.str.get_dummies({separator!r})"
        f"{kept}; frame[options.columns] = options. Read it with a task file of the line "
        f"{task_line(options)}",
        go_on={"task": None},
        numbers={"cells": len(rows)},
    )


def task_line(options: Sequence[str]) -> str:
    """Write the line of a task file with a yes-no label for each option."""
    shown = [f"{{name = {json.dumps(str(name), ensure_ascii=False)}}}" for name in options]
    more = ", ..." * (len(shown) > MOST_OPTIONS)
    return f"labels = [{', '.join(shown[:MOST_OPTIONS])}{more}]"
